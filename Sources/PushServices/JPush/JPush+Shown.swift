public import Base

/// What phones show of a notification: the card of an Android phone, with what only iPhones show as well.
extension JPush {
    /// - Parameter payload: a JSON object.
    public func shown(_ payload: JSONValue) -> ShownPush {
        var push = ShownPush()
        guard let notification = payload[JPushPayload.notificationKey] else { return push }
        let android = notification["android"], ios = notification["ios"], alert = ios?["alert"]
        func text(_ value: JSONValue?) -> String { value?.stringValue ?? "" }
        (push.title, push.subtitle, push.body) = (text(alert?["title"]), text(alert?["subtitle"]), text(alert?["body"]))
        push.image = text(android?["big_pic_path"])
        push.isSilent = text(android?["alert"]).isEmpty && ios?["badge"] == nil && ios?["sound"] == nil && push.texts.isEmpty
        push.readMarks(ofIPhone: ios)
        push.readMarks(ofAndroid: android)
        if let message = payload["message"] { push.marks.append(("in the app", text(message["msg_content"]))) }
        guard case .object(let extras)? = android?["extras"] ?? ios?["extras"] else { return push }
        push.ownKeys = extras.map { ($0.name, $0.value.stringValue ?? $0.value.text) }
        return push
    }
}

extension ShownPush {
    fileprivate mutating func readMarks(ofIPhone ios: JSONValue?) {
        guard case .object(let members)? = ios else { return }
        for member in members {
            switch (member.name, member.value) {
            case ("alert", _), ("extras", _), ("mutable-content", _): break
            case ("content-available", _): if !isSilent { marks.append(("wakes the app", "")) }
            case ("badge", .string("0")): marks.append(("badge", "removed"))
            case ("thread-id", .string(let text)): marks.append(("thread", text))
            case (let name, .string(let text)): marks.append((name, text))
            case (let name, let value): marks.append((name, value.text))
            }
        }
    }

    /// What is said of Android alone. Its sound is that of iPhones without an ending.
    fileprivate mutating func readMarks(ofAndroid android: JSONValue?) {
        guard case .object(let members)? = android else { return }
        for member in members where !["alert", "title", "extras", "style", "big_pic_path", "sound", "intent"].contains(member.name) {
            marks.append(("\(member.name) (Android)", member.value.stringValue ?? member.value.text))
        }
    }
}
