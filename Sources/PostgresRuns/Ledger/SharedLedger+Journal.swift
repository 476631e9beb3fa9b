import Base
import Postgres
import Runs
import Synchronization

/// The journal: what this member appends, and what the replica takes over.
extension SharedLedger {
    /// What a member may write.
    enum Fence {
        /// It is not declared dead.
        case isAlive
        /// The run goes on besides, and in its life.
        case isSending
    }

    /// Appends an entry, and takes it over into the replica.
    func append(_ entry: FetchedEntry, at now: Timestamp) throws { try append(JournalEntry(entry, at: now), through: recording, .isAlive) }

    /// Appends an entry. It is in the database when this returns.
    /// - Throws: `NotSending` when this member may not; `Diagnostic`.
    func append(_ entry: JournalEntry, through lane: JournalLane, _ fence: Fence) throws {
        let (sender, life) = state.withLock { ($0.sender, $0.life) }
        guard let me = sender else { throw NotSending(isCancelled: false) }
        let isThere = try StoreError.explaining {
            try lane.append(until: { state.withLock { $0.isFenced } }) { connection, number in
                try write(entry, number, of: me, fence == .isSending ? life ?? "" : nil, connection)
            }
        }
        if !isThere { throw try refusal() }
    }

    /// - Parameter life: of the run that must go on; nil where that does not matter.
    private func write(_ entry: JournalEntry, _ number: Int, of me: Int, _ life: String?, _ connection: PostgresConnection) throws -> Bool {
        var isThere = false
        do {
            try connection.run(
                """
                WITH fence AS (
                    SELECT s.run FROM volley_sender s JOIN volley_run r ON r.number = s.run
                    WHERE s.number = $1 AND s.dead_at IS NULL AND ($8::text IS NULL OR r.life = $8 AND r.state IN ('running', 'paused'))
                    FOR SHARE OF s)
                INSERT INTO volley_journal (run, sender, number, kind, first, last, at, data)
                SELECT run, $1, $2, $3, $4, $5, $6, $7 FROM fence ON CONFLICT (run, sender, number) DO NOTHING RETURNING 1
                """,
                [
                    .int(me), .int(number), .int(entry.kind.rawValue), .int(entry.ids.lowerBound), .int(entry.ids.upperBound),
                    .int(Int(entry.at.epochMilliseconds)), .bytes(entry.data), life.map { .text($0) } ?? .null,
                ], within: asking.answerSeconds
            ) { _ in isThere = true }
        } catch let error as PostgresError where error.sqlState == "23P01" {
            throw broken("some of the recipients \(entry.ids.lowerBound) to \(entry.ids.upperBound - 1) are claimed already")
        }
        if isThere { return true }
        // An earlier try may have arrived without an answer.
        try connection.run(
            "SELECT 1 FROM volley_journal WHERE run = $1 AND sender = $2 AND number = $3", [.int(run), .int(me), .int(number)],
            within: asking.answerSeconds
        ) { _ in isThere = true }
        return isThere
    }

    /// Why this member may not write.
    private func refusal() throws -> any Error {
        let row = try ask { try self.row($0) }, isDead = try ask { try self.isDead($0) }
        if isDead { state.withLock { $0.isFenced = true } }
        return NotSending(isCancelled: row.state == .cancelled && !isDead)
    }

    private func isDead(_ connection: PostgresConnection) throws -> Bool {
        guard let me = state.withLock({ $0.sender }) else { return true }
        var isAlive = false
        try connection.run(
            "SELECT 1 FROM volley_sender WHERE number = $1 AND dead_at IS NULL", [.int(me)], within: asking.answerSeconds
        ) { _ in isAlive = true }
        return !isAlive
    }

    // MARK: - The replica

    /// Entries that are taken over at a time.
    private static let pageEntries = 1000

    /// Brings the replica up to what is in the store now.
    /// - Parameter progress: called with the outcomes that were taken over so far.
    func refresh(progress: (Int) -> Void = { _ in }) throws {
        try refreshing.withLock { _ in
            var outcomes = 0
            while try refreshPage(&outcomes) == Self.pageEntries { progress(outcomes) }
            if outcomes > 0 { progress(outcomes) }
        }
    }

    private func refreshPage(_ outcomes: inout Int) throws -> Int {
        let marks = try replica.fetchMarks()
        var entries: [FetchedEntry] = [], next: [FetchMark.Key: Int] = [:], count = 0
        try ask { connection in
            (entries, next, count) = ([], [:], 0)
            try connection.run(
                """
                SELECT j.sender, j.number, j.seq, j.kind, j.first, j.last, j.at, j.data
                FROM volley_sender s CROSS JOIN (VALUES (0), (1)) l (lane)
                LEFT JOIN unnest($2::bigint[], $3::bigint[], $4::bigint[]) m (sender, lane, number) ON m.sender = s.number AND m.lane = l.lane
                JOIN volley_journal j ON j.run = $1 AND j.sender = s.number AND j.number > coalesce(m.number, -1) AND j.number % 2 = l.lane
                WHERE s.run = $1 ORDER BY j.seq LIMIT \(Self.pageEntries)
                """,
                [.int(run), .ints(marks.map(\.sender)), .ints(marks.map(\.lane)), .ints(marks.map(\.number))], within: 60
            ) { cells in
                let (sender, number) = (cells.int(0), cells.int(1))
                guard let kind = JournalEntry.Kind(rawValue: cells.int(3)),
                    let entry = JournalEntry(
                        kind: kind, ids: cells.int(4)..<max(cells.int(4), cells.int(5)),
                        at: Timestamp(epochMilliseconds: Int64(cells.int(6))), data: Array(cells.bytes(7))
                    ).fetched(sequence: cells.int(2))
                else { throw broken("entry \(number) of member \(sender) cannot be read") }
                entries.append(entry)
                next[FetchMark.Key(sender: sender, lane: number % JournalLane.count)] = number
                count += 1
            }
        }
        guard count > 0 else { return 0 }
        try replica.apply(entries, marks: next.map { FetchMark(sender: $0.key.sender, lane: $0.key.lane, number: $0.value) })
        for case .outcomes(let settlements) in entries { outcomes += settlements.count }
        return count
    }
}

extension FetchMark {
    fileprivate struct Key: Hashable {
        var sender: Int, lane: Int
    }
}
