import Base

/// An answer of Getui: `{"code":0,"msg":"","data":…}`. The code is in the body, and some refusals
/// come with the status 200.
struct GetuiReply: Equatable {
    var status: Int
    /// 0 for success.
    var code: Int
    var text: [UInt8]

    /// What the ledger has as the reason; empty for success.
    var reason: String { code == 0 ? "" : String(code) }

    init(status: Int, code: Int, message: String, data: JSONValue? = nil) {
        (self.status, self.code, text) = (status, code, [])
        var pairs: [(String, JSONValue)] = [("code", .integer(Int64(code))), ("msg", .string(message))]
        if let data { pairs.append(("data", data)) }
        JSONValue.object(pairs: pairs).append(to: &text)
    }

    static func success(_ data: JSONValue?) -> GetuiReply { GetuiReply(status: 200, code: 0, message: "", data: data) }

    /// The text of 20001 for a target that does not exist, or is another app's.
    static let invalidTarget = "target user is invalid"

    /// A parameter that Getui does not take.
    static func badParameter(_ text: String) -> GetuiReply { GetuiReply(status: 400, code: 20001, message: text) }

    static func badParameter(_ flaw: JSONFlaw) -> GetuiReply {
        badParameter(flaw.path.isEmpty ? flaw.text : "\(flaw.path.joined(separator: ".")): \(flaw.text)")
    }

    /// A refusal by its code, with the status that the documentation has for it.
    static func refusal(_ code: Int) -> GetuiReply {
        GetuiReply(
            status: status(of: code), code: code, message: texts[code] ?? "refused",
            data: code == 301
                ? .object(pairs: [("hostList", hosts), ("domainHash", .string("d41d8cd98f00b204e9800998ecf8427e"))])
                : nil)
    }

    /// Source: docs.getui.com, RestAPI V2, "code".
    static func status(of code: Int) -> Int {
        switch code {
        case 0...2, 301: 200
        case 404, 405: code
        case 500...599: code
        case 10000..<20000: 401
        case 30000..<40000: 403
        default: 400
        }
    }

    private static let hosts = JSONValue.array([
        .object(pairs: [
            ("domainList", .array([.string("https://cncrestapi.getui.com"), .string("https://nzrestapi.getui.com")])),
            ("priorityGap", .integer(30)),
        ])
    ])

    private static let texts = [
        1: "request body is not json", 2: "service is starting", 301: "please change the domain",
        404: "url is not found",
        405: "method is not allowed", 500: "internal error", 10001: "token is invalid",
        10002: "appid or ip is in the blacklist",
        10003: "auth is too frequent", 10004: "no permission", 10005: "request is too frequent", 20001: invalidTarget,
        21001: "push failed, user is invalid", 30019: "service is busy",
    ]
}

/// What Getui says of the pushes of a group.
struct GroupReport {
    private var targets: Int64 = 0, received: Int64 = 0

    mutating func add(_ status: String) {
        targets += 1
        if status == CidRules.online { received += 1 }
    }

    /// Simulated phones never report that a message was displayed or clicked.
    var json: JSONValue {
        let counts = JSONValue.object(pairs: [
            ("msg_num", .integer(targets)), ("target_num", .integer(targets)), ("receive_num", .integer(received)),
            ("display_num", .integer(0)), ("click_num", .integer(0)),
        ])
        return .object(pairs: [("total", counts), ("gt", counts)])
    }
}

/// How often an app may send to everyone and to tags, in all, and what it may name there.
/// Source: a copy of "code" of 2022 on DCloud's page about uni-push: 30014 for "app" pushes in a
/// minute, 30007 and 30010 for those of a day. Our facts about Getui name 30012 for everyone, which
/// that page has for changes of tags.
struct GetuiQuotas {
    static let usualPerDay = 100, usualPerMinute = 5
    /// Getui does not publish it: what Volley names at most.
    static let mostTags = 100
    private static let longestTag = 31

    private let takesTags: Bool, perDay: Int, perMinute: Int
    private var days: [String: DayQuota] = [:]
    private var minutes: [String: MinuteQuota] = [:]

    init(_ configuration: SimulatorConfiguration) {
        takesTags = configuration.takesTags
        perDay = configuration.broadcastsPerDay ?? Self.usualPerDay
        perMinute = configuration.broadcastsPerMinute ?? Self.usualPerMinute
    }

    /// The refusal of a push to everyone or to tags, in the right form; nil if it is taken, which
    /// counts for the minute.
    mutating func refusal(of entries: [GetuiEntry], app: String, now: Timestamp) -> GetuiReply? {
        let isForTags = entries.first?.kind == .tag
        if isForTags, let refusal = refusal(ofTags: entries.map(\.name)) { return refusal }
        guard minutes[app, default: MinuteQuota(limit: perMinute)].take(at: now) else { return .refusal(30014) }
        let day = days[app] ?? DayQuota(limit: perDay)
        return day.hasRoom(at: now) ? nil : .refusal(isForTags ? 30010 : 30007)
    }

    private func refusal(ofTags tags: [String]) -> GetuiReply? {
        if !takesTags { return .refusal(30003) }
        if tags.count > Self.mostTags { return .refusal(30016) }
        if tags.contains(where: { $0.utf16.count > Self.longestTag }) { return .refusal(30005) }
        return tags.contains { $0.contains { $0.isWhitespace || $0 == "," } } ? .badParameter("tag is invalid") : nil
    }

    /// Counts a push to everyone or to tags for the day.
    mutating func take(app: String, now: Timestamp) { _ = days[app, default: DayQuota(limit: perDay)].take(1, at: now) }
}

/// How much an app may do in a day, which begins at midnight in China (UTC+8).
struct DayQuota {
    private static let secondsOfDay: Int64 = 86_400, secondsAhead: Int64 = 28_800

    private let limit: Int
    private var day: Int64 = .min
    private var taken = 0

    init(limit: Int) { self.limit = limit }

    /// Whether so much more may be done.
    func hasRoom(_ count: Int = 1, at now: Timestamp) -> Bool {
        (Self.day(of: now) == day ? taken : 0) + count <= limit
    }

    /// Counts something; false, and nothing, if it is too much.
    mutating func take(_ count: Int, at now: Timestamp) -> Bool {
        guard hasRoom(count, at: now) else { return false }
        let today = Self.day(of: now)
        (taken, day) = (day == today ? taken + count : count, today)
        return true
    }

    private static func day(of now: Timestamp) -> Int64 { (now.epochSeconds + secondsAhead) / secondsOfDay }
}
