import Base

/// An answer of Getui: `{"code":0,"msg":"","data":…}`. The code is in the body, and some refusals come with the status 200.
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

    /// The text of 20001 for a target that is none, or another app's.
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
            data: code == 301 ? .object(pairs: [("hostList", hosts), ("domainHash", .string("d41d8cd98f00b204e9800998ecf8427e"))]) : nil)
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
        1: "request body is not json", 2: "service is starting", 301: "please change the domain", 404: "url is not found",
        405: "method is not allowed", 500: "internal error", 10001: "token is invalid", 10002: "appid or ip is in the blacklist",
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

    /// Nobody looks at a simulated phone.
    var json: JSONValue {
        let counts = JSONValue.object(pairs: [
            ("msg_num", .integer(targets)), ("target_num", .integer(targets)), ("receive_num", .integer(received)),
            ("display_num", .integer(0)), ("click_num", .integer(0)),
        ])
        return .object(pairs: [("total", counts), ("gt", counts)])
    }
}
