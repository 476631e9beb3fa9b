import Base
import PushServices
import Runs

extension RunSettings {
    /// What all pushes of a run that begins at `start` have in common.
    /// - Parameter label: `PushOptions.label`.
    func options(startingAt start: Timestamp, label: String = "") -> PushOptions {
        var options = PushOptions(
            topic: firstService.topic, pushType: pushType, priority: priority,
            expiration: expiration(startingAt: start),
            collapseID: collapseID)
        // Another server replaces the service's own.
        if case .named(let environment) = firstService.environment { options.isProduction = environment.reachesPeople }
        (options.label, options.channel) = (label, channel)
        return options
    }

    /// When the pushes of a run that begins at `start` expire, in epoch seconds; 0 for now or
    /// never, nil for no expiry.
    func expiration(startingAt start: Timestamp) -> Int64? {
        switch expiry {
        case nil: nil
        case .immediately: 0
        case .after(let seconds): start.epochSeconds + Int64(seconds)
        case .at(let moment): moment.epochSeconds
        }
    }

    /// The moment after which a push is no longer wanted, so none is sent; nil if pushes do not
    /// expire at a moment.
    func deadline(startingAt start: Timestamp) -> Timestamp? {
        guard let expiration = expiration(startingAt: start), expiration > 0 else { return nil }
        return Timestamp(epochSeconds: expiration)
    }
}
