import Base
import Postgres
import Runs
import Synchronization

/// The journal: what this worker appends, and what the replica takes over.
extension SharedLedger {
    /// What must hold for a worker to write.
    enum Fence {
        /// It is not declared dead, and neither it nor the database lacks anything that the other
        /// has.
        case isAlive
        /// Also, the run is being sent in its epoch, and the recovery barrier is open.
        case isSending
        /// Also, the recipients are in a leased range that is still its own.
        case hasLease

        /// As the statements have it, with `r` the run, `s` the worker, `$8` its epoch of the run,
        /// and `$4` and `$5` the bounds of the recipients.
        var condition: String {
            switch self {
            // Of a run that was stopped because something is missing, or cancelled before that was
            // found, what can be recorded is.
            case .isAlive:
                "$8::text IS NOT NULL AND (r.state IN ('stopped', 'cancelled') OR \(DatabaseEpoch.hasConfirmed))"
            case .isSending: "r.life = $8 AND r.state IN ('running', 'paused') AND \(DatabaseEpoch.isCalm)"
            case .hasLease:
                """
                \(Self.isSending.condition) AND EXISTS (SELECT 1 FROM volley_lease v
                    WHERE v.run = r.number AND v.sender = s.number AND v.first <= $4 AND v.last >= $5)
                """
            }
        }
    }

    /// Why an entry was not written.
    private enum Refusal {
        case isOver(SendingRevoked)
        /// It may be written soon: the database has come up again, and not all workers have
        /// confirmed.
        case waits
    }

    /// How long a worker waits before it tries again while the recovery barrier is closed;
    /// milliseconds.
    static let recoveryBarrierMilliseconds = 300

    /// Writes an entry that allows no pushes into the journal.
    func write(_ entry: RunEntry, at now: Timestamp) throws {
        try write(JournalEntry(entry, at: now), through: recording, .isAlive)
    }

    /// Writes an entry into the journal. It is in the database when this returns.
    /// - Throws: `SendingRevoked` when this worker may not; `Diagnostic`.
    func write(_ entry: JournalEntry, through writer: JournalWriter, _ fence: Fence) throws {
        let (sender, epoch) = state.withLock { ($0.sender, $0.epoch) }
        guard let me = sender else { throw SendingRevoked(isCancelled: false) }
        let writing = PendingEntry(entry: entry, sender: me, writer: writer.place, epoch: epoch ?? "", fence: fence)
        let start = store.retryDeadline.seconds
        while true {
            let isThere = try StoreError.explaining {
                try writer.append(until: { state.withLock { $0.isFenced } }) { connection, number in
                    try write(writing, as: number, connection)
                }
            }
            if isThere { return }
            if case .isOver(let end) = try refusal(fence, entry.ids) { throw end }
            if store.retryDeadline.isSpent(since: start) { throw SendingRevoked(isCancelled: false) }
            // A process that is about to take part has no thread yet that beats for it: unless it
            // confirmed by itself that nothing of its own is missing, it would wait for itself
            // until the others declare it dead.
            if !state.withLock({ $0.isBeating }) { _ = try? beat(answers: [:], wants: false) }
            store.retryDeadline.pause(milliseconds: Self.recoveryBarrierMilliseconds)
        }
    }

    /// An entry on its way into the journal.
    private struct PendingEntry {
        var entry: JournalEntry
        var sender: Int, writer: Int
        /// Of the run, in which this worker takes part.
        var epoch: String
        var fence: Fence
    }

    /// An entry follows the one before it: where the database has forgotten that one, the next
    /// would hide the gap from a comparison of last numbers, as the answer about the former may
    /// come after the worker has compared. Of a run that says so already, what can be recorded is.
    private static let followsFormer = """
        (r.state IN ('stopped', 'cancelled') AND \(StoredCause.isForgotten) OR $2 = 1 OR EXISTS (
            SELECT 1 FROM volley_journal f WHERE f.run = r.number AND f.sender = $1 AND f.lane = $9 AND f.number = $2 - 1))
        """

    private func write(_ writing: PendingEntry, as number: Int, _ connection: PostgresConnection) throws
        -> JournalWriter.WriteResult
    {
        let entry = writing.entry
        let values: [PostgresValue] = [
            .int(writing.sender), .int(number), .int(entry.kind.rawValue), .int(entry.ids.lowerBound),
            .int(entry.ids.upperBound),
            .int(Int(entry.at.epochMilliseconds)), .bytes(entry.data), .text(writing.epoch), .int(writing.writer),
        ]
        var isThere = false
        do {
            try connection.run(
                """
                WITH fence AS (
                    SELECT s.run FROM volley_sender s JOIN volley_run r ON r.number = s.run
                    WHERE s.number = $1 AND s.dead_at IS NULL AND \(writing.fence.condition) AND \(Self.followsFormer)
                    FOR SHARE OF s)
                INSERT INTO volley_journal (run, sender, lane, number, kind, first, last, at, data)
                SELECT run, $1, $9, $2, $3, $4, $5, $6, $7 FROM fence ON CONFLICT (run, sender, lane, number) DO NOTHING RETURNING 1
                """, values, isKept: true, within: asking.answerSeconds
            ) { _ in isThere = true }
        } catch let error as PostgresError where error.sqlState == "23P01" {
            throw StoreRefusal.claimedAlready(entry.ids)
        }
        return isThere ? .isThere : try earlier(writing, as: number, connection)
    }

    /// Whether an earlier try arrived without an answer, of this entry or of another one that was
    /// given up.
    private func earlier(_ writing: PendingEntry, as number: Int, _ connection: PostgresConnection) throws
        -> JournalWriter.WriteResult
    {
        var found = JournalWriter.WriteResult.isMissing
        let entry = writing.entry
        try connection.run(
            "SELECT kind, first, last, data FROM volley_journal WHERE run = $1 AND sender = $2 AND lane = $3 AND number = $4",
            [.int(run), .int(writing.sender), .int(writing.writer), .int(number)], within: asking.answerSeconds
        ) { cells in
            let isSame =
                cells.int(0) == entry.kind.rawValue && cells.int(1) == entry.ids.lowerBound
                && cells.int(2) == entry.ids.upperBound
            found = isSame && cells.bytes(3).elementsEqual(entry.data) ? .isThere : .isAnother
        }
        return found
    }

    /// Why this worker may not write.
    /// - Parameter ids: what the entry is about.
    private func refusal(_ fence: Fence, _ ids: Range<Int>) throws -> Refusal {
        let row = try ask { try self.row($0) }, isDead = try ask { try self.isDead($0) }
        if isDead {
            state.withLock { $0.isFenced = true }
            return .isOver(SendingRevoked(isCancelled: false))
        }
        guard fence != .isAlive else { return .waits }
        let epoch = state.withLock { $0.epoch }
        if row.state == .cancelled { return .isOver(SendingRevoked(isCancelled: true)) }
        if row.epoch != epoch ?? "" || ![.running, .paused].contains(row.state) {
            return .isOver(SendingRevoked(isCancelled: false))
        }
        // Whether the recovery barrier is closed says nothing: it may have ended since the entry
        // was refused for it.
        return try fence != .hasLease || hasLease(ids) ? .waits : .isOver(SendingRevoked(isCancelled: false))
    }

    /// Whether recipients are in a leased range that is still this worker's own.
    private func hasLease(_ ids: Range<Int>) throws -> Bool {
        guard let me = state.withLock({ $0.sender }) else { return false }
        var hasLease = false
        try ask { connection in
            try connection.run(
                "SELECT 1 FROM volley_lease WHERE run = $1 AND sender = $2 AND first <= $3 AND last >= $4",
                [.int(run), .int(me), .int(ids.lowerBound), .int(ids.upperBound)], within: asking.answerSeconds
            ) { _ in hasLease = true }
        }
        return hasLease
    }

    /// Whether the database has forgotten nothing, as far as a survivor and all workers have
    /// looked.
    func isCalm(_ connection: PostgresConnection) throws -> Bool {
        var isCalm = false
        try connection.run(
            "SELECT \(DatabaseEpoch.isCalm) FROM volley_run r WHERE r.number = $1", [.int(run)],
            within: asking.answerSeconds
        ) { isCalm = $0.int(0) == 1 }
        return isCalm
    }

    private func isDead(_ connection: PostgresConnection) throws -> Bool {
        guard let me = state.withLock({ $0.sender }) else { return true }
        var isAlive = false
        try connection.run(
            "SELECT 1 FROM volley_sender WHERE number = $1 AND dead_at IS NULL", [.int(me)],
            within: asking.answerSeconds
        ) { _ in isAlive = true }
        return !isAlive
    }

    // MARK: - The replica

    /// Whether the database may have forgotten claims whose outcomes it got afterwards.
    func hasForgotten(_ connection: PostgresConnection) throws -> Bool {
        var isSame = false
        try connection.run(
            "SELECT published_in = (SELECT number FROM \(DatabaseEpoch.present) l) AND taken_home = '' FROM volley_run WHERE number = $1",
            [.int(run)], within: asking.answerSeconds
        ) { isSame = $0.int(0) == 1 }
        return !isSame
    }

    /// Entries of a writer that are taken over at a time.
    private static let pageEntries = 200

    /// Brings the replica up to what is in the store now.
    /// - Parameter progress: called with the outcomes that were taken over so far.
    func refresh(progress: (Int) -> Void = { _ in }) throws {
        try refreshing.withLock { _ in
            var outcomes = 0
            while try refreshPage(&outcomes) { progress(outcomes) }
            if outcomes > 0 { progress(outcomes) }
        }
    }

    /// An entry as the replica takes it.
    private struct Fetched {
        var writer: FetchMark.Key
        var number: Int, sequence: Int
        var entry: RunEntry
    }

    /// - Returns: whether there is more.
    private func refreshPage(_ outcomes: inout Int) throws -> Bool {
        let marks = try replica.fetchMarks()
        var page = try ask { try fetch(after: marks, $0) }
        var counts: [FetchMark.Key: (count: Int, last: Int)] = [:]
        for fetched in page {
            counts[fetched.writer] = (counts[fetched.writer, default: (0, 0)].count + 1, fetched.sequence)
        }
        // Beyond the last entry of a writer that has more, entries of other writers may refer to
        // what is still missing.
        let end = counts.values.filter { $0.count == Self.pageEntries }.map(\.last).min()
        if let end { page.removeAll { $0.sequence > end } }
        guard !page.isEmpty else { return false }
        let taken = try lastNumbers(page, after: marks)
        try apply(
            page.map(\.entry), taken.map { FetchMark(sender: $0.key.sender, writer: $0.key.writer, number: $0.value) })
        for case .settled(let parts) in page.map(\.entry) { outcomes += parts.reduce(0) { $0 + $1.count } }
        return end != nil
    }

    /// The last number of each writer in a page. Each writer counts from 1, and leaves no number
    /// out.
    /// - Throws: `Diagnostic` if an entry is missing although the database has forgotten nothing:
    ///   its row was lost, or is damaged.
    private func lastNumbers(_ page: [Fetched], after marks: [FetchMark]) throws -> [FetchMark.Key: Int] {
        let before = Dictionary(marks.map { (FetchMark.Key(sender: $0.sender, writer: $0.writer), $0.number) }) {
            max($0, $1)
        }
        var taken: [FetchMark.Key: Int] = [:]
        for fetched in page {
            let next = (taken[fetched.writer] ?? before[fetched.writer] ?? 0) + 1
            if fetched.number != next, try !ask({ try hasForgotten($0) || row($0).forgetting != nil }) {
                throw Self.unreadable(next, of: fetched.writer)
            }
            taken[fetched.writer] = fetched.number
        }
        return taken
    }

    private static func unreadable(_ number: Int, of writer: FetchMark.Key) -> Diagnostic {
        StoreError.damaged("entry \(number) of member \(writer.sender) in the run's journal")
    }

    /// Makes sure that each entry belongs to a worker of the run: `refresh` reads no other.
    func checkWorkersOfJournal() throws {
        var stray: Int?
        try ask { connection in
            try connection.run(
                """
                SELECT j.number FROM volley_journal j WHERE j.run = $1 AND (j.lane NOT IN (0, 1)
                    OR NOT EXISTS (SELECT 1 FROM volley_sender s WHERE s.run = j.run AND s.number = j.sender)) LIMIT 1
                """, [.int(run)], within: 60
            ) { stray = $0.int(0) }
        }
        if let stray { throw StoreError.damaged("the member of entry \(stray) in the run's journal") }
    }

    private func apply(_ entries: [RunEntry], _ marks: [FetchMark]) throws {
        do { try replica.apply(entries, marks: marks) } catch {
            guard try ask({ try hasForgotten($0) }) else { throw error }
            try replica.apply(entries, marks: marks, hasForgotten: true)
        }
    }

    /// The next entries of each writer, in the order of the journal.
    private func fetch(after marks: [FetchMark], _ connection: PostgresConnection) throws -> [Fetched] {
        var page: [Fetched] = []
        try connection.run(
            """
            SELECT j.sender, j.lane, j.number, j.seq, j.kind, j.first, j.last, j.at, j.data
            FROM volley_sender s CROSS JOIN (VALUES (0::smallint), (1::smallint)) l (lane)
            LEFT JOIN unnest($2::bigint[], $3::bigint[], $4::bigint[]) m (sender, lane, number) ON m.sender = s.number AND m.lane = l.lane
            CROSS JOIN LATERAL (
                SELECT * FROM volley_journal v
                WHERE v.run = $1 AND v.sender = s.number AND v.lane = l.lane AND v.number > coalesce(m.number, -1)
                ORDER BY v.number LIMIT \(Self.pageEntries)) j
            WHERE s.run = $1 ORDER BY j.seq
            """,
            [.int(run), .ints(marks.map(\.sender)), .ints(marks.map(\.writer)), .ints(marks.map(\.number))], within: 60
        ) { cells in
            let writer = FetchMark.Key(sender: cells.int(0), writer: cells.int(1))
            guard let kind = JournalEntry.Kind(rawValue: cells.int(4)),
                let entry = JournalEntry(
                    kind: kind, ids: try cells.ids(5, 6),
                    at: Timestamp(epochMilliseconds: Int64(cells.int(7))), data: Array(cells.bytes(8))
                ).fetched(sequence: cells.int(3))
            else { throw Self.unreadable(cells.int(2), of: writer) }
            page.append(Fetched(writer: writer, number: cells.int(2), sequence: cells.int(3), entry: entry))
        }
        return page
    }
}

extension FetchMark {
    fileprivate struct Key: Hashable {
        var sender: Int, writer: Int
    }
}
