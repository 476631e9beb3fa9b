import Base
import Reports
import Runs

/// Finds jobs of `volley schedule` that have stopped doing anything, because a disk does not answer or a program hangs. It has no clock:
/// callers pass the time with each sign of life and each question.
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
    private let patience: @Sendable (Job) -> Double

    /// The seconds without a sign of life after which a job is silent. Work between two signs takes seconds, or a minute with many millions
    /// of devices.
    static let usualPatience: @Sendable (Job) -> Double = { $0 == .mainLoop ? 120 : 300 }

    package init(patience: @escaping @Sendable (Job) -> Double = Self.usualPatience) { self.patience = patience }

    /// Notes that a job begins or continues.
    /// - Parameter uptime: seconds on a clock that cannot be set, and that stops while the machine sleeps.
    /// - Returns: whether the job was not being watched before, so that `nextSilence` may now be earlier.
    @discardableResult
    mutating func sign(of job: Job, uptime: Double, time: Timestamp) -> Bool {
        let before = heartbeats.updateValue(Sign(uptime: uptime, time: time, isTold: false), forKey: job)
        return before.map(\.isTold) ?? true
    }

    /// The uptime, in seconds, at which the next job that is not reported yet becomes silent, unless it gives a sign before; nil if there
    /// is no such job.
    var nextSilence: Double? {
        heartbeats.lazy.filter { !$0.value.isTold }.map { $0.value.uptime + patience($0.key) }.min()
    }

    /// Notes that a job is over.
    mutating func ended(_ job: Job) { heartbeats[job] = nil }

    /// The jobs that are silent now, the longest silence first.
    func silentJobs(uptime: Double) -> [SilentJob] {
        heartbeats.filter { uptime - $0.value.uptime >= patience($0.key) }.sorted { $0.value.uptime < $1.value.uptime }
            .map { SilentJob(job: $0.key, since: $0.value.time) }
    }

    /// The silent jobs that were not returned before. A job that continued and is silent again is returned again.
    mutating func newlySilent(uptime: Double) -> [SilentJob] {
        let newlySilent = silentJobs(uptime: uptime).filter { heartbeats[$0.job]?.isTold == false }
        for silence in newlySilent { heartbeats[silence.job]?.isTold = true }
        return newlySilent
    }
}
