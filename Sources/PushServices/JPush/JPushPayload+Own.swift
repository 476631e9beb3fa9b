import Base

/// What only JPush has, below `services: {jpush: …}` of a campaign's content. Source: docs.jiguang.cn, "Push API v3".
extension JPushPayload {
    static let androidKey = "android", inAppKey = "in_app", optionsKey = "options"

    // MARK: - Android

    /// The members of `notification.android` that a campaign names. What is wrong with them is noted.
    mutating func androidMembers(_ content: MessageContent) -> [Member] {
        let keys = [("channel", "channel_id"), ("category", "category"), ("icon", "small_icon_uri"), ("color", "icon_bg_color")]
        let example = "For example: \(Self.androidKey): {channel: offers, category: MARKETING}."
        return texts(of: Self.androidKey, in: content, keys, example: example).map { ($0.name, .text($0.text)) }
    }

    // MARK: - In the app

    /// A message that the app gets while it runs, and that no system shows: the members of `message`.
    mutating func message(_ content: MessageContent) -> [Member] {
        let example = "For example: \(Self.inAppKey): {title: Hello, body: 20 % off, data: {page: sale}}."
        let own = members(of: Self.inAppKey, in: content, valid: ["title", "body", "data"], example: example)
        guard let key = content.own.first(where: { $0.name.value == Self.inAppKey }) else { return [] }
        var message: [Member] = []
        for member in own {
            switch (member.name.value, member.value) {
            case ("data", .object(let data, _)):
                findings += data.repeatedNames
                message.append(("extras", .object(data.map { ($0.name.value, .content($0.value)) })))
            case ("data", let value): error("'data' must be a group of keys", at: value.position, remedy: example)
            case ("body", _): if let text = text(member) { message.append(("msg_content", .shown(text, mustShow: true))) }
            default: if let text = text(member) { message.append(("title", .shown(text, mustShow: false))) }
            }
        }
        if case .object = key.value, !own.contains(where: { $0.name.value == "body" }) {
            error("'\(Self.inAppKey)' has no body, which JPush demands", at: key.name.position, remedy: example)
        }
        return message
    }

    // MARK: - Options

    /// What Volley sets, and what sets it.
    private static let foreignOptions = [
        "time_to_live": "Write it as 'expires' under 'delivery'.", "apns_collapse_id": "Write it as 'collapse' under 'delivery'.",
        "apns_production": "Write the app's environment in volley.yaml.", "sendno": "Remove it.",
    ]

    private static let numberOptions: [String: ClosedRange<Int64>] = [
        "big_push_duration": 1...1400, "classification": 0...1, "override_msg_id": 1...Int64.max,
    ]

    /// The members of `options` that a campaign names.
    mutating func options(_ content: MessageContent) -> [Member] {
        let example = "For example: \(Self.optionsKey): {classification: 1}."
        let valid = (Self.numberOptions.keys + ["third_party_channel"]).sorted()
        return members(of: Self.optionsKey, in: content, valid: valid, others: Self.foreignOptions, example: example).compactMap { member in
            let name = member.name.value
            switch (Self.numberOptions[name], member.value) {
            case (let range?, .integer(let number, _)) where range.contains(number): return (name, .content(member.value))
            case (let range?, _):
                let numbers =
                    range.upperBound == Int64.max ? "a whole number" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
                error("'\(name)' must be \(numbers), not \(member.value.found)", at: member.value.position, remedy: example)
            case (nil, .object): return (name, .content(member.value))
            case (nil, _):
                error("'\(name)' must be a group of keys", at: member.value.position, remedy: "For example: \(name): {huawei: {…}}.")
            }
            return nil
        }
    }
}
