import Base
import PushServices
import Runs

extension RunSettings {
    /// What all pushes of a run that begins at `start` have in common.
    func options(startingAt start: Timestamp) -> PushOptions {
        PushOptions(topic: topic, pushType: pushType, priority: priority, expiration: expiration(startingAt: start), collapseID: collapseID)
    }

    /// When pushes of a run end that begins at `start`, in epoch seconds.
    func expiration(startingAt start: Timestamp) -> Int64? {
        switch expiry {
        case nil: nil
        case .immediately: 0
        case .after(let seconds): start.epochSeconds + Int64(seconds)
        case .at(let moment): moment.epochSeconds
        }
    }

    /// After this moment a push is no longer wanted, so none is sent.
    func deadline(startingAt start: Timestamp) -> Timestamp? {
        guard let expiration = expiration(startingAt: start), expiration > 0 else { return nil }
        return Timestamp(epochSeconds: expiration)
    }
}
