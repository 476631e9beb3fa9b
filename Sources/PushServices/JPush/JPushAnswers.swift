public import Base

extension JPush {
    /// A bad value of a parameter: of a registration id that JPush names, or of whatever its text
    /// says.
    static let badDevice = "1003", badValue = "1003 (bad value)"

    static let answers = AnswerTable(rows)

    /// The documented row for a status and a reason; nil if JPush documents none.
    static func row(_ status: Int, _ reason: String) -> DocumentedAnswer? {
        row(of: reason).flatMap { answers[status, $0.reason] }
    }

    /// The row of a reason, whatever text it has.
    static func row(of reason: String) -> DocumentedAnswer? {
        answers[reason] ?? (reason.hasPrefix(badDevice + " (") ? answers[badValue] : nil)
    }

    /// Source: docs.jiguang.cn, "Push API v3", return codes; 2008 is in JPush's SDK for Java.
    static let rows = aboutDevices + aboutCampaigns + aboutTheApp + aboutRequests + aboutTheServer

    private static let credentials = "Check app_key, master_secret and region of the app in volley.yaml."
    private static let newPlan = DocumentedAnswer.correctAppKey
    private static let again = "You can send to these devices again."
    private static let correct = DocumentedAnswer.correctContent
    private static let console = "Look at the app in JPush's console, and ask JPush."

    private static let aboutDevices: [DocumentedAnswer] = [
        DocumentedAnswer(
            400, 1011, .invalidTarget(blamesSettings: true),
            explanation:
                "JPush knows none of these devices: the app was removed from them, they have not been online for a year, or they belong to another app. When there are many, check app_key and region, and which column of the export holds the registration ids.",
            probe: .fine),
        DocumentedAnswer(
            400, badDevice, .invalidTarget(blamesSettings: true),
            explanation:
                "These are not registration ids of JPush, which named them. When there are many, check which column of the export holds them.",
            probe: .fine),
    ]

    private static let aboutCampaigns: [DocumentedAnswer] = [
        DocumentedAnswer(
            400, badValue, .split,
            explanation:
                "JPush did not accept a value of these pushes, and named no device. Correct what its words name: in the campaign's content, or below services: {jpush: …}.",
            advice:
                "JPush does not accept a value of the push, whichever device gets it: correct what its words name, in the campaign's content or "
                + "below services: {jpush: …}, and \(DocumentedAnswer.planAgain)", probe: .fine),
        DocumentedAnswer(
            400, 1005, .rejected,
            explanation:
                "The push was too large for JPush: it takes 2,000 bytes for iPhones, and 4,000 for Android. Shorten the texts.",
            probe: .fine),
        DocumentedAnswer(
            400, 1012, .usedUp,
            explanation:
                "JPush takes a limited number of slow pushes at a time, and none over a phone maker's channel alone once that maker's quota of the day is used up. \(again)",
            advice:
                "Too many slow pushes (big_push_duration) are under way, or the campaign goes over makers' channels alone (ospush) and a quota of the day "
                + "is used up. Resume the run later, or the next day.", probe: .fine),
    ]

    private static let aboutTheApp: [DocumentedAnswer] = [
        DocumentedAnswer(
            401, 1004, .stop, explanation: "JPush did not accept the master secret. \(credentials)",
            advice:
                "\(credentials) The secret is the Master Secret that JPush's console shows for this app key. \(newPlan)",
            probe: .wrongCredentials),
        DocumentedAnswer(
            400, 1008, .stop, explanation: "JPush does not know the app key. \(credentials)",
            advice: "\(credentials) \(newPlan)",
            probe: .wrongCredentials),
        DocumentedAnswer(
            403, 2003, .stop, explanation: "JPush has blocked the app. \(console)",
            advice: "JPush has blocked the app. \(console)",
            probe: .wrongTopic),
        DocumentedAnswer(
            403, 2004, .stop,
            explanation: "JPush does not take calls of this app from this machine's address. \(console)",
            advice: "Add this machine's address, or that of its proxy, to the list of addresses in JPush's console.",
            probe: .wrongTopic),
        DocumentedAnswer(
            403, 2005, .usedUp, explanation: "The app has sent as much as it may. \(console)",
            advice: "The app has sent as much as it may. \(console) After that, volley resume sends the rest.",
            probe: .wrongTopic),
        DocumentedAnswer(
            403, 2006, .stop, explanation: "JPush offers this only to apps that pay. \(console)",
            advice: "JPush offers this only to apps that pay. \(console)", probe: .wrongTopic),
        DocumentedAnswer(
            403, 2007, .stop, explanation: "The app has no right to send. \(console)",
            advice: "The app has no right to send. \(console)", probe: .wrongTopic),
        DocumentedAnswer(
            403, 2008, .usedUp, explanation: "The app has sent as many pushes to everyone as it may in a day.",
            advice: "The app has sent as many pushes to everyone as it may in a day. Resume the run tomorrow.",
            probe: .wrongTopic),
    ]

    private static let aboutRequests: [DocumentedAnswer] = [
        DocumentedAnswer(
            405, 1001, .stop,
            explanation: "JPush got a request that it does not take. Check whether a proxy changes it.",
            advice: "Check whether a proxy between this machine and JPush changes requests.", probe: .notTheService),
        DocumentedAnswer(
            400, 1002, .stop, explanation: "JPush misses something in the push.",
            advice:
                "JPush misses something in the push: check what the campaign has below services: {jpush: …}. \(correct)",
            probe: .fine),
        DocumentedAnswer(
            400, 1009, .stop, explanation: "JPush does not know a key of the push.",
            advice:
                "JPush does not know a key of the push: check what the campaign has below services: {jpush: …}. \(correct)",
            probe: .fine),
        DocumentedAnswer(
            404, 1020, .stop,
            explanation: "The server has no such path. Check environment and region of the app in volley.yaml.",
            advice: "Check environment (host and port) and region of the app in volley.yaml.", probe: .notTheService),
    ]

    private static let aboutTheServer: [DocumentedAnswer] = [
        DocumentedAnswer(
            429, 2002, .retry(.quota),
            explanation:
                "The app had made as many calls as it may in a minute, until it was too late for these devices. \(again)",
            advice: "Wait a minute: an app may make 600 calls in it, unless it pays for more.", probe: .busy),
        // JPush does not say that it did nothing, and the call may have been through.
        DocumentedAnswer(
            500, 1000, .maybeTaken,
            explanation: "JPush had internal errors each time. It may have sent to these devices all the same.",
            probe: .busy),
        DocumentedAnswer(
            503, 1030, .maybeTaken,
            explanation: "JPush did not finish in time. It may have sent to these devices all the same.",
            probe: .busy),
    ]
}

/// What answers mean. Source: docs.jiguang.cn, "Push API v3", return codes.
extension JPush {
    /// `{"error": {"code": 1003, "message": "…", "illegal_rids": ["…"]}}`
    ///
    /// Registration ids that are wrong are named in the error or next to it
    /// (calvinit/jiguang-sdk-go).
    public func details(of body: JSONValue) -> AnswerDetails {
        var details = AnswerDetails()
        guard let error = body["error"], let code = error["code"]?.integerValue else {
            // `{"sendno": "0", "msg_id": "1828256757"}`
            if body["error"] == nil { details.receipt = Self.number(of: body["msg_id"]) ?? "" }
            return details
        }
        details.reason = String(code)
        guard details.reason == Self.badDevice else { return details }
        let text = error["message"]?.stringValue ?? ""
        for list in [error["illegal_rids"], body["illegal_rids"]] {
            guard case .array(let ids)? = list else { continue }
            for id in ids.compactMap(\.stringValue) { details.targets[id] = Self.badDevice }
        }
        // Whatever in the text is the id of a device of the request.
        let words = text.split(whereSeparator: { !$0.isASCII || !($0.isLetter || $0.isNumber) }).filter {
            $0.utf8.count >= 10
        }
        for word in words { details.targets[String(word)] = Self.badDevice }
        // Words of letters alone are JPush's own. The longest go first, as one may be a part of
        // another.
        let ids = words.filter { $0.contains(where: \.isNumber) }.map(String.init).sorted {
            $0.utf8.count > $1.utf8.count
        }
        let shown = ids.reduce(text) { $0.replacing($1, with: Target.redact($1)) }
        details.reason = text.isEmpty ? Self.badValue : "\(Self.badDevice) (\(SecretText.withoutTokens(shown)))"
        return details
    }

    /// The number of a push, as JPush writes it: digits, as a text or not.
    static func number(of value: JSONValue?) -> String? {
        let text = value?.stringValue ?? value?.integerValue.map { String($0) } ?? ""
        return (1...20).contains(text.utf8.count)
            && text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) ? text : nil
    }

    /// A bad value is that of the devices that JPush names; it sent nothing to the others. If it
    /// names none, the value may be one of the text, and a device that is refused alone is no worse
    /// for it.
    public func meanings(of answer: ServiceAnswer, targets: [String]) -> [AnswerMeaning]? {
        guard Self.isBadValue(answer), targets.contains(where: { !$0.isEmpty }) else { return nil }
        return targets.map { $0.isEmpty ? .split : .invalidTarget(blamesSettings: true) }
    }

    /// What an answer means for all devices of a request, and for the run.
    public func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        // JPush numbers each push that it takes, and refuses with other statuses. What has no
        // number is not from it, or not whole.
        if answer.status == 200 { return answer.hasReceipt && !answer.isCutOff ? .accepted : .maybeTaken }
        if Self.isBadValue(answer) { return .split }
        if !answer.isCutOff, let row = Self.row(answer.status, answer.reason) { return row.meaning }
        return answer.undocumentedMeaning
    }

    private static func isBadValue(_ answer: ServiceAnswer) -> Bool {
        !answer.isCutOff && [badDevice, badValue].contains(row(answer.status, answer.reason)?.reason)
    }

    /// What the report says about a code that JPush documents; nil for others.
    public func words(about reason: String) -> ReasonWords? {
        Self.row(of: reason)?.words
    }

    /// Reasons that blame a target, although a wrong column or app causes them for all targets.
    public var blamingReasons: Set<String> { Self.answers.blaming }

    /// Also what JPush misses in a push, or does not know there.
    public func blamesMessage(status: Int, reason: String) -> Bool {
        Self.row(status, reason).map { Self.codesAboutMessages.contains($0.reason) }
            ?? (meaning(of: ServiceAnswer(status: status, reason: reason)) == .rejectedLikeAll)
    }

    private static let codesAboutMessages = ["1002", "1009", badValue]

    /// What to check when this answer stopped a run.
    public func advice(status: Int, reason: String) -> String {
        if let advice = Self.row(status, reason)?.advice { return advice }
        switch status {
        case 429, 500...: return "Try again in a few minutes."
        case 404, 405:
            return "The server does not understand JPush's requests: check environment (host and port) in volley.yaml."
        case 400: return "JPush did not accept the push: check the campaign's content."
        default: return "Check app_key, master_secret and region of the app in volley.yaml."
        }
    }

    /// What `doctor` learns from the answer to a push that reaches no device.
    public func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        Self.row(status, reason)?.probe ?? ProbeMeaning(status: status)
    }
}
