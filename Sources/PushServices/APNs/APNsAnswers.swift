extension APNs {
    /// A reason that APNs documents.
    struct Answer: Sendable {
        /// The statuses for which this row holds.
        let statuses: ClosedRange<Int>
        let reason: String
        let meaning: AnswerMeaning
        /// What the report says about it.
        let explanation: String
        /// What to check when this answer stops a run.
        let advice: String?
        /// What `doctor` learns from this answer.
        let probe: ProbeMeaning
        let mayBeClock: Bool

        init(
            _ statuses: ClosedRange<Int>, _ reason: String, _ meaning: AnswerMeaning, explanation: String, advice: String? = nil,
            probe: ProbeMeaning = .notTheService, mayBeClock: Bool = false
        ) {
            self.statuses = statuses
            self.reason = reason
            self.meaning = meaning
            self.explanation = explanation
            self.advice = advice
            self.probe = probe
            self.mayBeClock = mayBeClock
        }
    }

    /// The documented row for a status and a reason; nil if Apple documents none.
    static func row(_ status: Int, _ reason: String) -> Answer? {
        guard !reason.isEmpty, let row = rowsByReason[reason], row.statuses.contains(status) else { return nil }
        return row
    }

    /// Reasons that APNs gives only for a token that was valid here once.
    public var goneReasons: [String] { Self.reasonsOfTheGone }

    private static let reasonsOfTheGone = rows.filter { $0.meaning == .invalidTarget(blamesSettings: false) }.map(\.reason)

    /// Reasons that blame a token, although a wrong environment or topic causes them for all tokens.
    public var blamingReasons: Set<String> { Self.blaming }

    private static let blaming = Set(rows.filter { $0.meaning == .invalidTarget(blamesSettings: true) }.map(\.reason))

    static let rowsByReason = Dictionary(uniqueKeysWithValues: rows.map { ($0.reason, $0) })

    private static let badRequest = 400...400, forbidden = 403...403, wrongPath = 404...405, gone = 410...410, tooMany = 429...429
    /// The reason decides, whichever of these statuses comes with it.
    private static let trouble = 500...999

    private static let replan = "Correct the campaign or volley.yaml, then plan it again: every push would have failed."
    private static let credentials = "Check the app's key or certificate in volley.yaml."
    private static let otherEnvironment =
        "The credentials belong to the other environment: check environment (production or sandbox) in volley.yaml."
    private static let ownFault = "The request itself is wrong. This is a fault in Volley or in a proxy in between: please report it."
    private static let tooManyTokens =
        "New signatures were made with the key too often. Send from one place at a time, and try again in 20 minutes."
    private static let unknownPath = "The server does not understand APNs requests: check environment (host and port) in volley.yaml."

    /// Source: Apple, "Handling notification responses from APNs", table "Values for the APNs JSON reason key".
    static let rows = aboutDevices + aboutCampaigns + aboutCredentials + aboutTheServer

    private static let aboutDevices: [Answer] = [
        Answer(
            gone, "Unregistered", .invalidTarget(blamesSettings: false),
            explanation: "The app was removed from these devices, or its push token has changed. Take them out of the next export.",
            probe: .fine),
        Answer(
            gone, "ExpiredToken", .invalidTarget(blamesSettings: false),
            explanation: "These tokens have expired. Take them out of the next export.", probe: .fine),
        Answer(
            badRequest, "BadDeviceToken", .invalidTarget(blamesSettings: true),
            explanation:
                "These tokens are not valid here. When there are many, the tokens come from the other environment (sandbox or production).",
            probe: .fine),
        Answer(
            badRequest, "DeviceTokenNotForTopic", .invalidTarget(blamesSettings: true),
            explanation: "These tokens belong to another app. Check the app's topic and which export the campaign reads.",
            probe: .wrongTopic),
        Answer(
            tooMany, "TooManyRequests", .retry(.deviceBusy),
            explanation: "These devices got too many pushes in a short time. Try again later, and less often."),
    ]

    private static let aboutCampaigns: [Answer] = [
        Answer(
            badRequest, "BadCollapseId", .stop, explanation: "The collapse id is longer than 64 bytes. \(replan)",
            advice: "Check delivery.collapse in the campaign: at most 64 bytes."),
        Answer(
            badRequest, "BadExpirationDate", .stop, explanation: "The expiry is not a valid time. \(replan)",
            advice: "Check delivery.expires in the campaign."),
        Answer(
            badRequest, "BadMessageId", .stop,
            explanation: "APNs did not accept the push's id. This is a fault in Volley: please report it.", advice: ownFault),
        Answer(
            badRequest, "BadPriority", .stop, explanation: "APNs does not know the priority. \(replan)",
            advice: "Check delivery.priority in the campaign; silent pushes must not be high."),
        Answer(
            badRequest, "BadTopic", .stop, explanation: "The app's topic is not valid. \(replan)",
            advice: "Check the app's topic (its bundle id) in volley.yaml and the push type's suffix.", probe: .wrongTopic),
        Answer(
            badRequest, "TopicDisallowed", .stop, explanation: "Pushes to this topic are not allowed with these credentials. \(replan)",
            advice: "The key or certificate may not push to this topic: check topic, key and team in volley.yaml.", probe: .wrongTopic),
        Answer(
            badRequest, "MissingTopic", .stop, explanation: "The app has no topic, and the certificate is for several. \(replan)",
            advice: "Check the app's topic (its bundle id) in volley.yaml and the push type's suffix.", probe: .wrongTopic),
        Answer(
            badRequest, "InvalidPushType", .stop, explanation: "The push type does not fit the payload or the topic. \(replan)",
            advice: "Check the kind of push in the campaign: silent or visible."),
        Answer(
            badRequest, "PayloadEmpty", .stop, explanation: "The message was empty. \(replan)",
            advice: "The rendered payload is empty: check the campaign's content.", probe: .fine),
        Answer(
            413...413, "PayloadTooLarge", .rejected,
            explanation: "The message is larger than 4,096 bytes. Shorten the text or your own data."),
        Answer(
            badRequest, "DuplicateHeaders", .stop,
            explanation: "APNs saw a header twice. This is a fault in Volley: please report it.", advice: ownFault),
        Answer(
            badRequest, "MissingDeviceToken", .stop,
            explanation: "The push named no device. This is a fault in Volley: please report it.", advice: ownFault),
        Answer(
            wrongPath, "BadPath", .stop,
            explanation: "APNs did not understand the request. This is a fault in Volley: please report it.", advice: unknownPath),
        Answer(
            wrongPath, "MethodNotAllowed", .stop,
            explanation: "APNs did not understand the request. This is a fault in Volley: please report it.", advice: unknownPath),
    ]

    private static let aboutCredentials: [Answer] = [
        Answer(
            forbidden, "ExpiredProviderToken", .retry(.credentialExpired),
            explanation: "The signature was too old for APNs. Check that this machine's clock is right.", mayBeClock: true),
        Answer(
            forbidden, "InvalidProviderToken", .stop, explanation: "APNs did not accept the key, its id or the team. \(credentials)",
            advice:
                "Check in volley.yaml that the key file, its id and the team id belong together, that the key was not revoked, and that this machine's "
                + "clock is right.", mayBeClock: true),
        Answer(
            forbidden, "MissingProviderToken", .stop, explanation: "APNs got neither a key's signature nor a certificate. \(credentials)",
            advice: "Check that the app in volley.yaml has a key, or a certificate that is valid for this server."),
        Answer(
            forbidden, "BadCertificate", .stop, explanation: "APNs did not accept the certificate. \(credentials)",
            advice: "Check the app's certificate in volley.yaml: it may be expired, revoked or for another app."),
        Answer(
            forbidden, "BadCertificateEnvironment", .stop,
            explanation: "The certificate is for the other environment (sandbox or production). \(credentials)",
            advice: otherEnvironment),
        Answer(
            forbidden, "BadEnvironmentKeyInToken", .stop,
            explanation: "The key is for the other environment (sandbox or production). \(credentials)", advice: otherEnvironment),
        Answer(
            forbidden, "BadEnvironmentKeyIdInToken", .stop,
            explanation: "The key is for the other environment (sandbox or production). \(credentials)", advice: otherEnvironment),
        Answer(
            forbidden, "UnrelatedKeyIdInToken", .stop,
            explanation: "The key id belongs to another team or connection. \(credentials)",
            advice: "Another key was used on this connection before: check that volley.yaml names one key for each team and topic."),
        Answer(
            forbidden, "Forbidden", .stop, explanation: "These credentials may not send this. \(credentials)",
            advice: "Check that the key may push to this topic, and that the team's membership is active."),
        Answer(
            tooMany, "TooManyProviderTokenUpdates", .retry(.serviceBusy),
            explanation: tooManyTokens, advice: tooManyTokens),
    ]

    private static let aboutTheServer: [Answer] = [
        Answer(
            badRequest, "IdleTimeout", .retry(.connectionIdle),
            explanation: "APNs closed an idle connection. You can send to these devices again."),
        Answer(
            trouble, "InternalServerError", .retry(.serviceBusy),
            explanation: "APNs had internal errors until the retries ran out. You can send to these devices again."),
        Answer(
            trouble, "ServiceUnavailable", .retry(.serviceBusy),
            explanation: "APNs was not available until the retries ran out. You can send to these devices again."),
        Answer(
            trouble, "Shutdown", .retry(.serviceLeaves),
            explanation: "APNs was shutting a server down until the retries ran out. You can send to these devices again."),
    ]
}
