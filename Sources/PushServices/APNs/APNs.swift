public import Base

/// Apple Push Notification service.
/// Source: Apple, "Sending notification requests to APNs", "Handling notification responses from APNs", "Establishing a token-based connection to APNs".
public struct APNs: PushService {
    /// `apns`, in run files and as the key in volley.yaml.
    public let name = "apns"
    /// As people call it.
    public let displayName = "APNs"
    /// As it is named where it is mentioned first.
    public let introduction = "APNs, Apple's push service"
    /// Where Apple documents the reasons.
    public let reasonsPage = "Apple's \"Handling notification responses from APNs\""
    /// The column of results that holds the push's id.
    public let idColumn = "apns_id"
    /// The ports of Apple's servers.
    public let ports = "443 and 2197"
    /// Apple's own address blocks.
    public let networks = "For Apple that is 17.0.0.0/8 and 2620:149::/32."
    /// Apple
    public let owner = "Apple"
    /// As Apple's documentation has them.
    public let terms = ServiceTerms(pushID: idHeader, aPushID: "an apns-id", collapseID: collapseHeader, pushType: pushTypeHeader)
    /// Source: Apple, "Sending notification requests to APNs": a notification is stored for at most 30 days, a collapse id has at most 64 bytes,
    /// and background pushes with priority 10 are an error.
    public let rules = CampaignRules(
        longestStorageDays: 30, collapseIDBytes: 64, silentPriority: .normal, payloadKey: "aps", payloadExample: "aps: {alert: Hello}",
        payloadExampleJSON: .object(pairs: [("aps", .object(pairs: [("alert", .string("Hello"))]))]))
    /// Of keys that stand beside `aps`.
    public let warnings = [WarningName.outsideAPS]

    static let idHeader = "apns-id", collapseHeader = "apns-collapse-id", pushTypeHeader = "apns-push-type"

    /// Anything younger than 20 minutes is answered by TooManyProviderTokenUpdates, anything older than 60 by ExpiredProviderToken.
    static let tokens = SignedTokenFacts(
        keyIDField: "kid", issuerClaim: "iss", lifetimeSeconds: 3600, renewalSeconds: 3000, shortestRenewalSeconds: 1200)

    /// The only one there is.
    public init() {}

    /// What an answer says about the push, the device and the run.
    public func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        let meaning = Self.meaning(status: answer.status, reason: answer.reason)
        switch meaning {
        // 200 says all that matters.
        case .accepted: return meaning
        // So does 410 when APNs says it: its answers have the push's apns-id, also those that are cut off, as it comes with the status.
        case .invalidTarget(blamesSettings: false):
            return answer.id == .own || Self.row(answer.status, answer.reason) != nil ? meaning : .notTheService
        default: if answer.isCutOff { return .maybeTaken }
        }
        // A proxy or a load balancer, which may have passed the push on.
        if answer.status >= 500, answer.id != .own, Self.row(answer.status, answer.reason) == nil { return .maybeTaken }
        return meaning
    }

    /// What a report says of a reason that Apple documents; nil for others.
    public func words(about reason: String) -> ReasonWords? {
        Self.rowsByReason[reason].map { ReasonWords(explanation: $0.explanation, meaning: $0.meaning, mayBeClock: $0.mayBeClock) }
    }

    /// What to check when this answer stopped a run.
    public func advice(status: Int, reason: String) -> String {
        if let advice = Self.row(status, reason)?.advice { return advice }
        switch status {
        case 404, 405: return "The server does not understand APNs requests: check environment (host and port) in volley.yaml."
        default: return "Check key, team, topic and environment of the app in volley.yaml."
        }
    }

    /// What `doctor` learns from the answer to a push that reaches no device.
    public func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        switch (status, reason) {
        case (200, _): .fine
        case (400, _), (410, _): Self.row(status, reason)?.probe ?? .notTheService
        case (403, _): .wrongCredentials
        case (429, _), (500..., _): .busy
        default: .notTheService
        }
    }

    private static func meaning(status: Int, reason: String) -> AnswerMeaning {
        if status == 200 { return .accepted }
        if let row = row(status, reason) { return row.meaning }
        switch status {
        // Whatever Apple may add: it is about who sends, not about the device.
        case 403: return .stop
        case 404, 405: return reason.isEmpty ? .stop : .rejected
        case 410: return .invalidTarget(blamesSettings: false)
        case 429: return .retry(.deviceBusy)
        case 500...: return .retry(.serviceBusy)
        // Odd: 1xx and 3xx, other 2xx, unknown 4xx. By the status' class these are no temporary refusals.
        default: return .rejected
        }
    }
}
