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
        if answer.isCutOff { return .maybeTaken }
        if let row = Self.answers[answer.status, answer.reason] { return row.meaning }
        switch answer.status {
        case 200: return answer.reason.isEmpty ? .accepted : Self.meaning(ofAccepted: answer.reason)
        // Also codes that RongCloud adds later: these are about the app, and the path never changes.
        case 401, 403, 404, 405, 430: return .stop
        case 429: return .retry(.quota)
        // RongCloud recognizes no repeats, and something in front of it may have passed the push on.
        case 500...: return .maybeTaken
        // Unexpected: 1xx and 3xx, other 2xx.
        case 400..<500: return .rejectedLikeAll
        default: return .rejected
        }
    }

    /// What a code means that came with the status 200: what it means with its own. Without any code, something answered that is not
    /// RongCloud.
    private static func meaning(ofAccepted reason: String) -> AnswerMeaning {
        if reason == noCode { return .notTheService }
        return answers[reason]?.meaning ?? .rejectedLikeAll
    }

    /// What the report says about a code that RongCloud documents; nil for others.
    public func words(about reason: String) -> ReasonWords? {
        Self.answers[reason]?.words
    }

    /// A refusal never says that a user is gone, or that settings are wrong rather than users.
    public var blamingReasons: Set<String> { [] }

    /// What to check when this answer stopped a run.
    public func advice(status: Int, reason: String) -> String {
        if let advice = Self.answers[status, reason]?.advice { return advice }
        switch status {
        case 429, 500...: return "Try again in a few minutes."
        case 200, 404, 405: return "The server does not understand RongCloud's requests: check environment (host and port) in volley.yaml."
        case 400: return "RongCloud did not accept the message: check the campaign's content."
        default: return "Check app_key, app_secret and region of the app in volley.yaml."
        }
    }

    /// What `doctor` learns from the answer to a push to a user who does not exist.
    public func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        if let row = Self.answers[status, reason] { return row.probe }
        return switch status {
        case 200: reason.isEmpty ? .fine : Self.answers[reason]?.probe ?? .notTheService
        case 401, 403, 430: .wrongCredentials
        case 429, 500...: .busy
        default: .notTheService
        }
    }
}
