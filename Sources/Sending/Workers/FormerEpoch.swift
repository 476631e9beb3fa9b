import Base
import PostgresRuns
import Runs

/// What a run's file said before the epoch that has just begun.
struct FormerEpoch: Hashable, Sendable {
    /// The epoch; blank if there was none.
    var epoch: String
    /// Why the run had stopped.
    var cause: StopCause?
    /// Whether the file said that it was cancelled: then the person that resumes it knows that.
    var isCancelled: Bool

    /// To be made before the gate is passed.
    init(of run: any RunLedger) throws {
        let status = try run.status()
        (epoch, cause, isCancelled) = (status.epoch, status.cause, status.state == .cancelled)
    }

    /// Whether the file said that the store has forgotten something: then the person that resumes it knows that.
    var isForgetting: Bool { cause?.isForgetting ?? false }
}

/// A run that continues from its file alone, because its store has forgotten something.
extension RunToSend {
    /// How the run ended. The store has the cause when it no longer has this worker.
    func known(_ end: RunEnd, _ ledger: SharedLedger) -> RunEnd {
        guard case .stopped(.ledger(.takenOver)) = end, let stop = try? ledger.forgetting() else { return end }
        return .stopped(.ledger(stop))
    }

    /// Notes in the file of a cancelled run what its store has forgotten: devices that are unsent there may have got
    /// the push.
    func noteForgetting(_ ledger: SharedLedger) throws {
        // If the run was removed from the store, nothing more can be learned.
        guard let stop = try? ledger.forgetting() else { return }
        try run.append(.state(.cancelled, cause: .ledger(stop), at: .now(), from: [.cancelled]))
    }

    /// Ends a run whose store has forgotten something, or continues it alone. It continues only if the file said so
    /// before: a person must have decided.
    /// - Parameter waiting: called with the machines that are waited for, at each look.
    /// - Returns: how it ended; nil if the store has no sign that it has forgotten something.
    func sendWithoutStore(
        _ stage: RunSender, _ ledger: SharedLedger, after former: FormerEpoch, _ waiting: ([String]) -> Void
    ) throws -> RunEnd? {
        guard let stop = try ledger.forgetting() else { return nil }
        guard former.isForgetting else {
            try ledger.fetch()
            return stage.recorded(.stopped(.ledger(stop)))
        }
        do { try ledger.takeBack(at: .now(), waiting: waiting) } catch {
            // The next resumption tries again.
            _ = stage.recorded(.stopped(.ledger(stop)))
            return .stopped(.ledger(.unusable("\(error)")))
        }
        return stage.send()
    }
}
