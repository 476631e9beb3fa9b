import Base
import PushServices

/// Reads `content`: what a push says, or what part of the audience gets instead. Templates in texts
/// are left as they are.
struct ContentReader {
    let section: Section
    let source: YAMLSource
    /// Those that take the pushes, at least one.
    let services: [any PushService]
    /// The content that this one changes; nil for the campaign's own, which must show something.
    var base: MessageContent?
    /// Whether it is the content of a single service, which may have a payload of its own.
    var isOfService = false

    private var service: any PushService { services[0] }
    private var findings: Findings { section.findings }
    private static let alert = ["title", "subtitle", "body"]

    /// The content; what is wrong in it was reported.
    func read() -> MessageContent {
        var content = MessageContent(position: section.position)
        content.title = shownText("title", example: "title: \"Spring sale\"")
        content.subtitle = shownText("subtitle", example: "subtitle: Only until Sunday")
        content.body = shownText("body", example: "body: \"20 % off everything.\"")
        content.sound = sound()
        content.badge = badge()
        content.category = section.text("category", example: "category: SALE")
        content.thread = section.text("thread", example: "thread: spring")
        content.image = image()
        content.link = section.text("link", example: "link: shop://sale").flatMap { oneAddress("link", $0) }
        warnAboutComment(behind: content.image, isAddress: true)
        warnAboutComment(behind: content.link, isAddress: true)
        content.data = object("data", example: "data: {campaign: spring-sale}")
        content.interruption = interruption()
        content.relevance = relevance()
        content.targetContent = section.text("target_content", example: "target_content: orders")
        content.filter = section.text("filter", example: "filter: work")
        content.localized = localized()
        content.wakesApp = section.truth("wake_app") ?? false
        content.isSilent = section.truth("silent") ?? false && takes(.silent)
        content.payload = object("payload", example: payloadExample)
        if section.has("payload") { checkPayload(content) }
        if section.group.holds(CampaignKeys.services) {
            content.services = ServiceContentReader(section: section, source: source, services: services, base: content)
                .read()
        }
        if isOfService { content.own = own() }
        refuseForeignKeys((base ?? content).services)
        if let base { checkFits(base) } else if !section.has("payload"), !hasPayloads(content) { checkKind(content) }
        checkData()
        if section.group.valid.contains("languages") {
            content.languages = TranslationReader(
                section: section, source: source, services: services, base: base ?? content
            ).read()
        }
        return content
    }

    private func takes(_ key: ContentKey) -> Bool { services.contains { $0.rules.contentKeys.contains(key) } }

    /// What the services' pushes do not have.
    /// - Parameter contents: what devices of single services get.
    private func refuseForeignKeys(_ contents: [ServiceContent]) {
        for key in ContentKey.allCases where section.group.holds(key.rawValue) && section.has(key.rawValue) {
            let lacking = services.filter { !$0.rules.contentKeys.contains(key) }
            let knowing = Set(contents.filter { $0.content.removed.contains(key) }.map(\.service.value))
            findings.note(lacking, of: services, lack: key, knowing: knowing, at: section.place(of: key.rawValue))
        }
    }

    /// What only one service has.
    private func own() -> [ContentMember] {
        let keys = service.rules.ownKeys.map(\.key)
        return section.entries.filter { keys.contains($0.key.value) }.map {
            ContentMember($0.key, ContentNodeReader(findings: findings).node($0.value))
        }
    }

    /// Whether each service has a payload written by hand, so that nothing else is needed.
    private func hasPayloads(_ content: MessageContent) -> Bool {
        services.allSatisfy { service in
            content.services.contains { $0.service.value == service.accountName && $0.content.payload != nil }
        }
    }

    /// Only a payload written by hand can change a payload written by hand.
    private func checkFits(_ base: MessageContent) {
        if base.payload == nil, section.has("payload"), !isOfService {
            findings.error(
                "'payload' cannot be used here, because the campaign's content is not a payload",
                at: section.place(of: "payload"),
                remedy: "Write the keys that differ: title, body, …")
        } else if base.payload != nil,
            let other = section.entries.first(where: { !["payload", "languages"].contains($0.key.value) })
        {
            findings.error(
                "the campaign's content is a payload written by hand, so '\(other.key.value)' cannot change it",
                at: other.key.position,
                remedy: "Write the whole payload for these devices as 'payload'.")
        } else if base.isSilent,
            let other = section.entries.first(where: { !["data", "link", "languages"].contains($0.key.value) })
        {
            findings.error(
                "a silent push has no '\(other.key.value)'", at: other.key.position,
                remedy: "Change 'data' or 'link', or remove 'silent' above.")
        } else if section.entries.isEmpty {
            findings.error(
                "nothing differs here", at: section.position,
                remedy: "Write what these devices get instead, for example: body: \"…\".")
        }
    }

    /// A text that people see. A comment sign in it would silently cut it short.
    private func shownText(_ key: String, example: String) -> SourceText? {
        if let node = section.node(key), node.isNull, comment(after: "", at: node.position) != nil {
            findings.error(
                "'\(key)' has no text: YAML reads what follows # as a comment", at: node.position,
                remedy: "Put the whole text in quotes.")
            return nil
        }
        guard let text = section.text(key, example: example) else { return nil }
        warnAboutComment(behind: text)
        warnAboutQuote(text)
        if text.style == .plain, let note = text.value.firstRange(of: " // ") {
            let read = String(text.value[note.lowerBound...].dropFirst())
            findings.warning(
                .commentInText,
                message:
                    "people would read \(quoted(read, isContent: true)) too: // does not begin a comment in YAML",
                at: text.position,
                remedy: "Remove it, or write # for a comment; to keep it, put the whole text in quotes.")
        }
        return text
    }

    /// `  # note` is clearly a comment; `#1`, `#sale`, and what follows the text after one blank
    /// are often a part of it. No address continues with ` # note`.
    private func warnAboutComment(behind text: SourceText?, isAddress: Bool = false) {
        guard let text, text.style == .plain, let comment = comment(after: text.value, at: text.position) else {
            return
        }
        let isNote = comment.text.first == " "
        guard !isNote && !comment.text.isEmpty || comment.blanks == 1 && !isAddress else { return }
        findings.warning(
            .commentInText,
            message:
                "the text ends before \(quoted("#" + comment.text, isContent: true)), which YAML reads as a comment",
            at: text.position,
            remedy:
                "Put the whole text in quotes if that belongs to it\(isNote ? "; before a comment write two blanks" : "")."
        )
    }

    /// `Sale"`, `Sale”`, `Sale'`: a quote that should have been opened. `55"` are inches, and
    /// `the girls'` and `rockin'` end this way.
    private func warnAboutQuote(_ text: SourceText) {
        guard text.style == .plain, let quote = text.value.last, Self.closingQuotes.contains(quote),
            !text.value.dropLast().contains(where: { $0 == quote || quote != "'" && Self.openingQuotes.contains($0) }),
            let before = text.value.dropLast().last, !before.isNumber,
            quote != "'" || !"snzx".contains(before.lowercased())
        else { return }
        findings.warning(
            .curlyQuotes, message: "the quote at the end is part of the text, as there is none at its beginning",
            at: text.position,
            remedy: "Remove it, or put the whole text in quotes.")
    }

    private static let closingQuotes: Set<Character> = ["\"", "'", "”"]
    private static let openingQuotes: Set<Character> = ["“", "„", "\""]

    /// What follows ` #` after a text without quotes, and how many blanks come before it.
    private func comment(after text: String, at place: SourcePosition) -> (text: String, blanks: Int)? {
        let rest = source.line(place.line).dropFirst(place.column - 1)
        guard rest.starts(with: text.unicodeScalars) else { return nil }
        let gap = rest.dropFirst(text.unicodeScalars.count)
        let comment = gap.drop { $0 == " " || $0 == "\t" }
        guard comment.first == "#", comment.count < gap.count else { return nil }
        return (String(String.UnicodeScalarView(comment.dropFirst())), gap.count - comment.count)
    }

    /// A sound is a name; `true` would be taken for one that no app has.
    private func sound() -> SourceText? {
        if let node = section.node("sound"), let text = node.text, text.style == .plain,
            let isMeant = Self.truth(of: text.value)
        {
            findings.error(
                "'sound' is the name of a sound, not \(quoted(text.value, isContent: true))", at: node.position,
                remedy: isMeant
                    ? "Write sound: default, or the name of a file in the app."
                    : "For a push without sound remove the key.")
            return nil
        }
        return section.text("sound", example: "sound: default")
    }

    private static func truth(of text: String) -> Bool? {
        [
            "true": true, "yes": true, "on": true, "false": false, "no": false, "off": false, "none": false,
            "silent": false,
        ][
            text.lowercased()]
    }

    private func badge() -> Int? {
        if let node = section.node("badge"), let text = node.text, text.value.hasPrefix("+") {
            findings.error(
                "\(service.displayName) cannot add to a badge, it shows the number that it is sent", at: node.position,
                remedy: "Send the number from your own data, for example: badge: 1.")
            return nil
        }
        return section.wholeNumber("badge", in: 0...2_147_483_647, example: "badge: 1")
    }

    private func image() -> SourceText? {
        guard let image = section.text("image", example: "image: https://cdn.example.com/spring.jpg") else {
            return nil
        }
        if image.value.hasPrefix("{{") || image.value.hasPrefix("{%") { return image }
        let rest = image.value.dropFirst("https://".count)
        guard image.value.lowercased().hasPrefix("https://"), let first = rest.first, first != "/" else {
            findings.error(
                "'image' must be a web address that begins with https://, not \(quoted(image.value, isContent: true))",
                at: image.position,
                remedy: "For example: image: https://cdn.example.com/spring.jpg.")
            return nil
        }
        return oneAddress("image", image)
    }

    /// Conditions may choose between addresses; two next to each other are a mistake.
    private func oneAddress(_ key: String, _ address: SourceText) -> SourceText? {
        guard !address.value.contains("{%"), let second = address.value.firstMatch(of: /\S\s+https?:\/\//.ignoresCase())
        else {
            return address
        }
        let other = address.value[second.range.lowerBound...].dropFirst().drop(while: \.isWhitespace)
        findings.error(
            "'\(key)' takes one address, but another follows: \(quoted(String(other), isContent: true))",
            at: address.position,
            remedy: "Keep one of them.")
        return nil
    }

    private func object(_ key: String, example: String) -> ContentNode? {
        guard let node = section.node(key) else { return nil }
        guard Section.entries(of: node, name: key, example: example, findings: findings) != nil else { return nil }
        return ContentNodeReader(findings: findings).node(node)
    }

    private func checkPayload(_ content: MessageContent) {
        let own = isOfService ? service.rules.ownKeys.map(\.key) : []
        for key in CampaignKeys.content.valid + own where !["payload", "languages"].contains(key) && section.has(key) {
            findings.error(
                "'payload' is the whole push written by hand, so '\(key)' cannot be used with it",
                at: section.place(of: key),
                remedy: "Write it into the payload, or remove 'payload'.")
        }
        guard case .object(let members, let place) = content.payload else { return }
        if services.count > 1 {
            let names = services.map(\.displayName).joined(separator: " and ")
            return findings.error(
                "a payload written by hand is for one service, and the app has \(names)",
                at: section.place(of: "payload"),
                remedy:
                    "Write it below the service: services: {\(service.name): {payload: {\(service.rules.payloadExample)}}}."
            )
        }
        let key = service.rules.payloadKey
        guard let member = members.first(where: { $0.name.value == key }) else {
            findings.error(
                "the payload has no '\(key)', so \(service.displayName) would show nothing", at: place,
                remedy: "For example: \(payloadExample).")
            return
        }
        if case .object = member.value { return }
        findings.error(
            "'\(key)' must be a group of keys", at: member.value.position, remedy: "For example: \(payloadExample).")
    }

    private var payloadExample: String { "payload: {\(service.rules.payloadExample)}" }

    /// A push is visible or silent, and a visible one shows, plays or counts something.
    private func checkKind(_ content: MessageContent) {
        if content.isSilent { return checkSilent() }
        let visible = Self.alert + ["localized", "badge", "sound"]
        let choices = orList(ContentKey.visible.filter(takes).map(\.rawValue))
        if section.has("image"), !(Self.alert + ["localized"]).contains(where: section.mentions) {
            findings.error(
                "an image needs a text with it", at: section.place(of: "image"), remedy: "Add a title or a body.")
        }
        guard !visible.contains(where: section.mentions), !section.mentions("payload"),
            !section.truthIsUnclear("silent")
        else { return }
        findings.error(
            "the content shows nothing", at: section.position,
            remedy:
                "Add a \(choices)\(takes(.silent) ? ", or write silent: true for a push that only wakes the app" : "")."
        )
    }

    private func checkSilent() {
        for key in CampaignKeys.content.valid
        where !["silent", "data", "link", "payload", "languages"].contains(key) && section.has(key) {
            if key == "wake_app" {
                findings.error(
                    "'wake_app' adds nothing to 'silent', which already wakes the app", at: section.place(of: key),
                    remedy: "Remove it.")
            } else {
                // At the value, where the payload's own rules would report it too.
                findings.error(
                    "a silent push has no '\(key)'", at: section.node(key)?.position ?? section.place(of: key),
                    remedy: "Remove it, or remove 'silent' if people should see the push.")
            }
        }
    }

    private func checkData() {
        guard case .mapping(let entries)? = section.node("data")?.content else { return }
        for entry in entries {
            if let owner = services.first(where: { $0.rules.payloadKey == entry.key.value }) {
                findings.error(
                    "'data' must not hold '\(entry.key.value)', which belongs to \(owner.displayName)",
                    at: entry.key.position,
                    remedy: "Use the keys of 'content', or write the whole push as 'payload'.")
            } else if ["image", "link"].contains(entry.key.value), section.has(entry.key.value) {
                findings.error(
                    "'data' holds '\(entry.key.value)', which 'content' sets too", at: entry.key.position,
                    remedy: "Keep one of them.")
            }
        }
    }
}
