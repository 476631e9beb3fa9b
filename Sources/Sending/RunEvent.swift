public import Base
import Campaigns
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
    /// A service has taken no push for some seconds although devices wait for it. Volley keeps trying.
    case silent(SilentService)
    /// A service that did not answer takes pushes again.
    case answersAgain(any PushService)
    /// The run was asked to end, and waits for the outstanding answers.
    case draining
    /// Other machines have something to record yet, or may: told each time that this is looked at.
    case waitingForMachines([String])
    /// This process was suspended, or was cut off from the store, for so long that other machines counted it as gone:
    /// it takes part again.
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
    /// The store that machines share cannot be used, told now and then, or can be again. Sending waits for it.
    case storeAway(Diagnostic), storeBack
    /// Warnings about volley.yaml, keys and certificates.
    case warnings([Diagnostic])
    /// Devices left out because other runs sent them as many pushes as `frequency` allows.
    case capped(Int)
    /// A wave that was left out because it was too late.
    case tooLate(run: String, devices: Int, wave: WaveTime, seconds: Int)
    /// Answers that could not be recorded, and what other machines that send the run do with such pushes; nil where no
    /// other machine sends it.
    case unrecorded(Int, byOthers: UnknownPolicy?)
    /// The record next to the run could not note how far the run got.
    case endNotNoted(any Error)
    /// Devices that are left out from now on, and the suppression list that they are on.
    case suppressed(Int, list: String)
    /// Devices that are not suppressed although a service refused their tokens. The service is named where the run has
    /// several.
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
public struct RunOptions: Sendable {
    /// What all runs of this process share.
    public var context: SendingContext
    /// Called with each event, from any thread.
    public var observer: RunObserver
    package var cancellation: Cancellation
    /// Whether a request to end stops a run that several machines send for all of them; otherwise the others continue.
    package var endsSharedRuns = true

    /// Creates what a caller brings to a run.
    public init(context: SendingContext, observer: RunObserver, cancellation: Cancellation) {
        self.context = context
        self.observer = observer
        self.cancellation = cancellation
    }
}
