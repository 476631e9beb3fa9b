import Base

/// Checks the content of a push: its form by `JPushKeys`, and then what the documentation demands of the values.
///
/// It does no I/O, and knows neither cids nor devices. Where the documentation leaves something open:
/// - `apns_production` must be there: JPush's API and its SDKs disagree about what is meant without it;
/// - sizes are those of the JSON in the shortest notation;
/// - a registration id may occur only once in a call.
struct JPushChecker {
    private static let largestIOSBytes = 2000, largestOtherBytes = 4000
    private static let longestNameBytes = 40
    private static let mostTags = 20, mostNames = 1000

    let body: JSONValue
    let plan: JPushPlan

    /// What the push is for: everyone, or registration ids, aliases and tags.
    var addressees: [PushRequest.Addressee] {
        let cid = body["cid"]?.stringValue
        if let everyone = body["audience"]?.stringValue { return [PushRequest.Addressee(kind: "audience", target: everyone, name: cid)] }
        return ["registration_id", "alias", "tag"].flatMap { kind in
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
        guard let target = body["target"]?.stringValue, !target.isEmpty else { return JPushFlaw(1002, "target is missing") }
        return kind == "alias" ? Self.nameFlaw(target, "target") : nil
    }

    // MARK: Content

    private var contentFlaw: JPushFlaw? {
        guard let platform = body["platform"] else { return JPushFlaw(1002, "platform is missing") }
        if platform == .array([]) { return JPushFlaw(1003, "platform names none") }
        guard body["notification"] != nil || body["message"] != nil else {
            return JPushFlaw(1002, "there is neither a notification nor a message")
        }
        guard body["options"]?["apns_production"] != nil else { return JPushFlaw(1002, "options.apns_production is missing") }
        if body["message"] != nil, body["message"]?["msg_content"] == nil { return JPushFlaw(1002, "message.msg_content is missing") }
        return alertFlaw ?? sizeFlaw
    }

    private var alertFlaw: JPushFlaw? {
        guard let notification = body["notification"] else { return nil }
        guard ["alert", "android", "ios", "hmos", "quickapp"].contains(where: { notification[$0] != nil }) else {
            return JPushFlaw(1002, "notification is empty")
        }
        for system in ["android", "ios"] where notification["alert"] == nil {
            if let own = notification[system], own["alert"] == nil { return JPushFlaw(1002, "notification.\(system).alert is missing") }
        }
        return nil
    }

    private var sizeFlaw: JPushFlaw? {
        let ios = Self.bytes(body["notification"]?["ios"]), message = Self.bytes(body["message"])
        if ios > Self.largestIOSBytes { return JPushFlaw(1005, "notification.ios has \(ios) bytes, \(Self.largestIOSBytes) are allowed") }
        let others = Self.bytes(body["notification"]?["android"]) + message
        if others > Self.largestOtherBytes {
            return JPushFlaw(1005, "notification.android and message have \(others) bytes, \(Self.largestOtherBytes) are allowed")
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
        guard names.count <= most else { return JPushFlaw(1003, "audience.\(key) names \(names.count), \(most) are allowed") }
        if key == "registration_id", Set(names).count < names.count { return JPushFlaw(1003, "audience.\(key) names one twice") }
        guard key.hasPrefix("tag") || key == "alias" else { return nil }
        return names.lazy.compactMap { nameFlaw($0, "audience.\(key)") }.first
    }

    /// Tags and aliases: 40 bytes of letters, digits, `_`, Han and some signs.
    private static func nameFlaw(_ name: String, _ place: String) -> JPushFlaw? {
        guard !name.isEmpty, name.utf8.count <= longestNameBytes else {
            return JPushFlaw(1003, "\(place): \(name.utf8.count) bytes, 1 to \(longestNameBytes) are allowed")
        }
        return name.unicodeScalars.allSatisfy(isNameScalar) ? nil : JPushFlaw(1003, "\(place): a character that is not allowed")
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
