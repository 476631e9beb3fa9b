public import Base
import Delivery
public import PushServices

/// How far a run is, and what it waits for.
public struct RunProgress: Sendable {
    /// Recorded recipients, also of earlier lives of the run.
    public var outcomes: [Outcome: Int]
    /// Recipients of the run.
    public var total: Int
    /// Pushes a second over the last moments.
    public var rate: Double
    /// nil for nothing.
    public var wait: ProgressWait?
    /// The campaign's; nil when there is none.
    public var pace: Pace?
    /// Since the run began, or went on.
    public var seconds: Double
    /// Who takes the pushes.
    public var service: any PushService = PushServices.standard

    /// Recorded recipients.
    public var done: Int { outcomes.values.reduce(0, +) }
}

/// Measures it, look after look.
struct ProgressMeter {
    private let clock = ContinuousClock()
    private let start = ContinuousClock.now
    private var looks: [(at: ContinuousClock.Instant, done: Int)] = []
    private var recording = RecordingWatch()

    /// nil when it was asked only a moment ago.
    mutating func progress(_ state: SendState, waitingFor wait: SendWait?, pace: Pace?, service: any PushService) -> RunProgress? {
        guard let rate = rate(state.progress.done) else { return nil }
        let seconds = (clock.now - start) / .seconds(1)
        let isStuck = recording.isStuck(answered: state.progress.doneHere - state.capped, recorded: state.recorded.value, at: seconds)
        return RunProgress(
            outcomes: state.progress.outcomes, total: state.progress.total, rate: rate,
            wait: isStuck ? .runFile : wait.map { .delivery($0) }, pace: pace, seconds: seconds, service: service)
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
