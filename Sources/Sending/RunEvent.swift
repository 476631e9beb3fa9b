public import Base
import Campaigns
import Delivery
public import PushServices
public import Runs

/// An event while a run is sent.
public enum RunEvent: Sendable {
    // What Volley is doing now.
    /// Volley is checking whether the run may be sent.
    case checking
    /// The run was sent in part, and continues without having been shown to a person.
    case resumes(Resumption)
    /// The run is on record as running, and is about to be sent.
    case started(RunFile)
    /// From now on pushes may be on their way.
    case begins
    case destination(Destination)
    /// A wave of a run with sending times is being sent.
    case wave(devices: Int, at: WaveTime)
    /// The run waits for its next wave.
    case waiting(WaveWait)
    case waitingProgress(WaveWait)
    /// The run was paused.
    case paused(run: String)
    /// The run was resumed.
    case resumed
    /// A service has taken no push for some seconds although devices wait for it. Volley keeps
    /// trying.
    case silent(SilentService)
    /// A service that did not answer takes pushes again.
    case answersAgain(any PushService)
    /// The run was asked to end, and waits for the outstanding answers.
    case draining
    /// Other machines have something to record yet, or may: told each time that this is looked at.
    case waitingForMachines([String])
    /// This process was suspended, or was cut off from the store, for so long that other machines
    /// counted it as gone: it takes part again.
    case rejoins
    /// Nothing more is sent, and the end of the run is on record.
    case ended(RunFile)
    /// The last entries are being written, and the run file is being closed.
    case closing
    case closed

    // Events that repeat.
    /// A sign of life, at least every second while the run is sent, waits or is paused.
    case tick
    case progress(RunProgress)
    /// No further progress follows.
    case progressOver
    /// Recipients that got an outcome.
    case settled([Settlement])

    // Warnings.
    /// The store that machines share cannot be used, told now and then, or can be again. Sending
    /// waits for it.
    case storeAway(Diagnostic), storeBack
    /// Warnings about volley.yaml, keys and certificates.
    case warnings([Diagnostic])
    /// Devices left out because other runs sent them as many pushes as `frequency` allows.
    case capped(Int)
    /// A wave that was left out because it was too late.
    case tooLate(run: String, devices: Int, wave: WaveTime, seconds: Int)
    /// Answers that could not be recorded, and what other machines that send the run do with such
    /// pushes; nil where no other machine sends it.
    case unrecorded(Int, byOthers: UnknownPolicy?)
    /// The record next to the run could not note how far the run got.
    case endNotNoted(any Error)
    /// Devices that are left out from now on, and the suppression list that they are on.
    case suppressed(Int, list: String)
    /// Devices that are not suppressed although a service refused their tokens. The service is
    /// named where the run has several.
    case notSuppressed(Int, target: String, topicKey: String, service: String?)
    case suppressionFailed(any Error)
    /// What the run's file may be missing.
    case gap(Diagnostic)

    /// Where a run goes.
    public struct Destination: Sendable {
        /// The run's id.
        public var run: String
        /// Host and port of the service.
        public var endpoint: String
        /// The proxy, as a phrase that follows the endpoint; empty without a proxy.
        public var proxy: String
        /// The app's topic.
        public var topic: String
        /// The run's pace; nil if no pace is set.
        public var pace: Pace?
    }

    /// A moment of a wave, on the clocks of its devices if their zone is known.
    public struct WaveTime: Sendable {
        /// When the wave is sent.
        public var moment: Timestamp
        /// The zone of its devices; nil if unknown.
        public var zone: ZoneRules?
    }

    /// The wave that a run with sending times waits for.
    public struct WaveWait: Sendable {
        /// The run's id.
        public var run: String
        /// When the next wave begins.
        public var until: WaveTime
        /// How long that is from now, in seconds.
        public var seconds: Double
        /// Whether the wave was due earlier and quiet hours hold it back.
        public var isForQuietHours: Bool
        /// How many waves come after it.
        public var later: Int
    }
}

/// A listener to the events of a run that is sent.
public typealias RunObserver = Observer<RunEvent>

/// What a caller brings to a run that is sent: what runs share, a listener, and a way to end it.
///
/// ```swift
/// let options = RunOptions(
///     context: context,
///     observer: RunObserver { if case .progress(let now) = $0 { print(now.done, now.total) } },
///     cancellation: try Cancellation())
/// ```
public struct RunOptions: Sendable {
    /// What all runs of this process share.
    public var context: SendingContext
    /// Called with each event, from any thread.
    public var observer: RunObserver
    package var cancellation: Cancellation
    /// Whether a request to end stops a run that several machines send for all of them; otherwise
    /// the others continue.
    package var endsSharedRuns = true

    /// Creates what a caller brings to a run.
    public init(context: SendingContext, observer: RunObserver, cancellation: Cancellation) {
        self.context = context
        self.observer = observer
        self.cancellation = cancellation
    }
}

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
        _ state: SendState, waitingFor wait: SendWait?, pace: Pace?, service: any PushService,
        isOneOfSeveral: Bool = false
    ) -> RunProgress? {
        guard let rate = rate(state.progress.done) else { return nil }
        let seconds = (clock.now - start) / .seconds(1)
        let isStuck = recording.isStuck(
            answered: state.progress.doneHere - state.capped, recorded: state.recorded.value, at: seconds)
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
