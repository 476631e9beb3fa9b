import Base
@testable import Delivery
import PushServices

/// The answers that the model of APNs gives, and the meaning of each by Apple's table ("Handling
/// notification responses from APNs"), written independently of the code under test.
struct ServerAnswer {
    enum Meaning {
        case accepted
        /// Whether it counts as evidence about all tokens.
        case invalidToken(pointsAtSettings: Bool)
        case rejected
        /// The whole run must stop, unless a push of this epoch was accepted.
        case likeAll
        /// Nothing more may leave for a while.
        case quota
        /// About the settings: the run must stop, unless pushes are accepted and only a few are
        /// refused so.
        case fatal
        /// Try again later, perhaps with other pushes waiting, too.
        case temporary
        /// The same, and the connection must no longer be used.
        case leave
        /// A new token over a new connection.
        case expired
        /// The sender of the answer may have passed the push on to APNs.
        case doubtful
        /// The same of something else that answers in APNs' place. The push is not settled by it.
        case stranger
        /// Says something different about each target of a request.
        case ofTargets
    }

    var status: Int
    var reason = ""
    var meaning: Meaning
    var retryAfterSeconds: Double?
    /// Where the apns-id in the answer comes from.
    var id = ServiceAnswer.Identity.missing
    var isCutOff = false
    var encounter: Encounter

    static let accepted = 0
    static let expired = 1
    static let tokenFromFuture = 2
    static let tooManyUpdates = 3
    static let busy = 4

    static let temporary = 4..<14
    static let final = 14..<22
    static let gone = 14..<16
    static let badTokens = 16..<18
    /// Their reasons.
    static let badTokenReasons: Set<String> = ["BadDeviceToken", "DeviceTokenNotForTopic"]
    static let rejections = 18..<20
    static let fatal = 22..<36
    static let doubtful = 36..<42

    static let all: [ServerAnswer] = [
        .init(status: 200, meaning: .accepted, id: .own, encounter: .accepted),
        .init(status: 403, reason: "ExpiredProviderToken", meaning: .expired, encounter: .tokenExpired),
        .init(status: 403, reason: "InvalidProviderToken", meaning: .fatal, encounter: .tokenTooNew),
        .init(status: 429, reason: "TooManyProviderTokenUpdates", meaning: .temporary, encounter: .tooManyUpdates),

        .init(status: 503, reason: "ServiceUnavailable", meaning: .temporary, encounter: .busy),
        .init(status: 500, reason: "InternalServerError", meaning: .temporary, encounter: .busy),
        .init(status: 503, reason: "Shutdown", meaning: .leave, encounter: .shutdown),
        .init(status: 400, reason: "IdleTimeout", meaning: .leave, encounter: .idleTimeout),
        .init(status: 429, reason: "TooManyRequests", meaning: .temporary, encounter: .tooManyRequests),
        .init(
            status: 429, reason: "TooManyRequests", meaning: .temporary, retryAfterSeconds: 2, encounter: .retryAfter),
        .init(
            status: 429, reason: "TooManyRequests", meaning: .temporary, retryAfterSeconds: 70, encounter: .retryAfter),
        .init(
            status: 503, reason: "ServiceUnavailable", meaning: .temporary, retryAfterSeconds: 7.5,
            encounter: .retryAfter),
        .init(status: 599, reason: "SomethingNew", meaning: .temporary, id: .own, encounter: .unknownStatus),
        .init(status: 503, meaning: .temporary, id: .own, encounter: .busy),

        .init(
            status: 410, reason: "Unregistered", meaning: .invalidToken(pointsAtSettings: false),
            encounter: .invalidToken),
        .init(
            status: 410, meaning: .invalidToken(pointsAtSettings: false), id: .own, isCutOff: true,
            encounter: .invalidToken),
        .init(
            status: 400, reason: "BadDeviceToken", meaning: .invalidToken(pointsAtSettings: true),
            encounter: .invalidToken),
        .init(
            status: 400, reason: "DeviceTokenNotForTopic", meaning: .invalidToken(pointsAtSettings: true),
            encounter: .invalidToken),
        .init(status: 413, reason: "PayloadTooLarge", meaning: .rejected, encounter: .rejected),
        .init(status: 400, reason: "SomethingNew", meaning: .rejected, encounter: .rejected),
        .init(status: 418, reason: "Teapot", meaning: .rejected, encounter: .unknownStatus),
        .init(status: 451, reason: "Odd", meaning: .rejected, encounter: .unknownStatus),

        .init(status: 400, reason: "BadTopic", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 400, reason: "TopicDisallowed", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 400, reason: "BadCollapseId", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 400, reason: "PayloadEmpty", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 400, reason: "DuplicateHeaders", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 403, reason: "InvalidProviderToken", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 403, reason: "BadCertificate", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 403, reason: "Forbidden", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 403, reason: "SomethingNew", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 404, reason: "BadPath", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 405, reason: "MethodNotAllowed", meaning: .fatal, encounter: .fatalAnswer),
        .init(status: 410, meaning: .stranger, encounter: .stranger),
        .init(status: 410, meaning: .stranger, isCutOff: true, encounter: .stranger),
        .init(status: redirection, meaning: .stranger, encounter: .stranger),

        .init(status: 502, meaning: .doubtful, encounter: .gatewayAnswer),
        .init(status: 503, meaning: .doubtful, encounter: .gatewayAnswer),
        .init(status: 504, reason: "GatewayTimeout", meaning: .doubtful, encounter: .gatewayAnswer),
        .init(status: 503, meaning: .doubtful, retryAfterSeconds: 3, encounter: .gatewayAnswer),
        .init(status: 400, meaning: .doubtful, isCutOff: true, encounter: .cutOff),
        .init(status: 403, meaning: .doubtful, isCutOff: true, encounter: .cutOff),

        .init(status: 400, reason: SimulatedService.badTarget, meaning: .ofTargets, encounter: .targetsRefused),
        .init(status: SimulatedService.eachStatus, meaning: .ofTargets, id: .own, encounter: .eachAnswered),

        .init(status: 400, reason: SimulatedService.badMessage, meaning: .likeAll, encounter: .refusedLikeAll),
        .init(status: 429, reason: SimulatedService.usedUp, meaning: .quota, encounter: .quotaUsedUp),
        .init(
            status: 429, reason: SimulatedService.usedUp, meaning: .quota, retryAfterSeconds: 3, encounter: .quotaUsedUp
        ),
        .init(
            status: 429, reason: SimulatedService.usedUp, meaning: .quota, retryAfterSeconds: 130,
            encounter: .quotaUsedUp),
    ]

    /// A stranger with this status did not pass the push on.
    static let redirection = 302

    /// Whether it is about the settings, so that its push may wait for what the others are
    /// answered.
    var mayBeKept: Bool { if case .fatal = meaning { true } else { false } }

    /// Whether all other pushes would get it.
    var concernsAll: Bool {
        switch meaning {
        case .fatal, .likeAll: true
        default: false
        }
    }

    /// The outcome of a final answer; nil if it is not final.
    var outcome: Outcome? {
        switch meaning {
        case .accepted: .accepted
        case .invalidToken: .invalidToken
        case .rejected, .likeAll, .fatal: .rejected
        case .quota, .temporary, .leave, .expired, .doubtful, .stranger, .ofTargets: nil
        }
    }
}
