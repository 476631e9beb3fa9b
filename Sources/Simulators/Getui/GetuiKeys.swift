import Base

/// The bodies of requests to Getui, as data. Source: docs.getui.com, RestAPI V2, "push" and
/// "token"; for names and for what may be left out, Getui's SDK for Java (`dto/req`). Where the
/// documentation leaves something open, what is stricter is meant.
enum GetuiKeys {
    static let mostSingles = 200, mostInList = 1000
    /// Three days.
    static let longestLifetimeMilliseconds: Int64 = 259_200_000

    static let authentication: GetuiShape = .object(
        [
            "sign": .name(64...64, also: ""), "timestamp": .digits(1_000_000_000_000...9_999_999_999_999),
            "appkey": .text(1...64),
        ],
        required: ["sign", "timestamp", "appkey"])

    /// One push to one device.
    static let single = toAudience(audience(1...1))

    /// One push to the devices of an alias.
    static let singleAlias = toAudience(.object(["alias": .list(.text(1...39), 1...1)], required: ["alias"]))

    /// One push to all devices.
    static let everyone = toAudience(.choice(["all"]))

    /// One push to the devices for which all conditions hold. How long a tag is, and how many there
    /// are, is checked apart (`GetuiQuotas`).
    static let tags = toAudience(
        .object(
            [
                "tag": .list(
                    .object(
                        [
                            "key": .choice(["custom_tag", "phone_type", "region", "portrait"]),
                            "values": .list(.text(1...1000), 1...10_000),
                            "opt_type": .choice(["or", "and", "not"]),
                        ], required: ["key", "values", "opt_type"]), 1...10)
            ], required: ["tag"]))

    private static func toAudience(_ audience: GetuiShape) -> GetuiShape {
        .object(message.merging(["audience": audience]) { $1 }, required: ["request_id", "audience", "push_message"])
    }

    /// Pushes to several devices, each with its own content.
    static let batch: GetuiShape = .object(
        ["is_async": .flag, "msg_list": .list(single, 1...mostSingles)], required: ["msg_list"])

    /// Content that is sent later, to devices that another request names.
    static let listMessage: GetuiShape = .object(message, required: ["push_message"])

    static let list: GetuiShape = .object(
        [
            "audience": audience(1...mostInList), "taskid": .text(1...100), "is_async": .flag,
            "need_alias_detail": .flag,
        ], required: ["audience", "taskid"])

    /// The form of a target is checked apart, as Getui has a text of its own for a wrong one.
    private static func audience(_ counts: ClosedRange<Int>) -> GetuiShape {
        .object(["cid": .list(.text(0...200), counts)], required: ["cid"])
    }

    private static let message: [String: GetuiShape] = [
        "request_id": .text(10...32), "task_name": .text(1...40), "group_name": .name(1...100, also: "-_"),
        "settings": settings,
        "push_message": pushMessage, "push_channel": .object(["ios": ios, "android": android, "harmony": harmony]),
    ]

    private static let settings: GetuiShape = .object([
        "ttl": .number(-1...longestLifetimeMilliseconds), "strategy": .table(channels, .number(1...4)),
        "speed": .number(0...1_000_000),
        "schedule_time": .number(0...9_999_999_999_999), "custom_callback": .text(1...1024), "filter_notify_off": .flag,
        "active_days": .number(3...15), "need_backup": .flag, "activate_filter_day": .number(0...365),
        "activate_filter_type": .number(0...9), "lst": .number(0...9), "active_push": .flag,
        "active_push_platform": .list(.number(1...3), 1...3),
    ])

    /// Getui's own channel (`default`), Apple's, and those of the makers of phones. Source: the
    /// SDK, `Strategy`.
    private static let channels = ["default", "ios", "hw", "xm", "mz", "op", "vv", "st", "hx", "hwq", "ho", "hoshw"]

    /// That there is exactly one of the three kinds is checked apart.
    private static let pushMessage: GetuiShape = .object([
        "network_type": .number(0...1), "duration": .text(27...27), "notification": notification,
        "transmission": .text(1...3072),
        "revoke": .object(
            ["old_task_id": .text(1...100), "force": .flag], required: ["old_task_id"]),
    ])

    private static let notification: GetuiShape = .object(
        [
            "title": .text(1...50), "body": .text(1...256), "big_text": .text(1...512), "big_image": .text(1...1024),
            "logo": .text(1...200), "logo_url": .text(1...1024), "channel_id": .text(1...100),
            "channel_name": .text(1...100),
            "channel_level": .digits(0...4),
            "click_type": .choice(["intent", "url", "payload", "payload_custom", "startapp", "none"]),
            "intent": .text(1...4096), "url": .text(1...1024), "payload": .text(1...3072),
            "notify_id": .digits(0...2_147_483_647),
            "ring_name": .text(1...100), "badge_add_num": .digits(1...999), "thread_id": .text(1...100),
            "slot_type": .text(1...100),
            "want": .text(1...4096),
            "category": .text(1...50), "redisplay_freq": .number(0...100), "redisplay_duration": .number(0...2_592_000),
        ], required: ["title", "body", "click_type"])

    private static let ios: GetuiShape = .object([
        "type": .choice(["notify", "voip", "liveactivity"]), "laId": .text(1...200), "aps": aps, "auto_badge": .badge,
        "payload": .text(1...4096),
        "multimedia": .list(
            .object(["url": .text(1...1024), "type": .number(1...3), "only_wifi": .flag], required: ["url", "type"]),
            1...3),
        "apns-collapse-id": .text(1...64),
    ])

    private static let texts: GetuiShape = .list(.text(0...1024), 0...20)

    private static let aps: GetuiShape = .object([
        "alert": .object([
            "title": .text(1...4096), "subtitle": .text(1...4096), "body": .text(1...4096),
            "action-loc-key": .text(1...100),
            "loc-key": .text(1...100), "loc-args": texts, "launch-image": .text(1...100),
            "title-loc-key": .text(1...100),
            "title-loc-args": texts, "subtitle-loc-key": .text(1...100), "subtitle-loc-args": texts,
        ]),
        "content-available": .number(0...1), "sound": .text(1...100), "category": .text(1...100),
        "thread-id": .text(1...100),
        "timestamp": .number(0...9_999_999_999_999), "event": .choice(["start", "update", "end"]),
        "dismissal-date": .number(0...9_999_999_999_999), "content-state": .anything,
    ])

    /// What the makers' own channels show while the app does not run.
    private static let android: GetuiShape = .object([
        "ups": .object([
            "notification": .object(
                [
                    "title": .text(1...50), "body": .text(1...256),
                    "click_type": .choice(["intent", "url", "payload", "startapp", "none"]), "intent": .text(1...4096),
                    "url": .text(1...1024), "payload": .text(1...3072), "notify_id": .digits(0...2_147_483_647),
                ], required: ["title", "body", "click_type"]),
            "transmission": .text(1...3072), "options": options,
        ])
    ])

    /// What makers get, by paths into their own messages.
    private static let options: GetuiShape = .table(
        ["ALL", "HW", "HO", "XM", "OP", "OPG", "VV", "MZ", "ST", "HX"], .anyObject(namesBegin: "/"))

    /// HarmonyOS 5 and later, which shows nothing without a category. Source: Getui's SDK for Java
    /// of 2026-03, `HarmonyDTO`.
    private static let harmony: GetuiShape = .object([
        "notification": .object(
            [
                "title": .text(1...50), "body": .text(1...256), "category": .text(1...50),
                "click_type": .choice(["want", "startapp", "payload"]), "want": .text(1...4096),
                "payload": .text(1...3072),
                "notify_id": .digits(0...2_147_483_647),
            ], required: ["title", "body", "category", "click_type"]),
        "transmission": .text(1...3072), "options": .table(["HW"], .anyObject(namesBegin: "/")),
    ])
}

/// What the documentation says about a JSON value, limits included, so that a strict check can
/// refuse everything else. Names are as they are written: Getui accepts no other spelling of them.
indirect enum GetuiShape: Sendable {
    /// A text of this many characters, counted as Java counts them: in units of UTF-16.
    case text(ClosedRange<Int>)
    /// A text of these characters.
    case name(ClosedRange<Int>, also: StaticString)
    case flag
    case number(ClosedRange<Int64>)
    /// A whole number, or a text of its digits: the documentation says number, and Getui's own SDK
    /// writes text.
    case digits(ClosedRange<Int64>)
    /// A number that replaces a badge, or is added to it: `1`, `+1`, `-1`.
    case badge
    case choice([String])
    /// Whatever the sender wants.
    case anything
    case list(GetuiShape, ClosedRange<Int>)
    /// An object of these names, each with a value of the same shape.
    case table([String], GetuiShape)
    /// An object with any values, whose names begin alike.
    case anyObject(namesBegin: String)
    /// An object with these names and no others.
    case object([String: GetuiShape], required: [String] = [])

    /// The first place where a value differs from its shape; nil if it does not.
    func flaw(in value: JSONValue) -> JSONFlaw? {
        switch (self, value) {
        case (.anything, _): nil
        case (.text(let lengths), .string(let text)):
            lengths.contains(text.utf16.count)
                ? nil
                : JSONFlaw("\(text.utf16.count) characters, \(lengths.lowerBound) to \(lengths.upperBound) are allowed")
        case (.name(let lengths, let others), .string(let text)):
            lengths.contains(text.utf8.count)
                && text.utf8.allSatisfy { isLetterOrDigit($0) || others.bytes.contains($0) }
                ? nil : JSONFlaw("a character or a length that is not allowed")
        case (.flag, .bool): nil
        case (.number(let range), .integer(let number)): Self.flaw(number, range)
        case (.digits(let range), .integer(let number)): Self.flaw(number, range)
        case (.digits(let range), .string(let text)):
            text.utf8.allSatisfy(isDigit)
                ? Int64(text).map { Self.flaw($0, range) } ?? JSONFlaw("not a number") : JSONFlaw("not a number")
        case (.badge, .string(let text)):
            text.wholeMatch(of: /[+-]?[0-9]{1,9}/) == nil ? JSONFlaw("not a badge") : nil
        case (.choice(let names), .string(let text)):
            names.contains(text) ? nil : JSONFlaw("none of \(names.joined(separator: ", "))")
        case (.list(let shape, let counts), .array(let values)): Self.flaw(in: values, shape, counts)
        case (.table(let names, let shape), .object(let members)):
            Self.flaw(in: members, Dictionary(uniqueKeysWithValues: names.map { ($0, shape) }), required: [])
        case (.anyObject(let beginning), .object(let members)):
            members.first { !$0.name.hasPrefix(beginning) }.map { JSONFlaw("not a path", at: [$0.name]) }
        case (.object(let shapes, let required), .object(let members)):
            Self.flaw(in: members, shapes, required: required)
        default: JSONFlaw("it should be \(words)")
        }
    }

    private var words: String {
        switch self {
        case .anything: "a value"
        case .text, .name, .badge, .choice: "a text"
        case .flag: "true or false"
        case .number, .digits: "a whole number"
        case .list: "a list"
        case .table, .anyObject, .object: "an object"
        }
    }

    private static func flaw(_ number: Int64, _ range: ClosedRange<Int64>) -> JSONFlaw? {
        range.contains(number) ? nil : JSONFlaw("\(number) is not within \(range.lowerBound) and \(range.upperBound)")
    }

    private static func flaw(in values: [JSONValue], _ shape: GetuiShape, _ counts: ClosedRange<Int>) -> JSONFlaw? {
        guard counts.contains(values.count) else {
            return JSONFlaw("\(values.count) values, \(counts.lowerBound) to \(counts.upperBound) are allowed")
        }
        return values.enumerated().lazy.compactMap { index, value in shape.flaw(in: value)?.below("\(index)") }.first
    }

    private static func flaw(in members: [JSONMember], _ shapes: [String: GetuiShape], required: [String]) -> JSONFlaw?
    {
        for (index, member) in members.enumerated() {
            if members[..<index].contains(where: { $0.name == member.name }) { return .repeated(member.name) }
            guard let shape = shapes[member.name] else { return JSONFlaw("unknown", at: [member.name]) }
            if let flaw = shape.flaw(in: member.value) { return flaw.below(member.name) }
        }
        return required.first { name in !members.contains { $0.name == name } }.map { JSONFlaw("missing", at: [$0]) }
    }
}
