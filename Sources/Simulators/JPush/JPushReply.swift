import Base

/// A refusal of JPush: `{"error":{"code":1011,"message":"…"}}`.
/// Source: docs.jiguang.cn, Push API v3, return codes; the names of registration ids that are wrong are in calvinit/jiguang-sdk-go.
struct JPushError: Equatable {
    var code: Int
    var message: String
    /// The registration ids that are wrong, where the refusal is about them.
    var illegalIDs: [String] = []

    init(_ code: Int, _ message: String, illegalIDs: [String] = []) {
        self.code = code
        self.message = message
        self.illegalIDs = illegalIDs
    }

    /// The HTTP status of its code.
    var status: Int {
        switch code {
        case 1000: 500
        case 1001: 405
        case 1004: 401
        case 1020: 404
        case 1030: 503
        case 2002: 429
        // That of 2008 is not documented.
        case 2003...2008: 403
        default: 400
        }
    }

    var answer: Answer { Answer(status: status, reason: String(code)) }

    /// The value of `error`.
    /// - Parameter namesIDs: whether it names wrong ids itself.
    func object(namesIDs: Bool) -> JSONValue {
        var pairs: [(String, JSONValue)] = [("code", .integer(Int64(code))), ("message", .string(message))]
        if namesIDs, !illegalIDs.isEmpty { pairs.append(("illegal_rids", .array(illegalIDs.map { .string($0) }))) }
        return .object(pairs: pairs)
    }

    /// The body of an answer. Nobody documents where the names of wrong ids are: `both` has them in `error`, `one` beside it.
    func body(_ details: RefusalDetails) -> JSONValue {
        var pairs = [("error", object(namesIDs: details == .both))]
        if details == .one, !illegalIDs.isEmpty { pairs.append(("illegal_rids", .array(illegalIDs.map { .string($0) }))) }
        return .object(pairs: pairs)
    }

    /// A body that is not what the documentation describes.
    static func malformed(_ flaw: JPushFlaw) -> JPushError { JPushError(flaw.code, flaw.text) }

    /// The refusal for a fault that is known by its status.
    static func fault(status: Int) -> JPushError {
        switch status {
        case 429: JPushError(2002, "API call frequency exceeds the limit")
        case 503: JPushError(1030, "Internal service timeout")
        default: JPushError(1000, "Internal error")
        }
    }
}

/// What is wrong with a part of a body.
struct JPushFlaw: Equatable {
    /// 1002 for something that is missing, 1003 for a bad value, 1005 for what is too large, 1009 for what JPush does not know.
    var code: Int
    var text: String

    init(_ code: Int, _ text: String) {
        self.code = code
        self.text = text
    }

    /// The same flaw, of a value within a member.
    func below(_ name: String) -> JPushFlaw { JPushFlaw(code, "\(name): \(text)") }
}
