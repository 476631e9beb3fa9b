package import Base
import Postgres
import Runs
import Synchronization

/// Whether no machine sends a run, for what may be done only then.
extension SharedLedger {
    /// Makes sure that the run has no workers. One that has beaten is there. One whose beat no
    /// longer changes is declared dead once it was silent for as long as workers themselves wait
    /// before they do that.
    /// - Parameters:
    ///   - wanted: what must be done, for the message: `fetched`.
    ///   - leavingSeconds: how long workers that beat are waited for.
    ///   - silent: called with the machines of those that are waited for, at each look.
    ///   - pauseSeconds: between two looks.
    ///   - clock: seconds of this machine since some moment.
    /// - Throws: `Diagnostic`: it has workers; `CancellationError`.
    func requireAbsence(
        for wanted: String, leavingSeconds: Double = 0, silent: ([String]) -> Void, pauseSeconds: Double = 1,
        clock: () -> Double = SharedLedger.seconds
    ) throws {
        var watch = WorkerWatch(), first: [Int: Int64]?
        let end = clock() + leavingSeconds
        while true {
            let workers = try workers()
            guard !workers.isEmpty else { return }
            let known = first ?? workers.mapValues(\.beat)
            first = known
            if let other = workers.first(where: { known[$0.key] != $0.value.beat }), clock() >= end {
                throw isBeingSent(by: other.value.machine, wanted)
            }
            let beats = Dictionary(uniqueKeysWithValues: workers.map { ("\($0.key)", $0.value.beat) })
            for dead in watch.look(at: beats, clock()) {
                if let number = Int(dead.worker) { _ = try declareDead(number, beat: dead.beat) }
            }
            silent(workers.values.map(\.machine).sorted())
            store.retryDeadline.rest(atMost: pauseSeconds)
            if store.retryDeadline.isAsked { throw CancellationError() }
        }
    }

    private static let start = ContinuousClock.now

    /// By a clock that cannot be set.
    static func seconds() -> Double { (.now - start) / .seconds(1) }

    /// Those that have not left and were not declared dead.
    func workers() throws -> [Int: (machine: String, beat: Int64)] {
        try ask { connection in
            var workers: [Int: (machine: String, beat: Int64)] = [:]
            try connection.run(
                "SELECT number, machine, beat FROM volley_sender WHERE run = $1 AND dead_at IS NULL", [.int(run)],
                within: asking.answerSeconds
            ) { workers[$0.int(0)] = ($0.text(1), Int64($0.int(2))) }
            return workers
        }
    }

    private func isBeingSent(by machine: String, _ wanted: String) -> Diagnostic {
        Diagnostic(
            "the run is being sent (\(TextFormat.foreign(machine))), and cannot be \(wanted) meanwhile", file: place,
            remedy:
                "Wait for its end, or end it: with Ctrl-C where it was planned, or with `volley cancel \(plan.id)`.",
            [.wait(run: plan.id)])
    }
}

/// Taking over what others have recorded, once they have left.
extension SharedLedger {
    /// Takes over into the run's own file what workers have recorded.
    package func fetch() throws {
        let row = try ask { try self.row($0) }
        try checkWorkersOfJournal()
        try refresh()
        try keepOwnClaims()
        // Nothing is claimed after the end, or before the beginning.
        if row.state.hasEnded || row.epoch.isEmpty, hasRunFile { try replica.noteFetched() }
    }

    /// Cancels the run for all, if it has not ended, and fetches: for a process that takes no part
    /// in it. Nothing is claimed after this.
    package func cancelAndFetch() throws {
        if [.running, .paused].contains(try ask({ try row($0) }).state) {
            try change(to: .cancelled, cause: .cancelled, at: .now(), from: [.running, .paused])
        }
        try awaitLastAnswers()
        // Perhaps only the file still shows what the store has forgotten.
        try ask { try compareFile($0) }
        try fetch()
    }

    // MARK: - Others that leave

    /// How long workers that beat are given to record the last answers once a run was stopped or
    /// cancelled, which is longer than any answer takes; and how long beats may stay unchanged, of
    /// which one may fail, before no worker is expected to record anything. Seconds.
    static let leavingSeconds = 60.0
    private static let stillSeconds = 8.0
    private static let lookMilliseconds = 100
    /// The same where a person requests the end while the store refuses something: the others may
    /// be unable to record anything although they beat.
    private static let leavingInTroubleSeconds = 3.0
    /// A look that takes longer means that the database was away, also for workers; seconds.
    private static let longestLookSeconds = 1.0

    /// Waits until others have recorded the last answers of a run that was stopped or cancelled. Of
    /// one that has finished all are there.
    /// - Parameter waiting: called at each look after the first second, with the machines that are
    ///   waited for.
    package func awaitLastAnswers(waiting: ([String]) -> Void = { _ in }) throws {
        guard [.stopped, .cancelled].contains(try ask({ try row($0) }).state) else { return }
        let me = state.withLock { $0.sender }, start = Self.seconds()
        var beats: [Int: Int64] = [:], beatenAt = start, lookedAt = start
        while true {
            let others = try workers().filter { $0.key != me }, now = Self.seconds()
            let next = others.mapValues(\.beat)
            if next != beats || now > lookedAt + Self.longestLookSeconds { (beats, beatenAt) = (next, now) }
            lookedAt = now
            let isHurried = store.retryDeadline.isAsked && store.retryDeadline.isTroubled
            let seconds = isHurried ? Self.leavingInTroubleSeconds : Self.leavingSeconds
            if others.isEmpty || now > beatenAt + Self.stillSeconds || now > start + seconds { return }
            if now > start + 1 { waiting(others.values.map(\.machine).sorted()) }
            store.retryDeadline.pause(milliseconds: Self.lookMilliseconds)
        }
    }
}

/// A run whose store has forgotten something, or may have: it continues from its file alone.
extension SharedLedger {
    /// Why no machine may continue the run through the store; nil while workers may.
    package func forgetting() throws -> LedgerStop? { try ask { try row($0).forgetting } }

    /// Takes the run out of the store's hands: waits for workers that are still there, takes over
    /// into its file all that the store has, and notes on both sides that from now on the file
    /// alone counts. A recipient that the file or the journal show as claimed is claimed.
    /// - Parameter waiting: called with the machines that are waited for, at each look.
    /// - Throws: `Diagnostic`; `CancellationError`. Part of it may have been taken over then, and
    ///   the next call continues.
    package func takeBack(at now: Timestamp, waiting: ([String]) -> Void = { _ in }) throws {
        try requireAbsence(for: "resumed", leavingSeconds: Self.leavingSeconds, silent: waiting)
        try ask { connection in
            // What is sent from now on, no other machine learns: to plans from before, it counts as
            // the end.
            try connection.run(
                """
                UPDATE volley_run SET taken_home = $2, ended_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                WHERE number = $1 AND taken_home = ''
                """, [.int(run), .text(MachineName.process)],
                within: asking.answerSeconds)
        }
        try refresh()
        try replica.goOnWithoutStore(at: now)
    }

    /// Counts as claimed, in the run's file, what this process has claimed itself and the store has
    /// forgotten.
    func keepOwnClaims() throws {
        let own = ownClaims.withLock { $0 }
        guard hasRunFile, !own.isEmpty, try ask({ try hasForgotten($0) }) else { return }
        try replica.takeAsClaimed(own.ranges, at: .now())
    }
}

extension CommitMemory {
    /// Of a worker that has a run's file.
    init(_ marks: [FetchMark]) {
        var known: [String: Row] = [:]
        for mark in marks {
            if mark.writer == 0 {
                known["\(mark.sender)", default: Row()].claims = Int64(mark.number)
            } else {
                known["\(mark.sender)", default: Row()].outcomes = Int64(mark.number)
            }
        }
        self.init(known: known)
    }
}

/// Paces that workers divide: the rows of one pace are a `PaceParts`, changed by one worker at a
/// time.
extension SharedLedger {
    /// Says what this worker uses of a pace, and learns its part of it.
    /// - Parameter wants: whether it has something to send.
    /// - Returns: its part from now on; nil if no part is free.
    func part(of pace: DividedPace, wants: Bool, _ connection: PostgresConnection) throws -> Int? {
        let seconds = beating.answerSeconds
        let (sender, beat) = state.withLock { ($0.sender, $0.beat) }
        guard let me = sender else { return nil }
        return try connection.transaction(within: seconds) {
            try connection.run(
                "INSERT INTO volley_pace (key, parts) VALUES ($1, '') ON CONFLICT DO NOTHING", [.text(pace.key)],
                within: seconds)
            var stored = DividedParts(text: "", limit: pace.whole.pushes), now = 0
            try connection.run(
                "SELECT parts FROM volley_pace WHERE key = $1 FOR UPDATE", [.text(pace.key)], within: seconds
            ) { stored = DividedParts(text: $0.text(0), limit: pace.whole.pushes) }
            // Once the row is locked: the moment must not be one from before a wait.
            try connection.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", within: seconds) {
                now = $0.int(0)
            }
            let gone = try gone(stored.parts.parts.keys.compactMap(Int.init), connection)
            // Declared dead just now.
            if gone.contains("\(me)") { return nil }
            stored.free(gone, at: now, after: pace.whole.intervalSeconds)
            let use = pace.use()
            let granted = stored.parts.beat(
                of: "\(me)", number: Int64(beat), used: use.used, left: use.left, wants: wants, least: use.least)
            try connection.run(
                "UPDATE volley_pace SET parts = $2 WHERE key = $1", [.text(pace.key), .text(stored.text)],
                within: seconds)
            return granted
        }
    }

    /// Leaves this worker's parts of paces to others, as nothing more leaves it.
    func giveBack(_ paces: [DividedPace]) throws {
        for pace in paces { pace.take(0) }
        state.withLock { $0.beat += 1 }
        try StoreError.explaining {
            try beating.once { connection in for pace in paces { _ = try part(of: pace, wants: false, connection) } }
        }
    }

    /// Which of some workers left or died.
    private func gone(_ workers: [Int], _ connection: PostgresConnection) throws -> Set<String> {
        var there: Set<Int> = []
        try connection.run(
            "SELECT number FROM volley_sender WHERE number = ANY ($1::bigint[]) AND dead_at IS NULL", [.ints(workers)],
            within: beating.answerSeconds
        ) { there.insert($0.int(0)) }
        return Set(workers.filter { !there.contains($0) }.map { "\($0)" })
    }
}

/// The parts of a pace as the store keeps them, and since when workers are gone whose last pushes
/// may still count.
struct DividedParts {
    var parts: PaceParts
    /// By workers, in milliseconds of the database's clock.
    private(set) var goneSince: [String: Int] = [:]

    /// - Parameter text: blank for none. What cannot be read counts as none: only `text` writes it.
    init(text: String, limit: Int) {
        parts = PaceParts(pace: max(1, limit))
        guard let json = JSONValue(stored: text), case .object(let workers)? = json["members"] else { return }
        var known: [String: PaceParts.Part] = [:]
        for worker in workers {
            guard case .array(let cells) = worker.value else { continue }
            let numbers = cells.compactMap(\.integerValue)
            guard numbers.count == 9 else { continue }
            known[worker.name] = PaceParts.Part(
                granted: Int(numbers[0]), used: Int(numbers[1]), left: Int(numbers[8]), beat: numbers[2],
                wants: numbers[3] == 1,
                least: Int(numbers[4]), turn: numbers[5], served: Int(numbers[6]))
            if numbers[7] > 0 { goneSince[worker.name] = Int(numbers[7]) }
        }
        parts = PaceParts(pace: max(1, limit), parts: known, turns: json["turns"]?.integerValue ?? 0)
    }

    /// How long pushes may leave a worker after its last beat; seconds.
    private static let sendingSeconds = Int(SubmissionGate.longestAgeSeconds + SubmissionGate.queueSeconds) + 1

    /// Frees the parts of workers that are gone: what may not have been used at once, as pushes
    /// leave evenly, and the rest once they are gone for as long as the interval.
    mutating func free(_ gone: Set<String>, at now: Int, after intervalSeconds: Int) {
        for worker in gone {
            let since = goneSince[worker] ?? now
            if goneSince[worker] == nil {
                // What leaves in a second is rounded up, and one request more may leave where
                // another pace held it back.
                parts.leave(worker) { Self.sendingSeconds * ($0 / max(1, intervalSeconds) + 2) }
            }
            goneSince[worker] = since
            guard now - since > (intervalSeconds + 1) * 1000 else { continue }
            parts.remove(worker)
            goneSince[worker] = nil
        }
    }

    var text: String {
        let workers = parts.parts.sorted { $0.key < $1.key }.map { worker, part in
            let numbers = [
                Int64(part.granted), Int64(part.used), part.beat, part.wants ? 1 : 0, Int64(part.least), part.turn,
                Int64(part.served),
                Int64(goneSince[worker] ?? 0), Int64(part.left),
            ]
            return (worker, JSONValue.array(numbers.map { .integer($0) }))
        }
        return JSONValue.object(pairs: [("turns", .integer(parts.turns)), ("members", .object(pairs: workers))]).text
    }
}
