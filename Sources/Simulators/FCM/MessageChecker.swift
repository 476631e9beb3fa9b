import Base

/// Checks the body of a request to FCM: its form by `MessageKeys`, and then what the documentation
/// demands of the values.
///
/// It does no I/O, and has no list of tokens or senders. Where the documentation leaves something
/// open:
/// - the size of a message is that of the JSON of `message` without its target, in the shortest
///   notation;
/// - a registration token has 100 to 4,096 letters, digits, `:`, `-` and `_` (those of today have
///   142 and more, and GCM allowed 4,096); an installation id is 22 of them without `:`
///   (firebase-js-sdk, `generateFid`);
/// - `null` is refused, although it could mean an absent key.
struct MessageChecker {
    private static let targetKeys = ["fid", "token", "topic", "condition"]
    private static let largestMessageBytes = 4096, largestTopicMessageBytes = 2048
    /// Four weeks.
    private static let longestTTLSeconds = 2_419_200.0

    let body: JSONValue
    private let message: JSONValue

    /// - Parameter body: the whole body of a request.
    init(_ body: JSONValue) {
        self.body = body
        message = body["message"] ?? .null
    }

    /// Whether the body requests only a check.
    var isDryRun: Bool { body["validate_only"] == .bool(true) || body["validateOnly"] == .bool(true) }

    /// The label under which Android counts the message; nil for none.
    var label: String? {
        (value(["android", "fcm_options", "analytics_label"]) ?? value(["fcm_options", "analytics_label"]))?.stringValue
    }

    /// The first target that the body names, well formed or not.
    var addressee: PushRequest.Addressee? {
        for key in Self.targetKeys {
            if let target = message[key]?.stringValue { return PushRequest.Addressee(kind: key, target: target) }
        }
        return nil
    }

    /// The first flaw of the body; nil if it has none.
    /// - Parameter bytes: the length of the body.
    func refusal(bytes: Int) -> FCMError? {
        if let flaw = MessageKeys.body.flaw(in: body) { return .malformed(flaw) }
        guard body["message"] != nil else { return .invalid("The message is missing.", field: "message") }
        return targetRefusal ?? dataRefusal ?? androidRefusal ?? appleRefusal ?? labelRefusal
            ?? sizeRefusal(bytes: bytes)
    }

    // MARK: Target

    private var targetRefusal: FCMError? {
        guard case .object(let members) = message else { return nil }
        let targets = members.filter { Self.targetKeys.contains($0.name) }
        guard let target = targets.first, let text = target.value.stringValue else {
            return .invalid("Recipient of the message is not set.", field: "message")
        }
        guard targets.count == 1 else {
            return .malformed(
                JSONFlaw("oneof field 'target' is already set. Cannot set '\(targets[1].name)'", at: ["message"]))
        }
        let field = "message.\(target.name)"
        switch target.name {
        case "token":
            return Self.isTarget(text, of: Self.tokenLengths, alsoColon: true)
                ? nil : .invalid("The registration token is not a valid FCM registration token", field: field)
        case "fid":
            return Self.isTarget(text, of: 22...22, alsoColon: false)
                ? nil : .invalid("The installation id is not valid", field: field)
        case "topic": return TopicCondition.isTopic(text) ? nil : .invalid("Invalid topic name", field: field)
        default:
            return TopicCondition.isCondition(text)
                ? nil : .invalid("Invalid condition expression provided.", field: field)
        }
    }

    private static let tokenLengths = 100...4096

    private static func isTarget(_ text: String, of lengths: ClosedRange<Int>, alsoColon: Bool) -> Bool {
        lengths.contains(text.utf8.count)
            && text.utf8.allSatisfy {
                isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                    || alsoColon && $0 == UInt8(ascii: ":")
            }
    }

    // MARK: Data

    /// Keys of `data` that are FCM's own.
    private static let reservedKeys = ["from", "message_type"], reservedBeginnings = ["gcm", "google"]

    private var dataRefusal: FCMError? {
        for path in [["data"], ["android", "data"], ["webpush", "data"]] {
            guard case .object(let members)? = value(path) else { continue }
            let reserved = members.first { member in
                Self.reservedKeys.contains(member.name)
                    || Self.reservedBeginnings.contains { member.name.hasPrefix($0) }
            }
            if let reserved {
                let field = (["message"] + path + [reserved.name]).joined(separator: ".")
                return .invalid("Invalid data payload key: \(reserved.name)", field: field)
            }
        }
        return nil
    }

    /// The value at the end of a path below `message`, with keys in snake_case; nil without a
    /// value.
    private func value(_ path: [String]) -> JSONValue? {
        var value = message
        for name in path {
            guard case .object(let members) = value,
                let next = members.first(where: { JSONShape.snakeCase($0.name) == name })
            else {
                return nil
            }
            value = next.value
        }
        return value
    }

    // MARK: Android

    private var androidRefusal: FCMError? {
        if let ttl = value(["android", "ttl"])?.stringValue.flatMap(JSONShape.seconds),
            !(0...Self.longestTTLSeconds).contains(ttl)
        {
            return .invalid("Invalid ttl: it must be from 0 to 2419200 seconds", field: "message.android.ttl")
        }
        if let color = value(["android", "notification", "color"])?.stringValue,
            color.utf8.count != 7 || !color.hasPrefix("#") || !color.utf8.dropFirst().allSatisfy(isHexDigit)
        {
            return .invalid("Invalid color: it must be #rrggbb", field: "message.android.notification.color")
        }
        return nil
    }

    // MARK: APNs

    private var appleRefusal: FCMError? {
        let aps = value(["apns", "payload"])?["aps"]
        for name in ["content-available", "mutable-content"] {
            if let flag = aps?[name], flag != .integer(1) {
                return .invalid("\(name) must be the number 1", field: "message.apns.payload.aps.\(name)")
            }
        }
        func header(_ name: String) -> String? { value(["apns", "headers"])?[name]?.stringValue }
        func invalid(_ name: String) -> FCMError {
            .invalid("Invalid value of \(name)", field: "message.apns.headers.\(name)")
        }
        let priority = header("apns-priority")
        if let priority, !["1", "5", "10"].contains(priority) { return invalid("apns-priority") }
        if let moment = header("apns-expiration"),
            !(1...18).contains(moment.utf8.count) || !moment.utf8.allSatisfy(isDigit)
        {
            return invalid("apns-expiration")
        }
        if let id = header("apns-collapse-id"), id.utf8.count > 64 { return invalid("apns-collapse-id") }
        let isBackground = header("apns-push-type").map { $0 == "background" } ?? isSilent(aps)
        return isBackground && priority == "10" ? invalid("apns-priority") : nil
    }

    /// Whether an iPhone would show nothing of the message.
    private func isSilent(_ aps: JSONValue?) -> Bool {
        guard let aps, aps["content-available"] != nil, value(["notification"]) == nil else { return false }
        return ["alert", "badge", "sound"].allSatisfy { aps[$0] == nil }
    }

    // MARK: The rest

    private var labelRefusal: FCMError? {
        // A label is written like a topic.
        for path in [
            ["fcm_options"], ["android", "fcm_options"], ["apns", "fcm_options"], ["webpush", "fcm_options"],
        ] {
            guard let label = value(path + ["analytics_label"])?.stringValue else { continue }
            if label.utf8.count > 50 || !TopicCondition.isTopic(label) {
                return .invalid(
                    "Invalid analytics label", field: (["message"] + path + ["analytics_label"]).joined(separator: "."))
            }
        }
        return nil
    }

    private func sizeRefusal(bytes: Int) -> FCMError? {
        guard case .object(let members) = message else { return nil }
        let isForTopic = message["topic"] != nil || message["condition"] != nil
        let limit = isForTopic ? Self.largestTopicMessageBytes : Self.largestMessageBytes
        guard bytes > limit else { return nil }
        var measured: [UInt8] = []
        JSONValue.object(members.filter { !Self.targetKeys.contains($0.name) }).append(to: &measured)
        return measured.count > limit
            ? .invalid("Message too big: \(measured.count) bytes, but at most \(limit) are allowed", field: "message")
            : nil
    }
}

/// The keys of a request to FCM, as data. Source: firebase.google.com, REST resource
/// projects.messages, fields of Message and below, and firebase-admin-node for `fid`. Keys that
/// only answers have (`name`) are not among them.
enum MessageKeys {
    /// The whole body.
    static let body: JSONShape = .object(["validate_only": .flag, "message": message])

    private static let message: JSONShape = .object([
        "data": .texts, "notification": notification, "android": android, "webpush": webpush, "apns": apns,
        "fcm_options": label,
        "fid": .text, "token": .text, "topic": .text, "condition": .text,
    ])

    private static let label: JSONShape = .object(["analytics_label": .text])
    private static let notification: JSONShape = .object(["title": .text, "body": .text, "image": .text])

    private static let android: JSONShape = .object([
        "collapse_key": .text, "priority": .choice(["NORMAL", "HIGH"]), "ttl": .duration,
        "restricted_package_name": .text,
        "data": .texts, "notification": androidNotification, "fcm_options": label, "direct_boot_ok": .flag,
        "bandwidth_constrained_ok": .flag, "restricted_satellite_ok": .flag,
    ])

    private static let androidNotification: JSONShape = .object([
        "title": .text, "body": .text, "icon": .text, "color": .text, "sound": .text, "tag": .text,
        "click_action": .text,
        "body_loc_key": .text, "body_loc_args": .list(.text), "title_loc_key": .text, "title_loc_args": .list(.text),
        "channel_id": .text, "ticker": .text, "sticky": .flag, "event_time": .text, "local_only": .flag,
        "notification_priority": .choice([
            "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
        ]),
        "default_sound": .flag, "default_vibrate_timings": .flag, "default_light_settings": .flag,
        "vibrate_timings": .list(.duration),
        "visibility": .choice(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        "notification_count": .wholeNumber, "light_settings": lights, "image": .text,
        "bypass_proxy_notification": .flag,
        "proxy": .choice(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
    ])

    private static let lights: JSONShape = .object([
        "color": .object(["red": .fraction, "green": .fraction, "blue": .fraction, "alpha": .fraction]),
        "light_on_duration": .duration, "light_off_duration": .duration,
    ])

    private static let webpush: JSONShape = .object([
        "headers": .texts, "data": .texts, "notification": .anyObject,
        "fcm_options": .object(["link": .text, "analytics_label": .text]),
    ])

    private static let apns: JSONShape = .object([
        "headers": .texts, "payload": .anyObject, "fcm_options": .object(["analytics_label": .text, "image": .text]),
        "live_activity_token": .text,
    ])
}

/// Topics, and conditions over them: `'sports' in topics && ('cup' in topics || !('league' in
/// topics))`.
/// Source: firebase.google.com, "Send messages to topics".
struct TopicCondition {
    /// The most topics of a condition.
    static let mostTopics = 5

    private var rest: Substring
    private var topics = 0

    private init(_ text: String) { rest = text[...] }

    /// Whether a text is the name of a topic, without `/topics/`.
    static func isTopic(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || "-_.~%".utf8.contains($0) }
    }

    /// Whether a text is a condition over at most five topics.
    static func isCondition(_ text: String) -> Bool {
        var reader = TopicCondition(text)
        return reader.readAlternatives(depth: 0) && reader.take("") && reader.rest.isEmpty
            && reader.topics <= mostTopics
    }

    private mutating func readAlternatives(depth: Int) -> Bool {
        repeat {
            guard readTerm(depth: depth) else { return false }
        } while take("&&") || take("||")
        return true
    }

    private mutating func readTerm(depth: Int) -> Bool {
        // A condition of five topics has no use for more parentheses; a hostile one must not
        // exhaust the stack.
        guard depth < 16 else { return false }
        if take("!") { return readTerm(depth: depth + 1) }
        if take("(") { return readAlternatives(depth: depth + 1) && take(")") }
        guard take("'"), let end = rest.firstIndex(of: "'"), Self.isTopic(rest[..<end]) else { return false }
        rest = rest[end...].dropFirst()
        topics += 1
        return take("in") && take("topics")
    }

    /// Skips spaces, and then a word if it comes next.
    private mutating func take(_ word: String) -> Bool {
        rest = rest.drop { $0 == " " }
        guard rest.hasPrefix(word) else { return false }
        rest = rest.dropFirst(word.count)
        return true
    }
}
