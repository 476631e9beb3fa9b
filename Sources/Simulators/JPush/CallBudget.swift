import Base

/// How many calls an app may make in a minute or a day, which begins with the first one.
struct CallBudget {
    /// Calls of the push API in a minute. Source: docs.jiguang.cn, "API rate limit": 600 for each
    /// app key.
    static let usualLimit = 600
    /// Pushes to everyone in a day. Source: calvinit/jiguang-sdk-go, return code 2008. Neither says
    /// when a day begins.
    static let usualBroadcasts = 10
    static let secondsOfDay = 86_400.0

    let limit: Int
    private let seconds: Double
    private(set) var left: Int
    private var end: Timestamp?

    init(limit: Int, seconds: Double = 60) {
        self.limit = limit
        self.seconds = seconds
        left = limit
    }

    /// Counts a call; false if it is one too many.
    mutating func take(at now: Timestamp) -> Bool {
        guard hasRoom(at: now) else { return false }
        if end.map({ now >= $0 }) ?? true { (left, end) = (limit, now.adding(seconds: seconds)) }
        left -= 1
        return true
    }

    /// Whether one more call may be made.
    func hasRoom(at now: Timestamp) -> Bool { left > 0 || limit > 0 && end.map { now >= $0 } ?? true }

    /// The headers of an answer. The page calls the limit a quota, and JPush's SDK a limit.
    func fields(at now: Timestamp) -> [AnswerField] {
        let seconds = end.map { max(0, ($0.epochMilliseconds - now.epochMilliseconds + 999) / 1000) } ?? 0
        return [
            AnswerField(name: "x-rate-limit-quota", value: "\(limit)"),
            AnswerField(name: "x-rate-limit-limit", value: "\(limit)"),
            AnswerField(name: "x-rate-limit-remaining", value: "\(left)"),
            AnswerField(name: "x-rate-limit-reset", value: "\(seconds)"),
        ]
    }
}
