import Base

/// A hand-written payload: sent as written, checked against the members of Google's `Message`.
extension FCMPayload {
    private static let example = "For example: payload: {message: {notification: {title: Hello}}}."

    private static let messageKeys = FCMMessageForm.message.map(\.key)
    private static let targetKeys = ["fid", "token", "topic", "condition"]

    /// What `FCMRequestBody` writes, with the key of `delivery` that sets it.
    private static let deliveryKeys = [
        "ttl": "expires", "priority": "priority", "collapse_key": "collapse", "apns-expiration": "expires",
        "apns-priority": "priority",
        "apns-collapse-id": "collapse",
    ]

    // MARK: - Writing

    /// The payload with its members in the order that `FCMRequestBody` expects.
    mutating func byHand(_ payload: ContentNode) -> PayloadNode {
        guard case .object(let members, _) = payload, case .object(let message, _)? = members.value(of: "message")
        else {
            return Self.root(headers: .object([]), apns: [], others: [], android: .object([]))
        }
        findings += members.repeatedNames + message.repeatedNames
        let apns = message.members(of: "apns")
        findings += apns.repeatedNames
        let headers = apns.value(of: "headers").map { PayloadNode.content($0) } ?? .object([])
        return Self.root(
            headers: headers,
            apns: apns.filter { $0.name.value != "headers" }.map { member in
                guard member.name.value == "payload" else { return (member.name.value, .content(member.value)) }
                let payload = shown(member.value, ["aps", "alert", ""])
                return (member.name.value, Self.isActivity(message) ? ActivityStamp.reserved(in: payload) : payload)
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
                if name == "alert", case .text(let text) = member.value {
                    return (name, .shown(text, mustShow: true, isStrict: false))
                }
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
        guard let form = FCMMessageForm.message.first(where: { $0.key == name })?.form else {
            return reportUnknown(member.name, of: "message", valid: Self.messageKeys)
        }
        check(member, form, below: "message")
        if name == "apns", case .object(let members, _) = member.value { checkAPNs(members) }
    }

    /// Checks a member and what is below it.
    /// - Parameter parent: the name of the group that holds it.
    private mutating func check(_ member: ContentMember, _ form: FCMMessageForm, below parent: String) {
        let name = member.name.value
        switch (form, member.value) {
        case (.group(let forms), .object(let members, _)): check(members, forms, of: name)
        case (.data, .object(let members, _)): checkData(members)
        case (.headers, .object(let members, _)): members.forEach { check($0, .text, below: name) }
        case (.foreign, .object): break
        case (.list(let form), .array(let nodes, _)):
            nodes.forEach { check(ContentMember(member.name, $0), form, below: parent) }
        default: checkValue(member, form, below: parent)
        }
    }

    private mutating func check(
        _ members: [ContentMember], _ forms: [(key: String, form: FCMMessageForm)], of parent: String
    ) {
        for member in members {
            if let form = forms.first(where: { $0.key == member.name.value })?.form {
                check(member, form, below: parent)
            } else if parent != "android" || !refusesDelivery(member.name) {
                reportUnknown(member.name, of: parent, valid: forms.map(\.key))
            }
        }
    }

    private mutating func checkValue(_ member: ContentMember, _ form: FCMMessageForm, below parent: String) {
        let name = member.name.value
        guard let (what, remedy) = form.expectation(of: name, holding: member.value) else { return }
        error(
            "'\(name)' in '\(parent)' must be \(what), not \(member.value.found)", at: member.value.position,
            remedy: remedy)
    }

    private mutating func checkData(_ members: [ContentMember]) {
        for member in members {
            checkDataName(member.name)
            checkText(member)
        }
    }

    private mutating func checkAPNs(_ members: [ContentMember]) {
        for header in members.members(of: "headers") {
            if refusesDelivery(header.name) { continue }
            if header.name.value == "apns-push-type" {
                error(
                    "'apns-push-type' is set by Volley: background for a push that shows nothing, otherwise alert",
                    at: header.name.position,
                    remedy: "Remove it.")
            }
            if case .text = header.value { continue }
            error(
                "'\(header.name.value)' must be a text, as all headers are", at: header.value.position,
                remedy: "Put it in quotes.")
        }
        // Source: firebase-admin-node, `messaging-internal.ts`: they are sent as the number 1.
        for flag in members.members(of: "payload").members(of: "aps")
        where ["content-available", "mutable-content"].contains(flag.name.value) {
            if case .integer(1, _) = flag.value { continue }
            let name = flag.name.value
            error("'\(name)' must be 1", at: flag.value.position, remedy: "Write \(name): 1, or leave it out.")
        }
    }

    /// Reports a key that `delivery` sets for all pushes.
    private mutating func refusesDelivery(_ name: SourceText) -> Bool {
        guard let key = Self.deliveryKeys[name.value] else { return false }
        error(
            "'\(name.value)' is set by 'delivery' in the campaign", at: name.position,
            remedy: "Write it as '\(key)' under 'delivery'.")
        return true
    }

    private mutating func reportUnknown(_ name: SourceText, of parent: String, valid: [String]) {
        let nearest = nearestName(to: name.value, among: valid)
        let own =
            parent == "message" ? "The app's own keys go into 'data'." : "It may hold \(valid.joined(separator: ", "))."
        warnUnknown(name, of: parent, remedy: nearest.map { "Did you mean '\($0)'?" } ?? own)
    }

    /// Whether a message is for a Live Activity, which has a token of its own next to the phone's.
    private static func isActivity(_ message: [ContentMember]) -> Bool {
        message.members(of: "apns").value(of: activityKey) != nil
    }

    static let activityKey = "live_activity_token"

    /// The kind of an activity's message; nil for others.
    private mutating func activity(_ message: [ContentMember], _ aps: [ContentMember], at place: SourcePosition)
        -> PushType?
    {
        let own = aps.first { ActivityRules.own.contains($0.name.value) }
        guard Self.isActivity(message) else {
            guard let own else { return nil }
            error(
                "'\(own.name.value)' belongs to a Live Activity, and 'apns' has no \(Self.activityKey)",
                at: own.name.position,
                remedy:
                    "Name the column of the activities' tokens: apns: {\(Self.activityKey): \"{{ activity_token }}\"}.")
            return .alert
        }
        if own == nil {
            error(
                "the message has a \(Self.activityKey), and 'aps' no event", at: place,
                remedy: "Add event: start, update or end to 'aps'.")
        } else {
            checkActivity(aps, at: place)
        }
        return .liveactivity
    }

    /// Whether people see the push. A message with data alone is common on Android, where the app
    /// decides what to show; iPhones show nothing of it, and APNs takes it as what it is.
    private mutating func pushType(_ message: [ContentMember], at place: SourcePosition) -> PushType {
        let aps = message.members(of: "apns").members(of: "payload").members(of: "aps")
        if let kind = activity(message, aps, at: place) { return kind }
        let isVisible =
            message.value(of: "notification") != nil || message.members(of: "android").value(of: "notification") != nil
            || ["alert", "badge", "sound"].contains { aps.value(of: $0) != nil }
        if isVisible { return .alert }
        if aps.value(of: "content-available") != nil { return .background }
        if message.value(of: "webpush") != nil { return .alert }
        if !message.members(of: "data").isEmpty { return .background }
        warning(
            .nothingVisible, message: "'message' has neither notification nor data: no one would see this push",
            at: place,
            remedy: "Add a notification, or data for the app.")
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

extension FCMMessageForm {
    /// What a key must hold, and an example of it; nil if it holds that. What a cell holds is not
    /// known here.
    fileprivate func expectation(of key: String, holding value: ContentNode) -> (what: String, remedy: String)? {
        let quotes = "Put it in quotes."
        if case .text(let text) = value {
            if takesText { return text.isTemplate ? nil : expectation(of: key, reading: text.value) }
        } else if takesText {
            return (
                expectation(of: key, reading: "")?.what ?? "a text", expectation(of: key, reading: "")?.remedy ?? quotes
            )
        }
        switch (self, value) {
        case (.flag, .bool), (.wholeNumber, .integer), (.share, .integer(0...1, _)): return nil
        case (.share, .double(let number, _)) where (0...1).contains(number): return nil
        case (.flag, _): return ("true or false", "For example: \(key): true.")
        case (.wholeNumber, _): return ("a whole number", "For example: \(key): 1.")
        case (.share, _): return ("a number from 0 to 1", "For example: \(key): 0.5.")
        case (.list, _): return ("a list", "Write it in brackets: \(key): [\"…\"].")
        default: return ("a group of keys", "For example: \(key): {…}.")
        }
    }

    private var takesText: Bool {
        switch self {
        case .text, .color, .duration, .label, .secureAddress, .choice: true
        case .flag, .wholeNumber, .share, .list, .data, .headers, .foreign, .group: false
        }
    }

    /// The same for a text.
    private func expectation(of key: String, reading text: String) -> (what: String, remedy: String)? {
        switch self {
        case .color where text.wholeMatch(of: /#[0-9A-Fa-f]{6}/) == nil:
            ("a colour like #FF8800", "For example: \(key): \"#FF8800\".")
        case .duration where text.wholeMatch(of: /[0-9]{1,12}(?:\.[0-9]{1,9})?s/) == nil:
            ("seconds with an s behind them", "For example: \(key): 1.5s.")
        case .label where text.wholeMatch(of: /[A-Za-z0-9\-_.~%]{1,50}/) == nil:
            ("1 to 50 letters, digits and characters of -_.~%", "For example: \(key): spring-sale.")
        case .secureAddress where !text.hasPrefix("https://"):
            ("an address that begins with https://", "For example: \(key): https://example.com/sale.")
        case .choice(let words) where !words.contains(text):
            (
                "one of \(words.joined(separator: ", "))",
                nearestName(to: text.uppercased(), among: words).map { "Did you mean '\($0)'?" }
                    ?? "For example: \(key): \(words[0])."
            )
        default: nil
        }
    }
}
