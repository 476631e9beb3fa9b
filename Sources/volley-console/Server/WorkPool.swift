import NIOPosix
import Synchronization

/// A few threads for work that blocks: files, SQLite, hashes. An event loop must never wait for these. What finds too many before it is refused, so
/// that a flood does not become a queue.
final class WorkPool: Sendable {
    private let threads: NIOThreadPool
    private let most: Int
    private let count = Atomic(0)

    /// - Parameters:
    ///   - threads: how many work at a time.
    ///   - waiting: how many pieces of work may wait besides.
    init(threads: Int, waiting: Int) {
        self.threads = NIOThreadPool(numberOfThreads: threads)
        most = threads + waiting
        self.threads.start()
    }

    /// Whether the next piece of work would be refused.
    var isFull: Bool { count.load(ordering: .relaxed) >= most }

    /// Does work on one of the threads.
    /// - Throws: `Refusal.busy`; whatever `work` throws.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard count.wrappingAdd(1, ordering: .relaxed).newValue <= most else {
            count.wrappingSubtract(1, ordering: .relaxed)
            throw Refusal.busy
        }
        defer { count.wrappingSubtract(1, ordering: .relaxed) }
        return try await threads.runIfActive(work)
    }

    deinit { threads.shutdownGracefully { _ in } }
}
