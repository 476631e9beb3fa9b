import Base

/// A payload from the keys of `content`. Source: Apple, "Generating a remote notification".
struct APNsPayload: ContentFindings {
    static let service = APNs().displayName

    /// What becomes of the keys of content, for people that read the service's documentation; in
    /// Markdown.
    static let carried: [ContentKey: String] = [
        .title: "`aps.alert`",
        .subtitle: "`aps.alert`",
        .body: "`aps.alert`",
        .sound: "`aps.sound`",
        .badge: "`aps.badge`",
        .category: "`aps.category`",
        .thread: "`aps.thread-id`",
        .image: "`image`, `mutable-content`",
        .link: "`link`",
        .data: "next to `aps`",
        .interruption: "`aps.interruption-level`",
        .relevance: "`aps.relevance-score`",
        .targetContent: "`aps.target-content-id`",
        .filter: "`aps.filter-criteria`",
        .localized: "`aps.alert`: `title-loc-key`, `loc-key`, …",
        .wakeApp: "`content-available`",
        .silent: "a background push",
        .payload: "`aps: {…}`",
    ]

    var findings: [Diagnostic] = []

    /// The payload that APNs makes of content.
    static func draft(of content: MessageContent) -> PayloadDraft {
        var payload = APNsPayload()
        var (root, pushType) =
            if let activity = content.activity {
                (Self.activity(activity, content), PushType.liveactivity)
            } else if let whole = content.payload {
                (payload.byHand(whole, path: []), payload.checkByHand(whole))
            } else {
                (payload.fields(content), content.isSilent ? PushType.background : .alert)
            }
        if pushType == .liveactivity { root = ActivityStamp.reserved(in: root) }
        return PayloadDraft(
            root: root, pushType: pushType, byteLimit: APNs.payloadLimit(of: pushType), findings: payload.findings)
    }

    // MARK: - By the keys of content

    /// The whole payload. Only keys that are set are written; own keys are next to `aps`.
    private mutating func fields(_ content: MessageContent) -> PayloadNode {
        refuseTwice(content)
        let aps = content.isSilent ? [("content-available", .constant(.integer(1)))] : aps(content)
        var members: [Member] = [("aps", .object(aps))]
        if let image = content.image { members.append(("image", .address(image, mustBeSecure: true))) }
        if let link = content.link { members.append(("link", .address(link))) }
        var own: [ContentMember] = []
        if case .object(let data, _) = content.data { own = data }
        checkData(own, content)
        return .object(members + own.map { ($0.name.value, .content($0.value)) } + tracking(content, beside: own))
    }

    private func aps(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        let alert = Self.alert(content, subtitleMustShow: content.title == nil && content.body == nil)
        if !alert.isEmpty { members.append(("alert", .object(alert))) }
        if let badge = content.badge { members.append(("badge", .constant(.integer(Int64(badge))))) }
        if let sound = Self.appleSound(content) { members.append(("sound", sound)) }
        let texts = [("thread-id", content.thread), ("category", content.category)]
        members += texts.compactMap { name, text in text.map { (name, .text($0)) } } + Self.presentation(content)
        if Self.runsExtension(content) { members.append(("mutable-content", .constant(.integer(1)))) }
        if content.wakesApp { members.append(("content-available", .constant(.integer(1)))) }
        return members
    }

    private mutating func checkData(_ data: [ContentMember], _ content: MessageContent) {
        findings += data.repeatedNames
        refuseTwice("image", content.image, in: data)
        refuseTwice("link", content.link, in: data)
        for member in data {
            let name = member.name.value
            switch name {
            case "aps":
                error(
                    "'data' must not hold 'aps', which belongs to APNs", at: member.name.position,
                    remedy: "Use the keys of 'content', or write the whole push as 'payload'.")
            default:
                warnOutsideAPS(
                    member,
                    remedy: APSRules.contentKeys[name].map {
                        "If APNs should use it, write it as '\($0)' directly under 'content'."
                    }
                        ?? "If APNs should use it, write the whole push as 'payload'.")
            }
        }
    }

    /// Warns about an own key that APNs expects inside `aps`.
    mutating func warnOutsideAPS(_ member: ContentMember, remedy: String?) {
        let name = member.name.value
        guard APSRules.keys.contains(where: { $0.name == name }) else { return }
        warning(
            .outsideAPS, message: "'\(name)' is next to aps, where APNs does not look for it", at: member.name.position,
            remedy: remedy)
    }
}

extension WarningName {
    static let outsideAPS = WarningName("outside-aps", from: [.files])
}

/// A hand-written payload: sent as written, checked against Apple's rules for `aps`.
extension APNsPayload {
    /// Checks the payload and returns its push type.
    mutating func checkByHand(_ payload: ContentNode) -> PushType {
        let example = "For example: payload: {aps: {alert: Hello}}."
        guard case .object(let members, let place) = payload else {
            error("the payload must be an object", at: payload.position, remedy: example)
            return .alert
        }
        for member in members where member.name.value != "aps" {
            warnOutsideAPS(member, remedy: "If APNs should use it, move it into 'aps'.")
        }
        guard let aps = members.first(where: { $0.name.value == "aps" }) else {
            error("the payload has no 'aps', so APNs would show nothing", at: place, remedy: example)
            return .alert
        }
        guard case .object(let keys, _) = aps.value else {
            error("'aps' must be a group of keys", at: aps.value.position, remedy: example)
            return .alert
        }
        return checkAPS(keys, at: aps.name.position)
    }

    /// A value of the payload. Texts that people see follow the rules for such texts.
    /// - Parameter path: the names above the value, as far as they lead to texts that people see.
    mutating func byHand(_ node: ContentNode, path: [String]) -> PayloadNode {
        switch (node, path.count) {
        case (.text(let text), 2): return .shown(text, mustShow: true, isStrict: false)
        case (.text(let text), 3): return .shown(text, mustShow: path[2] != "subtitle", isStrict: false)
        case (.object(let members, _), 0...2):
            findings += members.repeatedNames
            let shown = [["aps"], ["alert"], ["title", "subtitle", "body"]][path.count]
            return .object(
                members.map { member in
                    let name = member.name.value
                    return (
                        name, shown.contains(name) ? byHand(member.value, path: path + [name]) : .content(member.value)
                    )
                })
        default: return .content(node)
        }
    }

    private mutating func checkAPS(_ members: [ContentMember], at place: SourcePosition) -> PushType {
        if members.contains(where: { ActivityRules.own.contains($0.name.value) }) {
            checkActivity(members, at: place)
            return .liveactivity
        }
        for member in members {
            guard let rule = APSRules.keys.first(where: { $0.name == member.name.value })?.rule else {
                reportUnknown(member.name, of: "aps", valid: APSRules.keys.map(\.name))
                continue
            }
            check(member, rule)
        }
        let names = Set(members.map(\.name.value))
        let isVisible = !names.isDisjoint(with: ["alert", "badge", "sound"])
        if names.contains("mutable-content"), !names.contains("alert"),
            let member = members.first(where: { $0.name.value == "mutable-content" })
        {
            warning(
                .mutableWithoutAlert,
                message:
                    "'mutable-content' does nothing without 'alert': the app's extension runs only for a push with text",
                at: member.name.position,
                remedy: "Add an alert, or remove it.")
        }
        if isVisible { return .alert }
        if names.contains("content-available") { return .background }
        warning(
            .nothingVisible, message: "'aps' has no alert, badge or sound: no one would see this push", at: place,
            remedy: "Add an alert, or content-available: 1 for a silent push.")
        return .alert
    }

    private mutating func reportUnknown(_ name: SourceText, of parent: String, valid: [String]) {
        let nearest = nearestName(to: name.value, among: valid)
        let own =
            parent == "aps"
            ? "Custom keys go next to 'aps', not inside it." : "It may hold \(valid.joined(separator: ", "))."
        warnUnknown(name, of: parent, remedy: nearest.map { "Did you mean '\($0)'?" } ?? own)
    }

    private mutating func check(_ member: ContentMember, _ rule: APSRules.Rule) {
        let (name, value) = (member.name.value, member.value)
        switch rule {
        case .alert: checkAlert(value)
        case .sound: checkSound(value)
        case .text:
            if case .text = value { return }
            mustBe(name, what: "a text", value, remedy: "Put it in quotes.")
        case .badge:
            if case .integer(let number, _) = value, number >= 0 { return }
            mustBe(name, what: "a number from 0 up", value, remedy: "For example: badge: 1; 0 removes the badge.")
        case .flag:
            if case .integer(1, _) = value { return }
            mustBe(name, what: "1", value, remedy: "Write \(name): 1, or leave it out.")
        case .relevanceScore:
            if let number = number(value), (0...1).contains(number) { return }
            mustBe(name, what: "a number from 0 to 1", value, remedy: "For example: relevance-score: 0.5.")
        case .interruptionLevel: checkInterruptionLevel(value)
        }
    }

    private mutating func checkAlert(_ value: ContentNode) {
        if case .text = value { return }
        guard case .object(let members, _) = value else {
            return mustBe(
                "alert", what: "a text, or an object with title, subtitle and body", value,
                remedy: "For example: alert: {title: Hello, body: World}.")
        }
        for member in members {
            let name = member.name.value
            if APSRules.alertTexts.contains(name) {
                if case .text = member.value { continue }
                mustBe(name, what: "a text", member.value, remedy: "Put it in quotes.")
            } else if APSRules.alertLists.contains(name) {
                if case .array(let items, _) = member.value,
                    items.allSatisfy({ if case .text = $0 { true } else { false } })
                {
                    continue
                }
                mustBe(name, what: "a list of texts", member.value, remedy: "For example: \(name): [\"Anna\", \"5\"].")
            } else {
                reportUnknown(member.name, of: "alert", valid: APSRules.alertTexts + APSRules.alertLists)
            }
        }
    }

    private mutating func checkSound(_ value: ContentNode) {
        if case .text = value { return }
        guard case .object(let members, _) = value else {
            return mustBe(
                "sound", what: "a text, or an object with critical, name and volume", value,
                remedy: "For example: sound: default.")
        }
        for member in members {
            switch (member.name.value, member.value) {
            case ("critical", .integer(0...1, _)), ("name", .text): continue
            case ("critical", _):
                mustBe("critical", what: "0 or 1", member.value, remedy: "Write critical: 1 for a critical alert.")
            case ("name", _): mustBe("name", what: "a text", member.value, remedy: "For example: name: default.")
            case ("volume", let volume):
                if let number = number(volume), (0...1).contains(number) { continue }
                mustBe("volume", what: "a number from 0 to 1", volume, remedy: "For example: volume: 0.8.")
            default: reportUnknown(member.name, of: "sound", valid: ["critical", "name", "volume"])
            }
        }
    }

    private mutating func checkInterruptionLevel(_ value: ContentNode) {
        let levels = MessageContent.interruptions
        guard case .text(let text) = value else {
            return mustBe(
                "interruption-level", what: "one of \(levels.joined(separator: ", "))", value,
                remedy: "For example: interruption-level: active.")
        }
        // The contents of a cell are not known here.
        guard !text.isTemplate, !levels.contains(text.value) else { return }
        error(
            "'interruption-level' must be one of \(levels.joined(separator: ", ")), not '\(text.value)'",
            at: text.position,
            remedy: nearestName(to: text.value, among: levels).map { "Did you mean '\($0)'?" })
    }

    private func number(_ value: ContentNode) -> Double? {
        switch value {
        case .integer(let number, _): Double(number)
        case .double(let number, _): number
        default: nil
        }
    }

    private mutating func mustBe(_ name: String, what: String, _ value: ContentNode, remedy: String) {
        error("'\(name)' must be \(what), not \(value.found)", at: value.position, remedy: remedy)
    }
}

/// What `aps` may contain. Source: Apple, "Generating a remote notification".
enum APSRules {
    /// The values that a key takes.
    enum Rule {
        case alert, badge, sound, text, flag, interruptionLevel, relevanceScore
    }

    /// The keys of `aps`, in the order of Apple's table.
    static let keys: [(name: String, rule: Rule)] = [
        ("alert", .alert), ("badge", .badge), ("sound", .sound), ("thread-id", .text), ("category", .text),
        ("content-available", .flag),
        ("mutable-content", .flag), ("target-content-id", .text), ("interruption-level", .interruptionLevel),
        ("relevance-score", .relevanceScore), ("filter-criteria", .text),
    ]

    /// Keys of `aps.alert` that take a text.
    static let alertTexts = [
        "title", "subtitle", "body", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key",
    ]
    /// Keys of `aps.alert` that take a list of texts.
    static let alertLists = ["title-loc-args", "subtitle-loc-args", "loc-args"]

    /// Keys of `aps` that people tend to write next to it, with the key of `content` that they
    /// mean.
    static let contentKeys = [
        "sound": "sound", "category": "category", "badge": "badge", "alert": "body", "thread-id": "thread",
        "interruption-level": "interruption", "relevance-score": "relevance", "target-content-id": "target_content",
        "filter-criteria": "filter",
    ]
}
