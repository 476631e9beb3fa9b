import Base
import GRDB

/// A run file as it is at one moment. Work over many ids is split into parts that are read at the same time.
struct RunView {
    /// Of the calling thread.
    let db: Database
    /// Ids in ascending parts; a single part when the calling thread reads them all.
    let parts: [Range<Int>]
    /// nil when there is one part.
    private let readers: ParallelReaders?

    /// - Parameter readers: opened before the transaction of `db` began, or while it keeps others from writing.
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
    /// The fewest recipients of a part. Opening the file and starting a thread take as long as counting a thousand.
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
        // Before this thread's transaction begins: from then on nothing may be committed until theirs have begun.
        let readers = readers(parts)
        return try read { db in
            _ = try db.isBlank()
            return try body(RunView(db, parts, audience: plan.audience, readers))
        }
    }

    /// What a writing transaction sees, except its own changes: until it ends, no one else can write.
    func view(_ db: Database, in parts: [Range<Int>]) -> RunView { RunView(db, parts, audience: plan.audience, readers(parts)) }

    /// nil where one thread is enough, or the file cannot be opened so often.
    private func readers(_ parts: [Range<Int>]) -> ParallelReaders? {
        guard parts.count > 1, let readers = try? ParallelReaders(path, count: parts.count) else { return nil }
        // They are opened by its path, where another file may be by now.
        return isInPlace ? readers : nil
    }

    /// The ids that a part of the audience covers: the first and last parts include ids outside the audience.
    func bounds(of part: Range<Int>) -> (first: Int, end: Int) {
        (part.lowerBound > 0 ? part.lowerBound : .min, part.upperBound < plan.audience ? part.upperBound : .max)
    }
}
