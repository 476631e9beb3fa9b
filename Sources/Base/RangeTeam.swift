/// Threads that work on parts of a range of ids beside the one that asks. They start with the first range that has several parts, and sleep in between.
/// Belongs to the thread that asks.
public final class RangeTeam<Part: Sendable> {
    /// What is done with a part; called from several threads at the same time, each with a number of its own. The thread that asks has 0.
    public typealias Work = @Sendable (_ range: Range<Int>, _ thread: Int) -> Result<Part, any Error>

    private struct Member {
        let jobs = BoundedQueue<Range<Int>>(capacity: 1)
        let parts = BoundedQueue<Result<Part, any Error>>(capacity: 1)
        var thread: WorkerThread<Void>?
    }

    private let name: String
    private let work: Work
    private var members: [Member] = []

    /// - Parameter name: of the threads, at most 15 bytes.
    public init(_ name: String, _ work: @escaping Work) { (self.name, self.work) = (name, work) }

    deinit {
        for member in members {
            member.jobs.close()
            member.thread?.join()
        }
    }

    /// Works on ranges at the same time, on the first in the calling thread. Where the system has no thread for one, the calling thread works on it too.
    /// - Returns: the parts in the order of the ranges.
    /// - Throws: why the first that failed did; all have ended then.
    public func run(_ ranges: [Range<Int>]) throws -> [Part] {
        for index in ranges.indices.dropFirst() where index > members.count { members.append(started(index)) }
        for (member, range) in zip(members, ranges.dropFirst()) where member.thread != nil { member.jobs.put(range) }
        var results = ranges.prefix(1).map { work($0, 0) }
        for (member, range) in zip(members, ranges.dropFirst()) {
            // A member answers every job.
            results.append(member.thread == nil ? work(range, 0) : member.parts.take() ?? work(range, 0))
        }
        return try results.map { try $0.get() }
    }

    private func started(_ number: Int) -> Member {
        var member = Member()
        member.thread = try? WorkerThread(name) { [jobs = member.jobs, parts = member.parts, work] in
            while let range = jobs.take() { parts.put(work(range, number)) }
        }
        return member
    }
}
