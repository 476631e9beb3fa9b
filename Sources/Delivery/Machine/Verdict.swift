import Base

/// What APNs' answer means for a push and for the run.
/// Source: Apple, "Handling notification responses from APNs".
enum Verdict: Hashable, Sendable {
    case accepted
    /// The token is dead. `pointsAtSettings`: too many of these mean that the environment or topic is wrong, not the tokens.
    case invalidToken(pointsAtSettings: Bool)
    /// Final, for this push alone.
    case rejected
    /// Every further push would fare alike: what to check, a whole sentence.
    case stop(advice: String)
    /// Again, later.
    case retry(Retry)
    /// Something before APNs answered, or the answer was cut off before its reason: APNs may have taken the push.
    case doubtful
    /// Something else than APNs answers, as if it were APNs: nobody knows what it did with the push, nor would do with the others.
    case stranger

    enum Retry: Hashable, Sendable {
        /// This device is hit too often; says nothing of the others.
        case deviceBusy
        /// The service has trouble: all others will have it too.
        case serviceBusy
        /// The service has trouble and leaves: over another connection.
        case serviceLeaves
        /// The connection stood idle for too long: over another one, at once.
        case connectionIdle
        /// With a new provider token and over another connection, at once.
        case tokenExpired
    }

    /// The reasons that Apple documents for 500 and 503.
    private static let serviceReasons: Set = ["InternalServerError", "ServiceUnavailable", "Shutdown"]

    /// Those that it documents for 410.
    private static let goneReasons: Set = ["Unregistered", "ExpiredToken"]

    init(_ answer: DeliveryMachine.Answer) {
        self.init(status: answer.status, reason: answer.reason)
        switch self {
        // 200 says all that matters.
        case .accepted: return
        // So does 410 when APNs says it: its answers have the push's apns-id, also those that are cut off, as it comes with the status.
        case .invalidToken(pointsAtSettings: false):
            if answer.id != .own, !Self.goneReasons.contains(answer.reason) { self = .stranger }
            return
        default: if answer.isCutOff { self = .doubtful }
        }
        // A proxy or a load balancer, which may have passed the push on.
        if answer.status >= 500, answer.id != .own, !Self.serviceReasons.contains(answer.reason) { self = .doubtful }
    }

    private init(status: Int, reason: String) {
        switch status {
        case 200: self = .accepted
        case 400: self = Self.badRequest(reason)
        case 403: self = Self.forbidden(reason)
        case 404, 405: self = Self.wrongRequest(status, reason)
        case 410: self = .invalidToken(pointsAtSettings: false)
        case 429: self = .retry(reason == "TooManyProviderTokenUpdates" ? .serviceBusy : .deviceBusy)
        case 500...: self = .retry(reason == "Shutdown" ? .serviceLeaves : .serviceBusy)
        // Odd: 1xx and 3xx, other 2xx, unknown 4xx. By the status' class these are no temporary refusals.
        default: self = .rejected
        }
    }

    /// Whether APNs accepted the push, or refused it for good.
    var isFinal: Bool {
        switch self {
        case .accepted, .invalidToken, .rejected, .stop: true
        case .retry, .doubtful, .stranger: false
        }
    }

    /// Whether APNs says that it cannot take so many at a time. One push alone cannot tell whether 429 means its device or all of them.
    func isOverload(status: Int) -> Bool {
        switch self {
        case .retry(.deviceBusy): true
        case .retry(.serviceBusy), .doubtful: status == 503
        default: false
        }
    }

    private static func badRequest(_ reason: String) -> Verdict {
        if TokenEvidence.doubtfulReasons.contains(reason) { return .invalidToken(pointsAtSettings: true) }
        switch reason {
        case "IdleTimeout": return .retry(.connectionIdle)
        case "BadTopic", "MissingTopic":
            return .stop(advice: "Check the app's topic (its bundle id) in volley.yaml and the push type's suffix.")
        case "TopicDisallowed":
            return .stop(advice: "The key or certificate may not push to this topic: check topic, key and team in volley.yaml.")
        case "BadCollapseId": return .stop(advice: "Check delivery.collapse in the campaign: at most 64 bytes.")
        case "BadExpirationDate": return .stop(advice: "Check delivery.expires in the campaign.")
        case "BadPriority": return .stop(advice: "Check delivery.priority in the campaign; silent pushes must not be high.")
        case "InvalidPushType": return .stop(advice: "Check the kind of push in the campaign: silent or visible.")
        case "PayloadEmpty": return .stop(advice: "The rendered payload is empty: check the campaign's content.")
        case "BadMessageId", "DuplicateHeaders", "MissingDeviceToken":
            return .stop(advice: "The request itself is wrong, which is a mistake of Volley or of a proxy in between: please report it.")
        default: return .rejected
        }
    }

    private static func forbidden(_ reason: String) -> Verdict {
        switch reason {
        case "ExpiredProviderToken": return .retry(.tokenExpired)
        case "InvalidProviderToken":
            return .stop(
                advice:
                    "Check in volley.yaml that the key file, its id and the team id belong together, that the key was not revoked, and that this machine's "
                    + "clock is right.")
        case "MissingProviderToken":
            return .stop(advice: "Check that the app in volley.yaml has a key, or a certificate that is valid for this server.")
        case "BadCertificate":
            return .stop(advice: "Check the app's certificate in volley.yaml: it may be expired, revoked or for another app.")
        case "BadCertificateEnvironment", "BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken":
            return .stop(
                advice: "The credentials belong to the other environment: check environment (production or sandbox) in volley.yaml.")
        case "UnrelatedKeyIdInToken":
            return .stop(
                advice: "Another key was used on this connection before: check that volley.yaml names one key for each team and topic.")
        case "Forbidden": return .stop(advice: "Check that the key may push to this topic, and that the team's membership is active.")
        // Whatever Apple may add: it is about who sends, not about the device.
        default: return .stop(advice: "Check key, team, topic and environment of the app in volley.yaml.")
        }
    }

    private static func wrongRequest(_ status: Int, _ reason: String) -> Verdict {
        switch reason {
        case "BadPath", "MethodNotAllowed", "":
            .stop(advice: "The server does not know the way APNs is called: check environment (host and port) in volley.yaml.")
        default: .rejected
        }
    }
}
