import Base

/// What the reasons behind outcomes mean and what to do about them, for people who do not read Apple's tables.
///
/// Source: Apple, "Handling notification responses from APNs"; the reasons without a page of Apple's are Volley's own.
public enum APNsReason {
    /// What a reason means and what to do, one to three sentences; nil for one that Volley does not know.
    public static func explanation(of reason: String) -> String? { meanings[reason] }

    /// The outcome to which a reason leads as a rule; nil where it may be any. A gateway's answer with the same words can lead to another one.
    static func outcome(of reason: String) -> Outcome? {
        switch reason {
        case "Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic": .invalidToken
        case "TooManyRequests", "TooManyProviderTokenUpdates", "InternalServerError", "ServiceUnavailable", "Shutdown", "IdleTimeout":
            .failed
        case "ConnectionLost", "StreamReset", "NoAnswer": .unknown
        case "Expired", "TooLate", Outcome.frequencyCap, "QuietHours", "Paused", "Stopped", "Interrupted", "Cancelled": .unsent
        case "OtherReason": nil
        default: .rejected
        }
    }

    private static let campaign = "Correct the campaign or volley.yaml, then plan it again: every push would have failed."

    private static let credentials = "Check the app's key or certificate in volley.yaml."

    private static let meanings: [String: String] = [
        // The device.
        "Unregistered": "The app was removed from these devices, or its push token has changed. Take them out of the next export.",
        "ExpiredToken": "These tokens have expired. Take them out of the next export.",
        "BadDeviceToken":
            "These tokens are not valid here. When there are many, the tokens come from the other environment (sandbox or production).",
        "DeviceTokenNotForTopic": "These tokens belong to another app. Check the app's topic and which export the campaign reads.",
        "TooManyRequests": "These devices got too many pushes in a short time. Try again later, and less often.",
        // The campaign.
        "BadCollapseId": "The collapse id is longer than 64 bytes. \(campaign)",
        "BadExpirationDate": "The expiry is not a valid time. \(campaign)",
        "BadMessageId": "APNs did not take the push's id. This is a fault in Volley: please report it.",
        "BadPriority": "The priority is none that APNs knows. \(campaign)",
        "BadTopic": "The app's topic is not valid. \(campaign)",
        "TopicDisallowed": "Pushes to this topic are not allowed with these credentials. \(campaign)",
        "MissingTopic": "The app has no topic, and the certificate is for several. \(campaign)",
        "InvalidPushType": "The push type does not fit the payload or the topic. \(campaign)",
        "PayloadEmpty": "The message was empty. \(campaign)",
        "PayloadTooLarge": "The message is larger than 4,096 bytes. Shorten the text or the own data.",
        "DuplicateHeaders": "APNs saw a header twice. This is a fault in Volley: please report it.",
        "MissingDeviceToken": "The push named no device. This is a fault in Volley: please report it.",
        "BadPath": "APNs did not understand the request. This is a fault in Volley: please report it.",
        "MethodNotAllowed": "APNs did not understand the request. This is a fault in Volley: please report it.",
        // The credentials.
        "ExpiredProviderToken": "The signature was too old for APNs. Check that this machine's clock is right.",
        "InvalidProviderToken": "APNs did not accept the key, its id or the team. \(credentials)",
        "MissingProviderToken": "APNs got neither a key's signature nor a certificate. \(credentials)",
        "BadCertificate": "APNs did not accept the certificate. \(credentials)",
        "BadCertificateEnvironment": "The certificate is for the other environment (sandbox or production). \(credentials)",
        "BadEnvironmentKeyInToken": "The key is for the other environment (sandbox or production). \(credentials)",
        "BadEnvironmentKeyIdInToken": "The key is for the other environment (sandbox or production). \(credentials)",
        "UnrelatedKeyIdInToken": "The key id belongs to another team or connection. \(credentials)",
        "Forbidden": "These credentials may not send this. \(credentials)",
        "TooManyProviderTokenUpdates": "The key was signed with too often. Send from one place at a time, and try again in 20 minutes.",
        // The server.
        "IdleTimeout": "APNs closed an idle connection. They can be sent to again.",
        "InternalServerError": "APNs had internal errors until the retries ran out. They can be sent to again.",
        "ServiceUnavailable": "APNs was not available until the retries ran out. They can be sent to again.",
        "Shutdown": "APNs was shutting a server down until the retries ran out. They can be sent to again.",
        // Volley's own.
        "ConnectionLost":
            "The connection broke before an answer came, so nobody knows whether these were delivered. Sending again may show some twice.",
        "StreamReset":
            "APNs broke the request off without an answer, so nobody knows whether these were delivered. Sending again may show some twice.",
        "NoAnswer":
            "No answer came in time, so nobody knows whether these were delivered. Sending again may show some twice.",
        "Expired": "It was too late: the campaign's expiry had passed before their turn came.",
        "TooLate":
            "Nothing was sent to them in time, and the campaign's 'late' says not to send so much later. `volley retry RUN --outcome unsent` sends all the same.",
        Outcome.frequencyCap:
            "With what other runs sent, or were about to send, they had as many pushes as 'frequency' allows. `volley retry RUN --outcome unsent` sends all the same.",
        "QuietHours": "Their quiet hours began before their turn came. A run that goes on sends to them when they are over.",
        "OtherReason": "More different reasons than a run file keeps apart.",
        "Paused": "The run was paused before their turn came.",
        "Stopped": "The run stopped before their turn came.",
        "Interrupted": "The run was interrupted before their turn came.",
        "Cancelled": "The run was cancelled before their turn came.",
    ]
}
