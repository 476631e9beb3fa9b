import Base
package import Campaigns
package import PostgresRuns
package import Runs

/// The time of a schedule that a run is sent for, as the store of several machines knows it: no other run is sent for it on any of them.
package struct SharedTime {
    /// What is to be claimed.
    package let firing: SharedFiring
    private let store: Store

    /// nil if volley.yaml names no store, or the run has no time of its own (`ScheduledTime`).
    /// - Throws: `Diagnostic`: the store cannot be reached.
    package init?(of run: any RecordedRun, _ settings: RunSettings, in project: Project) throws {
        guard let time = ScheduledTime(run, settings, isScheduler: false), project.store != nil,
            let store = try project.openStore(asked: .requested())
        else { return nil }
        let key = time.scheduledRun.key
        firing = SharedFiring(app: run.plan.app, campaign: key.campaign, occurrence: key.occurrence, run: run.plan.id, state: .begun)
        self.store = store
    }

    /// - Throws: `Diagnostic`: another run has the time.
    package func check() throws { if let holder = try store.holder(of: firing) { throw holder.isTaken } }

    /// Notes that the run is about to be sent.
    /// - Throws: `Diagnostic`: another run has the time.
    package func begin() throws { if let holder = try store.claim(firing) { throw holder.isTaken } }

    /// Nothing was sent after all.
    package func giveBack() { try? store.giveBack(firing) }
}
