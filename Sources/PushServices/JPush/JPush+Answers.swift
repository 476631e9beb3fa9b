public import Base

/// What answers mean. Source: docs.jiguang.cn, "Push API v3", return codes.
extension JPush {
    /// `{"error": {"code": 1003, "message": "…", "illegal_rids": ["…"]}}`
    ///
    /// Registration ids that are wrong are named in the error or next to it (calvinit/jiguang-sdk-go).
    public func details(of body: JSONValue) -> AnswerDetails {
        var details = AnswerDetails()
        guard let error = body["error"], let code = error["code"]?.integerValue else {
            // `{"sendno": "0", "msg_id": "1828256757"}`
            if body["error"] == nil { details.receipt = Self.number(of: body["msg_id"]) ?? "" }
            return details
        }
        details.reason = String(code)
        guard details.reason == Self.badValue else { return details }
        for list in [error["illegal_rids"], body["illegal_rids"]] {
            guard case .array(let ids)? = list else { continue }
            for id in ids.compactMap(\.stringValue) { details.targets[id] = Self.badValue }
        }
        return details
    }

    /// The number of a push, as JPush writes it: digits, as a text or not.
    static func number(of value: JSONValue?) -> String? {
        let text = value?.stringValue ?? value?.integerValue.map { String($0) } ?? ""
        return (1...20).contains(text.utf8.count) && text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) ? text : nil
    }

    /// A bad value is that of some of the devices; JPush sent nothing to the others.
    public func meanings(of answer: ServiceAnswer, targets: [String]) -> [AnswerMeaning]? {
        guard answer.status == 400, answer.reason == Self.badValue, !answer.isCutOff else { return nil }
        if targets.contains(where: { !$0.isEmpty }) {
            return targets.map { $0.isEmpty ? .split : .invalidTarget(blamesSettings: true) }
        }
        // It need not be the device's, but that of one device alone is as bad as the device's.
        return targets.count == 1 ? [.invalidTarget(blamesSettings: true)] : nil
    }

    /// What an answer means for all devices of a request, and for the run.
    public func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        if answer.isCutOff { return .maybeTaken }
        // JPush numbers each push that it takes, and refuses with other statuses. What has no number is not from it, or not whole.
        if answer.status == 200 { return answer.hasReceipt ? .accepted : .maybeTaken }
        if let row = Self.answers[answer.status, answer.reason] { return row.reason == Self.badValue ? .split : row.meaning }
        switch answer.status {
        // Also codes that JPush adds later: these are about the app, and the path never changes.
        case 401, 403, 404, 405: return .stop
        case 429: return .retry(.quota)
        // Something in front of JPush may have passed the push on.
        case 500...: return .maybeTaken
        // Also codes that JPush adds later.
        case 400..<500: return .rejectedLikeAll
        // Unexpected: 1xx and 3xx, other 2xx.
        default: return .rejected
        }
    }

    /// What the report says about a code that JPush documents; nil for others.
    public func words(about reason: String) -> ReasonWords? {
        Self.answers[reason]?.words
    }

    /// Reasons that blame a target, although a wrong column or app causes them for all targets.
    public var blamingReasons: Set<String> { Self.answers.blaming }

    /// Also what JPush misses in a push, or does not know there.
    public func blamesMessage(status: Int, reason: String) -> Bool {
        Self.answers[status, reason].map { Self.codesAboutMessages.contains($0.reason) }
            ?? (meaning(of: ServiceAnswer(status: status, reason: reason)) == .rejectedLikeAll)
    }

    private static let codesAboutMessages = ["1002", "1009"]

    /// What to check when this answer stopped a run.
    public func advice(status: Int, reason: String) -> String {
        if let advice = Self.answers[status, reason]?.advice { return advice }
        switch status {
        case 429, 500...: return "Try again in a few minutes."
        case 404, 405: return "The server does not understand JPush's requests: check environment (host and port) in volley.yaml."
        case 400: return "JPush did not accept the push: check the campaign's content."
        default: return "Check app_key, master_secret and region of the app in volley.yaml."
        }
    }

    /// What `doctor` learns from the answer to a push that reaches no device.
    public func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        Self.answers[status, reason]?.probe ?? ProbeMeaning(status: status)
    }
}
