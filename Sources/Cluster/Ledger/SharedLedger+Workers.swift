package import Base
import Postgres
package import Runs
import Synchronization

/// Being a worker: joining, beating, leaving, and declaring others dead.
extension SharedLedger {
    /// Numbers of workers are random: what a store has forgotten that was restored must not be
    /// taken for what follows.
    private static let numbers = 1..<1 << 53

    /// Makes this process a worker, unless it is one.
    /// - Parameter former: the epoch of the run that its file knew last, where this process has the
    ///   file and is about to begin another; nil otherwise.
    /// - Returns: its number.
    @discardableResult
    package func join(after former: String? = nil) throws -> Int {
        if let me = state.withLock({ $0.sender }) { return me }
        let me = Int.random(in: Self.numbers),
            file = hasRunFile ? CommitMemory(try replica.fetchMarks()) : CommitMemory()
        let (comparedEpoch, isSurvivor) = try ask { connection -> (Int?, Bool) in
            try connection.transaction(within: asking.answerSeconds) {
                try enter(as: me, connection)
                let epoch = try DatabaseEpoch.current(connection)
                let missing = file.missing(in: try rows(connection))
                guard missing == 0 else {
                    try stop(missing: missing, evenIfEnded: former != nil, connection)
                    return (nil, false)
                }
                try DatabaseEpoch.confirm(me, epoch: epoch, connection)
                if let former { try survivor(after: former, epoch: epoch, connection) }
                return (epoch, try becomeSurvivor(me, epoch: epoch, connection))
            }
        }
        let epoch = try ask { try row($0).epoch }
        claiming.restart()
        recording.restart()
        state.withLock { state in
            state = State()
            state.sender = me
            state.epoch = epoch.isEmpty ? nil : epoch
            (state.comparedEpoch, state.isSurvivor) = (comparedEpoch, isSurvivor)
            state.memory = file
        }
        return me
    }

    private func enter(as me: Int, _ connection: PostgresConnection) throws {
        // An earlier try may have arrived without an answer.
        try connection.run(
            """
            INSERT INTO volley_sender (number, run, machine, beat, tallies, joined_at, is_witness)
            SELECT $3, number, $2, 0, '{}', clock_timestamp(), false FROM volley_run WHERE number = $1 AND is_published FOR KEY SHARE
            ON CONFLICT (number) DO NOTHING
            """, [.int(run), .text(MachineName.process), .int(me)], within: asking.answerSeconds)
        var isThere = false
        try connection.run(
            "SELECT 1 FROM volley_sender WHERE number = $1 AND run = $2", [.int(me), .int(run)],
            within: asking.answerSeconds
        ) { _ in isThere = true }
        guard isThere else { throw isGone }
    }

    /// The run's file is a survivor for a run that is not being sent: it has each epoch that began,
    /// and nothing is claimed between two epochs.
    private func survivor(after former: String, epoch: Int, _ connection: PostgresConnection) throws {
        try connection.run(
            """
            UPDATE volley_run SET witnessed_in = $2
            WHERE number = $1 AND state IN ('planned', 'stopped') AND life = $3 AND taken_home = '' AND witnessed_in <> $2
            """, [.int(run), .int(epoch), .text(former)], within: asking.answerSeconds)
    }

    /// A worker that joins in an epoch of the database that a survivor has confirmed is one from
    /// then on.
    private func becomeSurvivor(_ me: Int, epoch: Int, _ connection: PostgresConnection) throws -> Bool {
        try connection.run(
            """
            UPDATE volley_sender SET is_witness = true
            WHERE number = $1 AND EXISTS (SELECT 1 FROM volley_run r WHERE r.number = run AND r.witnessed_in = $2)
            """, [.int(me), .int(epoch)], within: asking.answerSeconds) == 1
    }

    /// Ends being a worker in an orderly way: what was leased and not claimed comes back. What it
    /// claimed and did not settle is unknown from now on.
    package func leave() throws {
        guard let me = state.withLock({ $0.sender }) else { return }
        defer { state.withLock { $0 = State() } }
        try ask { connection in _ = try end(me, ifBeatIs: nil, connection) }
    }

    /// Declares a worker dead whose beat no longer changes, in one transaction with giving back
    /// what it had leased and not claimed.
    /// - Parameter beat: its last one.
    /// - Returns: false if it beats again, or another was faster.
    func declareDead(_ worker: Int, beat: Int64) throws -> Bool {
        try StoreError.explaining { try beating.once { try end(worker, ifBeatIs: beat, $0) } }
    }

    /// Gives back what this worker has leased and not claimed, so that others may have it: it sends
    /// no more for now.
    package func returnLeases() throws {
        guard let me = state.withLock({ $0.sender }) else { return }
        let isReturned = try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                // While the recovery barrier is closed they stay with this worker, which has the
                // record of what it did with them.
                guard try holdFence(me, connection), try hasConfirmed(me, connection) else { return false }
                try giveBackLeases(of: me, connection)
                return true
            }
        }
        if isReturned { state.withLock { $0.leasedRanges = LeasedRanges() } }
    }

    /// - Parameter beat: nil for whatever it is.
    private func end(_ worker: Int, ifBeatIs beat: Int64?, _ connection: PostgresConnection) throws -> Bool {
        let seconds = asking.answerSeconds
        return try connection.transaction(within: seconds) {
            // Waits for what the worker is writing, which holds its row under FOR SHARE.
            var isEnded = false
            try connection.run(
                """
                UPDATE volley_sender SET dead_at = clock_timestamp()
                WHERE number = $1 AND dead_at IS NULL AND ($2::bigint IS NULL OR beat = $2) RETURNING 1
                """, [.int(worker), .optional(beat.map(Int.init))], within: seconds
            ) { _ in isEnded = true }
            guard isEnded else { return false }
            try giveBackLeases(of: worker, connection)
            try connection.run(
                "UPDATE volley_run SET conductor = NULL WHERE number = $1 AND conductor = $2",
                [.int(run), .int(worker)], within: seconds)
            return true
        }
    }

    private func giveBackLeases(of worker: Int, _ connection: PostgresConnection) throws {
        let seconds = asking.answerSeconds
        var leases: [Range<Int>] = []
        try connection.run(
            "SELECT first, last FROM volley_lease WHERE run = $1 AND sender = $2 AND redo IS NULL",
            [.int(run), .int(worker)],
            within: seconds
        ) { leases.append(try $0.ids(0, 1)) }
        // A worker that has not confirmed this epoch of the database may have made claims that were
        // forgotten: what it had leased stays with it, as unknown.
        guard try hasConfirmed(worker, connection) else { return }
        for lease in leases { try giveBack(try claimed(of: lease, connection).gaps(in: lease), connection) }
        // The coordinator finds again what must be sent to again: it has what this worker reopened.
        try connection.run(
            "DELETE FROM volley_lease WHERE run = $1 AND sender = $2", [.int(run), .int(worker)], within: seconds)
    }

    private func hasConfirmed(_ worker: Int, _ connection: PostgresConnection) throws -> Bool {
        var hasConfirmed = false
        try connection.run(
            "SELECT \(DatabaseEpoch.hasConfirmed) FROM volley_sender s WHERE s.number = $1", [.int(worker)],
            within: asking.answerSeconds
        ) { hasConfirmed = $0.int(0) == 1 }
        return hasConfirmed
    }

    /// Takes over what is done once for all, if no worker does it.
    /// - Returns: whether this worker does it from now on.
    package func becomeCoordinator() throws -> Bool {
        guard let me = state.withLock({ $0.sender }) else { return false }
        return try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                let row = try row(connection, locking: true)
                guard row.coordinator == nil else { return row.coordinator == me }
                let count = try connection.run(
                    """
                    UPDATE volley_run SET conductor = $2, conducts_sending = true WHERE number = $1
                        AND EXISTS (SELECT 1 FROM volley_sender WHERE number = $2 AND dead_at IS NULL FOR SHARE)
                    """, [.int(run), .int(me)], within: asking.answerSeconds)
                return count == 1
            }
        }
    }

    // MARK: - Beats

    /// Says that this worker is there, and looks at the run. Once, without patience: a beat that
    /// fails is followed by another.
    /// - Parameters:
    ///   - answers: this worker's so far, by the numbers of services.
    ///   - paces: those that it keeps with others; each takes the part that it gets.
    ///   - wants: whether it has something to send.
    /// - Returns: nil if this worker was declared dead: nothing that it writes counts any more.
    /// - Throws: `Diagnostic`: the store cannot be queried.
    package func beat(answers: [Int: [Outcome: Int]], dividing paces: [DividedPace] = [], wants: Bool = true) throws
        -> WorkerNews?
    {
        guard let me = state.withLock({ $0.sender }) else { return nil }
        let beat = state.withLock { state in
            state.beat += 1
            return state.beat
        }
        let row = acknowledged, (comparedEpoch, isSurvivor) = state.withLock { ($0.comparedEpoch, $0.isSurvivor) }
        state.withLock { $0.memory.beatBegins(of: "\(me)", acknowledged: row) }
        let news = try StoreError.explaining {
            try beating.once(isRepeated: true) { connection -> WorkerNews? in
                let isAlive = try connection.transaction(within: beating.answerSeconds) {
                    // Whether or not the answer arrives: the run stops with the beat that finds
                    // something missing.
                    let missing = row.missing(in: try rows(connection)["\(me)"])
                    if missing > 0 { try stop(missing: missing, connection) }
                    // A beat that comes late must not overwrite a later one.
                    let count = try connection.run(
                        """
                        UPDATE volley_sender SET beat = $2, tallies = $3, is_witness = $4 WHERE number = $1 AND dead_at IS NULL AND beat < $2
                        """, [.int(me), .int(beat), .text(Tallies.text(answers)), .bool(isSurvivor)],
                        within: beating.answerSeconds)
                    if count == 1, let comparedEpoch {
                        try DatabaseEpoch.confirm(me, epoch: comparedEpoch, connection)
                        if isSurvivor { try DatabaseEpoch.survivor(run, epoch: comparedEpoch, connection) }
                    }
                    return count == 1
                }
                guard isAlive else { return nil }
                var parts: [Int?] = []
                for pace in paces { parts.append(try part(of: pace, wants: wants, connection)) }
                let news = try look(as: me, connection)
                for (pace, part) in zip(paces, parts) {
                    // What the others have may have been forgotten while the recovery barrier is
                    // closed.
                    if let part { pace.take(news.isCalm ? part : min(part, pace.use().used)) }
                }
                return news
            }
        }
        state.withLock { state in
            state.news = news
            state.workers = 1 + (news?.others.count ?? 0)
            if news == nil { state.isFenced = true }
        }
        return news
    }

    /// The last entries that the database has confirmed to this worker.
    private var acknowledged: CommitMemory.Row {
        CommitMemory.Row(claims: Int64(claiming.confirmed), outcomes: Int64(recording.confirmed))
    }

    /// What the database has of each worker.
    private func rows(_ connection: PostgresConnection) throws -> [String: CommitMemory.Row] {
        var rows: [String: CommitMemory.Row] = [:]
        func last(_ writer: Int) -> String {
            """
            coalesce((SELECT j.number FROM volley_journal j WHERE j.run = s.run AND j.sender = s.number AND j.lane = \(writer)
                ORDER BY j.number DESC LIMIT 1), 0)
            """
        }
        try connection.run(
            "SELECT s.number, \(last(0)), \(last(1)), s.dead_at IS NOT NULL FROM volley_sender s WHERE s.run = $1",
            [.int(run)],
            within: beating.answerSeconds
        ) { cells in
            rows["\(cells.int(0))"] = CommitMemory.Row(
                claims: Int64(cells.int(1)), outcomes: Int64(cells.int(2)), isDead: cells.int(3) == 1)
        }
        return rows
    }

    /// Stops the run, as the database has forgotten what it had confirmed. That is known better
    /// than why it stopped before. What a person has cancelled stays so, and says what is missing.
    /// - Parameter evenIfEnded: also where it was not begun yet, or something else was said to be
    ///   missing.
    private func stop(missing: Int64, evenIfEnded: Bool = false, _ connection: PostgresConnection) throws {
        let cause = LedgerStop.forgotten(entries: Int(missing))
        try connection.run(
            """
            UPDATE volley_run r SET cause = $2, changes = changes + 1
            WHERE number = $1 AND state = 'cancelled' AND taken_home = '' AND NOT \(StoredCause.isForgotten)
            """, [.int(run), .text(StoredCause.text(.ledger(cause)))], within: beating.answerSeconds)
        let states =
            evenIfEnded ? "state IN ('planned', 'running', 'paused', 'stopped')" : "state IN ('running', 'paused')"
        try stop(
            cause, where: "\(states) OR state = 'stopped' AND taken_home = '' AND NOT \(StoredCause.isForgotten)",
            connection)
    }

    /// Compares what the database has with what the run's file has taken over.
    func compareFile(_ connection: PostgresConnection) throws {
        guard hasRunFile else { return }
        let missing = CommitMemory(try replica.fetchMarks()).missing(in: try rows(connection))
        if missing > 0 { try stop(missing: missing, connection) }
    }

    /// Stops the run if no worker is left that could say whether the database has forgotten
    /// something.
    private func stopUnlessWitnessed(_ connection: PostgresConnection) throws {
        try stop(.unwitnessed, where: "state IN ('running', 'paused') AND \(DatabaseEpoch.lacksSurvivors)", connection)
    }

    private func stop(_ cause: LedgerStop, where condition: String, _ connection: PostgresConnection) throws {
        try connection.run(
            """
            UPDATE volley_run r SET state = 'stopped', cause = $2, changes = changes + 1,
                ended_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            WHERE number = $1 AND (\(condition))
            """, [.int(run), .text(StoredCause.text(.ledger(cause)))], within: beating.answerSeconds)
    }

    private func look(as me: Int, _ connection: PostgresConnection) throws -> WorkerNews {
        let row = try row(connection)
        var news = WorkerNews(state: row.state, cause: row.cause)
        (news.isCoordinator, news.lacksCoordinator) = (row.coordinator == me, row.coordinator == nil)
        news.knowsCapped = row.knowsCapped
        try connection.run(
            "SELECT number, beat, machine, tallies, dead_at IS NULL FROM volley_sender WHERE run = $1 AND number <> $2",
            [.int(run), .int(me)], within: asking.answerSeconds
        ) { cells in
            for (service, outcomes) in Tallies.read(cells.text(3)) {
                news.elsewhere[service, default: [:]].merge(outcomes) { $0 + $1 }
            }
            guard cells.int(4) == 1 else { return }
            news.others.append(.init(number: cells.int(0), beat: Int64(cells.int(1)), machine: cells.text(2)))
        }
        let start = ContinuousClock.now, here = Timestamp.now()
        try connection.run(
            """
            SELECT first, is_open, cause <> '', next < last OR EXISTS (
                    SELECT 1 FROM volley_returned v WHERE v.run = l.run AND v.first < l.last AND v.last > l.first),
                (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            FROM volley_leg l WHERE run = $1
            """, [.int(run)], within: beating.answerSeconds
        ) { cells in
            let first = cells.int(0)
            if cells.int(1) == 1 { news.openSegments.insert(first) }
            if cells.int(2) == 1 { news.stoppedSegments.insert(first) }
            if cells.int(3) == 1 { news.segmentsWithWork.insert(first) }
            news.clockOffsetSeconds = Double(Int64(cells.int(4)) - here.epochMilliseconds) / 1000
        }
        // The database told its time in between.
        news.clockErrorSeconds = (.now - start) / .seconds(1) / 2
        news.clockOffsetSeconds -= news.clockErrorSeconds
        try compare(&news, connection)
        return news
    }

    /// Compares what the database has with what it had when this worker last read it.
    private func compare(_ news: inout WorkerNews, _ connection: PostgresConnection) throws {
        news.databaseEpoch = try DatabaseEpoch.current(connection)
        news.isCalm = try isCalm(connection)
        var changes = 0
        try connection.run(
            "SELECT changes, witnessed_in = $2 FROM volley_run WHERE number = $1",
            [.int(run), .int(news.databaseEpoch)],
            within: beating.answerSeconds
        ) { (changes, news.isSurvivorConfirmed) = ($0.int(0), $0.int(1) == 1) }
        let rows = try rows(connection)
        let missing = state.withLock { $0.memory.look(at: rows, changes: Int64(changes)) }
        guard missing == 0 else {
            news.missing = Int(missing)
            return try stop(missing: missing, connection)
        }
        let (epoch, isSurvivorConfirmed) = (news.databaseEpoch, news.isSurvivorConfirmed)
        state.withLock { state in
            state.comparedEpoch = epoch
            if isSurvivorConfirmed { state.isSurvivor = true }
        }
        if !isSurvivorConfirmed { try stopUnlessWitnessed(connection) }
    }

    /// Lets all workers send a segment: its canary was judged. For the coordinator alone.
    /// - Throws: `SendingRevoked` if another worker is the coordinator by now, or this one was
    ///   declared dead; `Diagnostic`.
    package func open(_ segment: RunSegment) throws {
        guard let me = state.withLock({ $0.sender }) else { throw SendingRevoked(isCancelled: false) }
        try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                try passFence(me, connection)
                guard try row(connection, locking: true).coordinator == me else {
                    throw SendingRevoked(isCancelled: false)
                }
                try connection.run(
                    "UPDATE volley_leg SET is_open = true WHERE run = $1 AND first <= $2 AND last > $2",
                    [.int(run), .int(segment.ids.lowerBound)], within: asking.answerSeconds)
                try connection.run(
                    "UPDATE volley_run SET changes = changes + 1 WHERE number = $1", [.int(run)],
                    within: asking.answerSeconds)
            }
        }
    }
}

/// A member's answers by service and outcome, as JSON.
enum Tallies {
    static func text(_ answers: [Int: [Outcome: Int]]) -> String {
        let services = answers.sorted { $0.key < $1.key }.map { service, outcomes in
            (
                "\(service)",
                JSONValue.object(
                    pairs: outcomes.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                        ($0.key.name, .integer(Int64($0.value)))
                    })
            )
        }
        return JSONValue.object(pairs: services).text
    }

    static func read(_ text: String) -> [Int: [Outcome: Int]] {
        guard case .object(let services)? = JSONValue(stored: text) else { return [:] }
        var answers: [Int: [Outcome: Int]] = [:]
        for service in services {
            guard let number = Int(service.name), case .object(let outcomes) = service.value else { continue }
            for outcome in Outcome.allCases {
                guard let count = outcomes.first(where: { $0.name == outcome.name })?.value.integerValue else {
                    continue
                }
                answers[number, default: [:]][outcome] = Int(count)
            }
        }
        return answers
    }
}
