import Glibc

/// Names the campaign in which the program trapped: a failed precondition of the machine is a
/// finding like any other.
enum TrapReport {
    private struct Worker {
        var thread = pthread_t()
        var seed: UInt64 = 0
    }

    private static let mostWorkers = 64
    /// Each worker writes in its own place; the handler, which runs on the thread that trapped,
    /// reads it.
    nonisolated(unsafe) private static let workers: UnsafeMutablePointer<Worker> = {
        let workers = UnsafeMutablePointer<Worker>.allocate(capacity: mostWorkers)
        workers.initialize(repeating: Worker(), count: mostWorkers)
        return workers
    }()

    nonisolated(unsafe) private static var descriptor = STDERR_FILENO

    /// From here on, a trap is reported there, and the process exits with 3. Call it before any
    /// worker starts.
    static func install(reportingTo descriptor: Int32 = STDERR_FILENO) {
        Self.descriptor = descriptor
        _ = workers
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT] { signal(number, handle) }
    }

    /// A worker begins a campaign.
    static func note(_ seed: UInt64, worker: Int) {
        guard worker < mostWorkers else { return }
        workers[worker] = Worker(thread: pthread_self(), seed: seed)
    }
}

/// Only what is safe in a signal handler: no allocation, no locks.
private func handle(_ number: Int32) {
    TrapReport.report()
    _exit(3)
}

extension TrapReport {
    fileprivate static func report() {
        let thread = pthread_self()
        for index in 0..<mostWorkers where workers[index].thread == thread {
            say("FAILED: a precondition of the machine: see what it says above (seed ")
            say(workers[index].seed)
            say(")\n  make simulate SEED=")
            say(workers[index].seed)
            say("\n")
            return
        }
    }

    private static func say(_ text: StaticString) { _ = write(descriptor, text.utf8Start, text.utf8CodeUnitCount) }

    private static func say(_ number: UInt64) {
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            var digit = UInt8(truncatingIfNeeded: number / divisor % 10) + 48
            _ = write(descriptor, &digit, 1)
            divisor /= 10
        }
    }
}
