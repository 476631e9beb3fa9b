import Base
import Glibc
import Reports
import Runs
import Sending
import Synchronization

/// Finds jobs of `volley schedule` that have stopped doing anything, because a disk does not answer
/// or a program hangs. It has no clock: callers pass the time with each sign of life and each
/// query.
struct Watchdog {
    /// A job that gives signs of life.
    enum Job: Hashable, Sendable {
        /// The loop that reads the files and the clock, and starts everything else.
        case mainLoop
        case planning(ScheduledRun.Key)
        /// Reading the file of a scheduled run's run.
        case looking(ScheduledRun.Key)
        case sending(ScheduledRun.Key)
        /// What a person ordered.
        case order(Order)

        /// `planning spring-sale (2026-12-01T09:00)`
        var text: String {
            switch self {
            case .mainLoop: "reading campaigns and the clock"
            case .planning(let key): "planning \(key)"
            case .looking(let key): "reading the run of \(key)"
            case .sending(let key): "sending \(key)"
            case .order(let order): "doing what \(order.by) ordered, \(order.kind.words),"
            }
        }

        var key: ScheduledRun.Key? {
            switch self {
            case .mainLoop, .order: nil
            case .planning(let key), .looking(let key), .sending(let key): key
            }
        }
    }

    /// A job without a sign of life.
    struct SilentJob: Hashable, Sendable {
        var job: Job
        /// The time of its last sign of life.
        var since: Timestamp

        /// One sentence for people, without a full stop.
        var text: String { "\(job.text) has shown no sign of life since \(since); it may be hanging" }
    }

    private struct Sign { var uptime: Double, time: Timestamp, isTold: Bool }

    private var heartbeats: [Job: Sign] = [:]
    private let timeout: @Sendable (Job) -> Double

    /// The seconds without a sign of life after which a job is silent. Work between two signs takes
    /// seconds, or a minute with many millions of devices.
    static let usualTimeout: @Sendable (Job) -> Double = { $0 == .mainLoop ? 120 : 300 }

    package init(timeout: @escaping @Sendable (Job) -> Double = Self.usualTimeout) { self.timeout = timeout }

    /// Notes that a job begins or continues.
    /// - Parameter uptime: seconds on a clock that cannot be set, and that stops while the machine
    ///   sleeps.
    /// - Returns: whether the job was not being watched before, so that `nextSilence` may now be
    ///   earlier.
    @discardableResult
    mutating func sign(of job: Job, uptime: Double, time: Timestamp) -> Bool {
        let before = heartbeats.updateValue(Sign(uptime: uptime, time: time, isTold: false), forKey: job)
        return before.map(\.isTold) ?? true
    }

    /// The uptime, in seconds, at which the next job that is not reported yet becomes silent,
    /// unless it gives a sign before; nil if there is no such job.
    var nextSilence: Double? {
        heartbeats.lazy.filter { !$0.value.isTold }.map { $0.value.uptime + timeout($0.key) }.min()
    }

    /// Notes that a job is over.
    mutating func ended(_ job: Job) { heartbeats[job] = nil }

    /// The jobs that are silent now, the longest silence first.
    func silentJobs(uptime: Double) -> [SilentJob] {
        heartbeats.filter { uptime - $0.value.uptime >= timeout($0.key) }.sorted { $0.value.uptime < $1.value.uptime }
            .map { SilentJob(job: $0.key, since: $0.value.time) }
    }

    /// The silent jobs that were not returned before. A job that continued and is silent again is
    /// returned again.
    mutating func newlySilent(uptime: Double) -> [SilentJob] {
        let newlySilent = silentJobs(uptime: uptime).filter { heartbeats[$0.job]?.isTold == false }
        for silence in newlySilent { heartbeats[silence.job]?.isTold = true }
        return newlySilent
    }
}

/// The thread that watches all jobs, including the main loop. It reports each silent job once.
/// While the main loop, which usually writes the health file, is silent, this thread writes it.
final class WatchdogThread: Sendable {
    private let heartbeats: Heartbeats
    private let isOver = Atomic(false)
    private let lastStatus = Mutex<ScheduleMonitoring.Status?>(nil)
    private let wakeup = Mutex<Wakeup?>(nil)
    /// The pause between two health files while the main loop is silent.
    private static let secondsPerFile = 5.0

    package init(_ heartbeats: Heartbeats) { self.heartbeats = heartbeats }

    /// Keeps the status that the health file last showed.
    func note(_ status: ScheduleMonitoring.Status) { lastStatus.withLock { $0 = status } }

    /// Ends the thread.
    func end() {
        isOver.store(true, ordering: .releasing)
        wakeup.withLock { $0?.wake() }
    }

    /// - Parameters:
    ///   - tell: called once for each job that falls silent.
    ///   - write: writes a health file.
    /// - Throws: a `Diagnostic` if no thread can be started, or no more files can be opened.
    func start(
        tell: @escaping @Sendable (Watchdog.SilentJob) -> Void,
        write: @escaping @Sendable (ScheduleMonitoring.Status) -> Void
    ) throws(Diagnostic) -> WorkerThread<Void> {
        let woken = try Wakeup()
        wakeup.withLock { $0 = woken }
        heartbeats.wake(woken)
        return try WorkerThread("watch") { [self] in
            let clock = ContinuousClock()
            var nextFile: ContinuousClock.Instant?
            while !isOver.load(ordering: .acquiring) {
                let newlySilent = heartbeats.newlySilent()
                for silence in newlySilent { tell(silence) }
                let silentJobs = heartbeats.silentJobs
                if !silentJobs.contains(where: { $0.job == .mainLoop }) {
                    nextFile = nil
                } else if newlySilent.contains(where: { $0.job == .mainLoop }) || clock.now >= nextFile ?? clock.now {
                    // At once when the silence is noticed, and then as often as the main loop would
                    // write the file.
                    nextFile = clock.now + .seconds(Self.secondsPerFile)
                    if var status = lastStatus.withLock({ $0 }) {
                        status.silentJobs = silentJobs
                        write(status)
                    }
                }
                let pauses = [
                    heartbeats.secondsUntilSilence, nextFile.map { clock.now.duration(to: $0) / .seconds(1) },
                ]
                woken.wait(atMost: pauses.compactMap { $0 }.min())
            }
        }
    }
}

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
