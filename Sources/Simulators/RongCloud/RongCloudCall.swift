import Base

/// The calls that send pushes, with their bodies as data. Source: RongCloud's documentation of its
/// server API, and for names its SDKs for Go (`sdk/push.go`) and Java (`models/push`). Where they
/// leave something open, what is stricter is meant.
enum RongCloudCall: CaseIterable {
    /// To users by their ids.
    case user
    /// To everybody, to tags or to users.
    case push
    /// The same, for apps that pay for it, but not to users.
    case custom

    static let mostUsers = 100, mostUsersOfPush = 1000, mostTags = 20
    /// Of `notification` without blanks. A guess: RongCloud documents none, and this is what an
    /// iPhone's push may have.
    static let largestNotificationBytes = 4096

    init?(path: UnsafeBufferPointer<UInt8>) {
        guard let call = Self.allCases.first(where: { areEqual(path, $0.path.bytes) }) else { return nil }
        self = call
    }

    var path: StaticString {
        switch self {
        case .user: "/push/user.json"
        case .push: "/push.json"
        case .custom: "/push/custom.json"
        }
    }

    /// The first flaw of a body; nil if it has none.
    func flaw(in body: JSONValue) -> RongCloudFlaw? {
        if let flaw = shape.flaw(in: body) { return flaw }
        if let audience = body["audience"], !Self.names(audience, "is_to_all", .bool(true)), entries(of: body).isEmpty {
            return RongCloudFlaw("it names nobody").below("audience")
        }
        var bytes: [UInt8] = []
        body["notification"]?.append(to: &bytes)
        guard bytes.count <= Self.largestNotificationBytes else {
            return RongCloudFlaw("\(bytes.count) bytes, \(Self.largestNotificationBytes) are allowed", code: 1005)
                .below("notification")
        }
        // A category makes iPhones fetch what the address names.
        let ios = body["notification"]?["ios"]
        return ios?["richMediaUri"] != nil && ios?["category"] == nil
            ? RongCloudFlaw("it needs a category").below("richMediaUri").below("ios").below("notification") : nil
    }

    /// The recipients of the pushes of a body, well formed or not.
    func entries(of body: JSONValue) -> [PushRequest.Addressee] {
        func targets(_ kind: String, _ value: JSONValue?) -> [PushRequest.Addressee] {
            guard case .array(let values)? = value else { return [] }
            return values.compactMap { $0.stringValue.map { PushRequest.Addressee(kind: kind, target: $0) } }
        }
        guard self != .user else { return targets("user", body["userIds"]) }
        guard let audience = body["audience"] else { return [] }
        if Self.names(audience, "is_to_all", .bool(true)) {
            return [PushRequest.Addressee(kind: "everybody", target: "everybody")]
        }
        let users = targets("user", audience["userid"])
        if !users.isEmpty { return users }
        let package = (audience["packageName"].map { targets("package", .array([$0])) } ?? []).filter {
            !$0.target.isEmpty
        }
        var items: [PushRequest.Addressee] = []
        if case .array(let values)? = audience["tagItems"] { items = values.flatMap { targets("tag", $0["tags"]) } }
        return targets("tag", audience["tag"]) + targets("tag", audience["tag_or"]) + items + package
    }

    private static func names(_ value: JSONValue, _ name: String, _ expected: JSONValue) -> Bool {
        value[name] == expected
    }

    // MARK: Bodies

    private var shape: RongCloudShape {
        switch self {
        case .user:
            .object(
                ["userIds": .list(.user, 1...Self.mostUsers), "notification": Self.notification(text: "pushContent")],
                required: ["userIds", "notification"])
        case .push:
            .object(
                [
                    "platform": Self.platforms,
                    "audience": Self.audience(["userid": .list(.user, 1...Self.mostUsersOfPush)]),
                    "notification": Self.notification(text: "alert"), "fromuserid": .user,
                    "message": .object(
                        ["content": .text(1...131_072), "objectName": .text(1...32), "disableUpdateLastMsg": .flag],
                        required: ["content", "objectName"]),
                ], required: ["platform", "audience", "notification"])
        case .custom:
            .object(
                [
                    "platform": Self.platforms,
                    "audience": Self.audience(["tagItems": .list(Self.tagItem, 1...Self.mostTags)]),
                    "notification": Self.notification(text: "alert"),
                ], required: ["platform", "audience", "notification"])
        }
    }

    private static let platforms = RongCloudShape.list(.choice(["ios", "android", "harmonyOS"]), 1...3)
    private static let tags = RongCloudShape.list(.text(1...40), 1...mostTags)

    private static func audience(_ also: [String: RongCloudShape]) -> RongCloudShape {
        .object(
            ["tag": tags, "tag_or": tags, "packageName": .text(0...200), "is_to_all": .flag].merging(also) { $1 },
            required: ["is_to_all"])
    }

    private static let tagItem = RongCloudShape.object(
        [
            "tags": tags, "isNot": .flag, "tagsOperator": .choice(["AND", "OR"]),
            "itemsOperator": .choice(["AND", "OR"]),
        ], required: ["tags"])

    /// - Parameter text: the name of the text that all systems show.
    private static func notification(text: String) -> RongCloudShape {
        .object(
            [
                "title": .text(1...50), text: .shown(most: .max), "forceShowPushContent": .number(0...1), "ios": ios,
                "android": android,
                "harmonyOS": harmony,
            ], required: [text])
    }

    private static let ios = RongCloudShape.object([
        "title": .text(1...50), "alert": .shown(most: .max), "contentAvailable": .number(0...1),
        "badge": .number(-9999...9999),
        "category": .text(1...200), "richMediaUri": .address, "thread-id": .text(1...200),
        "apns-collapse-id": .text(1...64),
        "extras": .texts, "interruption-level": .choice(["passive", "active", "time-sensitive", "critical"]),
        // The name in a part of RongCloud's SDK for Go.
        "threadId": .text(1...200),
    ])

    /// What the makers of phones have of their own.
    private static let android = RongCloudShape.object([
        // The makers' keys, as RongCloud's SDK for Go also writes them.
        "channelId": .text(1...200), "importance": .choice(["NORMAL", "LOW"]), "image": .address,
        "large_icon_uri": .address,
        "classification": .choice(["0", "1"]),
        "alert": .shown(most: .max), "extras": .texts,
        "hw": .object([
            "channelId": .text(1...200), "importance": .choice(["NORMAL", "LOW"]), "image": .address,
            "category": .text(1...200),
        ]),
        "honor": .object(["importance": .choice(["NORMAL", "LOW"]), "image": .address]),
        "mi": .object(["channelId": .text(1...200), "large_icon_uri": .address]),
        "oppo": .object(["channelId": .text(1...200), "category": .text(1...200), "notify_level": .number(1...16)]),
        "vivo": .object(["classification": .choice(["0", "1"]), "category": .text(1...200)]),
        "fcm": .object(["channelId": .text(1...200), "collapse_key": .text(1...200), "imageUrl": .address]),
    ])

    private static let harmony = RongCloudShape.object([
        "alert": .shown(most: .max), "extras": .texts,
        "ohos": .object(["image": .address, "category": .text(1...200)]),
    ])
}

/// What the documentation says about a JSON value, limits included, so that a strict check can
/// refuse everything else. Names are as they are written: RongCloud accepts no other spelling of
/// them.
indirect enum RongCloudShape: Sendable {
    /// A text of this many characters, counted as Java counts them: in units of UTF-16.
    case text(ClosedRange<Int>)
    /// A text that people see: not blank.
    case shown(most: Int)
    /// The name that an app gave a user: 1 to 64 letters, digits, `+`, `=`, `-` and `_`.
    case user
    /// An address that begins with `https://`.
    case address
    case flag
    case number(ClosedRange<Int64>)
    case choice([String])
    case list(RongCloudShape, ClosedRange<Int>)
    /// An object of any names, each with a text.
    case texts
    /// An object with these names and no others.
    case object([String: RongCloudShape], required: [String] = [])

    static let mostUserCharacters = 64

    /// The first place where a value differs from its shape; nil if it does not.
    func flaw(in value: JSONValue) -> RongCloudFlaw? {
        switch (self, value) {
        case (.text(let lengths), .string(let text)): Self.flaw(in: text, lengths)
        case (.shown(let most), .string(let text)):
            text.allSatisfy(\.isWhitespace) ? RongCloudFlaw("it must not be empty") : Self.flaw(in: text, 1...most)
        case (.user, .string(let text)): Self.flaw(inUser: text)
        case (.address, .string(let text)):
            text.hasPrefix("https://") ? nil : RongCloudFlaw("it must begin with https://")
        case (.flag, .bool): nil
        case (.number(let range), .integer(let number)):
            range.contains(number) ? nil : RongCloudFlaw("it must be from \(range.lowerBound) to \(range.upperBound)")
        case (.choice(let names), .string(let text)):
            names.contains(text) ? nil : RongCloudFlaw("it must be one of \(names.joined(separator: ", "))")
        case (.list(let shape, let counts), .array(let values)): Self.flaw(in: values, shape, counts)
        case (.texts, .object(let members)):
            Self.repetition(in: members)
                ?? members.lazy.compactMap { RongCloudShape.text(0 ... .max).flaw(in: $0.value)?.below($0.name) }.first
        case (.object(let shapes, let required), .object(let members)): Self.flaw(in: members, shapes, required)
        default: RongCloudFlaw("it must be \(words)")
        }
    }

    private var words: String {
        switch self {
        case .text, .shown, .user, .address, .choice: "a text"
        case .flag: "true or false"
        case .number: "a whole number"
        case .list: "a list"
        case .texts: "an object whose values are texts"
        case .object: "an object"
        }
    }

    private static func flaw(in text: String, _ lengths: ClosedRange<Int>) -> RongCloudFlaw? {
        let count = text.utf16.count
        if count > lengths.upperBound {
            return RongCloudFlaw("at most \(lengths.upperBound) characters are allowed", code: 1005)
        }
        return count < lengths.lowerBound ? RongCloudFlaw("it must not be empty") : nil
    }

    private static func flaw(inUser text: String) -> RongCloudFlaw? {
        guard !text.isEmpty, text.utf8.allSatisfy({ isLetterOrDigit($0) || "+=-_".utf8.contains($0) }) else {
            return RongCloudFlaw("it is no user ID")
        }
        return text.utf8.count > mostUserCharacters
            ? RongCloudFlaw("a user ID has at most 64 characters", code: 1005) : nil
    }

    private static func flaw(in values: [JSONValue], _ shape: RongCloudShape, _ counts: ClosedRange<Int>)
        -> RongCloudFlaw?
    {
        guard counts.contains(values.count) else {
            return RongCloudFlaw("\(values.count) values, \(counts.lowerBound) to \(counts.upperBound) are allowed")
        }
        return values.enumerated().lazy.compactMap { shape.flaw(in: $0.element)?.below("\($0.offset)") }.first
    }

    private static func flaw(in members: [JSONMember], _ shapes: [String: RongCloudShape], _ required: [String])
        -> RongCloudFlaw?
    {
        if let repetition = repetition(in: members) { return repetition }
        for member in members {
            guard let shape = shapes[member.name] else { return RongCloudFlaw("unknown name").below(member.name) }
            if let flaw = shape.flaw(in: member.value) { return flaw.below(member.name) }
        }
        let missing = required.first { name in !members.contains { $0.name == name } }
        return missing.map { RongCloudFlaw("it is required").below($0) }
    }

    private static func repetition(in members: [JSONMember]) -> RongCloudFlaw? {
        var seen: Set<String> = []
        return members.first { !seen.insert($0.name).inserted }.map {
            RongCloudFlaw("it occurs more than once").below($0.name)
        }
    }
}

/// What is wrong with a value, where, and the code that RongCloud answers.
struct RongCloudFlaw {
    var code: Int
    var flaw: JSONFlaw

    init(_ text: String, code: Int = 1002) { (self.code, flaw) = (code, JSONFlaw(text)) }

    /// The same flaw, of a value within a member.
    func below(_ name: String) -> RongCloudFlaw {
        var flaw = self
        flaw.flaw = flaw.flaw.below(name)
        return flaw
    }
}
