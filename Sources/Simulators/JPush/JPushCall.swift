/// A call of the push API, as its method and path say.
enum JPushCall: Equatable {
    case push, validation
    /// The kind of targets: `regid` or `alias`.
    case batch(String)
    /// How many cids are wanted; nil if the query is wrong.
    case cids(Int?)
    /// What became of these pushes; nil if the query is wrong.
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

    /// The number in `count=10&type=push`; 1 if there is none.
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
