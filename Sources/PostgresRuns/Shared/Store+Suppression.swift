import Base
import Postgres
package import Runs

/// Suppression lists of several machines. Each machine has its own file, which planning reads; here they meet: changes
/// of a list have numbers, and a machine takes those that it has not seen.
///
/// Of a token the newest known `invalid_since` counts. A removal wins over every entry that it could have been about,
/// and an entry that was made after the removal over the removal.
extension Store {
    /// How long a statement about a few thousand entries may take; seconds.
    private static let listSeconds = 60.0
    /// Entries that go or come at a time.
    private static let entriesAtATime = 5000

    /// Sends what a list has that the store does not, and takes what the store has that the list does not. What was
    /// done when it fails stays done, and is harmless when it is done again.
    /// - Returns: how many entries and removals went, and how many came, the own ones among them.
    /// - Throws: `Diagnostic`: the store cannot be queried, or the list's file cannot be used.
    @discardableResult
    package func exchange(_ list: SuppressionList) throws -> (sent: Int, taken: Int) {
        try StoreError.explaining {
            try looking.once { connection in
                let known = try list.sharing()
                var shared = try find(list, connection)
                // A list that was never written to stays without a row.
                if shared == nil, known == nil, try list.count() == 0 { return (0, 0) }
                if shared == nil { shared = try make(list, connection) }
                guard let shared else { throw Diagnostic("the list of \(list.app) cannot be made in the store") }
                var taken = known?.taken ?? 0
                if known?.id != shared.id || taken > shared.number {
                    try list.beginSharing(as: shared.id)
                    taken = 0
                }
                return (try send(list, connection), try take(list, after: taken, connection))
            }
        }
    }

    private func find(_ list: SuppressionList, _ connection: PostgresConnection) throws -> (id: String, number: Int)? {
        var found: (id: String, number: Int)?
        try connection.run(
            "SELECT id, number FROM volley_list WHERE app = $1 AND list = $2", [.text(list.app), .text(list.environment)],
            within: Self.listSeconds
        ) { found = ($0.text(0), $0.int(1)) }
        return found
    }

    /// Another machine may do the same at the same moment.
    private func make(_ list: SuppressionList, _ connection: PostgresConnection) throws -> (id: String, number: Int)? {
        let seed = RunSeed.random()
        try connection.run(
            "INSERT INTO volley_list (app, list, id, number) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING",
            [.text(list.app), .text(list.environment), .text(String(seed.high, radix: 16) + String(seed.low, radix: 16))],
            within: Self.listSeconds)
        return try find(list, connection)
    }

    // MARK: - There

    private func send(_ list: SuppressionList, _ connection: PostgresConnection) throws -> Int {
        var sent = 0
        while true {
            let entries = try list.unsent(atMost: Self.entriesAtATime)
            if entries.isEmpty { return sent }
            try connection.transaction(within: Self.listSeconds) { try write(entries, of: list, connection) }
            try list.noteSent(entries)
            sent += entries.count
        }
    }

    /// Writers of a list take turns by its row, so that its changes are committed in the order of their numbers: a
    /// machine that has taken changes up to one misses none before it. What loses against what is there also gets the
    /// new number, so that it is taken by the machine that sent the loser.
    private func write(_ entries: [SuppressionList.SharedEntry], of list: SuppressionList, _ connection: PostgresConnection) throws {
        var number = 0
        let name: [PostgresValue] = [.text(list.app), .text(list.environment)]
        try connection.run(
            "UPDATE volley_list SET number = number + 1 WHERE app = $1 AND list = $2 RETURNING number", name, within: Self.listSeconds
        ) { number = $0.int(0) }
        try connection.run(
            """
            INSERT INTO volley_suppressed AS old (app, list, token, reason, invalid_since, run, changed_at, is_removed, number)
            SELECT $1, $2, t, r, s, u, c, x, $3 FROM json_to_recordset($4::json) AS new (t text, r text, s bigint, u text, c bigint, x boolean)
            ON CONFLICT (app, list, token) DO UPDATE SET
                (reason, invalid_since, run, is_removed) = (
                    SELECT reason, invalid_since, run, is_removed FROM (VALUES
                        (true, excluded.reason, excluded.invalid_since, excluded.run, excluded.is_removed),
                        (false, old.reason, old.invalid_since, old.run, old.is_removed)) AS w (is_new, reason, invalid_since, run, is_removed)
                    WHERE is_new = CASE
                        WHEN excluded.is_removed THEN excluded.changed_at >= old.changed_at
                        WHEN old.is_removed THEN excluded.changed_at > old.changed_at
                        ELSE excluded.invalid_since > old.invalid_since END),
                changed_at = greatest(old.changed_at, excluded.changed_at), number = excluded.number
            """, name + [.int(number), .text(JSONValue.array(entries.map(\.json)).text)], within: Self.listSeconds)
    }

    // MARK: - Back

    private func take(_ list: SuppressionList, after taken: Int, _ connection: PostgresConnection) throws -> Int {
        guard let newest = try find(list, connection)?.number, newest > taken else { return 0 }
        var last = (number: taken + 1, token: ""), count = 0
        while true {
            var entries: [SuppressionList.SharedEntry] = []
            try connection.run(
                """
                SELECT token, reason, invalid_since, run, changed_at, is_removed, number FROM volley_suppressed
                WHERE app = $1 AND list = $2 AND (number, token) > ($3, $4) AND number <= $5 ORDER BY number, token LIMIT $6
                """,
                [
                    .text(list.app), .text(list.environment), .int(last.number), .text(last.token), .int(newest), .int(Self.entriesAtATime),
                ], within: Self.listSeconds
            ) { cells in
                entries.append(
                    .init(
                        token: cells.text(0), reason: cells.text(1), invalidSince: cells.int(2), run: cells.text(3),
                        changedAt: cells.int(4),
                        isRemoved: cells.int(5) == 1))
                last = (cells.int(6), cells.text(0))
            }
            if entries.isEmpty { break }
            try list.take(entries)
            count += entries.count
        }
        try list.note(taken: newest)
        return count
    }
}

extension SuppressionList.SharedEntry {
    /// As `json_to_recordset` reads it.
    fileprivate var json: JSONValue {
        .object(pairs: [
            ("t", .string(token)), ("r", .string(reason)), ("s", .integer(Int64(invalidSince))), ("u", .string(run)),
            ("c", .integer(Int64(changedAt))), ("x", .bool(isRemoved)),
        ])
    }
}
