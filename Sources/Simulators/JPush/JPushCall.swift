import Base

/// A call of the push API, as its method and path say.
enum JPushCall: Equatable {
    case push, validation
    /// The kind of targets: `regid` or `alias`.
    case batch(String)
    /// How many cids are wanted; nil if the query is wrong.
    case cids(Int?)
    /// The results of these pushes; nil if the query is wrong.
    case report([Substring]?)

    /// Recognises a path; nil for one that there is not.
    init?(path: String) {
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        switch parts[0] {
        case "/v3/push" where parts.count == 1: self = .push
        case "/v3/push/validate" where parts.count == 1: self = .validation
        case "/v3/push/batch/regid/single" where parts.count == 1: self = .batch("regid")
        case "/v3/push/batch/alias/single" where parts.count == 1: self = .batch("alias")
        case "/v3/push/cid": self = .cids(Self.count(in: parts.count == 2 ? parts[1] : ""))
        case "/v3/received/detail": self = .report(Self.numbers(in: parts.count == 2 ? parts[1] : ""))
        default: return nil
        }
    }

    var method: String {
        switch self {
        case .cids, .report: "GET"
        case .push, .validation, .batch: "POST"
        }
    }

    /// The numbers in `msg_ids=1,2`: one to a hundred.
    private static func numbers(in query: Substring) -> [Substring]? {
        let key = "msg_ids="
        guard query.hasPrefix(key) else { return nil }
        let numbers = query.dropFirst(key.count).split(separator: ",", omittingEmptySubsequences: false)
        return numbers.count <= 100 && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isDigit) } ? numbers : nil
    }

    /// The number in `count=10&type=push`; 1 without it.
    private static func count(in query: Substring) -> Int? {
        var count: Int? = 1
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch (parts[0], parts.count == 2 ? parts[1] : "") {
            case ("count", let number): count = number.utf8.allSatisfy(isDigit) ? Int(number) : nil
            case ("type", "push"), ("type", "schedule"), ("type", "batch_push"): break
            default: return nil
            }
        }
        return count
    }
}

extension StandIn {
    /// A strict stand-in for JPush's Push API v3 on a loopback port, with its own thread.
    ///
    /// `JPushKeys` and `JPushChecker` document what it demands of pushes, `CidPool` of their cids,
    /// `JPushTargets` the registration ids with fixed answers, and `SimulatorFaults` the faults
    /// that you can configure.
    public static let jpush = StandIn(
        service: "jpush", displayName: "JPush",
        rules: """
            Takes Basic credentials of the app key and master secret of volley.yaml, or of a new one, whose file is written there. A \
            registration id has 10 to 30 letters and digits. Those that begin with 00001003 are refused with 1003, and 00001011 belong to no \
            device; 00000429, 00000500 and 00000503 make their call fail once. At most 600 calls are taken in a minute, and at most \
            10 pushes to everyone in a day.
            """,
        credential: .secret(app: StandInName("app_key", "0123456789abcdef01234567"), names: [], key: "master_secret"),
        keyFile: "jpush-master-secret.txt", ignoresCase: false, gone: SimulatedAnswer(status: 400, reason: "1011"),
        unknown: SimulatedAnswer(status: 400, reason: "1003"), isLimited: true, mayLackDetails: true,
        hasOwnAudiences: true,
        makeRules: { configuration, _ in JPushRules(configuration) })
}

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

/// The cids that were given out, and the results of the pushes that carried them. Source:
/// docs.jiguang.cn, Push API v3, "cid": one from the pool is good for a day; a push with one that
/// was taken before is not sent again, and gets the answer of the first.
struct CidPool {
    /// What a push that carries a cid may do.
    enum Finding: Equatable {
        /// The push continues.
        case fresh
        /// It was taken before, with this answer.
        case taken(messageID: String)
        /// It is not a cid, is another app's, or is older than a day.
        case unknown
    }

    private static let lifetimeSeconds = 86_400.0

    private struct Cid {
        let app: String, end: Timestamp
        var messageID: String?
    }

    private var cids: [String: Cid] = [:]

    /// Gives out cids.
    mutating func give(_ count: Int, to app: String, now: Timestamp) -> [String] {
        (0..<count).map { _ in
            var bytes: [UInt8] = []
            PushID(runSeed: .random(), recipient: 0).append(to: &bytes)
            let cid = "\(app)-\(String(decoding: bytes, as: UTF8.self))"
            cids[cid] = Cid(app: app, end: now.adding(seconds: Self.lifetimeSeconds))
            return cid
        }
    }

    func finding(_ cid: String, of app: String, now: Timestamp) -> Finding {
        guard let known = cids[cid], known.app == app, now < known.end else { return .unknown }
        return known.messageID.map { .taken(messageID: $0) } ?? .fresh
    }

    /// Notes the push that carried a cid.
    mutating func take(_ cid: String, messageID: String) { cids[cid]?.messageID = messageID }
}

/// Registration ids with fixed answers: those of `SimulatorFaults.answers`, and always those that
/// begin with one of these eight digits:
///
/// | first digits | answer |
/// |---|---|
/// | `00001003` | 1003: the call is refused, as for an id that is no registration id |
/// | `00001011` | no device has it: 1011 if so for all ids of a call, otherwise it is taken |
/// | `00000429` | 2002 for its call the first time, then taken |
/// | `00000500` | 1000 for its call the first time, then taken |
/// | `00000503` | 1030 for its call the first time, then taken |
///
/// Aliases and tags that begin with `00001011` belong to no device, and those with `00000429`,
/// `00000500` and `00000503` make their call fail once; all others have devices.
///
/// JPush does not document what registration ids look like. Those of today have 18 or 19 hex
/// digits, those of its pages 11 and 12 letters and digits.
struct JPushTargets {
    private enum Kind {
        case known, malformed, unknown
        /// Fails once, with this status.
        case failing(Int)
    }

    private static let lengths = 10...30

    private var fixed: [String: SimulatedAnswer]
    private var seen: Set<String> = []

    init(_ answers: [String: SimulatedAnswer]) { fixed = answers }

    /// The refusal of a call with the right content; nil if it is taken.
    mutating func refusal(of ids: [String]) -> JPushError? {
        var malformed: [String] = [], unknown = 0, failure: Int?
        for id in ids {
            switch kind(of: id) {
            case .known: break
            case .malformed: malformed.append(id)
            case .unknown: unknown += 1
            case .failing(let status): failure = failure ?? status
            }
        }
        if !malformed.isEmpty { return JPushError(1003, "The registration_id is invalid", illegalIDs: malformed) }
        if let failure { return .fault(status: failure) }
        return unknown == ids.count && !ids.isEmpty ? JPushError(1011, "cannot find user by this audience") : nil
    }

    /// The refusal of a call to aliases or tags; nil if it is taken.
    mutating func refusal(ofNames names: [String]) -> JPushError? {
        let kinds = names.map { kind(ofDigits: $0) }
        for kind in kinds { if case .failing(let status) = kind { return .fault(status: status) } }
        let hasDevices = kinds.contains { if case .unknown = $0 { false } else { true } }
        return hasDevices || names.isEmpty ? nil : JPushError(1011, "cannot find user by this audience")
    }

    private mutating func kind(of id: String) -> Kind {
        if let answer = fixedAnswer(id) { return answer.reason == "1011" ? .unknown : .malformed }
        guard Self.lengths.contains(id.utf8.count), id.utf8.allSatisfy(isLetterOrDigit) else { return .malformed }
        return kind(ofDigits: id)
    }

    private mutating func kind(ofDigits id: String) -> Kind {
        switch id.prefix(8) {
        case "00001003": return .malformed
        case "00001011": return .unknown
        case "00000429" where seen.insert(id).inserted: return .failing(429)
        case "00000500" where seen.insert(id).inserted: return .failing(500)
        case "00000503" where seen.insert(id).inserted: return .failing(503)
        default: return .known
        }
    }

    private mutating func fixedAnswer(_ id: String) -> SimulatedAnswer? {
        guard !fixed.isEmpty, let answer = fixed[id], answer.times != 0 else { return nil }
        if let times = answer.times { fixed[id]?.times = times - 1 }
        return answer.status == 200 ? nil : answer
    }
}
