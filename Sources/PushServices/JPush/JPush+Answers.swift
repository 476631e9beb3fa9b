public import Base

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
