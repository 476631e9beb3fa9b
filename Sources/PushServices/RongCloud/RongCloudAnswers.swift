extension RongCloud {
    /// A code that RongCloud documents, with the status that it comes with.
    struct Answer: Sendable {
        let status: Int
        let code: Int
        let meaning: AnswerMeaning
        /// What the report says about it.
        let explanation: String
        /// What to check when this answer stops a run.
        let advice: String?
        /// What `doctor` learns from this answer.
        let probe: ProbeMeaning
        let mayBeClock: Bool

        init(
            _ status: Int, _ code: Int, _ meaning: AnswerMeaning, explanation: String, advice: String? = nil, probe: ProbeMeaning,
            mayBeClock: Bool = false
        ) {
            self.status = status
            self.code = code
            self.meaning = meaning
            self.explanation = explanation
            self.advice = advice
            self.probe = probe
            self.mayBeClock = mayBeClock
        }

        /// As run files have it.
        var reason: String { String(code) }
    }

    /// The documented row for a status and a reason; nil if RongCloud documents none.
    static func row(_ status: Int, _ reason: String) -> Answer? {
        guard let row = rowsByReason[reason], row.status == status else { return nil }
        return row
    }

    static let rowsByReason = Dictionary(uniqueKeysWithValues: rows.map { ($0.reason, $0) })

    /// Source: RongCloud, status codes of the server API.
    static let rows = aboutCampaigns + aboutTheApp + aboutTheServer

    private static let credentials = "Check app_key, app_secret and region of the app in volley.yaml."
    private static let newPlan =
        "A run keeps the app key and the region that it was planned with: if one of them was wrong, cancel this run, correct it, and plan again."
    private static let again = "You can send to these users again."
    private static let correct =
        "Correct the campaign's content, and plan again: a run keeps the message that it was planned with."

    private static let aboutCampaigns: [Answer] = [
        Answer(
            400, 1002, .rejectedLikeAll,
            explanation: "RongCloud did not accept a value of the message. Correct the campaign's content, or the IDs of these users.",
            advice: "RongCloud does not accept a value of the message, or these are no user IDs. \(correct)", probe: .fine),
        Answer(
            400, 1003, .stop, explanation: "RongCloud got a request without content. Check whether a proxy removes it.",
            advice: "Check whether a proxy between this machine and RongCloud removes the content of requests.", probe: .notTheService),
        Answer(
            400, 1005, .rejected,
            explanation: "A text of the message was too long for RongCloud: a title has at most 50 characters. Shorten it.", probe: .fine),
    ]

    private static let aboutTheApp: [Answer] = [
        Answer(
            401, 1001, .stop, explanation: "RongCloud does not know the app key, or not with this app secret. \(credentials)",
            advice: "\(credentials) \(newPlan)", probe: .wrongCredentials),
        Answer(
            401, 1004, .stop,
            explanation: "RongCloud did not accept the signature. \(credentials) Check that this machine's clock is right.",
            advice: "\(credentials) Check that this machine's clock is right.", probe: .wrongCredentials, mayBeClock: true),
        Answer(
            401, 1006, .stop, explanation: "The app is locked or deleted at RongCloud. See its console.",
            advice: "The app is locked or deleted: see RongCloud's console, or check app_key and region in volley.yaml.",
            probe: .wrongCredentials),
        Answer(
            401, 1007, .stop, explanation: "RongCloud has restricted this method for the app. Ask RongCloud.",
            advice: "RongCloud has restricted pushes to users for the app: ask RongCloud.", probe: .wrongTopic),
        Answer(
            430, 1009, .stop, explanation: "Pushes to users are not enabled for the app. Enable them in RongCloud's console.",
            advice: "Enable pushes to users for the app in RongCloud's console.", probe: .wrongTopic),
        Answer(
            403, 2007, .stop,
            explanation: "The app is in development, and has more than 100 users. Use the App Key of the app in production.",
            advice: "An app in development has at most 100 users: use the App Key of the app in production. \(newPlan)", probe: .wrongTopic),
    ]

    private static let aboutTheServer: [Answer] = [
        Answer(
            500, 1000, .retry(.otherServer), explanation: "RongCloud had internal errors until the retries ran out. \(again)", probe: .busy),
        Answer(
            429, 1008, .retry(.quota),
            explanation:
                "The app had sent to as many users as it may, until it was too late for these. Set a slower pace. \(again)",
            advice: "Wait a minute, and set a slower pace: an app may send to 100 users a second, unless it bought more.", probe: .busy),
        Answer(
            504, 1050, .maybeTaken,
            explanation: "RongCloud did not finish in time. It may have sent to these users, and recognizes no repeats.", probe: .busy),
    ]
}
