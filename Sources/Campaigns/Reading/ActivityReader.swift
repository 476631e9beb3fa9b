import Base
import PushServices

/// Reads `activity`: the Live Activity that a campaign starts, updates or ends.
struct ActivityReader {
    static let example = "activity: {event: update, state: {minutes: 12}}"

    let section: Section
    /// Those that take the pushes, at least one.
    let services: [any PushService]

    private var findings: Findings { section.findings }

    /// The activity; nil, and reported, without an event.
    func read() -> ActivityContent? {
        checkServices()
        guard section.required("event", example: "event: update") != nil,
            let event = section.choice("event", ActivityContent.Event.allCases.map { ($0.rawValue, $0) })
        else { return nil }
        var activity = ActivityContent(position: section.position, event: event)
        activity.attributesType = section.text("attributes_type", example: "attributes_type: DeliveryAttributes")
        activity.attributes = group("attributes", example: "attributes: {order: \"7\"}")
        activity.state = group("state", example: "state: {minutes: 12}")
        activity.staleSeconds = section.parsed("stale", example: "stale: 30min", Self.seconds)
        activity.dismissSeconds = dismiss()
        activity.relevance = relevance()
        check(event)
        return activity
    }

    /// Each device gets its push through its own service, so each must be able to.
    private func checkServices() {
        let unable = services.filter { $0.rules.activities == nil }.map(\.displayName)
        guard !unable.isEmpty else { return }
        let able = PushServices.all.filter { $0.rules.activities != nil }.map(\.displayName)
        let isMixed = unable.count < services.count
        findings.error(
            "a Live Activity goes through \(Self.list(able, "or")), and the app \(isMixed ? "also " : "")has \(Self.list(unable, "and"))",
            at: section.position,
            remedy: isMixed
                ? "Give activities an app of volley.yaml without \(Self.list(unable, "and"))."
                : "Give activities an app of volley.yaml with one of those.")
    }

    private static func list(_ names: [String], _ word: String) -> String {
        names.count < 2
            ? names.joined() : "\(names.dropLast().joined(separator: ", ")) \(word) \(names[names.count - 1])"
    }

    private func group(_ key: String, example: String) -> ContentNode? {
        guard let node = section.node(key),
            Section.entries(of: node, name: key, example: example, findings: findings) != nil
        else {
            return nil
        }
        return ContentNodeReader(findings: findings).node(node)
    }

    /// A length of time, in which `m` means minutes: an activity lives for hours, so nobody means
    /// months.
    private static func seconds(_ text: String) throws(Mistake) -> Int {
        guard let match = text.wholeMatch(of: /\s*([0-9]+)\s*[mM]\s*/) else {
            return try DurationNotation.seconds(text)
        }
        return try DurationNotation.seconds("\(match.output.1)min")
    }

    /// A length of time, or 0 for at once.
    private func dismiss() -> Int? {
        if section.node("dismiss")?.text?.value == "0" { return 0 }
        return section.parsed("dismiss", example: "dismiss: 1h", Self.seconds)
    }

    private func relevance() -> ContentNode? {
        guard let node = section.node("relevance") else { return nil }
        if let text = node.text, text.style == .plain {
            switch CoreSchema.value(of: text.value) {
            case .integer(let number): return .integer(number, node.position)
            case .double(let number): return .double(number, node.position)
            default: break
            }
        }
        section.wrongKind("'relevance'", node, must: "a number", example: "relevance: 100")
        return nil
    }

    /// What an event needs, and what belongs to another one.
    private func check(_ event: ActivityContent.Event) {
        let examples = [
            "attributes_type": "attributes_type: DeliveryAttributes", "attributes": "attributes: {order: \"7\"}",
            "state": "state: {minutes: 12}",
        ]
        let needed = event == .start ? ["attributes_type", "attributes", "state"] : event == .update ? ["state"] : []
        for key in needed where !section.mentions(key) {
            findings.error(
                "an activity that \(event.rawValue)s needs '\(key)'", at: section.position,
                remedy: "Add it, for example: \(examples[key] ?? key).")
        }
        let foreign =
            (event == .start ? [] : ["attributes_type", "attributes"]) + (event == .end ? ["stale"] : ["dismiss"])
        for key in foreign where section.has(key) {
            findings.error(
                "an activity that \(event.rawValue)s has no '\(key)'", at: section.place(of: key), remedy: "Remove it.")
        }
    }

    private static let keys: Set<ContentKey> = [.title, .body, .sound]

    /// What the content next to an activity may hold: its alert.
    static func check(_ content: MessageContent, _ section: Section?, _ activity: ActivityContent, _ findings: Findings)
    {
        if let section {
            for entry in section.entries
            where ContentKey(rawValue: entry.key.value).map({ !keys.contains($0) }) ?? (entry.key.value != "languages")
            {
                findings.error(
                    "the alert of an activity has no '\(entry.key.value)'", at: entry.key.position,
                    remedy: "It may have title, body and sound; remove the rest.")
            }
        }
        content.languages.forEach { check($0.content, findings) }
        guard content.title == nil || content.body == nil, activity.event == .start || section != nil else { return }
        findings.error(
            "the alert of an activity has a title and a body", at: section?.position ?? activity.position,
            remedy: "Write both: content: {title: On its way, body: 12 minutes left}.")
    }

    /// The same for what variants and languages change of it.
    static func check(_ change: MessageContent, _ findings: Findings) {
        let texts: [(ContentKey, SourcePosition?)] = [
            (.subtitle, change.subtitle?.position), (.category, change.category?.position),
            (.thread, change.thread?.position),
            (.image, change.image?.position), (.link, change.link?.position), (.data, change.data?.position),
            (.interruption, change.interruption?.position), (.relevance, change.relevance?.position),
            (.targetContent, change.targetContent?.position), (.filter, change.filter?.position),
            (.localized, change.localized.values.first?.key.position),
            (.badge, change.badge.map { _ in change.position }),
            (.payload, change.payload?.position),
        ]
        for case (let key, let place?) in texts {
            findings.error(
                "the alert of an activity has no '\(key.rawValue)'", at: place,
                remedy: "It may have title, body and sound; remove the rest.")
        }
        change.languages.forEach { check($0.content, findings) }
    }
}
