import Base

/// Live Activities of iPhones in payloads by hand: checks, the time of sending, and what a lock
/// screen shows.
/// Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
extension ContentFindings {
    /// Checks the keys of `aps`.
    /// - Parameters:
    ///   - members: those of `aps`, at least one of which belongs to an activity.
    ///   - place: of `aps`.
    mutating func checkActivity(_ members: [ContentMember], at place: SourcePosition) {
        guard let member = members.first(where: { $0.name.value == "event" }) else {
            guard let first = members.first(where: { ActivityRules.own.contains($0.name.value) })?.name else { return }
            return error(
                "'\(first.value)' belongs to a Live Activity, and 'aps' has no event", at: first.position,
                remedy: "Add event: start, update or end.")
        }
        members.forEach { check($0) }
        guard case .text(let text) = member.value, let demanded = ActivityRules.demanded[text.value] else {
            let words = ["start", "update", "end"], text = member.value.textValue ?? ""
            return error(
                "'event' must be one of \(words.joined(separator: ", ")), not \(member.value.found)",
                at: member.value.position,
                remedy: nearestName(to: text, among: words).map { "Did you mean '\($0)'?" }
                    ?? "For example: event: update.")
        }
        let names = Set(members.map(\.name.value))
        for name in demanded where !names.contains(name) {
            error(
                "an activity that \(text.value)s needs '\(name)'", at: place,
                remedy: "Add it to 'aps', for example: \(ActivityRules.example(of: name)).")
        }
        guard text.value != "start" else { return }
        for member in members where ActivityRules.ofStart.contains(member.name.value) {
            error(
                "'\(member.name.value)' is for the start of an activity, and this one \(text.value)s",
                at: member.name.position,
                remedy: "Remove it.")
        }
    }

    private mutating func check(_ member: ContentMember) {
        let name = member.name.value
        let what: String
        switch (name, member.value) {
        case ("event", _), ("content-state", .object), ("attributes", .object), ("attributes-type", .text),
            ("input-push-channel", .text),
            ("input-push-token", .integer(1, _)), ("relevance-score", .integer), ("relevance-score", .double):
            return
        case ("timestamp", .integer(1...99_999_999_999, _)), ("stale-date", .integer(1...99_999_999_999, _)),
            ("dismissal-date", .integer(0...99_999_999_999, _)):
            return
        case ("alert", .object(let members, _)): return checkActivityAlert(members)
        case ("content-state", _), ("attributes", _): what = "a group of keys"
        case ("alert", _): what = "a group with title and body"
        case ("attributes-type", _), ("input-push-channel", _): what = "a text"
        case ("input-push-token", _): what = "1"
        case ("relevance-score", _): what = "a number"
        case ("timestamp", _), ("stale-date", _), ("dismissal-date", _): what = "a moment in seconds since 1970"
        default:
            let nearest = nearestName(to: name, among: ActivityRules.keys).map { "Did you mean '\($0)'?" }
            return warnUnknown(
                member.name, of: "aps",
                remedy: nearest ?? "That of an activity may hold \(ActivityRules.keys.joined(separator: ", ")).")
        }
        error(
            "'\(name)' must be \(what), not \(member.value.found)", at: member.value.position,
            remedy: "For example: \(ActivityRules.example(of: name)).")
    }

    private mutating func checkActivityAlert(_ members: [ContentMember]) {
        for member in members {
            switch (member.name.value, member.value) {
            case ("title", .text), ("title", .object), ("body", .text), ("body", .object), ("sound", .text): continue
            case ("title", _), ("body", _), ("sound", _):
                error(
                    "'\(member.name.value)' must be a text, not \(member.value.found)", at: member.value.position,
                    remedy: "Put it in quotes.")
            default:
                let nearest = nearestName(to: member.name.value, among: ["title", "body", "sound"]).map {
                    "Did you mean '\($0)'?"
                }
                warnUnknown(
                    member.name, of: "alert", remedy: nearest ?? "That of an activity may hold title, body, sound.")
            }
        }
    }
}

/// What `aps` of an activity may hold.
enum ActivityRules {
    /// Keys that nothing else has.
    static let own = ["event", "content-state", "timestamp", "stale-date", "dismissal-date"] + ofStart
    static let ofStart = ["attributes-type", "attributes", "input-push-token", "input-push-channel"]
    static let keys = own + ["alert", "relevance-score"]
    /// What an event needs.
    static let demanded = [
        "start": ["attributes-type", "attributes", "content-state", "alert"], "update": ["content-state"], "end": [],
    ]

    static func example(of key: String) -> String {
        switch key {
        case "content-state": "content-state: {minutes: 12}"
        case "attributes": "attributes: {order: \"7\"}"
        case "attributes-type": "attributes-type: DeliveryAttributes"
        case "alert": "alert: {title: On its way, body: 12 minutes left}"
        case "input-push-token": "input-push-token: 1"
        case "input-push-channel": "input-push-channel: \"…\""
        case "relevance-score": "relevance-score: 100"
        default: "\(key): 1795219200"
        }
    }
}

extension ContentFindings {
    /// The payload of an activity, with its place for the time.
    static func activity(_ activity: ActivityContent, _ alert: MessageContent) -> PayloadNode {
        .object([("aps", .object([(ActivityStamp.timestamp, .constant(.integer(0)))] + members(of: activity, alert)))])
    }

    /// What `aps` of an activity has next to the time, with lengths of time as negative numbers
    /// (`ActivityStamp`).
    static func members(of activity: ActivityContent, _ alert: MessageContent) -> [Member] {
        func number(_ number: Int) -> PayloadNode { .constant(.integer(Int64(number))) }
        var aps: [Member] = []
        if let seconds = activity.staleSeconds { aps.append(("stale-date", number(-seconds))) }
        // A moment that has passed removes the activity at once.
        if let seconds = activity.dismissSeconds { aps.append(("dismissal-date", number(seconds == 0 ? 1 : -seconds))) }
        aps.append(("event", .constant(.string(activity.event.rawValue))))
        if let type = activity.attributesType { aps.append(("attributes-type", .text(type))) }
        if let attributes = activity.attributes { aps.append(("attributes", .content(attributes))) }
        if let state = activity.state { aps.append(("content-state", .content(state))) }
        if let relevance = activity.relevance { aps.append(("relevance-score", .content(relevance))) }
        let sound: [Member] = alert.sound.map { [("sound", .text($0))] } ?? []
        let texts = Self.alert(alert) + sound
        return texts.isEmpty ? aps : aps + [("alert", .object(texts))]
    }
}

/// The time of an activity: phones ignore a state that is older than the one they have.
enum ActivityStamp {
    static let timestamp = "timestamp"
    /// How a payload begins that gets the time.
    static let unstamped = "{\"aps\":{\"\(timestamp)\":0"
    /// What the times add to a payload at most, as a zero and two lengths of time are replaced.
    static let bytes = 9 + bytesOfLengths, bytesOfLengths = 2 * 8

    /// A payload that gets the time at which it is sent, unless it has one. `aps` is its first
    /// member then.
    static func reserved(in payload: PayloadNode) -> PayloadNode {
        guard case .object(var members) = payload, let place = members.firstIndex(where: { $0.name == "aps" }),
            case .object(let aps) = members[place].value, !aps.contains(where: { $0.name == timestamp })
        else { return payload }
        members.remove(at: place)
        return .object([("aps", .object([(timestamp, .constant(.integer(0)))] + aps))] + members)
    }

    /// Appends a payload with the time.
    /// - Parameter now: epoch seconds.
    static func append(_ payload: ArraySlice<UInt8>, now: Int64, to bytes: inout [UInt8]) {
        guard payload.starts(with: unstamped.utf8) else {
            bytes += payload
            return
        }
        bytes += unstamped.utf8.dropLast()
        bytes += String(now).utf8
        var rest = payload.dropFirst(unstamped.utf8.count)
        appendTimes(of: &rest, now: now, to: &bytes)
        bytes += rest
    }

    /// Appends the times with which the rest of a payload begins, and takes them from it.
    static func appendTimes(of rest: inout ArraySlice<UInt8>, now: Int64, to bytes: inout [UInt8]) {
        // Lengths of time from now on.
        for key in [",\"stale-date\":", ",\"dismissal-date\":"] where rest.starts(with: "\(key)-".utf8) {
            let digits = rest.dropFirst(key.utf8.count + 1).prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            bytes += key.utf8
            bytes += String(now + digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }).utf8
            rest = rest[digits.endIndex...]
        }
    }
}

extension ShownPush {
    /// What a lock screen shows of an activity: the app draws it from its state.
    mutating func readActivity(_ aps: JSONValue?) {
        guard let event = aps?["event"]?.stringValue else { return }
        isSilent = false
        let words = ["start": "starts", "update": "is updated", "end": "ends"]
        marks.insert(("Live Activity", words[event] ?? event), at: 0)
        for (number, mark) in marks.enumerated() where mark.value.hasPrefix("-") {
            switch mark.name {
            case "stale-date": marks[number] = ("out of date after", "\(mark.value.dropFirst()) s")
            case "dismissal-date": marks[number] = ("leaves the screen after", "\(mark.value.dropFirst()) s")
            default: break
            }
        }
        guard texts.isEmpty, case .object(let state)? = aps?["content-state"] else { return }
        body = "‹\(state.map { "\($0.name) \(Self.plain($0.value))" }.joined(separator: " · "))›"
    }
}
