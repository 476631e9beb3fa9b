import Glibc
import Synchronization

/// A thread with a result. Stages of a run block on queues and sockets for minutes: they get threads of their own, not places in the
/// pool of Swift concurrency.
public final class WorkerThread<Result: Sendable>: Sendable {
    private let thread: pthread_t
    private let slot: ResultSlot<Result>

    /// Starts the thread.
    /// - Parameter name: as `top -H` and `perf` show it, at most 15 bytes.
    public init(_ name: String, _ body: @escaping @Sendable () -> Result) {
        let slot = ResultSlot<Result>()
        self.slot = slot
        thread = startThread {
            nameThisThread(name)
            let result = body()
            slot.value.withLock { $0 = result }
        }
    }

    /// Whether `join` would return at once.
    public var isFinished: Bool { slot.value.withLock { $0 != nil } }

    /// Waits for the thread's end. Call it once.
    public func join() -> Result {
        pthread_join(thread, nil)
        guard let result = slot.value.withLock({ $0 }) else { preconditionFailure("a thread ended without a result") }
        return result
    }
}

/// Best effort: without /proc a thread keeps the program's name.
private func nameThisThread(_ name: String) {
    guard let file = fopen("/proc/thread-self/comm", "w") else { return }
    fputs(name, file)
    fclose(file)
}

/// Runs something on a thread that nobody waits for: a look-up that may hang, say.
public func detachThread(_ body: @escaping @Sendable () -> Void) {
    pthread_detach(startThread(body))
}

/// Where a thread leaves its result.
private final class ResultSlot<Result: Sendable>: Sendable {
    let value = Mutex<Result?>(nil)
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    let code = pthread_create(
        &thread, nil,
        { pointer in
            if let pointer { Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().run() }
            return nil
        }, Unmanaged.passRetained(ThreadBody(body)).toOpaque())
    precondition(code == 0, "the system has no thread left: \(String(cString: strerror(code)))")
    return thread
}
