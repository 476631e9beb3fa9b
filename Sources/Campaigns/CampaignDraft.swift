public import Base
public import PushServices

/// What could be read of a campaign file, mistakes or not, so that mistakes in app and texts are
/// reported together with those found here.
///
/// ```swift
/// let draft = Campaign.draft(file: "campaigns/spring-sale.yaml", now: .now())
/// let mistakes = draft.findings.filter { $0.severity == .error }
/// ```
public struct CampaignDraft: Sendable {
    /// Whether the text is YAML with the keys of a campaign, right or wrong; false where its
    /// settings cannot be read at all.
    public internal(set) var isCampaign = false
    /// The campaign; nil when there are mistakes.
    public internal(set) var campaign: Campaign?
    /// Whether it has times of its own; also true where a schedule is written that cannot be read,
    /// or where nothing can.
    public internal(set) var mayHaveTimes = true
    /// The app as named, if it is; the first one where it is named twice.
    public var app: SourceText?
    /// Whether it names two apps, or has a key that cannot be read, which may be any: it is not
    /// known which app it is for, nor whether it has times.
    public internal(set) var isDoubtful = false
    /// The audience as far as it could be read.
    public var audience: CampaignAudience?
    /// The content as far as it could be read.
    public var content: MessageContent?
    /// The variants, when none of them has a mistake.
    public var variants: [MessageVariant] = []
    /// Mistakes and warnings, in the order of their places.
    public internal(set) var findings: [Diagnostic] = []

    /// Nothing found yet.
    init(
        app: SourceText? = nil, audience: CampaignAudience? = nil, content: MessageContent? = nil,
        variants: [MessageVariant] = []
    ) {
        self.app = app
        self.audience = audience
        self.content = content
        self.variants = variants
    }
}

extension Campaign {
    /// Reads and checks a campaign file as far as possible. No file but this one is touched.
    /// - Parameters:
    ///   - now: the moment against which an expiry is judged as past.
    ///   - services: says by an app's name which services take its pushes, at least one.
    public static func draft(
        file: String, now: Timestamp, services: (_ app: String) -> [any PushService] = { _ in [PushServices.standard] }
    ) -> CampaignDraft {
        do throws(Diagnostics) {
            return draft(try openSource(file), now: now, services: services)
        } catch {
            var draft = CampaignDraft()
            draft.findings = error.all
            return draft
        }
    }

    /// Reads and checks what is not in a file yet.
    /// - Parameters:
    ///   - bytes: exactly those that the file will hold, byte order mark and line ends included.
    ///   - file: where they will be, for its mistakes; nothing is read there.
    public static func draft(
        bytes: [UInt8], file: String, now: Timestamp,
        services: (_ app: String) -> [any PushService] = { _ in [PushServices.standard] }
    ) -> CampaignDraft {
        do throws(Diagnostic) {
            return draft(try YAMLSource(file: file, bytes: bytes), now: now, services: services)
        } catch {
            var draft = CampaignDraft()
            draft.findings = [error]
            return draft
        }
    }

    /// The same for a text.
    public static func draft(
        text: String, file: String, now: Timestamp,
        services: (_ app: String) -> [any PushService] = { _ in [PushServices.standard] }
    ) -> CampaignDraft { draft(bytes: Array(text.utf8), file: file, now: now, services: services) }

    /// Reads and checks the text of a campaign file as far as possible.
    static func draft(
        _ source: YAMLSource, now: Timestamp,
        services: (_ app: String) -> [any PushService] = { _ in [PushServices.standard] }
    ) -> CampaignDraft {
        let findings = Findings()
        let root = rootSection(
            of: source, CampaignKeys.root, CampaignKeys.file, example: "name: spring-sale", findings: findings)
        if let root, root.has("apps"), !root.has("audience"), !root.has("content") {
            let place = root.place(of: "apps")
            var draft = CampaignDraft()
            draft.findings = [
                Diagnostic(
                    "this file names apps, as volley.yaml does; it is not a campaign", at: place,
                    remedy: "Name a campaign file; its volley.yaml is checked with it.")
            ]
            return draft
        }
        var draft = withoutActuallyEscaping(services) { services in
            root.map { CampaignReader(root: $0, source: source, now: now, services: services).read() }
                ?? CampaignDraft()
        }
        findings.preferFalseSpaces(in: source)
        draft.findings = Diagnostics(findings.all).all
        draft.isDoubtful = findings.repeatedKeys.contains("app") || findings.hasUnreadableKeys
        if findings.hasErrors { draft.campaign = nil }
        return draft
    }
}

/// A text, link or image that a change of a campaign gave a new value in its main content, while
/// languages, variants or services kept the values of their own: their devices would get the old
/// one, although the author may believe that the campaign says something else now.
public struct PartialChange: Sendable {
    /// A value that stayed as it was.
    public struct Kept: Hashable, Sendable {
        /// Which devices get it, in words: `'de'`, `the variant 'short'`.
        public let name: String
        /// The keys that lead to it in the file: `content`, `languages`, `de`, `title`.
        public let path: [String]
        /// As the campaign has it now.
        public let text: SourceText
    }

    /// The key of `content`: `title`.
    public let key: ContentKey
    /// In the order of the file; at least one.
    public let kept: [Kept]

    /// What changed in part between two versions of a campaign, as far as both could be read; empty
    /// if nothing did.
    public static func all(from old: CampaignDraft, to new: CampaignDraft) -> [PartialChange] {
        guard let before = old.content, let after = new.content else { return [] }
        return all(from: (before, old.variants), to: (after, new.variants))
    }

    /// The same of contents with their variants.
    public static func all(
        from old: (content: MessageContent, variants: [MessageVariant]),
        to new: (content: MessageContent, variants: [MessageVariant])
    ) -> [PartialChange] {
        let former = Dictionary(overrides(old.content, old.variants).map { ($0.name, $0.content) }) { first, _ in first
        }
        return keys.compactMap { key in
            guard words(key.of(old.content)) != words(key.of(new.content)) else { return nil }
            let kept = overrides(new.content, new.variants).compactMap { override -> Kept? in
                guard let text = key.of(override.content), let before = former[override.name].flatMap(key.of),
                    words(before) == words(text)
                else { return nil }
                return Kept(name: override.name, path: override.path + [key.name.rawValue], text: text)
            }
            return kept.isEmpty ? nil : PartialChange(key: key.name, kept: kept)
        }
    }

    /// What the key is called in sentences: `text` for the body.
    public var noun: String { key == .body ? "text" : key.rawValue }

    /// `'de' and the variant 'short'`
    public var names: String {
        let shown = kept.prefix(4).map(\.name), more = kept.count - shown.count
        if more > 0 { return "\(shown.joined(separator: ", ")) and \(more) more" }
        return shown.count == 1 ? shown[0] : shown.dropLast().joined(separator: ", ") + " and " + shown[shown.count - 1]
    }

    /// Whether a device that gets a value gets one of those that stayed.
    public func isKept(_ value: String) -> Bool { kept.contains { $0.text.value == value } }

    /// The value that a content has for the key.
    public func text(in content: MessageContent) -> SourceText? { Self.keys.first { $0.name == key }?.of(content) }

    /// The keys that lead to the language, variant or service whose value this is: `variants`,
    /// `short`, `content`; nil if it is nowhere.
    public func place(of text: SourceText, in draft: CampaignDraft) -> [String]? {
        guard let content = draft.content else { return nil }
        return ([("", ["content"], content)] + Self.overrides(content, draft.variants)).first {
            self.text(in: $0.content) == text
        }?.path
    }

    /// A draft that has some values of the key no more; everything else keeps its place.
    public func removing(_ texts: Set<SourceText>, from draft: CampaignDraft) -> CampaignDraft {
        func without(_ content: MessageContent) -> MessageContent {
            var result = text(in: content).map(texts.contains) ?? false ? content.without([key]) : content
            result.languages = content.languages.map {
                Translation(language: $0.language, content: without($0.content))
            }
            result.services = content.services.map { ServiceContent(service: $0.service, content: without($0.content)) }
            return result
        }
        var draft = draft
        draft.content = draft.content.map(without)
        draft.variants = draft.variants.map {
            MessageVariant(name: $0.name, share: $0.share, content: $0.content.map(without))
        }
        return draft
    }

    private struct Key: Sendable {
        var name: ContentKey
        var of: @Sendable (MessageContent) -> SourceText?
    }

    private static let keys = [
        Key(name: .title) { $0.title }, Key(name: .subtitle) { $0.subtitle }, Key(name: .body) { $0.body },
        Key(name: .link) { $0.link },
        Key(name: .image) { $0.image },
    ]

    /// Other white space is not another text.
    private static func words(_ text: SourceText?) -> [Substring]? { text?.value.split(whereSeparator: \.isWhitespace) }

    private typealias Override = (name: String, path: [String], content: MessageContent)

    /// What differs from the main content, in the order of the file: languages, services and
    /// variants, each also within another.
    private static func overrides(_ content: MessageContent, _ variants: [MessageVariant]) -> [Override] {
        overrides(content, at: ["content"], within: nil)
            + variants.flatMap { variant -> [Override] in
                guard let content = variant.content else { return [] }
                let name = "the variant '\(variant.name.value)'", path = ["variants", variant.name.value, "content"]
                return [(name, path, content)] + overrides(content, at: path, within: name)
            }
    }

    private static func overrides(_ content: MessageContent, at path: [String], within outer: String?) -> [Override] {
        let parts =
            content.languages.map { ("'\($0.language.value)'", path + ["languages", $0.language.value], $0.content) }
            + content.services.map {
                (
                    PushServices.named($0.service.value)?.displayName ?? $0.service.value,
                    path + ["services", $0.service.value], $0.content
                )
            }
        return parts.flatMap { part, path, content in
            let name = outer.map { "\($0) in \(part)" } ?? part
            return [(name, path, content)] + overrides(content, at: path, within: name)
        }
    }
}
