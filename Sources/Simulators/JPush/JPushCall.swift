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
