import Base
import Synchronization

/// The thread that watches all jobs, including the main loop. It reports each silent job once. While the main loop, which usually writes
/// the health file, is silent, this thread writes it.
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
                    // At once when the silence is noticed, and then as often as the main loop would write.
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
