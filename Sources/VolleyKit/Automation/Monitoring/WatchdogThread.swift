import Base
import Glibc
import Synchronization

/// The thread that looks whether anything still goes on, the main loop included: it says once what does not, and as long as the main loop is silent, which
/// writes the health file otherwise, it writes that.
final class WatchdogThread: Sendable {
    private let heartbeats: Heartbeats
    private let isOver = Atomic(false)
    private let lastStatus = Mutex<ScheduleMonitoring.Status?>(nil)
    private static let pauseMicroseconds: UInt32 = 200_000
    /// Looks between two health files.
    private static let looksPerFile = 25

    package init(_ heartbeats: Heartbeats) { self.heartbeats = heartbeats }

    /// What the health file said last.
    func note(_ status: ScheduleMonitoring.Status) { lastStatus.withLock { $0 = status } }

    /// Ends the thread.
    func end() { isOver.store(true, ordering: .relaxed) }

    /// - Parameters:
    ///   - tell: called for each job that is silent, once.
    ///   - write: writes a health file.
    func start(
        tell: @escaping @Sendable (Watchdog.SilentJob) -> Void, write: @escaping @Sendable (ScheduleMonitoring.Status) -> Void
    ) throws(Diagnostic) -> WorkerThread<Void> {
        try WorkerThread("watch") { [self] in
            var looks = 0
            while !isOver.load(ordering: .relaxed) {
                let newlySilent = heartbeats.newlySilent()
                for silence in newlySilent { tell(silence) }
                let silentJobs = heartbeats.silentJobs
                if silentJobs.contains(where: { $0.job == .mainLoop }) {
                    // At once when it is noticed, and then as often as the main loop would.
                    if newlySilent.contains(where: { $0.job == .mainLoop }) || looks % Self.looksPerFile == 0,
                        var status = lastStatus.withLock({ $0 })
                    {
                        status.silentJobs = silentJobs
                        write(status)
                    }
                }
                looks += 1
                usleep(Self.pauseMicroseconds)
            }
        }
    }
}
