import Base

/// How many calls an app may make in a minute, which begins with the first one.
/// Source: docs.jiguang.cn, "API rate limit": 600 calls of the push API for each app key.
struct CallBudget {
    static let usualLimit = 600

    let limit: Int
    private(set) var left: Int
    private var end: Timestamp?

    init(limit: Int) {
        self.limit = limit
        left = limit
    }

    /// Counts a call; false if it is one too many.
    mutating func take(at now: Timestamp) -> Bool {
        if end.map({ now >= $0 }) ?? true { (left, end) = (limit, now.adding(seconds: 60)) }
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    /// The headers of an answer. The page calls the limit a quota, and JPush's SDK a limit.
    func fields(at now: Timestamp) -> [AnswerField] {
        let seconds = end.map { max(0, ($0.epochMilliseconds - now.epochMilliseconds + 999) / 1000) } ?? 0
        return [
            AnswerField(name: "x-rate-limit-quota", value: "\(limit)"), AnswerField(name: "x-rate-limit-limit", value: "\(limit)"),
            AnswerField(name: "x-rate-limit-remaining", value: "\(left)"), AnswerField(name: "x-rate-limit-reset", value: "\(seconds)"),
        ]
    }
}
