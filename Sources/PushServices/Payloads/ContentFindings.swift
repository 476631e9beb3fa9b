public import Base

/// Makes a service's payload of content, and notes what is wrong with the content on the way.
protocol ContentFindings {
    /// The service's name in sentences.
    static var service: String { get }
    /// Mistakes and warnings, each at its place in the campaign.
    var findings: [Diagnostic] { get set }
}

extension ContentFindings {
    typealias Member = (name: String, value: PayloadNode)

    mutating func error(_ message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(Diagnostic(message, at: place, remedy: remedy))
    }

    mutating func warning(_ name: WarningName, message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(.warning(name, message: message, at: place, remedy: remedy))
    }

    /// The most that the service takes of a part of the payload.
    static func limit(_ most: Int, _ unit: PayloadPart.Unit, of noun: String, at place: SourcePosition) -> PayloadLimit
    {
        PayloadLimit(most, unit, of: noun, service: service, at: place)
    }

    /// A text that people see, with the service's limit on its characters.
    static func shown(_ text: SourceText, _ key: ContentKey, atMost most: Int) -> PayloadNode {
        .limited(
            .shown(text, mustShow: true),
            PayloadLimit(most, .characters, of: key.rawValue, key: key, service: service, at: text.position))
    }

    /// Notes a key of a payload by hand that is not among those which are known. It goes out as
    /// written: services get new ones.
    mutating func warnUnknown(_ name: SourceText, of parent: String, remedy: String) {
        warning(
            .unknownPayloadKey, message: "'\(parent)' has no key '\(TextFormat.foreign(name.value, maximumBytes: 40))'",
            at: name.position,
            remedy: remedy)
    }

    // MARK: - What services have in common

    /// The texts of an alert on iPhones, in the order of their lines. Texts of the app are there
    /// instead of those of the campaign. Source: Apple, "Generating a remote notification".
    /// - Parameter subtitleMustShow: whether a push in which the subtitle is blank is not sent.
    static func alert(_ content: MessageContent, subtitleMustShow: Bool = false) -> [Member] {
        let texts: [(ContentKey, String, SourceText?, Bool)] = [
            (.title, "title-loc", content.title, true), (.subtitle, "subtitle-loc", content.subtitle, subtitleMustShow),
            (.body, "loc", content.body, true),
        ]
        return texts.flatMap { key, name, text, mustShow -> [Member] in
            if let localized = content.localized[key] {
                return members(localized, key: "\(name)-key", arguments: "\(name)-args")
            }
            return text.map { [(key.rawValue, .shown($0, mustShow: mustShow))] } ?? []
        }
    }

    /// A text of the app. People see its arguments.
    static func members(_ text: LocalizedText, key: String, arguments: String) -> [Member] {
        let list = PayloadNode.list(text.arguments.map { .shown($0, mustShow: true) })
        return [(key, .text(text.key))] + (text.arguments.isEmpty ? [] : [(arguments, list)])
    }

    /// The sound of iPhones. A critical alert is one by its sound, too. Source: Apple, "Generating
    /// a remote notification", sound.
    static func appleSound(_ content: MessageContent) -> PayloadNode? {
        guard content.interruption?.value == "critical" else { return content.sound.map { .text($0) } }
        return .object([
            ("critical", .constant(.integer(1))),
            ("name", content.sound.map { .text($0) } ?? .constant(.string("default"))),
        ])
    }

    /// How much a push disturbs on iPhones.
    static func interruption(_ content: MessageContent) -> [Member] {
        content.interruption.map { [("interruption-level", .text($0))] } ?? []
    }

    /// The same, and where iPhones show it.
    static func presentation(_ content: MessageContent) -> [Member] {
        var members = interruption(content)
        if let relevance = content.relevance { members.append(("relevance-score", .content(relevance))) }
        if let target = content.targetContent { members.append(("target-content-id", .text(target))) }
        if let filter = content.filter { members.append(("filter-criteria", .text(filter))) }
        return members
    }

    /// Notes a text that no phone shows, as all have one of the app in its place.
    mutating func refuseTwice(_ content: MessageContent) {
        for (key, text) in [(ContentKey.title, content.title), (.subtitle, content.subtitle), (.body, content.body)] {
            guard let text, content.localized[key] != nil else { continue }
            error(
                "'localized' has a \(key.rawValue), too, and \(Self.service) shows one of them", at: text.position,
                remedy: "Keep one of them; a text for other services goes below its name in 'services'.")
        }
    }

    /// The app's own keys, and `link` among them: what the app gets, whatever shows the push.
    /// - Parameter onlyTexts: whether the service carries nothing but texts there.
    mutating func ownKeys(_ content: MessageContent, onlyTexts: Bool) -> [Member] {
        let link: [Member] = content.link.map { [("link", .address($0))] } ?? []
        guard case .object(let data, _) = content.data else {
            return link + tracking(content, beside: [], asText: onlyTexts)
        }
        findings += data.repeatedNames
        refuseTwice("link", content.link, in: data)
        if onlyTexts { findings += data.compactMap { $0.mistakeUnlessText(in: "data", of: Self.service) } }
        return link + data.map { ($0.name.value, .content($0.value)) }
            + tracking(content, beside: data, asText: onlyTexts)
    }

    /// What a tracked push says of itself; empty for one that is not tracked.
    /// - Parameters:
    ///   - own: the app's own keys in the same place, below `group` of the campaign.
    ///   - asText: whether the service carries nothing but texts there, so that it is the JSON of
    ///     the same.
    mutating func tracking(
        _ content: MessageContent, beside own: [ContentMember], of group: String = "data", asText: Bool = false
    ) -> [Member] {
        guard let tracking = content.tracking else { return [] }
        for member in own where member.name.value == PushTracking.key {
            error(
                "'\(group)' holds '\(PushTracking.key)', which 'track' writes", at: member.name.position,
                remedy: "Rename it, here and in the app; or write track: false under 'delivery'.")
        }
        let value = PayloadNode.object(
            tracking.members.map { ($0.name, .constant(.string($0.value))) } + [("id", .pushID)])
        return [(PushTracking.key, asText ? .encoded(value) : value)]
    }

    /// Whether the app's extension on iPhones is to run before the push is shown: it loads an
    /// image, or reports that a tracked push arrived.
    static func runsExtension(_ content: MessageContent) -> Bool {
        content.image != nil || content.tracking != nil && !alert(content).isEmpty
    }

    /// Reports a key of `data` that `content` also sets.
    mutating func refuseTwice(_ name: String, _ text: SourceText?, in data: [ContentMember]) {
        guard text != nil else { return }
        for member in data where member.name.value == name {
            error(
                "'data' holds '\(name)', which 'content' sets too", at: member.name.position,
                remedy: "Keep one of them.")
        }
    }

    mutating func checkBadge(_ content: MessageContent, highest: Int) {
        guard let badge = content.badge, badge > highest else { return }
        error(
            "the badge \(badge) is higher than \(Self.service) takes, which is \(highest)", at: content.position,
            remedy: "Write a badge from 0 to \(highest).")
    }

    /// Android has no subtitle, and its badges count notifications: what a push without title and
    /// body is there.
    mutating func checkInvisible(_ content: MessageContent) {
        guard let subtitle = content.subtitle else { return warnInvisible(content, remedy: "Add a title or a body.") }
        error(
            "Android shows no subtitle, so a push through \(Self.service) needs a title or a body, too",
            at: subtitle.position,
            remedy: "Write the text as 'title' or 'body'.")
    }

    mutating func warnInvisible(_ content: MessageContent, remedy: String) {
        warning(
            .nothingVisible,
            message: "a push without title and body does nothing on Android; iPhones get its badge and its sound",
            at: content.position, remedy: remedy)
    }
}

/// Sounds that Android and iPhones play: one name for both.
extension ContentFindings {
    /// What Android calls a sound: a resource of the app, without the ending that iPhones need.
    /// Source: Android, "App resources overview".
    static func androidSound(_ sound: SourceText) -> SourceText {
        var sound = sound
        if let ending = ending(of: sound) { sound.value.removeLast(ending.count + 1) }
        return sound
    }

    /// What follows the last full stop that does not belong to a template.
    private static func ending(of sound: SourceText) -> Substring? {
        let plain =
            sound.value.lastIndex(of: "}").map { sound.value[sound.value.index(after: $0)...] } ?? sound.value[...]
        return plain.lastIndex(of: ".").map { plain[plain.index(after: $0)...] }
    }

    /// Notes a sound that one of the systems does not play.
    mutating func checkSound(_ sound: SourceText) {
        guard sound.value != "default" else { return }
        let ending = Self.ending(of: sound)
        if ending == nil, sound.isTemplate {
            return error(
                "the ending of the sound must stand behind its template, because Android needs the name without it",
                at: sound.position,
                remedy: "For example: sound: \"{{ tone }}.caf\", with a column that holds the name alone.")
        }
        let name = Self.androidSound(sound).value
        if !sound.isTemplate, !name.utf8.allSatisfy(ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789_").contains) {
            // Source: Android, "App resources overview": file names are lower-case letters, digits
            // and underscores.
            warning(
                .soundNotPlayable,
                message: "Android has no sound '\(name)': its names are lower-case letters, digits and underscores",
                at: sound.position,
                remedy: "Rename the file in both apps, for example: sound: spring_sale.\(ending ?? "caf").")
        } else if let ending, !Self.endingsOfPhones.contains(ending.lowercased()) {
            warning(
                .soundNotPlayable,
                message:
                    "the sound '\(sound.value)' is not in a format that iPhones play, so they play their usual one",
                at: sound.position, remedy: "End it in .caf, .aiff or .wav; Android finds its own file of that name.")
        }
    }

    /// Source: Apple, "Preparing custom alert sounds".
    private static var endingsOfPhones: [String] { ["aiff", "aif", "wav", "caf"] }
}

/// Groups of keys that only one service has, below its name in `content.services`.
extension ContentFindings {
    /// The members of such a group, without those that the service does not know, which are noted.
    /// - Parameters:
    ///   - others: keys that are not for a campaign, with what to do instead.
    ///   - example: the group as a person might write it: a whole sentence.
    mutating func members(
        of key: String, in content: MessageContent, valid: [String], others: [String: String] = [:], example: String
    ) -> [ContentMember] {
        guard let members = group(key, in: content, example: example) else { return [] }
        findings += members.repeatedNames
        return members.filter { member in
            let name = member.name.value
            if valid.contains(name) { return true }
            if let remedy = others[name] {
                error("'\(name)' is set by Volley", at: member.name.position, remedy: remedy)
            } else {
                let nearest = nearestName(to: name, among: valid).map { "Did you mean '\($0)'?" }
                error(
                    "unknown key '\(TextFormat.foreign(name, maximumBytes: 40))' in '\(key)'", at: member.name.position,
                    remedy: nearest ?? "Valid here: \(valid.joined(separator: ", ")).")
            }
            return false
        }
    }

    /// All members of such a group; nil if the group is missing, or if it cannot be read, which is
    /// noted.
    mutating func group(_ key: String, in content: MessageContent, example: String) -> [ContentMember]? {
        guard let own = content.own.first(where: { $0.name.value == key }) else { return nil }
        if case .object(let members, _) = own.value { return members }
        error("'\(key)' must be a group of keys", at: own.value.position, remedy: example)
        return nil
    }

    /// The members of a group by the service's names for them; what is wrong with them is noted.
    mutating func values(of key: String, in content: MessageContent, _ keys: [OwnKey], example: String) -> [Member] {
        members(of: key, in: content, valid: keys.map(\.name), example: example).compactMap { member in
            keys.first { $0.name == member.name.value }.flatMap { value(of: member, $0) }
        }
    }

    private mutating func value(of member: ContentMember, _ key: OwnKey) -> Member? {
        switch (key.form, member.value) {
        case (.text, _): return nonBlankText(member).map { (key.payload, .text($0)) }
        case (.limitedText(let most), _):
            return nonBlankText(member).map {
                (
                    key.payload,
                    .limited(.shown($0, mustShow: true), Self.limit(most, .characters, of: key.name, at: $0.position))
                )
            }
        case (.color, .text(let text)) where text.value.wholeMatch(of: /#[0-9A-Fa-f]{6}/) != nil:
            return (key.payload, .text(text))
        case (.words(let words), .text(let text)):
            if let word = words.first(where: { $0.word == text.value }) { return (key.payload, .constant(word.value)) }
        case (.number(let range), .integer(let number, _)) where range.contains(number):
            return (key.payload, .constant(.integer(number)))
        case (.badge, .integer(0...99, _)): return (key.payload, .content(member.value))
        case (.badge(let name), .text(let text)):
            if let number = Self.addition(text, 1...99) { return (name, .constant(.integer(number))) }
        case (.added(let range), .text(let text)):
            if let number = Self.addition(text, range) { return (key.payload, .constant(.integer(number))) }
        default: break
        }
        let (what, example) = key.form.expectation
        error(
            "'\(key.name)' must be \(what), not \(member.value.found)", at: member.value.position,
            remedy: key.form.nearest(member.value).map { "Did you mean '\($0)'?" }
                ?? "For example: \(key.name): \(example).")
        return nil
    }

    private static func addition(_ text: SourceText, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.value.hasPrefix("+"), let number = Int64(text.value.dropFirst()), range.contains(number) else {
            return nil
        }
        return number
    }

    /// The text of a member; nil, and noted, if it has none.
    mutating func text(_ member: ContentMember) -> SourceText? {
        if case .text(let text) = member.value { return text }
        error("'\(member.name.value)' must be a text", at: member.value.position, remedy: "Put it in quotes.")
        return nil
    }
}

extension ContentKey {
    /// The key below one service of a campaign's content, as people write it:
    /// `services: {getui: {title: …}}`.
    public func below(_ service: any PushService, _ value: String) -> String {
        "services: {\(service.accountName): {\(rawValue): \(value)}}"
    }
}

extension ContentMember {
    /// What is wrong with a member of a group in which a service carries nothing but texts; nil for
    /// a text.
    /// - Parameters:
    ///   - group: the group's key.
    ///   - service: its name in sentences.
    func mistakeUnlessText(in group: String, of service: String) -> Diagnostic? {
        let name = name.value
        let (found, remedy): (String, String)
        switch value {
        case .text: return nil
        case .null: (found, remedy) = ("no value", "Remove the key, or write \(name): \"\".")
        case .bool(let value, _): (found, remedy) = ("a truth value", "Put it in quotes: \(name): \"\(value)\".")
        case .integer(let number, _): (found, remedy) = ("a number", "Put it in quotes: \(name): \"\(number)\".")
        case .double(let number, _):
            (found, remedy) = ("a number", "Put it in quotes: \(name): \"\(JSONValue.double(number).text)\".")
        case .array:
            (found, remedy) = (
                "a list", "Write it as one text, for example \(name): \"a,b\", and let the app take it apart."
            )
        case .object:
            (found, remedy) = ("a group of keys", "Write its keys directly under '\(group)', each with a text.")
        }
        return Diagnostic(
            "'\(name)' in '\(group)' is \(found), and \(service) carries only texts there", at: value.position,
            remedy: remedy)
    }
}

extension ContentNode {
    /// What is found where something else must be, for messages: "a list", "the text 'x'".
    var found: String {
        switch self {
        case .null: "nothing"
        case .bool(let value, _): "\(value)"
        case .integer(let number, _): "\(number)"
        case .double(let number, _): "\(number)"
        case .text(let text): text.isTemplate ? "a template, which always gives a text" : "the text '\(text.value)'"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension SourceText {
    /// Whether cells or conditions decide about a part of it.
    var isTemplate: Bool { value.contains("{{") || value.contains("{%") }
}
