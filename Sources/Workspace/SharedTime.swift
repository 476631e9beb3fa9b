package import Base
package import Campaigns
package import Cluster
package import Runs

/// The time of a schedule that a run is sent for, as the store of several machines has it: no other
/// run is sent for it on any of them.
package struct SharedTime {
    /// What will be claimed.
    package let firing: SharedFiring
    private let store: Store
    private let cancellation: Cancellation

    /// nil if volley.yaml names no store, or the run has no time of its own (`ScheduledTime`).
    /// - Parameter cancellation: ends waiting for a store that has just come up.
    /// - Throws: `Diagnostic`: the store cannot be reached.
    package init?(of run: RunFile, _ settings: RunSettings, in project: Project, until cancellation: Cancellation)
        throws
    {
        guard let time = ScheduledTime(run, settings, isScheduler: false), project.store != nil,
            let store = try project.openStore()
        else { return nil }
        let key = time.scheduledRun.key
        firing = SharedFiring(
            app: run.plan.app, campaign: key.campaign, occurrence: key.occurrence, run: run.plan.id, state: .begun)
        (self.store, self.cancellation) = (store, cancellation)
    }

    /// - Throws: `Diagnostic`: another run has the time; `StoreRefusal.quiet`: work should end
    ///   before the store has answered.
    package func check() throws {
        if let holder = try onceKnown({ try store.holder(of: firing) }) { throw holder.isTaken }
    }

    /// Notes that the run is about to be sent.
    /// - Throws: as `check`.
    package func begin() throws { if let holder = try onceKnown({ try store.claim(firing) }) { throw holder.isTaken } }

    /// Queries a store that has just come up repeatedly, until other machines have recorded there
    /// what they have sent.
    private func onceKnown(_ body: () throws -> SharedFiring?) throws -> SharedFiring? {
        while true {
            do { return try body() } catch StoreRefusal.quiet {
                cancellation.waitForRequest(atMost: 0.5)
                if cancellation.isRequested { throw StoreRefusal.quiet }
            }
        }
    }

    /// Nothing was sent after all.
    package func giveBack() { try? store.giveBack(firing) }
}
