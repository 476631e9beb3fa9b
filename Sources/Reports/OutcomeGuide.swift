import Base
import PushServices
import Runs

/// Outcomes and skip reasons in a few words.
struct OutcomeGuide {
    /// The services that took the pushes, at least one.
    let services: [any PushService]
    /// The state of the run.
    let state: RunState
    /// Whether wrong settings may be why tokens were refused.
    let doubtsTokens: Bool
    /// Whether the targets are tokens of Live Activities: that one is refused says nothing of the
    /// app or the device.
    var areActivities = false
    /// Whether each device needed such a token, as the target or next to it.
    var needsActivities = false
    /// Whether some of the unknown pushes were sent again after the first answer was lost, and
    /// refused then.
    var hasRefusedAgain = false
    /// Whether the run was put back from a backup before it had ended.
    let isHeld: Bool
    /// Whether other machines may have sent more than its file has.
    let isNotFetched: Bool
    /// The readers.
    let face: TextMedium

    /// - Parameter services: the services that took the pushes, at least one.
    init(
        services: [any PushService], state: RunState, doubtsTokens: Bool, isHeld: Bool = false,
        isNotFetched: Bool = false,
        face: TextMedium = .terminal
    ) {
        (self.services, self.state, self.doubtsTokens, self.isHeld, self.face) = (
            services, state, doubtsTokens, isHeld, face
        )
        self.isNotFetched = isNotFetched
    }

    /// - Parameter service: the service that took the pushes.
    init(service: any PushService, state: RunState, doubtsTokens: Bool, isHeld: Bool = false) {
        self.init(services: [service], state: state, doubtsTokens: doubtsTokens, isHeld: isHeld)
    }

    /// The services, of which each device has one, in words.
    private var name: String { Report.listed(services.map(\.displayName), by: "or") }

    /// What a target is called in full; a short word where services have different ones.
    var noun: String {
        let noun = services[0].target.noun
        return services.allSatisfy { $0.target.noun == noun } ? noun : shortNoun
    }

    /// The word for a target that is not a device.
    var shortNoun: String { services.shortTargetNoun }

    /// A description of them, for readers that are new to them.
    var introduction: String {
        services.count == 1
            ? services[0].introduction
            : "the device's service (\(services.map(\.introduction).joined(separator: "; or ")))"
    }

    /// The reasons that mark devices as gone.
    private var goneReasons: [String] { services.flatMap(\.goneReasons) }

    /// What services that recognize repeated pushes do with pushes without an answer; blank if
    /// there is no such service, or the run is over.
    private var whatResumingDoes: String {
        let names = services.filter { if case .none = $0.repeatProtection { false } else { true } }.map(\.displayName)
        guard !names.isEmpty, !isHeld, state == .stopped || state == .cancelled else { return "" }
        return
            " If Volley was cut off before the answer came, \(face == .console ? "“Resume”" : "volley resume") sends the push again, and \(Report.listed(names, by: "or")) delivers it once."
    }

    /// What came for unknown pushes: a second answer that refused the push says nothing of the
    /// first push.
    var noAnswer: String { hasRefusedAgain ? "no certain answer" : "no answer" }

    private var isUnderway: Bool { !isHeld && (state == .running || state == .paused) }

    /// In a few words, next to a figure.
    func note(_ outcome: Outcome) -> String {
        return switch outcome {
        case .accepted: "\(name) took it over"
        case .invalidToken:
            doubtsTokens
                ? "the \(noun) was refused" : areActivities ? "the activity is over" : "the app is gone from the device"
        case .rejected: "refused permanently"
        case .failed: "refused until retries ran out"
        case .unknown: isNotFetched ? "not known here" : isUnderway ? "no answer yet" : "\(noAnswer) came"
        case .unsent: isHeld ? "not known since the backup" : isUnderway ? "not sent yet" : "never sent"
        }
    }

    /// As a heading.
    func title(_ outcome: Outcome) -> String {
        return switch outcome {
        case .accepted: "Accepted"
        case .invalidToken:
            doubtsTokens ? "\(TextFormat.capitalized(shortNoun)) refused" : areActivities ? "Activity over" : "App gone"
        case .rejected: "Refused"
        case .failed: services[0].choosesDevices ? "Failed" : "Not reached in time"
        case .unknown: isNotFetched ? "Not known here" : isUnderway ? "No answer yet" : TextFormat.capitalized(noAnswer)
        case .unsent: isHeld ? "Not known" : isUnderway ? "Not sent yet" : "Never sent"
        }
    }

    /// Reasons why intended rows did not become devices, as opposed to rows that a campaign leaves
    /// out on purpose.
    static let unintended = SkipReason.allCases.filter(\.isUnintended)

    /// As a heading.
    func title(skipped reason: SkipReason) -> String {
        switch reason {
        case .badRow: "Row cannot be read"
        case .missingToken, .badToken: TextFormat.capitalized(note(skipped: reason.rawValue))
        case .noService: "No service reaches it"
        case .suppressed: "App known to be gone"
        case .renderError: "Text has a blank"
        case .payloadTooLarge: "Message too large"
        default: note(skipped: reason.rawValue)
        }
    }

    /// What it means, in a sentence or two, for readers that are new to the service.
    func meaning(_ outcome: Outcome) -> String {
        return switch outcome {
        case .unsent where isHeld:
            "Nothing had been sent \(services[0].choosesDevices ? "of it" : "to the device") when the backup was made. What was sent since then is not known."
        case .unknown where isNotFetched:
            "Other machines may have sent the push, and what they recorded is not in this file yet."
        case .accepted where services[0].choosesDevices:
            "\(introduction), took the push over, for the devices that it chooses."
        case .unknown where services[0].choosesDevices && !isUnderway:
            "The call was made, or was about to be, and \(noAnswer) came. \(name) may have taken the push over or not.\(whatResumingDoes)"
        case .unsent where services[0].choosesDevices && !isUnderway:
            "The call was not made: the run ended, or the push expired, before its turn came."
        case .accepted:
            "\(services.count == 1 ? introduction + "," : TextFormat.capitalized(introduction)) took the push over, and delivers it as soon as the device can be reached."
        case .invalidToken where doubtsTokens:
            goneReasons.isEmpty
                ? "\(name) refused the \(noun). Wrong settings may have caused this, so no device is left out of later campaigns."
                : "\(name) refused the \(noun). Devices that it calls gone (\(goneReasons.joined(separator: ", "))) are left out of later campaigns until they register again. The others are not: wrong settings may have caused the refusal."
        case .invalidToken where areActivities: ReasonText.activityOver
        case .invalidToken:
            "The app is gone from the device, or its \(shortNoun) has changed. These devices are left out of later campaigns until they register again."
        case .rejected:
            "\(name) refused the push permanently. The reasons below say why. Sending again will not help until you fix the cause."
        case .failed:
            "\(name) refused the push temporarily, and still did after several attempts. You can send it again."
        case .unknown:
            isUnderway
                ? "The push is on its way, and its answer is not here yet."
                : "The push went out, or was about to, and \(noAnswer) came. The device may have got it or not.\(whatResumingDoes)"
        case .unsent:
            isUnderway
                ? "Its turn has not come yet."
                : "Nothing was sent to the device: the run ended, or the push expired, before its turn came."
        }
    }

    static func ink(_ outcome: Outcome) -> TextStyle.Ink {
        switch outcome {
        case .accepted: .green
        case .invalidToken, .unsent: .yellow
        case .rejected, .failed, .unknown: .red
        }
    }

    func note(skipped name: String) -> String {
        if needsActivities, name == SkipReason.missingToken.rawValue {
            return "no \(ActivityTokens.noun) or its device"
        }
        if needsActivities, name == SkipReason.badToken.rawValue { return "not \(ActivityTokens.aNoun) or its device" }
        guard services.count > 1, let reason = SkipReason(rawValue: name) else {
            return Self.note(skipped: name, target: services[0].target)
        }
        return switch reason {
        case .missingToken: "no \(shortNoun)"
        case .badToken: "not \(TextFormat.withArticle(shortNoun))"
        default: Self.note(skipped: name, target: services[0].target)
        }
    }

    /// In a few words, next to a figure.
    static func note(skipped name: String, target: TargetForm) -> String {
        switch SkipReason(rawValue: name) {
        case .badRow: "the row cannot be read"
        case .notMatched: "not selected"
        case .filtered: "a condition is not met"
        case .excluded: "excluded by the campaign"
        case .missingToken: "no \(target.noun)"
        case .badToken: "not \(target.aNoun)"
        case .noService: "no service of the app reaches it"
        case .suppressed: "on the suppression list, or invalid"
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
