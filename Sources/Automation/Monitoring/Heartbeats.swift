import Sending
import Base
import Glibc
import Synchronization

/// The watchdog that the threads of `volley schedule` share, by this machine's clocks.
final class Heartbeats: Sendable {
    private let watchdog: Mutex<Watchdog>
    /// Rung when a job begins, which may be silent before all others.
    private let watcher = Mutex<Wakeup?>(nil)

    /// - Parameter patience: seconds that a job may be silent.
    package init(patience: @escaping @Sendable (Watchdog.Job) -> Double = Watchdog.usualPatience) {
        watchdog = Mutex(Watchdog(patience: patience))
    }

    func sign(of job: Watchdog.Job) {
        let (uptime, time) = (Self.uptime, Timestamp.now())
        if watchdog.withLock({ $0.sign(of: job, uptime: uptime, time: time) }) { watcher.withLock { $0?.wake() } }
    }

    /// From now on wakes who looks for silence whenever that may come earlier than `secondsUntilSilence` said.
    func wake(_ wakeup: Wakeup) { watcher.withLock { $0 = wakeup } }

    /// How long nothing can become silent; nil when nothing will.
    var secondsUntilSilence: Double? { watchdog.withLock { $0.nextSilence }.map { max(0, $0 - Self.uptime) } }

    func ended(_ job: Watchdog.Job) { watchdog.withLock { $0.ended(job) } }

    /// Does something that shows heartbeats of life by itself, or takes no time.
    func during<Result>(_ job: Watchdog.Job, _ body: () throws -> Result) rethrows -> Result {
        sign(of: job)
        defer { ended(job) }
        return try body()
    }

    var silentJobs: [Watchdog.SilentJob] { watchdog.withLock { $0.silentJobs(uptime: Self.uptime) } }

    func newlySilent() -> [Watchdog.SilentJob] { watchdog.withLock { $0.newlySilent(uptime: Self.uptime) } }

    /// Seconds on a clock that nobody sets; time that the machine sleeps does not count (CLOCK_MONOTONIC).
    static var uptime: Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
