public import Base
import Delivery
public import PushServices

/// The progress of a run, and what it waits for.
public struct RunProgress: Sendable {
    /// Recorded recipients by outcome, including earlier epochs of the run.
    public var outcomes: [Outcome: Int]
    /// How many recipients the run has.
    public var total: Int
    /// Pushes per second over the last two seconds.
    public var rate: Double
    /// What the run waits for; nil if it does not wait.
    public var wait: ProgressWait?
    /// The campaign's pace; nil if it sets none.
    public var pace: Pace?
    /// Seconds since the run, or its present wave, began or continued.
    public var seconds: Double
    /// The service that receives the pushes.
    public var service: any PushService = PushServices.standard
    /// Whether other services receive pushes at the same time.
    public var isOneOfSeveral = false
    /// How many recipients were claimed so far.
    public var claimed = 0
    /// What each service's part is at that is being sent now.
    public var segments: [SegmentProgress] = []

    /// How many recipients are recorded.
    public var done: Int { outcomes.values.reduce(0, +) }
}

/// What is on its way through one service.
public struct SegmentProgress: Sendable {
    /// The service that receives the pushes.
    public var service: any PushService
    /// Open connections.
    public var connections: Int
    /// Pushes that have left or wait for another attempt, without an outcome.
    public var inFlight: Int
    /// Outcomes that are not on the disk yet.
    public var unrecorded: Int
    /// Pushes per second to which the service's overload slows it down; nil while it does not.
    public var throttle: Double?

    init(_ segment: SegmentSending) {
        let control = segment.control, settled = control.pushesSettled
        service = segment.access.service
        connections = control.connections
        inFlight = max(0, control.started.value - settled)
        unrecorded = max(0, settled - segment.recorded.value)
        throttle = if case .throttle(let rate)? = control.wait { rate } else { nil }
    }
}

/// Measures the progress of a run at each call.
struct ProgressMeter {
    private let clock = ContinuousClock()
    private let start = ContinuousClock.now
    private var looks: [(at: ContinuousClock.Instant, done: Int)] = []
    private var recording = RecordingWatch()

    /// The progress now; nil if the last measurement is less than 200 milliseconds old.
    mutating func progress(
        _ state: SendState, waitingFor wait: SendWait?, pace: Pace?, service: any PushService, isOneOfSeveral: Bool = false
    ) -> RunProgress? {
        guard let rate = rate(state.progress.done) else { return nil }
        let seconds = (clock.now - start) / .seconds(1)
        let isStuck = recording.isStuck(answered: state.progress.doneHere - state.capped, recorded: state.recorded.value, at: seconds)
        return RunProgress(
            outcomes: state.progress.outcomes, total: state.progress.total, rate: rate,
            wait: isStuck ? .runFile : wait.map { .delivery($0) }, pace: pace, seconds: seconds, service: service,
            isOneOfSeveral: isOneOfSeveral)
    }

    /// Pushes per second over the last two seconds.
    private mutating func rate(_ done: Int) -> Double? {
        if let last = looks.last, clock.now - last.at < .milliseconds(200) { return nil }
        looks.append((clock.now, done))
        if looks.count > 10 { looks.removeFirst() }
        let seconds = (looks[looks.count - 1].at - looks[0].at) / .seconds(1)
        return Double(done - looks[0].done) / max(seconds, 0.001)
    }
}
