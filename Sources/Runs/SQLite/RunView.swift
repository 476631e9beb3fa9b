import Base
import GRDB

/// A run file as it is at one moment. Work over many ids is split into parts that are read at the
/// same time.
struct RunView {
    /// Of the calling thread.
    let db: Database
    /// Ids in ascending parts; a single part when the calling thread reads them all.
    let parts: [Range<Int>]
    /// nil when there is one part.
    private let readers: ParallelReaders?

    /// - Parameter readers: opened before the transaction of `db` began, or while it keeps others
    ///   from writing.
    init(_ db: Database, _ parts: [Range<Int>], audience: Int, _ readers: ParallelReaders?) {
        self.db = db
        // Where other threads cannot see what this thread sees, this one reads everything.
        let isShared = readers.map { (try? $0.begin()) ?? false } ?? false
        self.parts = isShared ? parts : [0..<audience]
        self.readers = isShared ? readers : nil
    }

    /// Calls `work` with each part, at the same time.
    /// - Returns: what it returned, in the order of the parts.
    func read<Part: Sendable>(_ work: @escaping @Sendable (Database, Range<Int>) throws -> Part) throws -> [Part] {
        if let readers { return try readers.read(parts, work) }
        return try parts.map { try work(db, $0) }
    }
}

extension RunFile {
    /// The fewest recipients of a part. Opening the file and starting a thread take as long as
    /// counting a thousand.
    private static let leastPart = 200 * OutcomeBlock.slots

    /// The most threads: each has two files open, and holds a quarter of a megabyte.
    private static let mostThreads = 16

    /// All ids in parts for as many threads as there are cores.
    var parts: [Range<Int>] { Self.parts(of: plan.audience, cores: availableCores()) }

    static func parts(of audience: Int, cores: Int) -> [Range<Int>] {
        RangeParts(unit: leastPart, threads: min(cores, mostThreads)).parts(of: 0..<audience)
    }

    /// A consistent view of the file as it is now, for as many threads as there are parts.
    func read<T>(in parts: [Range<Int>], _ body: (RunView) throws -> T) throws -> T {
        // Before this thread's transaction begins: from then on nothing may be committed until
        // theirs have begun.
        let readers = readers(parts)
        return try read { db in
            _ = try db.isBlank()
            return try body(RunView(db, parts, audience: plan.audience, readers))
        }
    }

    /// What a writing transaction sees, except its own changes: until it ends, no one else can
    /// write.
    func view(_ db: Database, in parts: [Range<Int>]) -> RunView {
        RunView(db, parts, audience: plan.audience, readers(parts))
    }

    /// nil where one thread is enough, or the file cannot be opened so often.
    private func readers(_ parts: [Range<Int>]) -> ParallelReaders? {
        guard parts.count > 1, let readers = try? ParallelReaders(path, count: parts.count) else { return nil }
        // They are opened by its path, where another file may be by now.
        return isInPlace ? readers : nil
    }

    /// The ids that a part of the audience covers: the first and last parts include ids outside the
    /// audience.
    func bounds(of part: Range<Int>) -> (first: Int, end: Int) {
        (part.lowerBound > 0 ? part.lowerBound : .min, part.upperBound < plan.audience ? part.upperBound : .max)
    }
}

/// Connections to a run file that see it as it was at the same moment, each for its own thread,
/// whatever a sender records in between. SQLite itself opens and closes them, so that the process
/// keeps its locks on the file.
final class ParallelReaders: Sendable {
    private let connections: [DatabaseQueue]
    /// The state in which the file was opened.
    private let version: Int

    /// - Throws: `DatabaseError` when the file cannot be opened so often, or is locked at the
    ///   moment.
    init(_ path: String, count: Int) throws {
        var configuration = Configuration()
        configuration.readonly = true
        // While a writer waits for this process to stop reading, this process must not wait for
        // that writer.
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
    /// - Returns: whether nothing was committed since they were opened, so that all of them see the
    ///   same.
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
    func read<Part: Sendable>(_ ranges: [Range<Int>], _ work: @escaping @Sendable (Database, Range<Int>) throws -> Part)
        throws -> [Part]
    {
        let rangeThreads = RangeThreads("read parts") { [connections] range, thread in
            Result { try connections[thread].unsafeRead { try work($0, range) } }
        }
        return try rangeThreads.run(ranges)
    }

    /// A number that changes when another connection, in any process, commits something.
    private static func version(_ db: Database) throws -> Int { try db.pragma("data_version") }
}
