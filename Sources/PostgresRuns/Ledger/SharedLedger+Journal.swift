import Base
import Postgres
import Runs
import Synchronization

/// The journal: what this member appends, and what the replica takes over.
extension SharedLedger {
    /// What must hold for a member to write.
    enum Fence {
        /// It is not declared dead, and has forgotten nothing that the database knows, nor the other way round.
        case isAlive
        /// Besides, the run goes on in its life, and no roll is called.
        case isSending
        /// Besides, the recipients are in a stretch that is still its own.
        case hasLease

        /// As the statements have it, with `r` the run, `s` the member, `$8` its life of the run, and `$4` and `$5` the bounds of the recipients.
        var condition: String {
            switch self {
            // Of a run that was stopped because something is missing, or cancelled before that was found, what can be recorded is.
            case .isAlive: "$8::text IS NOT NULL AND (r.state IN ('stopped', 'cancelled') OR \(DatabaseLife.hasConfirmed))"
            case .isSending: "r.life = $8 AND r.state IN ('running', 'paused') AND \(DatabaseLife.isCalm)"
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
        case isOver(NotSending)
        /// It may be written soon: the database has come up again, and not all members have confirmed.
        case waits
    }

    /// How long a member waits before it tries again while the roll is called; milliseconds.
    static let rollCallMilliseconds = 300

    /// Writes an entry that allows no pushes into the journal.
    func write(_ entry: RunEntry, at now: Timestamp) throws { try write(JournalEntry(entry, at: now), through: recording, .isAlive) }

    /// Writes an entry into the journal. It is in the database when this returns.
    /// - Throws: `NotSending` when this member may not; `Diagnostic`.
    func write(_ entry: JournalEntry, through lane: JournalLane, _ fence: Fence) throws {
        let (sender, life) = state.withLock { ($0.sender, $0.life) }
        guard let me = sender else { throw NotSending(isCancelled: false) }
        let writing = Writing(entry: entry, sender: me, lane: lane.place, life: life ?? "", fence: fence)
        let start = store.patience.seconds
        while true {
            let isThere = try StoreError.explaining {
                try lane.append(until: { state.withLock { $0.isFenced } }) { connection, number in
                    try write(writing, as: number, connection)
                }
            }
            if isThere { return }
            if case .isOver(let end) = try refusal(fence, entry.ids) { throw end }
            if store.patience.isSpent(since: start) { throw NotSending(isCancelled: false) }
            // A process that is about to take part has no thread yet that beats for it: unless it confirmed by itself that nothing of its own is missing, it would wait
            // for itself until the others declare it dead.
            if !state.withLock({ $0.isBeating }) { _ = try? beat(answers: [:], wants: false) }
            store.patience.pause(milliseconds: Self.rollCallMilliseconds)
        }
    }

    /// An entry on its way into the journal.
    private struct Writing {
        var entry: JournalEntry
        var sender: Int, lane: Int
        /// Of the run, in which this member takes part.
        var life: String
        var fence: Fence
    }

    /// An entry follows the one before it: where the database has forgotten that one, the next would hide the gap from a comparison of last numbers, as
    /// the answer about the former may come after the member has compared. Of a run that says so already, what can be recorded is.
    private static let followsFormer = """
        (r.state IN ('stopped', 'cancelled') AND \(StoredCause.isForgotten) OR $2 = 1 OR EXISTS (
            SELECT 1 FROM volley_journal f WHERE f.run = r.number AND f.sender = $1 AND f.lane = $9 AND f.number = $2 - 1))
        """

    private func write(_ writing: Writing, as number: Int, _ connection: PostgresConnection) throws -> JournalLane.Written {
        let entry = writing.entry
        let values: [PostgresValue] = [
            .int(writing.sender), .int(number), .int(entry.kind.rawValue), .int(entry.ids.lowerBound), .int(entry.ids.upperBound),
            .int(Int(entry.at.epochMilliseconds)), .bytes(entry.data), .text(writing.life), .int(writing.lane),
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

    /// Whether an earlier try arrived without an answer, of this entry or of another one that was given up.
    private func earlier(_ writing: Writing, as number: Int, _ connection: PostgresConnection) throws -> JournalLane.Written {
        var found = JournalLane.Written.isMissing
        let entry = writing.entry
        try connection.run(
            "SELECT kind, first, last, data FROM volley_journal WHERE run = $1 AND sender = $2 AND lane = $3 AND number = $4",
            [.int(run), .int(writing.sender), .int(writing.lane), .int(number)], within: asking.answerSeconds
        ) { cells in
            let isSame = cells.int(0) == entry.kind.rawValue && cells.int(1) == entry.ids.lowerBound && cells.int(2) == entry.ids.upperBound
            found = isSame && cells.bytes(3).elementsEqual(entry.data) ? .isThere : .isAnother
        }
        return found
    }

    /// Why this member may not write.
    /// - Parameter ids: what the entry is about.
    private func refusal(_ fence: Fence, _ ids: Range<Int>) throws -> Refusal {
        let row = try ask { try self.row($0) }, isDead = try ask { try self.isDead($0) }
        if isDead {
            state.withLock { $0.isFenced = true }
            return .isOver(NotSending(isCancelled: false))
        }
        guard fence != .isAlive else { return .waits }
        let life = state.withLock { $0.life }
        if row.state == .cancelled { return .isOver(NotSending(isCancelled: true)) }
        if row.life != life ?? "" || ![.running, .paused].contains(row.state) { return .isOver(NotSending(isCancelled: false)) }
        // Whether the roll is called says nothing: it may have ended since the entry was refused for it.
        return try fence != .hasLease || hasLease(ids) ? .waits : .isOver(NotSending(isCancelled: false))
    }

    /// Whether recipients are in a stretch that is still this member's own.
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

    /// Whether the database has forgotten nothing, as far as a witness and all members have looked.
    func isCalm(_ connection: PostgresConnection) throws -> Bool {
        var isCalm = false
        try connection.run(
            "SELECT \(DatabaseLife.isCalm) FROM volley_run r WHERE r.number = $1", [.int(run)], within: asking.answerSeconds
        ) { isCalm = $0.int(0) == 1 }
        return isCalm
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

    /// Whether the database may have forgotten claims whose outcomes it got afterwards.
    func hasForgotten(_ connection: PostgresConnection) throws -> Bool {
        var isSame = false
        try connection.run(
            "SELECT published_in = (SELECT number FROM \(DatabaseLife.present) l) AND taken_home = '' FROM volley_run WHERE number = $1",
            [.int(run)], within: asking.answerSeconds
        ) { isSame = $0.int(0) == 1 }
        return !isSame
    }

    /// Entries of a lane that are taken over at a time.
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
        var lane: FetchMark.Key
        var number: Int, sequence: Int
        var entry: RunEntry
    }

    /// - Returns: whether there is more.
    private func refreshPage(_ outcomes: inout Int) throws -> Bool {
        let marks = try replica.fetchMarks()
        var page = try ask { try fetch(after: marks, $0) }
        var counts: [FetchMark.Key: (count: Int, last: Int)] = [:]
        for fetched in page { counts[fetched.lane] = (counts[fetched.lane, default: (0, 0)].count + 1, fetched.sequence) }
        // Beyond the last entry of a lane that has more, entries of other lanes may refer to what is still missing.
        let end = counts.values.filter { $0.count == Self.pageEntries }.map(\.last).min()
        if let end { page.removeAll { $0.sequence > end } }
        guard !page.isEmpty else { return false }
        let taken = try lastNumbers(page, after: marks)
        try apply(page.map(\.entry), taken.map { FetchMark(sender: $0.key.sender, lane: $0.key.lane, number: $0.value) })
        for case .settled(let parts) in page.map(\.entry) { outcomes += parts.reduce(0) { $0 + $1.count } }
        return end != nil
    }

    /// The last number of each lane in a page. Each lane counts from 1, and leaves no number out.
    /// - Throws: `Diagnostic` if an entry is missing although the database has forgotten nothing: its row was lost, or is damaged.
    private func lastNumbers(_ page: [Fetched], after marks: [FetchMark]) throws -> [FetchMark.Key: Int] {
        let before = Dictionary(marks.map { (FetchMark.Key(sender: $0.sender, lane: $0.lane), $0.number) }) { max($0, $1) }
        var taken: [FetchMark.Key: Int] = [:]
        for fetched in page {
            let next = (taken[fetched.lane] ?? before[fetched.lane] ?? 0) + 1
            if fetched.number != next, try !ask({ try hasForgotten($0) || row($0).forgetting != nil }) {
                throw Self.unreadable(next, of: fetched.lane)
            }
            taken[fetched.lane] = fetched.number
        }
        return taken
    }

    private static func unreadable(_ number: Int, of lane: FetchMark.Key) -> Diagnostic {
        StoreError.damaged("entry \(number) of member \(lane.sender) in the run's journal")
    }

    /// Makes sure that each entry belongs to a member of the run: `refresh` reads no other.
    func checkMembersOfJournal() throws {
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

    /// The next entries of each lane, in the order of the journal.
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
            [.int(run), .ints(marks.map(\.sender)), .ints(marks.map(\.lane)), .ints(marks.map(\.number))], within: 60
        ) { cells in
            let lane = FetchMark.Key(sender: cells.int(0), lane: cells.int(1))
            guard let kind = JournalEntry.Kind(rawValue: cells.int(4)),
                let entry = JournalEntry(
                    kind: kind, ids: try cells.ids(5, 6),
                    at: Timestamp(epochMilliseconds: Int64(cells.int(7))), data: Array(cells.bytes(8))
                ).fetched(sequence: cells.int(3))
            else { throw Self.unreadable(cells.int(2), of: lane) }
            page.append(Fetched(lane: lane, number: cells.int(2), sequence: cells.int(3), entry: entry))
        }
        return page
    }
}

extension FetchMark {
    fileprivate struct Key: Hashable {
        var sender: Int, lane: Int
    }
}
