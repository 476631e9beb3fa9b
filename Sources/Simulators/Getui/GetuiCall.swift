import Base
import Cryptography

/// The operation that a request to Getui names: `/v2/APP/…`.
struct GetuiCall {
    enum Kind {
        case authentication
        /// Forgets a token.
        case removal(token: String)
        /// One push, to one client id or alias.
        case single(GetuiEntry.Kind)
        case batch
        /// One push to all devices of the app, or to those that some tags choose.
        case everyone, tags
        /// Keeps a content for lists.
        case listMessage
        case list
        /// Ends a task.
        case taskRemoval(String)
        /// The results of the pushes of a group.
        case report(group: String)

        var isPush: Bool {
            switch self {
            case .single, .batch, .list, .everyone, .tags: true
            case .authentication, .removal, .listMessage, .taskRemoval, .report: false
            }
        }

        /// Whether it goes to everyone or to tags, for which there is a quota.
        var isBroadcast: Bool {
            switch self {
            case .everyone, .tags: true
            case .authentication, .removal, .single, .batch, .listMessage, .list, .taskRemoval, .report: false
            }
        }

        var method: StaticString {
            switch self {
            case .removal, .taskRemoval: "DELETE"
            case .report: "GET"
            case .authentication, .single, .batch, .listMessage, .list, .everyone, .tags: "POST"
            }
        }

        /// What the body of a push looks like.
        var shape: GetuiShape? {
            switch self {
            case .single(let kind): kind == .alias ? GetuiKeys.singleAlias : GetuiKeys.single
            case .everyone: GetuiKeys.everyone
            case .tags: GetuiKeys.tags
            case .batch: GetuiKeys.batch
            case .list: GetuiKeys.list
            case .authentication, .removal, .listMessage, .taskRemoval, .report: nil
            }
        }

        /// The messages of a body.
        func messages(in body: JSONValue) -> [JSONValue] {
            switch self {
            case .single, .everyone, .tags: [body]
            case .batch: body["msg_list"]?.values ?? []
            case .authentication, .removal, .listMessage, .list, .taskRemoval, .report: []
            }
        }

        /// The targets of a body, well formed or not.
        func entries(of body: JSONValue) -> [GetuiEntry] {
            if case .list = self {
                return body.names(.cid).map {
                    GetuiEntry(kind: .cid, name: $0, id: nil, task: body["taskid"]?.stringValue, group: nil)
                }
            }
            return messages(in: body).flatMap { message in
                message.names(named).map {
                    GetuiEntry(
                        kind: named, name: $0, id: message["request_id"]?.stringValue, task: nil,
                        group: message["group_name"]?.stringValue)
                }
            }
        }

        /// What the names in its audience are.
        private var named: GetuiEntry.Kind {
            switch self {
            case .single(let kind): kind
            case .everyone: .everyone
            case .tags: .tag
            case .authentication, .removal, .batch, .listMessage, .list, .taskRemoval, .report: .cid
            }
        }
    }

    let app: String
    let kind: Kind

    /// nil for a path that Getui does not have.
    init?(path: UnsafeBufferPointer<UInt8>) {
        let parts = String(decoding: path, as: UTF8.self).split(separator: "/", omittingEmptySubsequences: false)
            .dropFirst()
        guard parts.count >= 3, parts.first == "v2", let app = parts.dropFirst().first, !app.isEmpty else { return nil }
        self.app = String(app)
        switch parts.dropFirst(2).map(String.init) {
        case ["auth"]: kind = .authentication
        case let words where words.count == 2 && words[0] == "auth": kind = .removal(token: words[1])
        case ["push", "single", "cid"]: kind = .single(.cid)
        case ["push", "single", "alias"]: kind = .single(.alias)
        case ["push", "all"]: kind = .everyone
        case ["push", "tag"]: kind = .tags
        case ["push", "single", "batch", "cid"]: kind = .batch
        case ["push", "list", "message"]: kind = .listMessage
        case ["push", "list", "cid"]: kind = .list
        case let words where words.count == 2 && words[0] == "task": kind = .taskRemoval(words[1])
        case let words where words.count == 4 && words.starts(with: ["report", "push", "task_group"]):
            kind = .report(group: words[3])
        default: return nil
        }
    }
}

/// One target of a request.
struct GetuiEntry {
    /// What a target is named by.
    enum Kind: String {
        case cid, alias, tag
        case everyone = "all"
    }

    let kind: Kind
    let name: String
    /// The `request_id`; nil for a target of a list.
    let id: String?
    /// The task of a list, which exists before its targets are named.
    let task: String?
    /// The `group_name`; nil for none.
    let group: String?

    /// The client id that an answer names.
    var cid: String { kind == .cid ? name : CidRules.cid(ofAlias: name) }
    var idHash: TokenHash? { id.map { TokenHash(text: $0) } }
    var addressee: PushRequest.Addressee {
        PushRequest.Addressee(kind: kind.rawValue, target: name, id: id ?? task ?? "")
    }
}

/// What the content of a message must be, beyond the form of its parts.
enum GetuiContent {
    private static let largestIOSBytes = 4096
    private static let usualLifetimeMilliseconds: Int64 = 7_200_000

    /// How long a message lives.
    static func lifetimeMilliseconds(of message: JSONValue) -> Int64 {
        message["settings"]?["ttl"]?.integerValue ?? usualLifetimeMilliseconds
    }

    static func flaw(of message: JSONValue) -> JSONFlaw? {
        guard let content = message["push_message"] else { return nil }
        let kinds = ["notification", "transmission", "revoke"].filter { content[$0] != nil }
        guard kinds.count == 1 else {
            return JSONFlaw("exactly one of notification, transmission and revoke is allowed", at: ["push_message"])
        }
        let third = message["push_channel"]?["android"]?["ups"]
        if let flaw = clickFlaw(of: content["notification"], at: ["push_message", "notification"])
            ?? clickFlaw(of: third?["notification"], at: ["push_channel", "android", "ups", "notification"])
            ?? clickFlaw(
                of: message["push_channel"]?["harmony"]?["notification"],
                at: ["push_channel", "harmony", "notification"])
        {
            return flaw
        }
        guard let ios = message["push_channel"]?["ios"] else { return nil }
        var bytes: [UInt8] = []
        ios.append(to: &bytes)
        return bytes.count > largestIOSBytes
            ? JSONFlaw("\(bytes.count) bytes, \(largestIOSBytes) are allowed", at: ["push_channel", "ios"]) : nil
    }

    /// A notification that leads somewhere says where.
    private static func clickFlaw(of notification: JSONValue?, at path: [String]) -> JSONFlaw? {
        guard let type = notification?["click_type"]?.stringValue else { return nil }
        let key = type == "payload_custom" ? "payload" : type
        guard ["intent", "url", "payload", "want"].contains(key), notification?[key] == nil else { return nil }
        return JSONFlaw("missing for click_type \(type)", at: path + [key])
    }
}

extension JSONValue {
    fileprivate var values: [JSONValue] { if case .array(let values) = self { values } else { [] } }

    /// The names of a kind in the audience of a message, well formed or not.
    fileprivate func names(_ kind: GetuiEntry.Kind) -> [String] {
        let audience = self["audience"]
        let values: [JSONValue] =
            switch kind {
            case .everyone: audience.map { [$0] } ?? []
            case .tag: (audience?["tag"]?.values ?? []).flatMap { $0["values"]?.values ?? [] }
            case .cid, .alias: audience?[kind.rawValue]?.values ?? []
            }
        return values.compactMap(\.stringValue)
    }
}

/// Targets, which are client ids, aliases and tags, with fixed answers: those of
/// `SimulatorFaults.answers`, and always those that begin with one of these eight digits:
///
/// | first digits | answer |
/// |---|---|
/// | `00000090` | the status `successed_ignore`: not active for 90 days |
/// | `00000200` | the status `successed_offline` |
/// | `000` and a code of Getui with five digits | the whole request gets it, once if it passes |
///
/// A client id of zeros only is one that no device has; an alias and a tag are known, whatever they
/// are. So `00020001…` is refused as Getui refuses a target of another app, and `00010005…` as it
/// refuses too many requests.
struct CidRules {
    /// What a target does to its request.
    enum Effect {
        /// The target's own status.
        case status(String)
        /// The answer to the whole request.
        case refusal(GetuiReply)
    }

    static let online = "successed_online", offline = "successed_offline", ignored = "successed_ignore"
    /// Codes that are answered once: what is refused now may be accepted later.
    static let passing: Set<Int> = [2, 301, 10001, 10003, 10005, 30012, 30013, 30014, 30015, 30018, 30019]
    /// Refusals that come before a request's content is looked at.
    static let early: Set<Int> = [1, 2, 301, 10001, 10002, 10003, 10004, 10005]

    private var fixed: [String: SimulatedAnswer]
    private var seen: Set<String> = []

    init(_ answers: [String: SimulatedAnswer]) { fixed = answers }

    /// Whether a text is a target at all: 32 lower-case hex digits.
    static func isTarget(_ cid: String) -> Bool {
        cid.utf8.count == 32
            && cid.utf8.allSatisfy { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
    }

    /// The client id of the device that has an alias.
    static func cid(ofAlias alias: String) -> String {
        var digest = SHA256()
        digest.update(alias)
        return String(digest.finalizeHex().prefix(32))
    }

    /// What a target that exists does.
    mutating func effect(of cid: String) -> Effect {
        if let answer = fixedAnswer(cid) {
            if answer.reason.hasPrefix("successed_") { return .status(answer.reason) }
            return .refusal(.refusal(Int(answer.reason) ?? 20001))
        }
        if Self.isTarget(cid), cid.utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) { return .refusal(.refusal(20001)) }
        guard cid.utf8.starts(with: "000".utf8), let code = Int(cid.prefix(8)) else { return .status(Self.online) }
        switch code {
        case 90: return .status(Self.ignored)
        case 200: return .status(Self.offline)
        case 1, 2, 301, 10001...39999:
            guard !Self.passing.contains(code) || seen.insert(cid).inserted else { return .status(Self.online) }
            return .refusal(.refusal(code))
        default: return .status(Self.online)
        }
    }

    private mutating func fixedAnswer(_ cid: String) -> SimulatedAnswer? {
        guard !fixed.isEmpty, let answer = fixed[cid], answer.times != 0 else { return nil }
        if let times = answer.times { fixed[cid]?.times = times - 1 }
        return answer
    }
}
