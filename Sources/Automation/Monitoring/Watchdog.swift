import Base
import Runs

/// Notices jobs of `volley schedule` that no longer do anything: a disk that does not answer, a program that hangs. A value without a clock: heartbeats of
/// life and looks come in with the time.
struct Watchdog {
    /// What shows heartbeats of life.
    enum Job: Hashable, Sendable {
        /// The loop that reads files and clock, and starts all else.
        case mainLoop
        case planning(ScheduledRun.Key)
        /// Looking into the file of a scheduled run's run.
        case looking(ScheduledRun.Key)
        case sending(ScheduledRun.Key)

        /// `planning spring-sale (2026-12-01T09:00)`
        var text: String {
            switch self {
            case .mainLoop: "reading campaigns and the clock"
            case .planning(let key): "planning \(key)"
            case .looking(let key): "reading the run of \(key)"
            case .sending(let key): "sending \(key)"
            }
        }

        var key: ScheduledRun.Key? {
            switch self {
            case .mainLoop: nil
            case .planning(let key), .looking(let key), .sending(let key): key
            }
        }
    }

    /// A job without a sign of life.
    struct SilentJob: Hashable, Sendable {
        var job: Job
        /// Its last sign.
        var since: Timestamp

        /// For people.
        var text: String { "\(job.text) has shown no sign of life since \(since); it may hang" }
    }

    private struct Sign { var uptime: Double, time: Timestamp, isTold: Bool }

    private var heartbeats: [Job: Sign] = [:]
    private let patience: @Sendable (Job) -> Double

    /// Seconds without a sign after which something is wrong. Whatever is done between two heartbeats takes seconds, or a minute with many millions of
    /// devices.
    static let usualPatience: @Sendable (Job) -> Double = { $0 == .mainLoop ? 120 : 300 }

    package init(patience: @escaping @Sendable (Job) -> Double = Self.usualPatience) { self.patience = patience }

    /// A job begins, or goes on.
    /// - Parameter uptime: seconds of a clock that nobody sets, and that stands still while the machine sleeps.
    /// - Returns: whether it was not awaited before, so that `nextSilence` may come earlier by it.
    @discardableResult
    mutating func sign(of job: Job, uptime: Double, time: Timestamp) -> Bool {
        let before = heartbeats.updateValue(Sign(uptime: uptime, time: time, isTold: false), forKey: job)
        return before.map(\.isTold) ?? true
    }

    /// When a job that nobody was told of is silent unless it shows a sign before: the uptime, in seconds; nil when there is none.
    var nextSilence: Double? {
        heartbeats.lazy.filter { !$0.value.isTold }.map { $0.value.uptime + patience($0.key) }.min()
    }

    /// A job is over.
    mutating func ended(_ job: Job) { heartbeats[job] = nil }

    /// The jobs that are silent now, the longest first.
    func silentJobs(uptime: Double) -> [SilentJob] {
        heartbeats.filter { uptime - $0.value.uptime >= patience($0.key) }.sorted { $0.value.uptime < $1.value.uptime }
            .map { SilentJob(job: $0.key, since: $0.value.time) }
    }

    /// Those of them that nobody was told of yet. One that went on and is silent again is told of again.
    mutating func newlySilent(uptime: Double) -> [SilentJob] {
        let newlySilent = silentJobs(uptime: uptime).filter { heartbeats[$0.job]?.isTold == false }
        for silence in newlySilent { heartbeats[silence.job]?.isTold = true }
        return newlySilent
    }
}
