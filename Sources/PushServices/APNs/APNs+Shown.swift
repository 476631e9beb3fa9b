public import Base

/// What an iPhone shows of a payload.
extension APNs {
    /// - Parameter payload: a JSON object.
    public func shown(_ payload: JSONValue) -> ShownPush {
        var push = ShownPush()
        guard case .object(let members) = payload else { return push }
        for member in members {
            if member.name == "aps", case .object(let aps) = member.value {
                push.isSilent = !aps.contains { ["alert", "badge", "sound"].contains($0.name) }
                for key in aps { push.read(key) }
            } else if member.name == "image", case .string(let address) = member.value {
                push.image = address
            } else {
                push.ownKeys.append((member.name, ShownPush.plain(member.value)))
            }
        }
        return push
    }
}

extension ShownPush {
    fileprivate mutating func read(_ key: JSONMember) {
        switch (key.name, key.value) {
        case ("alert", .string(let text)): body = text
        case ("alert", .object(let texts)):
            for text in texts {
                switch text.name {
                case "title": title = Self.plain(text.value)
                case "subtitle": subtitle = Self.plain(text.value)
                case "body": body = Self.plain(text.value)
                // Of texts that the app translates itself, only the keys are known.
                case "title-loc-key" where title.isEmpty: title = "‹\(Self.plain(text.value))›"
                case "subtitle-loc-key" where subtitle.isEmpty: subtitle = "‹\(Self.plain(text.value))›"
                case "loc-key" where body.isEmpty: body = "‹\(Self.plain(text.value))›"
                default: marks.append((text.name, Self.plain(text.value)))
                }
            }
        case ("mutable-content", _): break
        case ("content-available", _): if !isSilent { marks.append(("wakes the app", "")) }
        case ("thread-id", let value): marks.append(("thread", Self.plain(value)))
        case ("badge", .integer(0)): marks.append(("badge", "removed"))
        case (let name, let value): marks.append((name, Self.plain(value)))
        }
    }

    fileprivate static func plain(_ value: JSONValue) -> String {
        if case .string(let text) = value { return text }
        return value.text
    }
}
