public import Base

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

/// What answers mean. Source: Google, "FCM error codes".
extension FCM {
    /// `{"error": {"code": 404, "status": "NOT_FOUND", "details": [{"@type": "…FcmError",
    /// "errorCode": "UNREGISTERED"}]}}`
    ///
    /// FCM's code counts; without one, the status. Of a bad request, the field that it names is a
    /// part of the reason.
    public func details(of body: JSONValue) -> AnswerDetails {
        var details = AnswerDetails()
        // Calls that stream wrap an error in a list; so do some proxies of Google.
        let error = if case .array(let items) = body { items.first?["error"] } else { body["error"] }
        guard let error else {
            details.receipt = Self.messageName(in: body) ?? ""
            return details
        }
        let parts = if case .array(let parts)? = error["details"] { parts } else { [JSONValue]() }
        let code = parts.first { $0.isOfType("google.firebase.fcm.v1.FcmError") }?["errorCode"]?.stringValue
        details.reason = code ?? error["status"]?.stringValue ?? ""
        guard details.reason == Self.badRequest else { return details }
        let field = parts.first { $0.isOfType("google.rpc.BadRequest") }.flatMap(Self.field)
        let namesTarget = error["message"]?.stringValue?.contains("not a valid FCM registration token") == true
        if let field = field ?? (namesTarget ? "message.token" : nil) { details.reason += " (\(field))" }
        return details
    }

    /// The name of the message that FCM took: `{"name": "projects/PROJECT/messages/ID"}`.
    private static func messageName(in body: JSONValue) -> String? {
        guard let name = body["name"]?.stringValue else { return nil }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "projects" && parts[2] == "messages" && !parts[1].isEmpty
            && !parts[3].isEmpty ? name : nil
    }

    /// The first field that a bad request names, if it is one: not text that could be anything.
    private static func field(of badRequest: JSONValue) -> String? {
        guard case .array(let violations)? = badRequest["fieldViolations"] else { return nil }
        let fields = violations.compactMap { $0["field"]?.stringValue }
        let field = fields.first { ["message.token", "message.fid"].contains($0) } ?? fields.first
        let characters = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.[]")
        return field.flatMap { (1...60).contains($0.utf8.count) && $0.utf8.allSatisfy(characters.contains) ? $0 : nil }
    }

    /// What an answer means for the push, the device and the run.
    public func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        // FCM names each message that it takes. What has no name is not from it, or not whole. A
        // name counts whatever came after it.
        if answer.status == 200 { return answer.hasReceipt ? .accepted : .maybeTaken }
        if !answer.isCutOff, let row = Self.row(answer.status, answer.reason) { return row.meaning }
        return answer.undocumentedMeaning
    }

    /// What the report says about a reason that Google documents; nil for others.
    public func words(about reason: String) -> ReasonWords? {
        Self.row(of: reason)?.words
    }

    /// What to check when this answer stopped a run.
    public func advice(status: Int, reason: String) -> String {
        if let advice = Self.row(status, reason)?.advice { return advice }
        switch status {
        case 429, 500...: return "Try again in a few minutes."
        case 404, 405:
            return "The server does not understand FCM's requests: check environment (host and port) in volley.yaml."
        case 400:
            return
                "FCM did not accept the message: check the campaign's content, and its payload if it is written by hand."
        default: return "Check project and service_account of the app in volley.yaml."
        }
    }

    /// What `doctor` learns from the answer to a push that reaches no device.
    public func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        Self.row(status, reason)?.probe ?? ProbeMeaning(status: status)
    }
}

extension JSONValue {
    /// Whether a detail of an error is of a type, which is written as an address:
    /// `type.googleapis.com/TYPE`.
    fileprivate func isOfType(_ name: String) -> Bool {
        self["@type"]?.stringValue?.split(separator: "/").last.map { $0 == name } ?? false
    }
}

/// What FCM counts: the messages to Android devices that carry a label, by days. Source: Google,
/// "Firebase Cloud Messaging Data API", `projects.androidApps.deliveryData`.
extension FCM {
    /// By the label of a tracked run.
    public var statistics: StatisticsFacts? { Self.statistics }

    private static let taken = "countMessagesAccepted"

    /// Each with the group of percents that it is in.
    private static let shares: [(group: String, key: String, words: String)] = [
        ("messageOutcomePercents", "delivered", "delivered"),
        ("messageOutcomePercents", "pending", "waiting for their devices"),
        ("messageOutcomePercents", "collapsed", "replaced by a later one"),
        ("messageOutcomePercents", "droppedAppForceStopped", "dropped, as the app was stopped by force"),
        ("messageOutcomePercents", "droppedDeviceInactive", "dropped, as the device was not used for a month"),
        ("messageOutcomePercents", "droppedTooManyPendingMessages", "dropped, as too many waited for the device"),
        ("messageOutcomePercents", "droppedTtlExpired", "expired"),
        ("messageInsightPercents", "priorityLowered", "lowered in priority"),
    ]

    private static let statistics = StatisticsFacts(
        subject: .label, days: 7,
        counts: [.init(taken, "counted on Android")] + shares.map { .init($0.key, "\($0.words) (about)") },
        scope: "https://www.googleapis.com/auth/cloud-platform", needsTracking: true,
        note: """
            Google counts messages to Android devices by label and by day of Los Angeles, up to five days late, and shows a week. Percents are \
            of a sample and rounded, small numbers are left out, and devices whose owners opted out are missing: the figures need not add \
            up, and never say which device got a push. iPhones and browsers are not in them.
            """,
        question: { topic, _, environment in
            let parts = topic.split(separator: "/", maxSplits: 1)
            let path =
                "/v1beta1/projects/\(parts[0])/androidApps/\(parts.count > 1 ? parts[1] : "-")/deliveryData?pageSize=10000"
            return StatisticsFacts.Question(host: environment == nil ? nil : "fcmdata.googleapis.com", path: path)
        }, read: counts)

    /// `{"androidDeliveryData": [{"date": {"year": 2026, "month": 12, "day": 1}, "analyticsLabel":
    /// "…", "data": {"countMessagesAccepted": "1000", "messageOutcomePercents": {"delivered":
    /// 95.5}}}]}`; without members where there is nothing. A day is a subject, so that what was
    /// said of it stays when it is a week ago.
    @Sendable private static func counts(in answer: JSONValue, of runs: [String]) -> [String: [String: Int]]? {
        guard case .object = answer, answer["error"] == nil, let label = runs.first.map(label) else { return nil }
        guard let found = answer["androidDeliveryData"] else { return [:] }
        guard case .array(let days) = found else { return nil }
        var counts: [String: [String: Int]] = [:]
        for day in days where day["analyticsLabel"] == .string(label) {
            guard let date = day["date"], let year = date["year"]?.integerValue,
                let month = date["month"]?.integerValue,
                let number = date["day"]?.integerValue
            else { return nil }
            // A number of 64 bits is a text.
            guard let text = day["data"]?[taken]?.stringValue else { continue }
            guard let accepted = Int(text), (0...1_000_000_000_000).contains(accepted) else { return nil }
            var own = [taken: accepted]
            for (group, key, _) in shares {
                guard let share = day["data"]?[group]?[key]?.doubleValue else { continue }
                guard (0...100).contains(share) else { return nil }
                own[key] = Int((Double(accepted) * share / 100).rounded())
            }
            counts["\(label) \(year)-\(month)-\(number)"] = own
        }
        return counts
    }
}
