import Audience
import Base
import Cluster
import Runs
import Workspace

/// The frequency caps, checked again when sending begins: other runs may have been sent while the
/// plan waited.
extension RunSender {
    /// The recent pushes to the app's devices. No caps apply to a retry or a test: a person starts
    /// these regardless of what the devices got.
    var history: FrequencyHistory {
        let isCapped = run.plan.retryOf == nil && !run.plan.isTest
        return FrequencyHistory(
            app: run.plan.app, lists: settings.lists, caps: isCapped ? settings.frequencyCaps : [], now: clock.now())
    }

    /// The recipients that may get no more pushes as of now. Where several machines send, the one
    /// that has the run's file finds out, and tells the others.
    /// - Returns: nil if it has not told them yet: this process must not send.
    /// - Throws: `SendingRevoked`; `Diagnostic` when a run cannot be read.
    func cappedRecipients() throws -> CappedRecipients? {
        guard let session else { return CappedRecipients(devices: try history.cappedDevices(for: run, in: catalog)) }
        if history.caps.isEmpty { return CappedRecipients() }
        guard let file = session.mirror?.file else {
            return try session.ledger.cappedIDs().map { CappedRecipients(ids: $0) }
        }
        // The file, not the account in the store, has the moments by which the runs of this folder
        // follow one another.
        var history = history
        history.elsewhere = try session.ledger.reachedElsewhere()
        let devices = try history.cappedDevices(for: file, in: catalog)
        return CappedRecipients(
            ids: try session.ledger.shareCapped(devices.map { devices in { devices.contains(token: $0) } }))
    }

    /// Whether this process may send a segment now: where several send, the coordinator goes first,
    /// and the recipients to leave out must be known.
    func mayBegin(_ segment: RunSegment) -> Bool {
        guard let session else { return true }
        let knowsCapped = session.mirror != nil || history.caps.isEmpty || session.worker.news?.knowsCapped ?? false
        return knowsCapped && session.mayBegin(segment)
    }
}

extension SharedLedger {
    /// The devices that the runs of other machines have sent to.
    fileprivate func reachedElsewhere() throws -> SharedReached { try SharedReached(store) }
}

/// The recipients of a run that may get no more pushes: devices, or recipients by their ids.
struct CappedRecipients: Sendable {
    /// nil if no devices are capped.
    var devices: CappedDevices?
    var ids = BitSet()

    @inline(__always) func contains(_ push: StoredPush) -> Bool {
        ids.contains(push.id) || devices?.contains(token: push.token) ?? false
    }
}
