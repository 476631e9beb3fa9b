import Base

/// An answer of RongCloud: `{"code":200,"id":"…"}`, or a code with its text. A code always comes with the same HTTP status.
struct RongCloudReply: Equatable {
    var status: Int
    /// 200 for success.
    var code: Int
    var text: [UInt8]

    /// What the ledger has as the reason; empty for success.
    var reason: String { code == 200 ? "" : String(code) }

    private init(status: Int, code: Int, _ members: [(String, JSONValue)]) {
        (self.status, self.code, text) = (status, code, [])
        JSONValue.object(pairs: [("code", .integer(Int64(code)))] + members).append(to: &text)
    }

    /// - Parameter id: what the call is called in statistics.
    static func success(id: String) -> RongCloudReply { RongCloudReply(status: 200, code: 200, [("id", .string(id))]) }

    /// A refusal.
    /// - Parameter text: what is wrong; nil for what the documentation says about the code.
    static func refusal(_ code: Int, _ text: String? = nil) -> RongCloudReply {
        let known = known[code]
        return RongCloudReply(
            status: known?.status ?? (code < 600 ? code : 400), code: code,
            [("errorMessage", .string(text ?? known?.text ?? "The request was refused."))])
    }

    /// A value in the body that RongCloud does not take.
    static func refusal(_ flaw: RongCloudFlaw) -> RongCloudReply {
        refusal(flaw.code, flaw.flaw.path.isEmpty ? flaw.flaw.text : "\(flaw.flaw.field): \(flaw.flaw.text)")
    }

    /// Source: RongCloud, status codes of the server API.
    static let known: [Int: (status: Int, text: String)] = [
        404: (404, "There is no such method."), 405: (405, "Only POST is allowed."),
        1000: (500, "Internal error."), 1001: (401, "The App Secret is wrong."), 1002: (400, "A parameter is wrong."),
        1003: (400, "There is no data."), 1004: (401, "The signature is wrong."), 1005: (400, "A parameter is too long."),
        1006: (401, "The app is locked or deleted."), 1007: (401, "The method is restricted."),
        1008: (429, "The method is called too often."), 1009: (430, "The service is not enabled."),
        1050: (504, "An internal call timed out."), 2007: (403, "An app in development has at most 100 users."),
    ]
}
