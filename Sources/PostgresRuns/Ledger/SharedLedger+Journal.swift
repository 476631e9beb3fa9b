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
            // Of a run that was stopped because something is missing, what can be recorded is.
            case .isAlive: "$8::text IS NOT NULL AND (r.state = 'stopped' OR \(DatabaseLife.hasConfirmed))"
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

    /// Appends an entry, and takes it over into the replica.
    func append(_ entry: FetchedEntry, at now: Timestamp) throws { try append(JournalEntry(entry, at: now), through: recording, .isAlive) }

    /// Appends an entry. It is in the database when this returns.
    /// - Throws: `NotSending` when this member may not; `Diagnostic`.
    func append(_ entry: JournalEntry, through lane: JournalLane, _ fence: Fence) throws {
        let (sender, life) = state.withLock { ($0.sender, $0.life) }
        guard let me = sender else { throw NotSending(isCancelled: false) }
        while true {
            let isThere = try StoreError.explaining {
                try lane.append(until: { state.withLock { $0.isFenced } }) { connection, number in
                    try write(Writing(entry: entry, number: number, sender: me, life: life ?? "", fence: fence), connection)
                }
            }
            if isThere { return }
            if case .isOver(let end) = try refusal(fence, entry.ids) { throw end }
            if store.patience.isOver() { throw NotSending(isCancelled: false) }
            // A process that is about to take part has nobody yet who beats for it: unless it confirmed by itself that nothing of its own is missing, it would wait
            // for itself until the others declare it dead.
            if !state.withLock({ $0.isBeating }) { _ = try? beat(answers: [:], wants: false) }
            store.patience.pause(milliseconds: Self.rollCallMilliseconds)
        }
    }

    /// An entry on its way into the journal.
    private struct Writing {
        var entry: JournalEntry
        var number: Int, sender: Int
        /// Of the run, in which this member takes part.
        var life: String
        var fence: Fence
    }

    private func write(_ writing: Writing, _ connection: PostgresConnection) throws -> Bool {
        let entry = writing.entry, key = [PostgresValue.int(writing.sender), .int(writing.number)]
        var isThere = false
        do {
            try connection.run(
                """
                WITH fence AS (
                    SELECT s.run FROM volley_sender s JOIN volley_run r ON r.number = s.run
                    WHERE s.number = $1 AND s.dead_at IS NULL AND \(writing.fence.condition)
                    FOR SHARE OF s)
                INSERT INTO volley_journal (run, sender, number, kind, first, last, at, data)
                SELECT run, $1, $2, $3, $4, $5, $6, $7 FROM fence ON CONFLICT (run, sender, number) DO NOTHING RETURNING 1
                """,
                key + [
                    .int(entry.kind.rawValue), .int(entry.ids.lowerBound), .int(entry.ids.upperBound),
                    .int(Int(entry.at.epochMilliseconds)), .bytes(entry.data), .text(writing.life),
                ], within: asking.answerSeconds
            ) { _ in isThere = true }
        } catch let error as PostgresError where error.sqlState == "23P01" {
            throw ClaimedAlready(ids: entry.ids)
        }
        if isThere { return true }
        // An earlier try may have arrived without an answer.
        try connection.run(
            "SELECT 1 FROM volley_journal WHERE run = $3 AND sender = $1 AND number = $2", key + [.int(run)],
            within: asking.answerSeconds
        ) { _ in isThere = true }
        return isThere
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

    /// Whether the database has forgotten nothing, as far as all members have looked.
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
    private func hasForgotten(_ connection: PostgresConnection) throws -> Bool {
        var isSame = false
        try connection.run(
            "SELECT published_in = (SELECT number FROM volley_life) FROM volley_run WHERE number = $1", [.int(run)],
            within: asking.answerSeconds
        ) { isSame = $0.int(0) == 1 }
        return !isSame
    }

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
        let taken = next.map { FetchMark(sender: $0.key.sender, lane: $0.key.lane, number: $0.value) }
        do { try replica.apply(entries, marks: taken) } catch {
            guard try ask({ try hasForgotten($0) }) else { throw error }
            try replica.apply(entries, marks: taken, claimingWhoIsSettled: true)
        }
        for case .outcomes(let settlements) in entries { outcomes += settlements.count }
        return count
    }
}

/// Some of these recipients are claimed already: the database holds claims apart.
struct ClaimedAlready: ExplainedError {
    var ids: Range<Int>

    var diagnostics: [Diagnostic] {
        [
            Diagnostic(
                "the account of this run does not add up: some of the recipients \(ids.lowerBound) to \(ids.upperBound - 1) are claimed already",
                remedy: "Nothing more is sent. Please report this.")
        ]
    }
}

extension FetchMark {
    fileprivate struct Key: Hashable {
        var sender: Int, lane: Int
    }
}
