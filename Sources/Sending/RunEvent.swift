public import Base
import Campaigns
public import Runs
public import Scheduling

/// What happens while a run is sent.
public enum RunEvent: Sendable {
    // What is done now.
    /// Whether it may be sent is looked at.
    case checking
    /// It is on record as running, and is about to be sent.
    case started(any RecordedRun)
    /// From now on pushes may be on their way.
    case begins
    case destination(Destination)
    /// A wave of a run with sending times goes out.
    case wave(devices: Int, at: WaveTime)
    /// It waits for its next wave.
    case waiting(WaveWait)
    case waitingProgress(WaveWait)
    /// The run was paused.
    case paused(run: String)
    /// The run was resumed.
    case resumed
    /// It was asked to end, and waits for the answers that are under way.
    case draining
    /// Nothing more of it is sent, and its end is on record.
    case ended(any RecordedRun)
    /// The last entries are made, and the file is closed.
    case closing
    case closed

    // What comes again and again.
    /// Comes at least every second as long as the run is sent, waits or is paused: a sign of life.
    case tick
    case progress(RunProgress)
    /// No further progress comes.
    case progressOver
    /// Recipients that got an outcome.
    case settled([Settlement])

    // Warnings.
    /// What volley.yaml, keys and certificates showed.
    case warnings([Diagnostic])
    /// Devices left out, as other runs sent them as many pushes as `frequency` allows.
    case capped(Int)
    /// A wave that was left out, as it was too late.
    case tooLate(run: String, devices: Int, wave: WaveTime, seconds: Int)
    /// Answers that could not be written into the run file.
    case unrecorded(Int)
    /// How far the run came could not be noted beside it.
    case endNotNoted(any Error)
    /// Devices that are left out from now on, and the list on which they are.
    case suppressed(Int, list: String)
    /// Devices that are not suppressed, although their tokens were refused.
    case notSuppressed(Int)
    case suppressionFailed(any Error)
    /// What the file of the run may not know of it.
    case gap(Diagnostic)

    /// Where a run goes.
    public struct Destination: Sendable {
        /// The run's id.
        public var run: String
        /// Host and port of the service.
        public var endpoint: String
        /// The proxy, as a phrase that follows the endpoint; empty without one.
        public var proxy: String
        /// The app's topic.
        public var topic: String
        /// The pace that is set; nil if there is none.
        public var pace: Pace?
    }

    /// A moment of a wave, on the clocks of its devices if these are known.
    public struct WaveTime: Sendable {
        /// When the wave is sent.
        public var moment: Timestamp
        /// The zone of its devices; nil if it is not known.
        public var zone: ZoneRules?
    }

    /// What a run with sending times waits for.
    public struct WaveWait: Sendable {
        /// The run's id.
        public var run: String
        /// When the next wave begins.
        public var until: WaveTime
        /// How long that is from now.
        public var seconds: Double
        /// Whether it was due before, and quiet hours hold it back.
        public var isForQuietHours: Bool
        /// Waves that come after it.
        public var later: Int
    }
}

/// What a caller brings to a run that is sent: what runs share, who listens, what ends it.
public typealias RunObserver = Observer<RunEvent>

/// Who looks on while a run is sent, and may end it.
public struct RunAttendance: Sendable {
    /// What all runs of this process share.
    public var context: SendingContext
    /// Hears what happens, from any thread.
    public var observer: RunObserver
    package var cancellation: Cancellation

    /// Somebody.
    public init(context: SendingContext, observer: RunObserver, cancellation: Cancellation) {
        self.context = context
        self.observer = observer
        self.cancellation = cancellation
    }
}
