import Base
import Runs

/// Outcomes and skip reasons in a few words.
enum OutcomeGuide {
    static func note(_ outcome: Outcome, in state: RunState) -> String {
        let isUnderway = state == .running || state == .paused
        return switch outcome {
        case .accepted: "APNs took it over"
        case .invalidToken: "the app is gone from the device"
        case .rejected: "refused for good"
        case .failed: "refused until retries ran out"
        case .unknown: isUnderway ? "no answer yet" : "no answer came"
        case .unsent: isUnderway ? "not sent yet" : "never sent"
        }
    }

    static func ink(_ outcome: Outcome) -> TextStyle.Ink {
        switch outcome {
        case .accepted: .green
        case .invalidToken, .unsent: .yellow
        case .rejected, .failed, .unknown: .red
        }
    }

    static func note(skipped name: String) -> String {
        switch SkipReason(rawValue: name) {
        case .badRow: "the row cannot be read"
        case .notMatched: "not selected"
        case .filtered: "a condition does not hold"
        case .excluded: "excluded by the campaign"
        case .missingToken: "no device token"
        case .badToken: "not a device token"
        case .suppressed: "known to be invalid"
        case .duplicateToken: "the same device again"
        case .aliasLimit: "too many devices of an alias"
        case .frequency: "got enough pushes lately"
        case .holdout: "kept back to compare"
        case .renderError: "a text has a blank"
        case .payloadTooLarge: "the payload is too large"
        case nil: ""
        }
    }
}
