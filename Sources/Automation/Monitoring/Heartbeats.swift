import Sending
import Base
import Glibc
import Synchronization

/// The watchdog that the threads of `volley schedule` share. It reads this machine's clocks.
final class Heartbeats: Sendable {
    private let watchdog: Mutex<Watchdog>
    /// Woken when a job begins, as that job may fall silent before all others.
    private let watcher = Mutex<Wakeup?>(nil)

    /// - Parameter timeout: the seconds that a job may be silent.
    package init(timeout: @escaping @Sendable (Watchdog.Job) -> Double = Watchdog.usualTimeout) {
        watchdog = Mutex(Watchdog(timeout: timeout))
    }

    func sign(of job: Watchdog.Job) {
        let (uptime, time) = (Self.uptime, Timestamp.now())
        if watchdog.withLock({ $0.sign(of: job, uptime: uptime, time: time) }) { watcher.withLock { $0?.wake() } }
    }

    /// From now on wakes the watcher whenever silence may come earlier than `secondsUntilSilence`
    /// said.
    func wake(_ wakeup: Wakeup) { watcher.withLock { $0 = wakeup } }

    /// The seconds until a job can count as silent; nil if no job is being watched.
    var secondsUntilSilence: Double? { watchdog.withLock { $0.nextSilence }.map { max(0, $0 - Self.uptime) } }

    func ended(_ job: Watchdog.Job) { watchdog.withLock { $0.ended(job) } }

    /// Watches a job while it is done. The job gives its own signs of life, or is quick.
    func during<Result>(_ job: Watchdog.Job, _ body: () throws -> Result) rethrows -> Result {
        sign(of: job)
        defer { ended(job) }
        return try body()
    }

    var silentJobs: [Watchdog.SilentJob] { watchdog.withLock { $0.silentJobs(uptime: Self.uptime) } }

    func newlySilent() -> [Watchdog.SilentJob] { watchdog.withLock { $0.newlySilent(uptime: Self.uptime) } }

    /// Seconds on a clock that cannot be set; time that the machine sleeps does not count
    /// (CLOCK_MONOTONIC).
    static var uptime: Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
