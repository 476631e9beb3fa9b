public import Base

/// Apple Push Notification service.
/// Source: Apple, "Sending notification requests to APNs", "Handling notification responses from APNs", "Establishing a token-based connection to APNs".
public struct APNs: PushService {
    /// `apns`, in run files and as the key in volley.yaml.
    public let name = "apns"
    /// The name that people use.
    public let displayName = "APNs"
    /// What people call it as well.
    public let otherNames = ["apple", "apple push", "apple push notification service"]
    /// The name at its first mention.
    public let introduction = "APNs, Apple's push service"
    /// Where Apple documents the reasons.
    public let reasonsPage = "Apple's \"Handling notification responses from APNs\""
    /// The column of results that holds the push's id.
    public let idColumn = "apns_id"
    /// The ports of Apple's servers.
    public let ports = "443 and 2197"
    /// Apple's own address blocks.
    public let networks = "For Apple that is 17.0.0.0/8 and 2620:149::/32."
    /// Apple.
    public let owner = "Apple"
    /// The terms of Apple's documentation.
    public let terms = ServiceTerms(pushID: idHeader, aPushID: "an apns-id", collapseID: collapseHeader, pushType: pushTypeHeader)
    /// Source: Apple, "Sending notification requests to APNs": a notification is stored for at most 30 days, a collapse id has at most 64 bytes,
    /// and background pushes with priority 10 are an error.
    public let rules = CampaignRules(
        longestStorageDays: 30, collapseIDBytes: 64, silentPriority: .normal, payloadKey: "aps", payloadExample: "aps: {alert: Hello}",
        payloadExampleJSON: .object(pairs: [("aps", .object(pairs: [("alert", .string("Hello"))]))]))
    /// Source: Apple, "Preparing custom alert sounds".
    public let system: PhoneSystem? = PhoneSystem(name: "iOS", phone: "iPhone", soundEndings: ["aiff", "aif", "wav", "caf"])
    /// All that Volley knows: they are Apple's.
    public let pushTypes = PushType.allCases
    /// For keys that are next to `aps`.
    public let warnings = [WarningName.outsideAPS]
    /// Source: Apple, "Handling notification responses from APNs": apns-id is among the headers of every response.
    public let answersCarryID = true
    /// A repeated push keeps its apns-id. Apple does not promise that APNs drops it.
    public let recognizesRepeats = true

    static let idHeader = "apns-id", collapseHeader = "apns-collapse-id", pushTypeHeader = "apns-push-type"

    /// APNs answers TooManyProviderTokenUpdates to tokens younger than 20 minutes, and ExpiredProviderToken to those older than 60.
    static let tokens = SignedTokenFacts(
        noun: "provider token", keyIDField: "kid", issuerClaim: "iss", lifetimeSeconds: 3600, renewalSeconds: 3000,
        shortestRenewalSeconds: 1200)

    /// The only APNs there is.
    public init() {}

    /// What an answer means for the push, the device and the run.
    public func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        let meaning = Self.meaning(status: answer.status, reason: answer.reason)
        switch meaning {
        // Status 200 is enough.
        case .accepted: return meaning
        // 410 is enough, too, if APNs itself says it. Its answers carry the push's apns-id, even those that are cut off: the id comes with
        // the status.
        case .invalidTarget(blamesSettings: false):
            return answer.id == .own || Self.answers[answer.status, answer.reason] != nil ? meaning : .notTheService
        default: if answer.isCutOff { return .maybeTaken }
        }
        // A proxy or a load balancer answers, and may have passed the push on.
        if answer.status >= 500, answer.id != .own, Self.answers[answer.status, answer.reason] == nil { return .maybeTaken }
        return meaning
    }

    /// What the report says about a reason that Apple documents; nil for others.
    public func words(about reason: String) -> ReasonWords? {
        Self.answers[reason]?.words
    }

    /// What to check when this answer stopped a run.
    public func advice(status: Int, reason: String) -> String {
        if let advice = Self.answers[status, reason]?.advice { return advice }
        switch status {
        case 429, 500...: return "Try again in a few minutes."
        case 404, 405: return "The server does not understand APNs requests: check environment (host and port) in volley.yaml."
        default: return "Check key, team, topic and environment of the app in volley.yaml."
        }
    }

    /// What `doctor` learns from the answer to a push that reaches no device.
    public func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        switch (status, reason) {
        case (200, _): .fine
        case (400, _), (410, _): Self.answers[status, reason]?.probe ?? .notTheService
        case (403, _): .wrongCredentials
        case (429, _), (500..., _): .busy
        default: .notTheService
        }
    }

    private static func meaning(status: Int, reason: String) -> AnswerMeaning {
        if status == 200 { return .accepted }
        if let row = answers[status, reason] { return row.meaning }
        switch status {
        // Also reasons that Apple adds later: a 403 is about the sender, not the device.
        case 403: return .stop
        case 404, 405: return reason.isEmpty ? .stop : .rejected
        case 410: return .invalidTarget(blamesSettings: false)
        case 429: return .retry(.deviceBusy)
        case 500...: return .retry(.serviceBusy)
        // Unexpected: 1xx and 3xx, other 2xx, unknown 4xx. None of these classes means a temporary refusal.
        default: return .rejected
        }
    }
}
