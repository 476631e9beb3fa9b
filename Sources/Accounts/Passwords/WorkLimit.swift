import Glibc
import Synchronization

/// Lets a few threads at a time do work that takes much memory, some more wait, and turns away all others, so that a flood of requests takes
/// neither all memory nor all threads.
///
/// `@unchecked Sendable`: a POSIX semaphore is made for use by many threads; it stays at its address until deinit. Everything else is
/// constant or a `Mutex`.
final class WorkLimit: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let present = Mutex(0)
    private let mostPresent: Int

    /// - Parameters:
    ///   - limit: how many threads work at a time, at least 1.
    ///   - mostWaiting: how many more may wait.
    init(_ limit: Int, mostWaiting: Int) {
        precondition(limit > 0, "nothing would ever be done")
        mostPresent = limit + mostWaiting
        sem_init(semaphore, 0, UInt32(limit))
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Does the work when it is this thread's turn.
    /// - Throws: `AccountError.busy` at once if too many are waiting; what `body` throws.
    func run<Value>(_ body: () throws -> Value) throws -> Value {
        let isLetIn = present.withLock { present in
            guard present < mostPresent else { return false }
            present += 1
            return true
        }
        guard isLetIn else { throw AccountError.busy }
        defer { present.withLock { $0 -= 1 } }
        while sem_wait(semaphore) != 0 {}
        defer { sem_post(semaphore) }
        return try body()
    }
}
