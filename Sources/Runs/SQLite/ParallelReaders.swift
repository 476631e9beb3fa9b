import Base
import GRDB

/// Connections to a run file that see it as it was at the same moment, each for its own thread, whatever a sender
/// records in between. SQLite itself opens and closes them, so that the process keeps its locks on the file.
final class ParallelReaders: Sendable {
    private let connections: [DatabaseQueue]
    /// The state in which the file was opened.
    private let version: Int

    /// - Throws: `DatabaseError` when the file cannot be opened so often, or is locked at the moment.
    init(_ path: String, count: Int) throws {
        var configuration = Configuration()
        configuration.readonly = true
        // While a writer waits for this process to stop reading, this process must not wait for that writer.
        configuration.busyMode = .immediateError
        configuration.allowsUnsafeTransactions = true
        // Pages are read once, and in order.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -100") }
        connections = try (0..<count).map { _ in try DatabaseQueue(path: path, configuration: configuration) }
        version = try connections[0].unsafeRead(Self.version)
    }

    deinit {
        for connection in connections {
            // Nothing was written; closing also rolls the transaction back.
            connection.unsafeRead { try? $0.rollback() }
            try? connection.close()
        }
    }

    /// Fixes the state that all of them see from now on.
    /// - Returns: whether nothing was committed since they were opened, so that all of them see the same.
    func begin() throws -> Bool {
        // The first one last: if it still sees the state it was opened with, so did all others.
        for connection in connections.reversed() {
            try connection.unsafeRead { db in
                try db.beginTransaction(.deferred)
                // A transaction sees the state of its first query.
                _ = try db.isBlank()
            }
        }
        return try connections[0].unsafeRead(Self.version) == version
    }

    /// Reads ranges at the same time, with a connection for each.
    /// - Returns: the parts in the order of the ranges.
    func read<Part: Sendable>(_ ranges: [Range<Int>], _ work: @escaping @Sendable (Database, Range<Int>) throws -> Part) throws -> [Part] {
        let rangeThreads = RangeThreads("read parts") { [connections] range, thread in
            Result { try connections[thread].unsafeRead { try work($0, range) } }
        }
        return try rangeThreads.run(ranges)
    }

    /// A number that changes when another connection, in any process, commits something.
    private static func version(_ db: Database) throws -> Int { try db.pragma("data_version") }
}
