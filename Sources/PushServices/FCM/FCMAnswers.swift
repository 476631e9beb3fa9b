extension FCM {
    /// A bad request because of a bad target. The field, which the answer names apart from the
    /// code, makes it a reason of its own: without it, this would look like every push of a run
    /// with a wrong payload.
    static let badTargets = ["\(badRequest) (message.token)", "\(badRequest) (message.fid)"]
    static let badRequest = "INVALID_ARGUMENT"

    /// The documented row for a status and a reason; nil if Google documents none.
    static func row(_ status: Int, _ reason: String) -> DocumentedAnswer? {
        row(of: reason).flatMap { answers[status, $0.reason] }
    }

    /// The row of a reason, whichever field of a bad request it names.
    static func row(of reason: String) -> DocumentedAnswer? {
        answers[reason] ?? (reason.hasPrefix(badRequest + " (") ? answers[badRequest] : nil)
    }

    static let answers = AnswerTable(rows)

    /// Reasons that FCM gives only for a target that was valid here once.
    public var goneReasons: [String] { Self.answers.gone }

    /// Reasons that blame a target, although a wrong project or column causes them for all targets.
    public var blamingReasons: Set<String> { Self.answers.blaming }

    private static let credentials = "Check project and service_account of the app in volley.yaml."
    private static let newPlan =
        "A run keeps the project that it was planned with: if that was wrong, correct it and resume the run, which then says how to reach the rest."
    private static let again = "You can send to these devices again."

    /// Source: Google, "FCM error codes" and "ErrorCode"; for those without a code of FCM, Google
    /// Cloud, "Errors".
    static let rows = aboutDevices + aboutCampaigns + aboutCredentials + aboutTheServer

    private static let aboutDevices: [DocumentedAnswer] =
        [
            DocumentedAnswer(
                404, "UNREGISTERED", .invalidTarget(blamesSettings: false),
                explanation:
                    "The app was removed from these devices, or its registration has expired or changed. Take them out of the next export.",
                probe: .fine),
            DocumentedAnswer(
                403, "SENDER_ID_MISMATCH", .invalidTarget(blamesSettings: true),
                explanation:
                    "These tokens belong to another Firebase project. When there are many, check the app's project and which export the campaign reads.",
                probe: .fine),
        ]
        + badTargets.map { reason in
            DocumentedAnswer(
                400, reason, .invalidTarget(blamesSettings: true),
                explanation:
                    "These are not tokens that FCM gave out. When there are many, check which column of the export holds them, and that none was cut off.",
                probe: .fine)
        }

    private static let aboutCampaigns: [DocumentedAnswer] = [
        DocumentedAnswer(
            400, badRequest, .rejectedLikeAll,
            explanation:
                "FCM did not accept the message: it is too large, or a value in it is not allowed. Shorten the text, or correct what the reason names.",
            advice:
                "The message itself is wrong, not the device: it is too large, or a value in it is not allowed. Correct the campaign's content, or its "
                + "payload if it is written by hand, and \(DocumentedAnswer.planAgain)",
            // An answer without details does not say that the target was the reason, and the
            // probe's is no real one.
            probe: .fine)
    ]

    private static let aboutCredentials: [DocumentedAnswer] = [
        DocumentedAnswer(
            401, "UNAUTHENTICATED", .retry(.credentialExpired),
            explanation:
                "FCM did not accept the access token. \(credentials) Check that this machine's clock is right.",
            advice: "Check that the key of service_account was not deleted, and that this machine's clock is right.",
            probe: .wrongCredentials, mayBeClock: true),
        DocumentedAnswer(
            401, "THIRD_PARTY_AUTH_ERROR", .stopIfRepeated,
            explanation:
                "Apple, or a web push service, did not accept the key that the Firebase project has for it. Renew that key in the Firebase console. Android phones do not need it.",
            advice:
                "Check the APNs key and the web push key in the Firebase console: Project settings, Cloud Messaging.",
            probe: .wrongCredentials),
        DocumentedAnswer(
            401, "APNS_AUTH_ERROR", .stopIfRepeated,
            explanation:
                "Apple did not accept the key that the Firebase project has for it. Renew that key in the Firebase console. Android phones do not need it.",
            advice: "Check the APNs key in the Firebase console: Project settings, Cloud Messaging.",
            probe: .wrongCredentials),
        DocumentedAnswer(
            403, "PERMISSION_DENIED", .stop,
            explanation:
                "The service account may not send for this project, or the project has no FCM API. \(credentials)",
            advice:
                "Check that service_account belongs to the project and has the role Firebase Cloud Messaging API Admin, and that the Firebase Cloud "
                + "Messaging API is enabled there. \(newPlan)", probe: .wrongTopic),
        DocumentedAnswer(
            404, "NOT_FOUND", .stop, explanation: "FCM does not know the project. \(credentials)",
            advice: "Check the app's project in volley.yaml: it is the Project ID in the Firebase console. \(newPlan)",
            probe: .wrongTopic),
    ]

    private static let aboutTheServer: [DocumentedAnswer] = [
        DocumentedAnswer(
            429, "QUOTA_EXCEEDED", .retry(.quota),
            explanation:
                "The project had sent as many messages as it may, until it was too late for these. Set a slower pace. \(again)",
            advice: "Wait a minute, and set a slower pace: a project may send 600,000 messages a minute.", probe: .busy),
        DocumentedAnswer(
            429, "RESOURCE_EXHAUSTED", .retry(.quota),
            explanation:
                "The project had sent as many messages as it may, until it was too late for these. Set a slower pace. \(again)",
            advice: "Wait a minute, and set a slower pace: a project may send 600,000 messages a minute.", probe: .busy),
        DocumentedAnswer(
            500, "INTERNAL", .retry(.serviceBusy),
            explanation: "FCM had internal errors until the retries ran out. \(again)", probe: .busy),
        DocumentedAnswer(
            503, "UNAVAILABLE", .retry(.serviceBusy),
            explanation: "FCM was overloaded until the retries ran out. \(again)", probe: .busy),
    ]
}
