package import Base
import Campaigns
package import Runs
package import Scheduling

/// What happens while a run is sent.
package enum RunEvent: Sendable {
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
    /// Somebody paused it.
    case paused(run: String)
    /// Somebody let it go on.
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

    // What somebody should know.
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
    package struct Destination: Sendable {
        package var run: String
        package var endpoint: String
        package var proxy: String
        package var topic: String
        package var pace: Pace?
    }

    /// A moment of a wave, on the clocks of its devices if these are known.
    package struct WaveTime: Sendable {
        package var moment: Timestamp
        package var zone: ZoneRules?
    }

    /// What a run with sending times waits for.
    package struct WaveWait: Sendable {
        package var run: String
        package var until: WaveTime
        package var seconds: Double
        /// Whether it was due before, and quiet hours hold it back.
        package var isForQuietHours: Bool
        /// Waves that come after it.
        package var later: Int
    }
}

/// Who is told what happens while a run is sent.
package typealias RunObserver = Observer<RunEvent>

/// Who looks on while a run is sent, and may end it.
package struct RunAttendance: Sendable {
    /// What all runs of this process share.
    package var context: SendingContext
    package var observer: RunObserver
    package var cancellation: Cancellation

    /// Somebody.
    package init(context: SendingContext, observer: RunObserver, cancellation: Cancellation) {
        self.context = context
        self.observer = observer
        self.cancellation = cancellation
    }
}
