import Workspace
import Base
import Delivery
import Runs

/// What `SendPermission.pass` gives: the right to send a run, until it ends.
struct SendPermit: ~Copyable {
    fileprivate let run: RunStore
    fileprivate let record: SendingHistory
    fileprivate let time: ScheduledTime?
    /// Is told what is claimed before it goes onto the wire; nil for a retry, which sends nothing of the run itself.
    let claimCounter: ClaimCounter?
    /// What must stay in its place as long as it is sent.
    let files: RequiredFiles

    package init(run: RunStore, record: SendingHistory, time: ScheduledTime?, claimCounter: ClaimCounter?) {
        (self.run, self.record, self.time, self.claimCounter) = (run, record, time, claimCounter)
        files = RequiredFiles(run)
    }

    /// Notes how far the run is, for the next time. What cannot be noted changes nothing in how it ended.
    consuming func end(_ observer: RunObserver) {
        do { try record.end(run) } catch { observer(.endNotNoted(error)) }
        if let state = try? run.status().state { time?.note(state) }
    }
}
