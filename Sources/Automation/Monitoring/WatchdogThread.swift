import Base
import Synchronization

/// The thread that looks whether anything still goes on, the main loop included: it says once what does not, and as long as the main loop is silent, which
/// writes the health file otherwise, it writes that.
final class WatchdogThread: Sendable {
    private let heartbeats: Heartbeats
    private let isOver = Atomic(false)
    private let lastStatus = Mutex<ScheduleMonitoring.Status?>(nil)
    private let wakeup = Mutex<Wakeup?>(nil)
    /// Between two health files, as long as the main loop is silent.
    private static let secondsPerFile = 5.0

    package init(_ heartbeats: Heartbeats) { self.heartbeats = heartbeats }

    /// What the health file said last.
    func note(_ status: ScheduleMonitoring.Status) { lastStatus.withLock { $0 = status } }

    /// Ends the thread.
    func end() {
        isOver.store(true, ordering: .releasing)
        wakeup.withLock { $0?.wake() }
    }

    /// - Parameters:
    ///   - tell: called for each job that is silent, once.
    ///   - write: writes a health file.
    /// - Throws: a `Diagnostic` when there is no thread for it, or no more files can be opened.
    func start(
        tell: @escaping @Sendable (Watchdog.SilentJob) -> Void, write: @escaping @Sendable (ScheduleMonitoring.Status) -> Void
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
                    // At once when it is noticed, and then as often as the main loop would.
                    nextFile = clock.now + .seconds(Self.secondsPerFile)
                    if var status = lastStatus.withLock({ $0 }) {
                        status.silentJobs = silentJobs
                        write(status)
                    }
                }
                let pauses = [heartbeats.secondsUntilSilence, nextFile.map { clock.now.duration(to: $0) / .seconds(1) }]
                woken.wait(atMost: pauses.compactMap { $0 }.min())
            }
        }
    }
}
