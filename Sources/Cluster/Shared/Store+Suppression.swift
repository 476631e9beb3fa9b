package import Base
import Postgres
package import Runs

/// Suppression lists of several machines. Each machine has its own file, which planning reads; here
/// they meet: changes of a list have numbers, and a machine takes those that it has not seen.
///
/// Of a token the newest known `invalid_since` counts. A removal wins over every entry that it
/// could have been about, and an entry that was made after the removal over the removal.
extension Store {
    /// How long a statement about a few thousand entries may take; seconds.
    private static let listSeconds = 60.0
    /// Entries that go or come at a time.
    private static let entriesAtATime = 5000

    /// Sends what a list has that the store does not, and takes what the store has that the list
    /// does not. What was done when it fails stays done, and is harmless when it is done again.
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
            "SELECT id, number FROM volley_list WHERE app = $1 AND list = $2",
            [.text(list.app), .text(list.environment)],
            within: Self.listSeconds
        ) { found = ($0.text(0), $0.int(1)) }
        return found
    }

    /// Another machine may do the same at the same moment.
    private func make(_ list: SuppressionList, _ connection: PostgresConnection) throws -> (id: String, number: Int)? {
        let seed = RunSeed.random()
        try connection.run(
            "INSERT INTO volley_list (app, list, id, number) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING",
            [
                .text(list.app), .text(list.environment),
                .text(String(seed.high, radix: 16) + String(seed.low, radix: 16)),
            ],
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

    /// Writers of a list take turns by its row, so that its changes are committed in the order of
    /// their numbers: a machine that has taken changes up to one misses none before it. What loses
    /// against what is there also gets the new number, so that it is taken by the machine that sent
    /// the loser.
    private func write(
        _ entries: [SuppressionList.SharedEntry], of list: SuppressionList, _ connection: PostgresConnection
    ) throws {
        var number = 0
        let name: [PostgresValue] = [.text(list.app), .text(list.environment)]
        try connection.run(
            "UPDATE volley_list SET number = number + 1 WHERE app = $1 AND list = $2 RETURNING number", name,
            within: Self.listSeconds
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
                    .text(list.app), .text(list.environment), .int(last.number), .text(last.token), .int(newest),
                    .int(Self.entriesAtATime),
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

/// The devices that runs have sent to, for the frequency caps of other machines: eight bytes of a
/// keyed hash for each push. The key is the store's own, and the same for all. With ten million
/// pushes on record, a plan of ten million devices counts one of them for another device in about
/// one of 200,000 plans.
extension Store {
    private static let reachedSeconds = 60.0
    /// Pushes of a block.
    private static let pushesOfBlock = 50_000

    /// The key of the hash. While the store is away, it is waited for: a run that is being sent
    /// needs it.
    package func hashKey() throws -> (UInt64, UInt64) {
        try StoreError.explaining {
            try looking.retrying { connection in
                var key: [UInt8] = []
                try connection.run("SELECT hash_key FROM volley_store", within: Self.reachedSeconds) {
                    key = Array($0.bytes(0))
                }
                guard key.count == 16 else {
                    throw Diagnostic("the store has no key for the devices that runs have reached")
                }
                return key.withUnsafeBytes {
                    (
                        UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)),
                        UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                    )
                }
            }
        }
    }

    /// Pushes of a run within a minute.
    package struct ReachedMinute: Sendable {
        /// The list of the service that took them: `production`.
        package var list: String
        /// None of them was later; milliseconds since 1970.
        package var at: Int
        /// Of the targets.
        package var hashes: [UInt64]

        package init(list: String, at: Int, hashes: [UInt64]) { (self.list, self.at, self.hashes) = (list, at, hashes) }
    }

    /// Puts what a run has sent in place of what was there of it, and removes what no cap of the
    /// app looks at any more.
    /// - Parameter seconds: how far back the machine's longest cap looks.
    package func setReached(_ minutes: [ReachedMinute], by run: String, of app: String, keptFor seconds: Int) throws {
        try StoreError.explaining {
            try looking.once { connection in
                try connection.transaction(within: Self.reachedSeconds) {
                    try connection.run(
                        "DELETE FROM volley_reached WHERE app = $1 AND run = $2", [.text(app), .text(run)],
                        within: Self.reachedSeconds)
                    for minute in minutes {
                        for (number, start) in stride(from: 0, to: minute.hashes.count, by: Self.pushesOfBlock)
                            .enumerated()
                        {
                            var writer = ByteWriter()
                            for hash in minute.hashes[start..<min(start + Self.pushesOfBlock, minute.hashes.count)]
                                .sorted()
                            {
                                withUnsafeBytes(of: hash.littleEndian) { writer.put(raw: $0) }
                            }
                            try connection.run(
                                "INSERT INTO volley_reached (app, list, run, at, number, kept_for, data) VALUES ($1, $2, $3, $4, $5, $6, $7)",
                                [
                                    .text(app), .text(minute.list), .text(run), .int(minute.at), .int(number),
                                    .int(seconds),
                                    .bytes(writer.bytes),
                                ], within: Self.reachedSeconds)
                        }
                    }
                    try connection.run(
                        """
                        DELETE FROM volley_reached WHERE app = $1 AND at < extract(epoch FROM clock_timestamp()) * 1000
                            - 1000 * (SELECT max(kept_for) FROM volley_reached WHERE app = $1)
                        """, [.text(app)], within: Self.reachedSeconds)
                }
            }
        }
    }

    /// Calls `body` with pushes that runs have sent, in blocks. While the store is away, it is
    /// waited for, also between two blocks.
    /// - Parameters:
    ///   - since: milliseconds since 1970.
    ///   - counts: whether a run's are wanted.
    ///   - body: takes the moment that none of the block was later than, and the hashes.
    package func forEachReached(
        of app: String, list: String, since: Int, where counts: (_ run: String) -> Bool,
        _ body: (_ at: Timestamp, _ hashes: [UInt64]) throws -> Void
    ) throws {
        let place: [PostgresValue] = [.text(app), .text(list)]
        let blocks = try StoreError.explaining {
            try looking.retrying { connection in
                var blocks: [(run: String, at: Int, number: Int)] = []
                try connection.run(
                    "SELECT run, at, number FROM volley_reached WHERE app = $1 AND list = $2 AND at >= $3 ORDER BY run, at, number",
                    place + [.int(since)], within: Self.reachedSeconds
                ) { blocks.append(($0.text(0), $0.int(1), $0.int(2))) }
                return blocks
            }
        }
        var wanted: [String: Bool] = [:]
        for run in Set(blocks.map(\.run)) { wanted[run] = counts(run) }
        for block in blocks where wanted[block.run] ?? false {
            let hashes = try StoreError.explaining {
                try looking.retrying { connection in
                    var hashes: [UInt64] = []
                    try connection.run(
                        "SELECT data FROM volley_reached WHERE app = $1 AND list = $2 AND run = $3 AND at = $4 AND number = $5",
                        place + [.text(block.run), .int(block.at), .int(block.number)], within: Self.reachedSeconds
                    ) { cells in
                        let bytes = cells.bytes(0)
                        hashes = stride(from: 0, to: bytes.count & ~7, by: 8).map {
                            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
                        }
                    }
                    return hashes
                }
            }
            if !hashes.isEmpty { try body(Timestamp(epochMilliseconds: Int64(block.at)), hashes) }
        }
    }
}
