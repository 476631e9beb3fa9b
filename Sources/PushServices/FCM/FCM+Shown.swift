public import Base

/// What phones show of a message: the card of an Android phone, with what only iPhones show as well.
extension FCM {
    /// - Parameter payload: a JSON object.
    public func shown(_ payload: JSONValue) -> ShownPush {
        var push = ShownPush()
        guard let message = payload["message"] else { return push }
        let aps = message["apns"]?["payload"]?["aps"]
        let android = message["android"]?["notification"]
        push.readAlert(aps?["alert"])
        // Android reads nothing of `apns`, and its own notification goes before the common one.
        push.readTexts(message["notification"])
        push.readTexts(android)
        push.isSilent =
            message["notification"] == nil && android == nil && !["alert", "badge", "sound"].contains { aps?[$0] != nil }
        push.readMarks(of: android, and: aps)
        push.ownKeys = (message["data"]?.members ?? []).map { ($0.name, ShownPush.plain($0.value)) }
        return push
    }
}

extension ShownPush {
    fileprivate mutating func readAlert(_ alert: JSONValue?) {
        switch alert {
        case .string(let text)?: body = text
        case .object?:
            title = alert?["title"].map(Self.plain) ?? ""
            subtitle = alert?["subtitle"].map(Self.plain) ?? ""
            body = alert?["body"].map(Self.plain) ?? ""
        default: break
        }
    }

    fileprivate mutating func readTexts(_ notification: JSONValue?) {
        if let text = notification?["title"] { title = Self.plain(text) }
        if let text = notification?["body"] { body = Self.plain(text) }
        if case .string(let address)? = notification?["image"] { image = address }
    }

    /// Properties other than texts. Android's sound is not said if it is that of iPhones without its ending.
    fileprivate mutating func readMarks(of android: JSONValue?, and aps: JSONValue?) {
        for key in aps?.members ?? [] {
            switch (key.name, key.value) {
            case ("alert", _), ("mutable-content", _): break
            case ("content-available", _): if !isSilent { marks.append(("wakes the app", "")) }
            case ("thread-id", let value): marks.append(("thread", Self.plain(value)))
            case ("badge", .integer(0)): marks.append(("badge", "removed"))
            case (let name, let value): marks.append((name, Self.plain(value)))
            }
        }
        let sound = aps?["sound"].map(Self.plain) ?? ""
        for key in android?.members ?? [] where !["title", "body", "image"].contains(key.name) {
            let value = Self.plain(key.value)
            if key.name == "sound", sound == value || sound.hasPrefix(value + ".") { continue }
            marks.append(("\(key.name) (Android)", value))
        }
    }

    fileprivate static func plain(_ value: JSONValue) -> String {
        if case .string(let text) = value { return text }
        return value.text
    }
}

extension JSONValue {
    fileprivate var members: [JSONMember] { if case .object(let members) = self { members } else { [] } }
}
