public import Base

/// What phones show of a notification.
extension RongCloud {
    /// - Parameter payload: a JSON object.
    public func shown(_ payload: JSONValue) -> ShownPush {
        guard let notification = payload["notification"] else { return ShownPush() }
        func text(_ name: String) -> String { notification[name]?.stringValue ?? "" }
        var push = ShownPush(title: text("title"), body: text("pushContent"))
        guard case .object(let members)? = notification["ios"] else { return push }
        for member in members {
            switch (member.name, member.value) {
            case ("richMediaUri", .string(let address)): push.image = address
            case ("contentAvailable", _): push.marks.append(("wakes the app", ""))
            case ("badge", .integer(0)): push.marks.append(("badge", "removed"))
            case ("thread-id", .string(let text)): push.marks.append(("thread", text))
            case ("extras", .object(let extras)): push.ownKeys = extras.map { ($0.name, $0.value.stringValue ?? $0.value.text) }
            case (let name, .string(let text)): push.marks.append((name, text))
            case (let name, let value): push.marks.append((name, value.text))
            }
        }
        return push
    }
}
