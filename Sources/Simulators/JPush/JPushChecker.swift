import Base

/// Checks the content of a push: its form by `JPushKeys`, and then what the documentation demands
/// of the values.
///
/// It does no I/O, and has no list of cids or devices. Where the documentation leaves something
/// open:
/// - sizes are those of the JSON in the shortest notation;
/// - a registration id may occur only once in a call.
struct JPushChecker {
    private static let largestIOSBytes = 2000, largestOtherBytes = 4000, largestActivityBytes = 3584
    private static let longestNameBytes = 40
    private static let mostTags = 20, mostNames = 1000

    let body: JSONValue
    let plan: JPushPlan

    /// What the push is for: everyone, or registration ids, aliases and tags.
    var addressees: [PushRequest.Addressee] {
        let cid = body["cid"]?.stringValue
        if let everyone = body["audience"]?.stringValue {
            return [PushRequest.Addressee(kind: "audience", target: everyone, name: cid)]
        }
        return ["registration_id", "alias", "tag", "tag_and", "segment", "abtest"].flatMap { kind in
            Self.texts(body["audience"]?[kind]).map { PushRequest.Addressee(kind: kind, target: $0, name: cid) }
        }
    }

    /// Its registration ids.
    var registrationIDs: [String] { Self.texts(body["audience"]?["registration_id"]) }

    /// Whether it is for everyone.
    var isForEveryone: Bool { body["audience"]?.stringValue != nil }

    /// Whether tags choose the devices.
    var hasTags: Bool { ["tag", "tag_and", "tag_not"].contains { !Self.texts(body["audience"]?[$0]).isEmpty } }

    /// Its aliases and tags.
    var names: [String] { ["alias", "tag"].flatMap { Self.texts(body["audience"]?[$0]) } }

    /// The first flaw of a push; nil if it has none.
    var flaw: JPushFlaw? {
        JPushKeys.push(plan).flaw(in: body) ?? contentFlaw ?? audienceFlaw
    }

    /// The first flaw of one push of a batch.
    /// - Parameter kind: what its target is: `regid` or `alias`.
    func flaw(ofSingle kind: String) -> JPushFlaw? {
        if let flaw = JPushKeys.single(plan).flaw(in: body) ?? contentFlaw { return flaw }
        guard let target = body["target"]?.stringValue, !target.isEmpty else {
            return JPushFlaw(1002, "target is missing")
        }
        return kind == "alias" ? Self.nameFlaw(target, "target") : nil
    }

    // MARK: Content

    private var contentFlaw: JPushFlaw? {
        guard let platform = body["platform"] else { return JPushFlaw(1002, "platform is missing") }
        if platform == .array([]) { return JPushFlaw(1003, "platform names none") }
        guard ["notification", "message", "notification_3rd", "live_activity"].contains(where: { body[$0] != nil })
        else {
            return JPushFlaw(1002, "there is neither a notification nor a message")
        }
        if body["message"] != nil, body["message"]?["msg_content"] == nil {
            return JPushFlaw(1002, "message.msg_content is missing")
        }
        return alertFlaw ?? activityFlaw ?? sizeFlaw
    }

    private var alertFlaw: JPushFlaw? {
        guard let notification = body["notification"] else { return nil }
        guard
            ["alert", "android", "ios", "hmos", "quickapp", "winphone", "voip"].contains(where: {
                notification[$0] != nil
            })
        else {
            return JPushFlaw(1002, "notification is empty")
        }
        for system in ["android", "ios"] where notification["alert"] == nil {
            if let own = notification[system], own["alert"] == nil {
                return JPushFlaw(1002, "notification.\(system).alert is missing")
            }
        }
        return hmosFlaw
    }

    /// What the maker refuses later is refused here: a push without a text, a category or a place
    /// that a tap opens.
    private var hmosFlaw: JPushFlaw? {
        guard let notification = body["notification"], let hmos = notification["hmos"] else { return nil }
        let alert = hmos["alert"] ?? notification["alert"]
        if alert?.stringValue?.isEmpty ?? true { return JPushFlaw(1002, "notification.hmos.alert is missing") }
        let missing = ["category", "intent"].first { hmos[$0] == nil }
        return missing.map { JPushFlaw(1002, "notification.hmos.\($0) is missing") }
    }

    /// Source: jpush/jiguang-sdk-java, `LiveActivityMessage`; calvinit/jiguang-sdk-go, `send` and
    /// `liveactivity`.
    private var activityFlaw: JPushFlaw? {
        guard let activity = body["live_activity"] else { return nil }
        if let other = ["notification", "message", "notification_3rd"].first(where: { body[$0] != nil }) {
            return JPushFlaw(1003, "\(other) is next to live_activity")
        }
        guard let ios = activity["ios"] else { return JPushFlaw(1002, "live_activity.ios is missing") }
        let demanded = ["event", "content-state"] + (ios["event"] == .string("start") ? ["attributes-type"] : [])
        if let missing = demanded.first(where: { ios[$0] == nil }) {
            return JPushFlaw(1002, "live_activity.ios.\(missing) is missing")
        }
        let bytes = Self.bytes(ios)
        guard bytes > Self.largestActivityBytes else { return nil }
        return JPushFlaw(1005, "live_activity.ios has \(bytes) bytes, \(Self.largestActivityBytes) are allowed")
    }

    private var sizeFlaw: JPushFlaw? {
        let ios = Self.bytes(body["notification"]?["ios"]), message = Self.bytes(body["message"])
        if ios > Self.largestIOSBytes {
            return JPushFlaw(1005, "notification.ios has \(ios) bytes, \(Self.largestIOSBytes) are allowed")
        }
        let others = Self.bytes(body["notification"]?["android"]) + message
        if others > Self.largestOtherBytes {
            return JPushFlaw(
                1005, "notification.android and message have \(others) bytes, \(Self.largestOtherBytes) are allowed")
        }
        return nil
    }

    // MARK: Audience

    private var audienceFlaw: JPushFlaw? {
        guard let audience = body["audience"] else { return JPushFlaw(1002, "audience is missing") }
        guard case .object(let members) = audience else { return nil }
        let lists = members.map { ($0.name, Self.texts($0.value)) }.filter { !$0.1.isEmpty }
        // An empty list counts as absent.
        guard !lists.isEmpty else { return JPushFlaw(1003, "audience names nobody") }
        return lists.lazy.compactMap { Self.flaw(in: $0.1, of: $0.0) }.first
    }

    private static func flaw(in names: [String], of key: String) -> JPushFlaw? {
        let most = key.hasPrefix("tag") ? mostTags : ["segment", "abtest"].contains(key) ? 1 : mostNames
        guard names.count <= most else {
            return JPushFlaw(1003, "audience.\(key) names \(names.count), \(most) are allowed")
        }
        if key == "registration_id", Set(names).count < names.count {
            return JPushFlaw(1003, "audience.\(key) names one twice")
        }
        guard key.hasPrefix("tag") || key == "alias" else { return nil }
        return names.lazy.compactMap { nameFlaw($0, "audience.\(key)") }.first
    }

    /// Tags and aliases: 40 bytes of letters, digits, `_`, Han and some signs.
    private static func nameFlaw(_ name: String, _ place: String) -> JPushFlaw? {
        guard !name.isEmpty, name.utf8.count <= longestNameBytes else {
            return JPushFlaw(1003, "\(place): \(name.utf8.count) bytes, 1 to \(longestNameBytes) are allowed")
        }
        return name.unicodeScalars.allSatisfy(isNameScalar)
            ? nil : JPushFlaw(1003, "\(place): a character that is not allowed")
    }

    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            ? isLetterOrDigit(UInt8(scalar.value)) || "_@!#$&*+=.|".unicodeScalars.contains(scalar)
            : scalar == "￥" || scalar.properties.isIdeographic
    }

    // MARK: Values

    private static func texts(_ value: JSONValue?) -> [String] {
        guard case .array(let values)? = value else { return [] }
        return values.compactMap(\.stringValue)
    }

    private static func bytes(_ value: JSONValue?) -> Int {
        guard let value else { return 0 }
        var bytes: [UInt8] = []
        value.append(to: &bytes)
        return bytes.count
    }
}

/// The keys of a push, as data. Sources: docs.jiguang.cn, Push API v3; jpush/jiguang-sdk-java,
/// `bean/push` (2026-01); jpush/jpush-api-python-client, `push/payload.py` (2026-10).
enum JPushKeys {
    /// The body of `/v3/push` and `/v3/push/validate`.
    static func push(_ plan: JPushPlan) -> JPushShape {
        .object(
            content(plan).merging([
                "cid": .text, "audience": audience, "live_activity": activity, "inapp_message": .anyObject,
            ]) { $1 })
    }

    /// One push of `/v3/push/batch/…/single`.
    static func single(_ plan: JPushPlan) -> JPushShape { .object(content(plan).merging(["target": .text]) { $1 }) }

    private static func content(_ plan: JPushPlan) -> [String: JPushShape] {
        [
            "platform": .either(.choice(["all"]), .list(.choice(["android", "ios", "hmos", "quickapp", "winphone"]))),
            "notification": notification,
            "message": message, "options": options(plan), "callback": .anyObject, "sms_message": .anyObject,
            "notification_3rd": .anyObject,
        ]
    }

    private static let audience: JPushShape = .either(
        .choice(["all"]),
        .object([
            "tag": .list(.text), "tag_and": .list(.text), "tag_not": .list(.text), "alias": .list(.text),
            "registration_id": .list(.text), "segment": .list(.text), "abtest": .list(.text), "live_activity_id": .text,
        ]))

    /// Source: jpush/jiguang-sdk-java (2026-01), `LiveActivityMessage`.
    private static let activity: JPushShape = .object([
        "ios": .object([
            "event": .choice(["start", "update", "end"]), "attributes-type": .either(.text, .null),
            "attributes": .anyObject,
            "content-state": .anyObject,
            "alert": .either(.object(["title": .text, "body": .text, "sound": .text]), .null),
            "dismissal-date": .number(0...Int64.max),
            "stale-date": .number(0...Int64.max), "relevance-score": .number(1...100), "apns-priority": .number(5...10),
        ])
    ])

    private static let intent: JPushShape = .object(["url": .text])

    private static let notification: JPushShape = .object([
        "alert": .text, "android": android, "ios": ios, "hmos": hmos, "quickapp": .anyObject,
        "winphone": .anyObject, "voip": .anyObject,
    ])

    /// Source: jpush/jiguang-sdk-java (2026-01), `HmosNotification`.
    private static let hmos: JPushShape = .object([
        "alert": .text, "title": .text, "category": .text, "intent": intent, "large_icon": .text,
        "badge_add_num": .number(1...99),
        "badge_set_num": .number(0...99), "extras": .anyObject, "style": .number(0...2), "inbox": .anyObject,
        "push_type": .number(0...10),
        "extra_data": .text, "hm_payload": .anyObject, "display_foreground": .choice(["0", "1"]), "sound": .text,
        "sound_duration": .number(1...60), "test_message": .flag, "receipt_id": .text,
    ])

    /// The channels of makers. Source: calvinit/jiguang-sdk-go, `third_party_channel`.
    private static let channels: JPushShape = {
        let keys: [String: JPushShape] = [
            "distribution": .choice(["secondary_push", "first_ospush", "ospush", "jpush"]),
            "distribution_fcm": .choice(["jpush", "fcm", "pns", "secondary_fcm_push", "secondary_pns_push"]),
            "distribution_customize": .choice(["jpush", "first_ospush", "secondary_push"]), "channel_id": .text,
            "category": .text,
            "importance": .choice(["LOW", "NORMAL", "HIGH"]), "classification": .number(0...1),
            "notify_level": .number(1...16),
            "skip_quota": .flag, "push_mode": .number(0...1), "target_user_type": .number(0...1), "receipt_id": .text,
            "callback_id": .text, "large_icon": .text, "small_icon_uri": .text, "small_icon_color": .text,
            "style": .number(0...3),
            "big_text": .text, "inbox": .either(.text, .anyObject), "big_pic_path": .text,
            "only_use_vendor_style": .flag, "sound": .text,
            "default_sound": .flag, "urgency": .text, "auditResponse": .anyObject,
        ]
        let makers = ["xiaomi", "huawei", "honor", "meizu", "oppo", "vivo", "fcm", "nio", "hmos"]
        return .object(Dictionary(uniqueKeysWithValues: makers.map { ($0, .object(keys)) }))
    }()

    private static let android: JPushShape = .object([
        "alert": .text, "title": .text, "builder_id": .number(0...1000), "channel_id": .shortText(1000),
        "category": .text,
        "priority": .number(-2...2), "style": .number(0...3), "alert_type": .number(-1...7), "big_text": .text,
        "inbox": .anyObject,
        "big_pic_path": .text, "extras": .anyObject, "large_icon": .text, "small_icon_uri": .text,
        "icon_bg_color": .text,
        "intent": intent, "uri_activity": .text, "uri_action": .text, "badge_add_num": .number(1...99),
        "badge_set_num": .number(0...99),
        "badge_class": .text, "sound": .text, "show_begin_time": .text, "show_end_time": .text,
        "display_foreground": .choice(["0", "1"]),
        "custom_buttons": .list(.anyObject), "mipns_content_forshort": .text,
        "oppns_content_forshort": .text, "vpns_content_forshort": .text, "mzpns_content_forshort": .text,
    ])

    /// The page says that they are true or false, and JPush's SDK for Python writes 1.
    private static let flagOrNumber: JPushShape = .either(.flag, .number(0...1))

    private static let ios: JPushShape = .object([
        "alert": .either(.text, .anyObject), "sound": .either(.text, .anyObject), "badge": .badge,
        "content-available": flagOrNumber,
        "mutable-content": flagOrNumber, "category": .text, "extras": .anyObject, "thread-id": .text,
        "interruption-level": .choice(["active", "critical", "passive", "time-sensitive"]),
    ])

    private static let message: JPushShape = .object([
        "msg_content": .text, "title": .text, "content_type": .text, "extras": .anyObject,
    ])

    private static func options(_ plan: JPushPlan) -> JPushShape {
        .object([
            "target_event": .list(.text), "test_message": .flag, "test_model": .flag,
            "receipt_id": .text, "active_push": .flag, "need_backup": .flag, "business_operation_code": .text,
            "notification_3rd_ver": .text,
            "sendno": .nonZero, "time_to_live": .number(0...plan.longestLifetimeSeconds),
            "override_msg_id": .number(1...Int64.max),
            "apns_production": .flag, "apns_collapse_id": .shortText(64), "big_push_duration": .number(0...1400),
            "third_party_channel": channels, "unique_alias": .flag, "classification": .number(0...1),
            "geofence": .anyObject,
            "message_scenario_code": .shortText(40),
        ])
    }
}

/// What an app may do that has paid for it, and what others may.
struct JPushPlan {
    /// Whether the app has paid.
    var isVIP: Bool
    /// Whether it may send to tags. Source: calvinit/jiguang-sdk-go: only apps that have paid, by
    /// now. JPush's own pages do not say so.
    var takesTags = true

    /// Three days, or ten.
    var longestLifetimeSeconds: Int64 { isVIP ? 864_000 : 259_200 }
    /// How many cids a call gets.
    var mostCids: Int { isVIP ? 1000 : 10 }
}

/// A refusal of JPush: `{"error":{"code":1011,"message":"…"}}`.
/// Source: docs.jiguang.cn, Push API v3, return codes; the names of registration ids that are wrong
/// are in calvinit/jiguang-sdk-go.
struct JPushError: Equatable {
    var code: Int
    var message: String
    /// The registration ids that are wrong, where the refusal is about them.
    var illegalIDs: [String] = []

    init(_ code: Int, _ message: String, illegalIDs: [String] = []) {
        self.code = code
        self.message = message
        self.illegalIDs = illegalIDs
    }

    /// The HTTP status of its code.
    var status: Int {
        switch code {
        case 1000: 500
        case 1001: 405
        case 1004: 401
        case 1020: 404
        case 1030: 503
        case 2002: 429
        // That of 2008 is not documented.
        case 2003...2008: 403
        default: 400
        }
    }

    var answer: Answer { Answer(status: status, reason: String(code)) }

    /// The value of `error`.
    /// - Parameter namesIDs: whether it names wrong ids itself.
    func object(namesIDs: Bool) -> JSONValue {
        var pairs: [(String, JSONValue)] = [("code", .integer(Int64(code))), ("message", .string(message))]
        if namesIDs, !illegalIDs.isEmpty { pairs.append(("illegal_rids", .array(illegalIDs.map { .string($0) }))) }
        return .object(pairs: pairs)
    }

    /// The body of an answer. It is not documented where the names of wrong ids are: `both` has
    /// them in `error`, `one` next to it.
    func body(_ details: RefusalDetails) -> JSONValue {
        var pairs = [("error", object(namesIDs: details == .both))]
        if details == .one, !illegalIDs.isEmpty {
            pairs.append(("illegal_rids", .array(illegalIDs.map { .string($0) })))
        }
        return .object(pairs: pairs)
    }

    /// A body that is not what the documentation describes.
    static func malformed(_ flaw: JPushFlaw) -> JPushError { JPushError(flaw.code, flaw.text) }

    /// The refusal for a fault that is known by its status.
    static func fault(status: Int) -> JPushError {
        switch status {
        case 429: JPushError(2002, "API call frequency exceeds the limit")
        case 503: JPushError(1030, "Internal service timeout")
        default: JPushError(1000, "Internal error")
        }
    }
}

/// What is wrong with a part of a body.
struct JPushFlaw: Equatable {
    /// 1002 for something that is missing, 1003 for a bad value, 1005 for what is too large, 1009
    /// for what JPush does not know.
    var code: Int
    var text: String

    init(_ code: Int, _ text: String) {
        self.code = code
        self.text = text
    }

    /// The same flaw, of a value within a member.
    func below(_ name: String) -> JPushFlaw { JPushFlaw(code, "\(name): \(text)") }
}
