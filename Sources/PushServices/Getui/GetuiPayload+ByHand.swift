import Base

/// A hand-written payload: sent as written, checked against the members of Getui's message.
extension GetuiPayload {
    private static let example = "For example: payload: {push_message: {transmission: Hello}}."

    /// What `GetuiMessage` writes.
    private static let ownKeys = ["request_id", "audience", "group_name", "is_async", "msg_list", "taskid"]

    /// The payload with its members in the order that `GetuiMessage` expects, and its push type.
    mutating func byHand(_ payload: ContentNode) -> (PayloadNode, PushType) {
        guard case .object(let members, let place) = payload else {
            error("the payload must be an object", at: payload.position, remedy: Self.example)
            return (Self.root(settings: [], channel: [], message: []), .alert)
        }
        findings += members.repeatedNames
        check(members)
        let message = members.members(of: Self.messageKey), channel = members.members(of: "push_channel")
        guard members.value(of: Self.messageKey) != nil else {
            error("the payload has no '\(Self.messageKey)'", at: place, remedy: Self.example)
            return (Self.root(settings: [], channel: [], message: []), .alert)
        }
        let kinds = message.filter { ["notification", "transmission"].contains($0.name.value) }
        if kinds.count != 1 {
            error(
                "'\(Self.messageKey)' must hold either a notification or a transmission", at: place,
                remedy: kinds.isEmpty ? Self.example : "Keep one of them.")
        }
        let settings = members.members(of: "settings")
        let root = Self.root(
            settings: settings.filter { $0.name.value != "strategy" }.map { ($0.name.value, .content($0.value)) }
                + [("strategy", settings.value(of: "strategy").map { .content($0) } ?? Self.strategy(.appleOnly))],
            channel: channel.sorted { Self.rank($0) < Self.rank($1) }.map(member),
            message: (message.filter { !kinds.contains($0) } + kinds).map(member))
        let aps = channel.members(of: "ios").members(of: "aps")
        let isVisible =
            kinds.first?.name.value == "notification" || ["alert", "sound"].contains { aps.value(of: $0) != nil }
        return (root, !isVisible && aps.value(of: "content-available") != nil ? .background : .alert)
    }

    private static func rank(_ channel: ContentMember) -> Int {
        ["ios", "android"].firstIndex(of: channel.name.value) ?? 2
    }

    private func member(_ member: ContentMember) -> Member { (member.name.value, shown(member)) }

    /// A member in which texts that people see follow the rules for such texts.
    private func shown(_ member: ContentMember) -> PayloadNode {
        guard case .object(let members, _) = member.value else { return .content(member.value) }
        let holdsTexts = ["notification", "alert"].contains(member.name.value)
        // A run numbers the notifications of makers, for which they come first.
        let isOfMakers = ["ups", "harmony"].contains(member.name.value)
        return .object(
            (isOfMakers
                ? members.sorted { $0.name.value == "notification" && $1.name.value != "notification" } : members).map {
                    inner in
                    if holdsTexts, ["title", "subtitle", "body"].contains(inner.name.value),
                        case .text(let text) = inner.value
                    {
                        return (
                            inner.name.value, .shown(text, mustShow: inner.name.value != "subtitle", isStrict: false)
                        )
                    }
                    return (inner.name.value, shown(inner))
                })
    }

    // MARK: - Checking

    private mutating func check(_ members: [ContentMember]) {
        for member in members {
            if Self.ownKeys.contains(member.name.value) {
                error(
                    "'\(member.name.value)' is written by Volley", at: member.name.position, remedy: "Remove it.")
            } else if let form = GetuiForm.payload.first(where: { $0.key == member.name.value })?.form {
                check(member, form, below: "payload")
            } else {
                // It would not be sent.
                let valid = GetuiForm.payload.map(\.key), name = member.name.value
                error(
                    "'payload' has no key '\(TextFormat.foreign(name, maximumBytes: 40))'", at: member.name.position,
                    remedy: nearestName(to: name, among: valid).map { "Did you mean '\($0)'?" }
                        ?? "It may hold \(valid.joined(separator: ", ")).")
            }
        }
    }

    private mutating func check(_ member: ContentMember, _ form: GetuiForm, below parent: String) {
        let name = member.name.value
        switch (form, member.value) {
        case (.group(let forms), .object(let members, _)):
            findings += members.repeatedNames
            for inner in members {
                if refusesDelivery(inner.name, of: name) { continue }
                if let form = forms.first(where: { $0.key == inner.name.value })?.form {
                    check(inner, form, below: name)
                } else {
                    reportUnknown(inner.name, of: name, valid: forms.map(\.key))
                }
            }
        case (.list(let form), .array(let nodes, _)):
            nodes.forEach { check(ContentMember(member.name, $0), form, below: parent) }
        case (.text, .text), (.number, .integer), (.flag, .bool), (.options, .object), (.digits, .integer): break
        case (.digits, .text(let text))
        where text.isTemplate || text.value.utf8.allSatisfy(ASCIISet("0123456789").contains): break
        default:
            error(
                "'\(name)' in '\(parent)' must be \(form.words)", at: member.value.position,
                remedy: form.isText ? "Put it in quotes." : nil)
        }
    }

    /// Reports a key that a run writes: it would be there twice.
    private mutating func refusesDelivery(_ name: SourceText, of parent: String) -> Bool {
        switch (parent, name.value) {
        case ("settings", "ttl"):
            error(
                "'ttl' is set by 'delivery' in the campaign", at: name.position,
                remedy: "Write it as 'expires' under 'delivery'.")
        case ("ios", "apns-collapse-id"), ("notification", "notify_id"):
            error(
                "'\(name.value)' is set by 'delivery' in the campaign", at: name.position,
                remedy: "Write it as 'collapse' under 'delivery'.")
        default: return false
        }
        return true
    }

    private mutating func reportUnknown(_ name: SourceText, of parent: String, valid: [String]) {
        let nearest = nearestName(to: name.value, among: valid).map { "Did you mean '\($0)'?" }
        warnUnknown(name, of: parent, remedy: nearest ?? "It may hold \(valid.joined(separator: ", ")).")
    }
}

/// What a key of a message may hold, for messages that are written by hand. Source: docs.getui.com,
/// RestAPI V2, "push", and the SDK for Java.
indirect enum GetuiForm: Sendable {
    case text, number, flag
    /// A whole number, or a text of its digits, which the SDK writes.
    case digits
    /// What makers define, by paths into their messages.
    case options
    case list(GetuiForm)
    case group([(key: String, form: GetuiForm)])

    fileprivate var words: String {
        switch self {
        case .text: "a text"
        case .number, .digits: "a whole number"
        case .flag: "true or false"
        case .list: "a list"
        case .group, .options: "a group of keys"
        }
    }

    fileprivate var isText: Bool { if case .text = self { true } else { false } }

    /// The members of a message that a campaign may write.
    static let payload: [(key: String, form: GetuiForm)] = [
        (
            "push_message",
            .group([
                ("notification", notification), ("transmission", .text), ("network_type", .number), ("duration", .text),
            ])
        ),
        (
            "push_channel",
            .group([
                ("ios", ios),
                (
                    "android",
                    .group([("ups", .group([("notification", third), ("transmission", .text), ("options", .options)]))])
                ),
                (
                    "harmony",
                    .group([
                        ("notification", .group(click + [("category", .text), ("want", .text)])),
                        ("transmission", .text),
                        ("options", .options),
                    ])
                ),
            ])
        ),
        (
            "settings",
            .group([
                ("strategy", strategy), ("speed", .number), ("schedule_time", .number), ("custom_callback", .text),
                ("filter_notify_off", .flag), ("active_days", .number), ("need_backup", .flag), ("active_push", .flag),
                ("active_push_platform", .list(.number)),
            ])
        ),
    ]

    private static let strategy = GetuiForm.group(
        ["default", "ios", "hw", "xm", "mz", "op", "vv", "st", "hx", "hwq", "ho", "hoshw"].map { ($0, .number) })

    private static let click: [(key: String, form: GetuiForm)] = [
        ("title", .text), ("body", .text), ("click_type", .text), ("intent", .text), ("url", .text), ("payload", .text),
    ]

    private static let notification = GetuiForm.group(
        click + [
            ("big_text", .text), ("big_image", .text), ("logo", .text), ("logo_url", .text), ("channel_id", .text),
            ("channel_name", .text),
            ("channel_level", .digits), ("ring_name", .text), ("badge_add_num", .digits), ("thread_id", .text),
            ("category", .text),
            ("slot_type", .text), ("want", .text), ("redisplay_freq", .number), ("redisplay_duration", .number),
        ])

    /// What the makers' own channels show.
    private static let third = GetuiForm.group(click)

    private static let ios = GetuiForm.group([
        ("type", .text), ("laId", .text), ("aps", aps), ("auto_badge", .text), ("payload", .text),
        ("multimedia", .list(.group([("url", .text), ("type", .number), ("only_wifi", .flag)]))),
    ])

    private static let aps = GetuiForm.group([
        (
            "alert",
            .group([
                ("title", .text), ("subtitle", .text), ("body", .text), ("loc-key", .text), ("loc-args", .list(.text)),
                ("title-loc-key", .text), ("title-loc-args", .list(.text)), ("subtitle-loc-key", .text),
                ("subtitle-loc-args", .list(.text)), ("action-loc-key", .text), ("launch-image", .text),
            ])
        ),
        ("content-available", .number), ("sound", .text), ("category", .text), ("thread-id", .text),
    ])
}
