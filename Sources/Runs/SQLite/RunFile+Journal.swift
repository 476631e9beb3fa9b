public import Base
import GRDB
import Synchronization

/// The run file as a journal. Entries come in, each in one transaction; the state that they add up
/// to goes out. A process that is no longer the one that sends the run changes nothing.
extension RunFile {
    /// Appends an entry, in one transaction; `lost` in several.
    @discardableResult
    public func append(_ entry: RunEntry) throws -> EntryYield {
        switch entry {
        case .claimed(let ids, let unsent, let at): try claim(ids, unsent: unsent, at: at)
        case .settled(let parts): try record(parts)
        case .reopened(let ids, let resendsUnknown, let at):
            return EntryYield(attempts: try reopen(ids, resendsUnknown: resendsUnknown, at: at))
        case .deferred(let ids, let reason, let isTooLate, let at):
            return EntryYield(count: try `defer`(ids, reason: reason, isTooLate: isTooLate, at: at))
        case .callsNamed(let calls): try name(calls)
        case .callsForgotten(let numbers): try forgetCalls(numbers)
        case .receipts(let receipts, let service): try note(receipts: receipts, ofService: service)
        case .epochBegan(let epoch, let at, let expected): try begin(epoch: epoch, at: at, from: expected)
        case .rested: try noteEvidenceAtRest()
        case .lost(let at): return EntryYield(count: try recordLost(at: at))
        case .segment(let segment, let state): try setState(state, of: segment)
        case .state(let state, let cause, let at, let expected):
            try setState(state, cause: cause, at: at, from: expected)
        case .finished(let objection, let at):
            try checkKnowsClaims()
            return EntryYield(objection: try finish(at: at, unless: objection))
        case .ordered(let order, let at): try give(order, at: at)
        case .epochNoted(let epoch, let at): return EntryYield(beginning: try note(epoch, at: at))
        case .epochConfirmed(let givenUp):
            return EntryYield(beginning: try confirm(givenUp: givenUp) ? .noted : .isOvertaken)
        case .epochEnded: try endEpoch()
        case .claimsNoted(let made): try note(claimed: made)
        }
        return EntryYield()
    }

    /// Whether anything in this file says that sending was begun.
    public func hasBegun() throws -> Bool {
        let status = try status()
        return try status.startedAt != nil || !status.epoch.isEmpty || !claims().claimed.isEmpty
    }

    /// Recipients that the run has reached, or may have, as is on record: the number never
    /// decreases. Those that were claimed and have no outcome do not count yet: where a service
    /// recognizes calls, those that a killed process had put into none turn out to be unsent.
    public func reached() throws -> Int {
        guard try !claims().claimed.isEmpty else { return 0 }
        let open = try claimedWithoutOutcome().reduce(0) { $0 + $1.count }
        return try plan.audience - figures().outcomes[.unsent, default: 0] - open
    }

    /// Whether the run has finished: every recipient has an outcome, and it is never resumed.
    func isComplete() throws -> Bool {
        guard try status().state == .finished, try claims().claimed.contains(all: 0..<plan.audience) else {
            return false
        }
        return try claimedWithoutOutcome().isEmpty
    }

    /// The state, why it stopped, when sending began and ended. A run that says it is running while
    /// no process sends it was cut off: it is stopped, without an end.
    public func status() throws -> RunStatus { try status(SendingLock.inspect(run: path)) }

    /// - Parameter lock: the state of the lock, if the caller has it: it may hold the lock itself
    ///   without sending.
    func status(_ lock: @autoclosure () -> SendingLock.Observation) throws -> RunStatus {
        try read { db in
            guard var status = try RunSchema.status(db) else {
                throw RunDiagnostics.damaged(path, what: "its state is missing")
            }
            status.epoch = try Self.lastEpoch(db) ?? ""
            status.segments = try Self.segmentStates(db)
            let isRunning = status.state == .running
            switch lock() {
            case .free: if isRunning { (status.state, status.cause) = (.stopped, .ledger(.processGone)) }
            case .hidden: (status.isBeingSent, status.isSenderHidden) = (true, isRunning)
            case .held(let since): (status.isBeingSent, status.sendingSince) = (true, since > 0 ? since : nil)
            }
            return status
        }
    }
}

/// States of the run and of its segments, and what other processes want: they record the state that
/// is wanted, and the process that sends the run looks at it.
extension RunFile {
    /// Records a state. `running` takes the right to send, sets the start when the run has none yet
    /// and takes an earlier end back; `stopped`, `finished` and `cancelled` set the end.
    /// - Parameters:
    ///   - cause: why it stops; nil for most states.
    ///   - expected: the states of which the run must be in one, when another process may have
    ///     changed it in the meantime.
    func setState(_ state: RunState, cause: StopCause? = nil, at now: Timestamp, from expected: Set<RunState>? = nil)
        throws
    {
        if state == .running { try lockForSending() }
        try record(state, cause: cause, at: now, from: expected)
    }

    /// Records that the run has got to its end: it finished or, when its figures say otherwise,
    /// stopped.
    /// - Parameter objection: why a run with these figures did not finish; nil when it did.
    /// - Returns: the objection.
    func finish(at now: Timestamp, unless objection: (RunFigures) -> StopCause?) throws -> StopCause? {
        try write { db in
            let cause = objection(try keepFigures(db))
            try write(cause == nil ? .finished : .stopped, cause, at: now, db)
            return cause
        }
    }

    /// - Parameter alongside: what else is changed in the same transaction.
    func record(
        _ state: RunState, cause: StopCause?, at now: Timestamp, from expected: Set<RunState>?,
        alongside: (Database) throws -> Void = { _ in }
    ) throws {
        try write { db in
            try checkOwner(db)
            let current = try RunSchema.state(db)
            if let expected, !expected.contains(where: { $0 == current }) {
                let wanted = expected.map(\.rawValue).sorted().joined(separator: " or ")
                throw Diagnostic(
                    "the run is now \(current?.rawValue ?? "damaged"), no longer \(wanted)", file: path,
                    remedy: "Another volley has changed it. `volley report \(plan.id)` shows its progress.",
                    [.watch(run: plan.id)])
            }
            try write(state, cause, at: now, db)
            if state.hasEnded { try keepFigures(db) }
            try alongside(db)
        }
    }

    private func write(_ state: RunState, _ cause: StopCause?, at now: Timestamp, _ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE run SET state = :state, stop_cause = :cause,
                    started_at = CASE WHEN :isRunning THEN coalesce(started_at, :now) ELSE started_at END,
                    finished_at = CASE WHEN :hasEnded THEN :now WHEN :isRunning THEN NULL ELSE finished_at END
                """,
            arguments: [
                "state": state.rawValue, "cause": cause.map(RunSchema.text) ?? "", "isRunning": state == .running,
                "hasEnded": state.hasEnded,
                "now": now.epochMilliseconds,
            ])
    }

    /// Records the state that is wanted.
    func give(_ order: RunOrder, at now: Timestamp) throws {
        guard isBeingSent else {
            throw Diagnostic(
                "no process is sending this run", file: path, remedy: "`volley report \(plan.id)` shows its outcome.",
                [.readReport(run: plan.id)])
        }
        try record(order.state, cause: order == .cancel ? .cancelled : nil, at: now, from: order.expected) {
            try noteToPassOn(order, $0)
        }
    }

    /// What holds segments, or stopped them, by their first ids.
    static func segmentStates(_ db: Database) throws -> [Int: SegmentState] {
        guard try db.tableExists("leg_state") else { return [:] }
        let states = try db.all("SELECT first_id, held_until, cause FROM leg_state") { row in
            (
                try row.int(0),
                SegmentState(heldUntil: try row.optional(1, row.moment), cause: RunSchema.stopCause(try row.string(2)))
            )
        }
        return Dictionary(states) { first, _ in first }
    }

    /// Records what holds or stopped a segment.
    func setState(_ state: SegmentState, of segment: RunSegment) throws {
        guard plan.segments.contains(segment) else {
            throw Diagnostic(
                "the account of this run does not add up: \(segment.ids) is no leg of it", file: path,
                remedy: "Please report this.")
        }
        try write { db in
            try checkOwner(db)
            try db.execute(sql: RunSchema.segmentStateTable)
            try db.execute(sql: "DELETE FROM leg_state WHERE first_id = ?", arguments: [segment.ids.lowerBound])
            guard state != SegmentState() else { return }
            try db.execute(
                sql: "INSERT INTO leg_state VALUES (?, ?, ?)",
                arguments: [
                    segment.ids.lowerBound, state.heldUntil?.epochMilliseconds, state.cause.map(RunSchema.text) ?? "",
                ])
        }
    }

    /// A new epoch tries again what had stopped; what a service said about its limits still holds.
    func takeBackStops(_ db: Database) throws {
        guard try db.tableExists("leg_state") else { return }
        try db.execute(sql: "UPDATE leg_state SET cause = ''; DELETE FROM leg_state WHERE held_until IS NULL")
    }
}

/// The epochs of the run: each start and each resumption is one. What is noted next to the file
/// while an epoch lasts is in the record of what was sent, and in the claim counter.
extension RunFile {
    /// nil before the first.
    static func lastEpoch(_ db: Database) throws -> String? {
        guard try db.tableExists("life") else { return nil }
        return try db.first("SELECT life FROM life") { try $0.string(0) }
    }

    /// Records that the run is being sent, as a new epoch, in one transaction. Takes the right to
    /// send it.
    /// - Parameter expected: the states of which the run must be in one.
    /// - Throws: `Diagnostic` when it is in another one by now, or another process sends it;
    ///   nothing is changed then.
    func begin(epoch: String, at now: Timestamp, from expected: Set<RunState>) throws {
        try lockForSending()
        ownEpoch.withLock { $0 = nil }
        try record(.running, cause: nil, at: now, from: expected) { db in
            try db.execute(
                sql: "CREATE TABLE IF NOT EXISTS life (life TEXT NOT NULL)  -- the same as beside the runs, in sent.db")
            try db.execute(sql: "DELETE FROM life")
            try db.execute(sql: "INSERT INTO life VALUES (?)", arguments: [epoch])
            try noteEvidence(db)
            try takeBackStops(db)
            try forgetOrderToPassOn(db)
        }
        ownEpoch.withLock { $0 = epoch }
    }

    /// Makes sure that no other process has begun an epoch of the run since this store began its
    /// own.
    func checkOwner(_ db: Database) throws {
        guard let own = ownEpoch.withLock({ $0 }), try Self.lastEpoch(db) != own else { return }
        throw Diagnostic(
            "another volley has taken over this run", file: path,
            remedy: "`volley report \(plan.id)` shows its progress.",
            [.watch(run: plan.id)])
    }

    /// Makes sure that the epoch that this store began has not ended; a store that began none is
    /// not checked.
    /// - Throws: `SendingRevoked`.
    func checkSending(_ db: Database) throws {
        guard let own = ownEpoch.withLock({ $0 }) else { return }
        if try RunSchema.state(db) == .cancelled { throw SendingRevoked(isCancelled: true) }
        guard try Self.lastEpoch(db) == own else { throw SendingRevoked(isCancelled: false) }
    }

    /// What an epoch needs next to the file.
    struct NotedEpoch {
        let counter: ClaimCounter
        /// What must stay in its place; nil before the epoch is confirmed.
        var files: RequiredFiles?
    }

    /// Notes next to the runs that an epoch is about to begin, and makes its claim counter.
    func note(_ epoch: NewEpoch, at now: Timestamp) throws -> SendingHistory.Beginning {
        noted.withLock { $0 = nil }
        let beginning = try catalog.history.begin(plan, epoch, at: now)
        guard beginning == .noted else { return beginning }
        let counter = try ClaimCounter(self, epoch: epoch.epoch, claimed: epoch.claimed)
        noted.withLock { $0 = NotedEpoch(counter: counter) }
        return .noted
    }

    /// Notes next to the runs that the file has the epoch. From then on all that it needs must stay
    /// in its place.
    func confirm(givenUp: Set<String>) throws -> Bool {
        guard try catalog.history.confirm(plan.id, givenUp: givenUp) else { return false }
        let files = RequiredFiles(self)
        noted.withLock { $0?.files = files }
        return true
    }

    /// Notes in the claim counter how many claims were made; a run without an epoch has no counter.
    func note(claimed: Int) throws {
        try noted.withLock { $0?.counter }?.note(claimed)
    }

    /// Notes next to the runs how far the run is; its claim counter is needed no more. What this
    /// process has claimed counts, also where the file knows less by now.
    func endEpoch() throws {
        let counter = noted.withLock { noted in
            defer { noted = nil }
            return noted?.counter
        }
        let made = counter?.made ?? 0
        // What is next to the file may have been put back together with it.
        try? counter?.note(made)
        if try catalog.history.end(self, epoch: ownEpoch.withLock { $0 }, made: made) { ClaimCounter.remove(path) }
    }

    /// Makes sure that the file has all claims that this process has made in it. Older content that
    /// was written into it in its place has fewer, and the rest would count as unsent.
    private func checkKnowsClaims() throws {
        guard let made = noted.withLock({ $0?.counter.made }), try claims().made < made else { return }
        throw Diagnostic(
            "the run file has lost what was recorded in it while it was sent", file: path,
            remedy: "`volley report \(plan.id)` says what to do.", [.readReport(run: plan.id)])
    }
}

/// The right to send the run.
extension RunFile {
    /// Takes the right to send this run until the store is closed: two processes that resume one
    /// run would send pushes twice. Where the file says that it is being sent and the lock file is
    /// missing, it may have been removed: its holder gets time to create it again.
    /// - Parameter isSending: false to keep others from sending only.
    /// - Throws: `Diagnostic` when another process is sending it.
    public func lockForSending(isSending: Bool = true) throws {
        try sendingLock.withLock { lock in
            guard lock == nil else { return }
            if DatabaseFile.kind(path + ".lock") == .missing, try isOnRecordAsSent {
                var grace = Retries(atMost: 1, milliseconds: SendingLock.graceMilliseconds)
                _ = grace.pause()
            }
            lock = try SendingLock(run: path, isSending: isSending)
            // Others may have claimed while they had it.
            forgetClaims()
        }
    }

    /// Releases the right to send, and leaves the file open.
    public func unlock() {
        let hadLock = sendingLock.withLock { lock in
            defer { lock = nil }
            return lock != nil
        }
        if hadLock { wasLocked.withLock { $0 = true } }
        noted.withLock { $0 = nil }
    }

    /// Makes sure that no other process can take the lock because its file was removed. Call it
    /// several times a second while the run is sent.
    /// - Throws: `Diagnostic` when another process has taken it.
    func keepLock() throws { try sendingLock.withLock { try $0?.keep(run: path) } }

    /// The state in the file, whether or not a process is sending.
    private var isOnRecordAsSent: Bool {
        get throws { try read { [.running, .paused].contains(try RunSchema.state($0)) } }
    }

    /// Looks whether the files are in their place, and puts the lock's back where it was removed.
    public func loss(during activity: RunActivity) -> LedgerStop? {
        guard isInPlace else { return .fileLost(place, during: activity) }
        if let missing = noted.withLock({ $0?.files })?.missing { return .accountFileLost(missing, during: activity) }
        do { try keepLock() } catch { return .lockLost("\(error)", during: activity) }
        return nil
    }
}

/// The files that a run is sent from: its own, SQLite's files next to it, its claim counter, and
/// the record of what was sent. When one of them is removed or replaced, no other process sees what
/// this one writes there, and it may be lost.
struct RequiredFiles: Sendable {
    private let files: [(path: String, identity: DatabaseFile.Identity?)]

    /// As they are now, while the run is on record as being sent, and open.
    init(_ run: RunFile) {
        let paths = [
            run.path, run.path + "-wal", run.path + "-shm", ClaimCounter.file(of: run.path), run.catalog.history.path,
        ]
        files = paths.map { ($0, DatabaseFile.identity($0)) }
    }

    /// The first one that no longer exists; nil while all exist.
    var missing: String? { files.first { DatabaseFile.identity($0.path) != $0.identity }?.path }
}
