import Base

/// A hand-written payload: sent as written, checked against the members of Google's `Message`.
extension FCMPayload {
    private static let example = "For example: payload: {message: {notification: {title: Hello}}}."

    /// The members of a message that a campaign may write. Source: Google, "REST Resource: projects.messages".
    private static let messageKeys = ["notification", "data", "android", "apns", "webpush", "fcm_options"]
    private static let targetKeys = ["fid", "token", "topic", "condition"]
    private static let androidKeys = [
        "notification", "data", "restricted_package_name", "fcm_options", "direct_boot_ok", "bandwidth_constrained_ok",
        "restricted_satellite_ok",
    ]
    private static let apnsKeys = ["headers", "payload", "fcm_options"]
    private static let notificationKeys = ["title", "body", "image"]

    /// What `FCMRequestBody` writes, with the key of `delivery` that sets it.
    private static let deliveryKeys = [
        "ttl": "expires", "priority": "priority", "collapse_key": "collapse", "apns-expiration": "expires", "apns-priority": "priority",
        "apns-collapse-id": "collapse",
    ]

    // MARK: - Writing

    /// The payload with its members in the order that `FCMRequestBody` expects.
    mutating func byHand(_ payload: ContentNode) -> PayloadNode {
        guard case .object(let members, _) = payload, case .object(let message, _)? = members.value(of: "message") else {
            return Self.root(headers: .object([]), apns: [], others: [], android: .object([]))
        }
        findings += members.repeatedNames + message.repeatedNames
        let apns = message.members(of: "apns")
        findings += apns.repeatedNames
        let headers = apns.value(of: "headers").map { PayloadNode.content($0) } ?? .object([])
        return Self.root(
            headers: headers,
            apns: apns.filter { $0.name.value != "headers" }.map { member in
                (member.name.value, member.name.value == "payload" ? shown(member.value, ["aps", "alert", ""]) : .content(member.value))
            },
            others: message.filter { !["apns", "android"].contains($0.name.value) }.map { member in
                let isNotification = member.name.value == "notification"
                return (member.name.value, isNotification ? shown(member.value, [""]) : .content(member.value))
            }, android: message.value(of: "android").map { shown($0, ["notification", ""]) } ?? .object([]))
    }

    /// An object in which texts that people see follow the rules for such texts.
    /// - Parameter path: the names that lead to them; blank for the texts themselves.
    private mutating func shown(_ node: ContentNode, _ path: [String]) -> PayloadNode {
        guard case .object(let members, _) = node, let step = path.first else { return .content(node) }
        findings += members.repeatedNames
        return .object(
            members.map { member in
                let name = member.name.value
                if step.isEmpty, ["title", "subtitle", "body"].contains(name), case .text(let text) = member.value {
                    return (name, .shown(text, mustShow: name != "subtitle", isStrict: false))
                }
                guard name == step else { return (name, .content(member.value)) }
                if name == "alert", case .text(let text) = member.value { return (name, .shown(text, mustShow: true, isStrict: false)) }
                return (name, shown(member.value, Array(path.dropFirst())))
            })
    }

    // MARK: - Checking

    /// Checks the payload and returns its push type.
    mutating func checkByHand(_ payload: ContentNode) -> PushType {
        guard case .object(let members, let place) = payload else {
            error("the payload must be an object", at: payload.position, remedy: Self.example)
            return .alert
        }
        for member in members where member.name.value != "message" {
            error(
                "the payload has no key '\(member.name.value)' next to 'message'", at: member.name.position,
                remedy: Self.messageKeys.contains(member.name.value) ? "Move it into 'message'." : "Remove it.")
        }
        guard let message = members.first(where: { $0.name.value == "message" }) else {
            error("the payload has no 'message', so FCM would show nothing", at: place, remedy: Self.example)
            return .alert
        }
        guard case .object(let keys, _) = message.value else {
            error("'message' must be a group of keys", at: message.value.position, remedy: Self.example)
            return .alert
        }
        keys.forEach { checkMember($0) }
        return pushType(keys, at: message.name.position)
    }

    private mutating func checkMember(_ member: ContentMember) {
        let name = member.name.value
        if Self.targetKeys.contains(name) {
            return error(
                "'\(name)' says who gets the message, and Volley writes that for each device", at: member.name.position,
                remedy: "Remove it; the audience is in 'audience'.")
        }
        guard Self.messageKeys.contains(name) else { return reportUnknown(member.name, of: "message", valid: Self.messageKeys) }
        guard case .object(let members, _) = member.value else {
            return error("'\(name)' must be a group of keys", at: member.value.position, remedy: Self.example)
        }
        switch name {
        case "notification": checkKeys(members, of: name, valid: Self.notificationKeys)
        case "data": checkData(members)
        case "android":
            checkKeys(members, of: name, valid: Self.androidKeys)
            checkData(members.members(of: "data"))
        case "apns": checkAPNs(members)
        default: break
        }
    }

    private mutating func checkData(_ members: [ContentMember]) {
        for member in members {
            checkDataName(member.name)
            checkText(member)
        }
    }

    private mutating func checkAPNs(_ members: [ContentMember]) {
        checkKeys(members, of: "apns", valid: Self.apnsKeys)
        for part in members where ["headers", "payload"].contains(part.name.value) {
            if case .object = part.value { continue }
            error("'\(part.name.value)' must be a group of keys", at: part.value.position, remedy: Self.example)
        }
        for header in members.members(of: "headers") {
            if refusesDelivery(header.name) { continue }
            if header.name.value == "apns-push-type" {
                error(
                    "'apns-push-type' is set by Volley: background for a push that shows nothing, otherwise alert",
                    at: header.name.position,
                    remedy: "Remove it.")
            }
            if case .text = header.value { continue }
            error("'\(header.name.value)' must be a text, as all headers are", at: header.value.position, remedy: "Put it in quotes.")
        }
        // Source: firebase-admin-node, `messaging-internal.ts`: they are sent as the number 1.
        for flag in members.members(of: "payload").members(of: "aps")
        where ["content-available", "mutable-content"].contains(flag.name.value) {
            if case .integer(1, _) = flag.value { continue }
            let name = flag.name.value
            error("'\(name)' must be 1", at: flag.value.position, remedy: "Write \(name): 1, or leave it out.")
        }
    }

    private mutating func checkKeys(_ members: [ContentMember], of parent: String, valid: [String]) {
        for member in members where !valid.contains(member.name.value) && !refusesDelivery(member.name) {
            reportUnknown(member.name, of: parent, valid: valid)
        }
    }

    /// Reports a key that `delivery` sets for all pushes.
    private mutating func refusesDelivery(_ name: SourceText) -> Bool {
        guard let key = Self.deliveryKeys[name.value] else { return false }
        error(
            "'\(name.value)' is set by 'delivery' in the campaign", at: name.position, remedy: "Write it as '\(key)' under 'delivery'.")
        return true
    }

    private mutating func reportUnknown(_ name: SourceText, of parent: String, valid: [String]) {
        let nearest = nearestName(to: name.value, among: valid)
        let own = parent == "message" ? "The app's own keys go into 'data'." : "It may hold \(valid.joined(separator: ", "))."
        error("'\(parent)' has no key '\(name.value)'", at: name.position, remedy: nearest.map { "Did you mean '\($0)'?" } ?? own)
    }

    /// Whether people see the push. A message with data alone is common on Android, where the app decides what to show.
    private mutating func pushType(_ message: [ContentMember], at place: SourcePosition) -> PushType {
        let aps = message.members(of: "apns").members(of: "payload").members(of: "aps")
        let isVisible =
            message.value(of: "notification") != nil || message.members(of: "android").value(of: "notification") != nil
            || ["alert", "badge", "sound"].contains { aps.value(of: $0) != nil }
        if isVisible { return .alert }
        if aps.value(of: "content-available") != nil { return .background }
        if message.members(of: "data").isEmpty, message.value(of: "webpush") == nil {
            warning(
                .nothingVisible, message: "'message' has neither notification nor data: no one would see this push", at: place,
                remedy: "Add a notification, or data for the app.")
        }
        return .alert
    }
}

extension [ContentMember] {
    func value(of name: String) -> ContentNode? { first { $0.name.value == name }?.value }

    /// The members of an object among these; none if it is not there.
    func members(of name: String) -> [ContentMember] {
        if case .object(let members, _)? = value(of: name) { members } else { [] }
    }
}
