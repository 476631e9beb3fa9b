/// Threads that work on parts of a range of ids, together with the calling thread. They start with the first range that has several parts,
/// and sleep in between. A team belongs to one calling thread.
public final class RangeTeam<Part: Sendable> {
    /// The work on a part. It is called from several threads at the same time, each with its own number; the calling thread has 0.
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

    /// Works on all ranges at the same time, on the first in the calling thread. If the system has no thread for a range, the calling
    /// thread works on it, too.
    /// - Returns: the parts in the order of the ranges.
    /// - Throws: the error of the first range that failed; work on all ranges has ended by then.
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
