public import Base

/// What answers mean. Source: RongCloud, status codes of the server API.
extension RongCloud {
    /// `{"code": 1002, "errorMessage": "userIds is required."}`. Success is the code 200.
    public func details(of body: JSONValue) -> AnswerDetails {
        var details = AnswerDetails()
        guard let code = body["code"]?.integerValue else {
            // RongCloud writes a code into every answer: this one is not from it.
            details.reason = Self.noCode
            return details
        }
        details.reason = code == 200 ? "" : String(code)
        return details
    }

    /// The reason of an answer without a code.
    static let noCode = "no code"

    /// What an answer means for all users of the request, and for the run.
    public func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        if answer.isCutOff { return answer.undocumentedMeaning }
        if let row = Self.row(answer.status, answer.reason) { return row.meaning }
        switch (answer.status, answer.reason) {
        case (200, ""): return .accepted
        // Without any code, something answered that is not RongCloud.
        case (200, Self.noCode): return .notTheService
        case (200, _): return .rejectedLikeAll
        case (430, let reason) where !reason.isEmpty && reason != Self.noCode: return .stop
        default:
            var answer = answer
            if answer.reason == Self.noCode { answer.reason = "" }
            return answer.undocumentedMeaning
        }
    }

    /// The documented row for a status and a code; nil if RongCloud documents none. A code that
    /// comes with the status 200 means what it means with its own.
    private static func row(_ status: Int, _ reason: String) -> DocumentedAnswer? {
        status == 200 ? answers[reason] : answers[status, reason]
    }

    /// What the report says about a code that RongCloud documents; nil for others.
    public func words(about reason: String) -> ReasonWords? {
        Self.answers[reason]?.words
    }

    /// A refusal never says that a user is gone, or that settings are wrong rather than users.
    public var blamingReasons: Set<String> { [] }

    /// What to check when this answer stopped a run.
    public func advice(status: Int, reason: String) -> String {
        let row = Self.row(status, reason)
        if let advice = row?.advice { return advice }
        switch row?.status ?? status {
        case 429, 500...: return "Try again in a few minutes."
        case 200, 404, 405:
            return
                "The server does not understand RongCloud's requests: check environment (host and port) in volley.yaml."
        case 400: return "RongCloud did not accept the message: check the campaign's content."
        default: return "Check app_key, app_secret and region of the app in volley.yaml."
        }
    }

    /// What `doctor` learns from the answer to a push to a user that does not exist.
    public func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        if let row = Self.row(status, reason) { return row.probe }
        return switch status {
        case 200: reason.isEmpty ? .fine : .notTheService
        case 401, 403, 430: .wrongCredentials
        case 429, 500...: .busy
        default: .notTheService
        }
    }
}

extension RongCloud {
    static let answers = AnswerTable(rows)

    /// Source: RongCloud, status codes of the server API.
    static let rows = aboutCampaigns + aboutTheApp + aboutTheServer

    private static let credentials = "Check app_key, app_secret and region of the app in volley.yaml."
    private static let newPlan = DocumentedAnswer.correctAppKey
    private static let again = "You can send to these users again."
    private static let correct = DocumentedAnswer.correctContent

    private static let aboutCampaigns: [DocumentedAnswer] = [
        DocumentedAnswer(
            400, 1002, .rejectedLikeAll,
            explanation:
                "RongCloud did not accept a value of the message. Correct the campaign's content, or the IDs of these users.",
            advice: "RongCloud does not accept a value of the message, or these are no user IDs. \(correct)",
            probe: .fine),
        DocumentedAnswer(
            400, 1003, .stop, explanation: "RongCloud got a request without content. Check whether a proxy removes it.",
            advice: "Check whether a proxy between this machine and RongCloud removes the content of requests.",
            probe: .notTheService),
        DocumentedAnswer(
            400, 1005, .rejected,
            explanation:
                "A text of the message was too long for RongCloud: a title has at most 50 characters. Shorten it.",
            probe: .fine),
    ]

    private static let aboutTheApp: [DocumentedAnswer] = [
        DocumentedAnswer(
            401, 1001, .stop,
            explanation: "RongCloud does not know the app key, or not with this app secret. \(credentials)",
            advice: "\(credentials) \(newPlan)", probe: .wrongCredentials),
        DocumentedAnswer(
            401, 1004, .stop,
            explanation:
                "RongCloud did not accept the signature. \(credentials) Check that this machine's clock is right.",
            advice: "\(credentials) Check that this machine's clock is right.", probe: .wrongCredentials,
            mayBeClock: true),
        DocumentedAnswer(
            401, 1006, .stop, explanation: "The app is locked or deleted at RongCloud. See its console.",
            advice:
                "The app is locked or deleted: see RongCloud's console, or check app_key and region in volley.yaml.",
            probe: .wrongCredentials),
        DocumentedAnswer(
            401, 1007, .stop, explanation: "RongCloud has restricted this method for the app. Ask RongCloud.",
            advice: "RongCloud has restricted pushes to users for the app: ask RongCloud.", probe: .wrongTopic),
        DocumentedAnswer(
            430, 1009, .stop,
            explanation: "Pushes to users are not enabled for the app. Enable them in RongCloud's console.",
            advice: "Enable pushes to users for the app in RongCloud's console.", probe: .wrongTopic),
        DocumentedAnswer(
            403, 2007, .stop,
            explanation:
                "The app is in development, and has more than 100 users. Use the App Key of the app in production.",
            advice: "An app in development has at most 100 users: use the App Key of the app in production. \(newPlan)",
            probe: .wrongTopic),
    ]

    private static let aboutTheServer: [DocumentedAnswer] = [
        DocumentedAnswer(
            500, 1000, .retry(.otherServer),
            explanation: "RongCloud had internal errors until the retries ran out. \(again)", probe: .busy),
        DocumentedAnswer(
            429, 1008, .retry(.quota),
            explanation:
                "The app had sent to as many users as it may, until it was too late for these. Set a slower pace. \(again)",
            advice:
                "Wait a minute, and set a slower pace: an app may send to 100 users a second, unless it bought more.",
            probe: .busy),
        DocumentedAnswer(
            504, 1050, .maybeTaken,
            explanation:
                "RongCloud did not finish in time. It may have sent to these users, and recognizes no repeats.",
            probe: .busy),
    ]
}
