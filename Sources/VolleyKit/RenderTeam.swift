import Base

/// Threads that render parts of a claim beside the one that claims. They start with the first claim that is large enough to be shared out, and sleep
/// between claims. Belongs to the thread that claims.
final class RenderTeam<Part: Sendable> {
    typealias Work = @Sendable (_ range: Range<Int>, _ renderer: Int) -> Result<Part, any Error>

    private struct Renderer {
        let jobs = BoundedQueue<Range<Int>>(capacity: 1)
        let parts = BoundedQueue<Result<Part, any Error>>(capacity: 1)
        var thread: WorkerThread<Void>?
    }

    private let work: Work
    private var renderers: [Renderer] = []

    /// - Parameter work: renders a part; called from several threads at the same time, each with a number of its own. The calling thread has 0.
    init(_ work: @escaping Work) { self.work = work }

    deinit {
        for renderer in renderers {
            renderer.jobs.close()
            renderer.thread?.join()
        }
    }

    /// Renders ranges at the same time, the first on the calling thread. Where the system has no thread for one, the calling thread renders it too.
    /// - Returns: the parts in the order of the ranges.
    /// - Throws: why the first that failed did; all have ended then.
    func render(_ ranges: [Range<Int>]) throws -> [Part] {
        for index in ranges.indices.dropFirst() where index > renderers.count { renderers.append(started(index)) }
        for (renderer, range) in zip(renderers, ranges.dropFirst()) where renderer.thread != nil { renderer.jobs.put(range) }
        var results = ranges.prefix(1).map { work($0, 0) }
        for (renderer, range) in zip(renderers, ranges.dropFirst()) {
            // A renderer answers every job.
            results.append(renderer.thread == nil ? work(range, 0) : renderer.parts.take() ?? work(range, 0))
        }
        return try results.map { try $0.get() }
    }

    private func started(_ number: Int) -> Renderer {
        var renderer = Renderer()
        renderer.thread = try? WorkerThread("render") { [jobs = renderer.jobs, parts = renderer.parts, work] in
            while let range = jobs.take() { parts.put(work(range, number)) }
        }
        return renderer
    }
}
