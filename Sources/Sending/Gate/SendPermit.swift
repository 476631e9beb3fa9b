import Workspace
import Base
import Delivery
import Runs

/// What `SendPermission.pass` gives: the right to send a run, until it ends.
struct SendPermit: ~Copyable {
    fileprivate let run: any RunLedger
    fileprivate let time: ScheduledTime?

    package init(run: any RunLedger, time: ScheduledTime?) {
        self.run = run
        self.time = time
    }

    /// Notes how far the run is, for the next time. What cannot be noted changes nothing in how it ended.
    consuming func end(_ observer: RunObserver) {
        do { try run.endLife() } catch { observer(.endNotNoted(error)) }
        if let state = try? run.status().state { time?.note(state) }
    }
}
