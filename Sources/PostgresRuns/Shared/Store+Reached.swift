package import Base
import Postgres

/// The devices that runs have sent to, for the frequency caps of other machines: eight bytes of a keyed hash for each
/// push. The key is the store's own, and the same for all. With ten million pushes on record, a plan of ten million
/// devices counts one of them for another device in about one of 200,000 plans.
extension Store {
    private static let reachedSeconds = 60.0
    /// Pushes of a block.
    private static let pushesOfBlock = 50_000

    /// The key of the hash.
    package func hashKey() throws -> (UInt64, UInt64) {
        try StoreError.explaining {
            try looking.once { connection in
                var key: [UInt8] = []
                try connection.run("SELECT hash_key FROM volley_store", within: Self.reachedSeconds) { key = Array($0.bytes(0)) }
                guard key.count == 16 else { throw Diagnostic("the store has no key for the devices that runs have reached") }
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

    /// Puts what a run has sent in place of what was there of it, and removes what no cap of the app looks at any more.
    /// - Parameter seconds: how far back the machine's longest cap looks.
    package func setReached(_ minutes: [ReachedMinute], by run: String, of app: String, keptFor seconds: Int) throws {
        try StoreError.explaining {
            try looking.once { connection in
                try connection.transaction(within: Self.reachedSeconds) {
                    try connection.run(
                        "DELETE FROM volley_reached WHERE app = $1 AND run = $2", [.text(app), .text(run)], within: Self.reachedSeconds)
                    for minute in minutes {
                        for (number, start) in stride(from: 0, to: minute.hashes.count, by: Self.pushesOfBlock).enumerated() {
                            var writer = ByteWriter()
                            for hash in minute.hashes[start..<min(start + Self.pushesOfBlock, minute.hashes.count)].sorted() {
                                withUnsafeBytes(of: hash.littleEndian) { writer.put(raw: $0) }
                            }
                            try connection.run(
                                "INSERT INTO volley_reached (app, list, run, at, number, kept_for, data) VALUES ($1, $2, $3, $4, $5, $6, $7)",
                                [
                                    .text(app), .text(minute.list), .text(run), .int(minute.at), .int(number), .int(seconds),
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

    /// Calls `body` with pushes that runs have sent, in blocks.
    /// - Parameters:
    ///   - since: milliseconds since 1970.
    ///   - counts: whether a run's are wanted.
    ///   - body: takes the moment that none of the block was later than, and the hashes.
    package func forEachReached(
        of app: String, list: String, since: Int, where counts: (_ run: String) -> Bool,
        _ body: (_ at: Timestamp, _ hashes: [UInt64]) throws -> Void
    ) throws {
        try StoreError.explaining {
            try looking.once { connection in
                var blocks: [(run: String, at: Int, number: Int)] = []
                let place: [PostgresValue] = [.text(app), .text(list)]
                try connection.run(
                    "SELECT run, at, number FROM volley_reached WHERE app = $1 AND list = $2 AND at >= $3 ORDER BY run, at, number",
                    place + [.int(since)], within: Self.reachedSeconds
                ) { blocks.append(($0.text(0), $0.int(1), $0.int(2))) }
                var wanted: [String: Bool] = [:]
                for run in Set(blocks.map(\.run)) { wanted[run] = counts(run) }
                for block in blocks where wanted[block.run] ?? false {
                    try connection.run(
                        "SELECT data FROM volley_reached WHERE app = $1 AND list = $2 AND run = $3 AND at = $4 AND number = $5",
                        place + [.text(block.run), .int(block.at), .int(block.number)], within: Self.reachedSeconds
                    ) { cells in
                        let bytes = cells.bytes(0)
                        let hashes = stride(from: 0, to: bytes.count & ~7, by: 8).map {
                            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
                        }
                        try body(Timestamp(epochMilliseconds: Int64(block.at)), hashes)
                    }
                }
            }
        }
    }
}
