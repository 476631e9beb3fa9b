import Workspace
import Base
import Delivery
import Runs

/// The right to send a run until it ends, as `SendPermission.pass` grants it.
struct SendPermit: ~Copyable {
    fileprivate let run: any RunLedger
    fileprivate let time: ScheduledTime?

    package init(run: any RunLedger, time: ScheduledTime?) {
        self.run = run
        self.time = time
    }

    /// Notes how far the run got, for the next time. A failure to note it does not change how the
    /// run ended.
    consuming func end(_ observer: RunObserver) {
        do { try run.append(.epochEnded) } catch { observer(.endNotNoted(error)) }
        if let time, let state = try? run.status().state {
            time.note(
                state,
                problem: state == .finished
                    ? (try? run.figures(withGroups: false))?.problem(of: run.plan.audience) : nil)
        }
    }
}
