/// Users with fixed answers: those of `SimulatorFaults.answers`, and always those whose ids begin with `0000` and a code of RongCloud with
/// four digits. Their whole request gets that code, since an answer says nothing about single users; with 1000 and 1008, which pass, only
/// the first time.
struct UserRules {
    private static let passing: Set<Int> = [1000, 1008]

    private var fixed: [String: SimulatedAnswer]
    private var seen: Set<String> = []

    init(_ answers: [String: SimulatedAnswer]) { fixed = answers }

    /// The refusal of a correct request to these users; nil if it is accepted.
    mutating func refusal(of users: [PushRequest.Addressee]) -> RongCloudReply? {
        for user in users { if let code = code(of: user.target) { return .refusal(code) } }
        return nil
    }

    private mutating func code(of user: String) -> Int? {
        if let answer = fixed[user], answer.times != 0 {
            if let times = answer.times { fixed[user]?.times = times - 1 }
            return answer.status == 200 ? nil : Int(answer.reason) ?? 1002
        }
        guard user.utf8.starts(with: "0000".utf8), let code = Int(user.prefix(8)), RongCloudReply.known[code] != nil, code >= 1000 else {
            return nil
        }
        return Self.passing.contains(code) && !seen.insert(user).inserted ? nil : code
    }
}
