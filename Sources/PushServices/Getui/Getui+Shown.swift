public import Base

/// What phones show of a message: the card of an Android phone, with what only iPhones show as well.
extension Getui {
    /// - Parameter payload: a JSON object.
    public func shown(_ payload: JSONValue) -> ShownPush {
        var push = ShownPush()
        let (message, ios) = (payload[GetuiPayload.messageKey], payload["push_channel"]?["ios"])
        let (notification, aps) = (message?["notification"], ios?["aps"])
        push.readTexts(aps?["alert"])
        push.readTexts(notification)
        if let address = (notification?["big_image"] ?? ios?["multimedia"]?.first?["url"])?.stringValue { push.image = address }
        push.isSilent = notification == nil && aps?["alert"] == nil && aps?["sound"] == nil && ios?["auto_badge"] == nil
        push.readMarks(of: ios, notification)
        let transmission = message?["transmission"]?.stringValue
        let isInApp = transmission != nil && !push.isSilent
        if isInApp { push.marks.append(("shown by the app itself on Android", "")) }
        // The app gets the same data on both systems.
        for text in [ios?["payload"]?.stringValue ?? notification?["payload"]?.stringValue, isInApp ? transmission : nil] {
            push.readOwnKeys(text)
        }
        if push.isSilent, ios?["payload"] == nil { push.readOwnKeys(transmission) }
        return push
    }
}

extension ShownPush {
    fileprivate mutating func readTexts(_ texts: JSONValue?) {
        if let text = texts?["title"]?.stringValue { title = text }
        if let text = texts?["subtitle"]?.stringValue { subtitle = text }
        if let text = texts?["body"]?.stringValue { body = text }
    }

    /// Properties other than texts.
    fileprivate mutating func readMarks(of ios: JSONValue?, _ notification: JSONValue?) {
        let aps = ios?["aps"]
        if let sound = aps?["sound"]?.stringValue, sound != GetuiPayload.silence { marks.append(("sound", sound)) }
        switch ios?["auto_badge"]?.stringValue {
        case nil: break
        case "0"?: marks.append(("badge", "removed"))
        case let badge?: marks.append(("badge", badge))
        }
        if let category = aps?["category"]?.stringValue { marks.append(("category", category)) }
        if let thread = aps?["thread-id"]?.stringValue { marks.append(("thread", thread)) }
        if !isSilent, aps?["content-available"] != nil { marks.append(("wakes the app", "")) }
        for key in ["url", "intent"] { if let link = notification?[key]?.stringValue { marks.append(("link (Android)", link)) } }
        for (key, name) in [("channel_id", "channel"), ("channel_name", "channel_name"), ("logo", "logo")] {
            if let value = notification?[key]?.stringValue { marks.append(("\(name) (Android)", value)) }
        }
    }

    /// The keys of a text that is JSON; a text that is not is shown as it is.
    fileprivate mutating func readOwnKeys(_ text: String?) {
        guard let text else { return }
        guard case .object(let members)? = try? JSONValue(parsing: text) else {
            ownKeys.append(("text", text))
            return
        }
        for member in members { ownKeys.append((member.name, member.value.stringValue ?? member.value.text)) }
    }
}

extension JSONValue {
    fileprivate var first: JSONValue? { if case .array(let values) = self { values.first } else { nil } }
}
