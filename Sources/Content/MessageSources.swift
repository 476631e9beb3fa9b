import Base
import PushServices

/// What each variant says in each language, before it is compiled.
///
/// If a key has several texts, the most specific one counts: the service's translation, then the
/// variant's, then the campaign's, then the service's text, then the variant's, then the
/// campaign's. So a device never gets a text in another language because a variant was not
/// translated. What the service removes, only its own translations bring back.
struct MessageSources {
    struct Tag {
        let written: String
        let normal: String
    }

    struct Variant {
        let name: String
        let share: Int
        let isHoldout: Bool
        fileprivate let content: MessageContent?
    }

    /// The variants in the order of the file; a single one without a name if the campaign has none.
    let variants: [Variant]
    /// Languages that have a text anywhere, in the order of the file.
    let tags: [Tag]
    private(set) var warnings: [Diagnostic]
    private let base: MessageContent
    /// What devices of the service get instead; nil for nothing.
    private let ofService: MessageContent?
    private let service: any PushService

    /// - Parameter service: the service of the devices that get it.
    init(_ content: MessageContent, _ variants: [MessageVariant], for service: any PushService) {
        base = content
        self.service = service
        ofService = content.services.first { $0.service.value == service.accountName }?.content
        var tags: [Tag] = []
        var warnings: [Diagnostic] = []
        // Numbers of messages must not depend on the service.
        let further =
            variants.flatMap { $0.content?.languages ?? [] } + content.services.flatMap { $0.content.languages }
        for translation in content.languages + further {
            // Not a tag: this was reported when the campaign was read.
            guard let normal = LanguageTag.normalized(translation.language.value),
                !tags.contains(where: { $0.normal == normal })
            else {
                continue
            }
            tags.append(Tag(written: translation.language.value, normal: normal))
        }
        self.tags = tags
        for translation in content.languages { warnings += Self.partial(translation, of: content) }
        for variant in variants { warnings += Self.untranslated(variant, content) }
        for translation in content.languages + further {
            warnings += PluralLint.warnings(translation)
        }
        self.variants =
            variants.isEmpty
            ? [Variant(name: "", share: MessageVariant.wholeShare, isHoldout: false, content: nil)]
            : variants.map {
                Variant(name: $0.name.value, share: $0.share, isHoldout: $0.isHoldout, content: $0.content)
            }
        self.warnings = warnings
        self.warnings += sameVariants(variants)
    }

    /// How many messages there are.
    var count: Int { variants.count { !$0.isHoldout } * (tags.count + 1) }

    /// The contents of a variant: first for devices with a language that is not in `tags`, then for
    /// those in `tags`.
    func contents(of variant: Variant) -> [(language: String, content: MessageContent)] {
        let plain = carried([variant.content, ofService].compactMap(\.self).reduce(base) { $0.overlaid(by: $1) })
        return [("", plain)]
            + tags.map { tag in
                // From general to specific: zh, zh-Hans, zh-Hans-CN.
                let chain = LanguageTag.fallbacks(of: tag.normal).reversed()
                let texts = [base, variant.content].flatMap { Self.translations(of: $0, chain) }
                let translated = texts.reduce(plain) { $0.overlaid(by: $1) }.without(ofService?.removed ?? [])
                return (
                    tag.written,
                    carried(Self.translations(of: ofService, chain).reduce(translated) { $0.overlaid(by: $1) })
                )
            }
    }

    /// Without what the service does not have. A warning reports it where another service of the
    /// app has it. A push that would not be one without it stays as it is: that is a mistake.
    private func carried(_ content: MessageContent) -> MessageContent {
        content.without(
            ContentKey.removable.union([.wakeApp]).subtracting([.title, .body]).subtracting(service.rules.contentKeys))
    }

    private static func translations(of content: MessageContent?, _ chain: ReversedCollection<[String]>)
        -> [MessageContent]
    {
        chain.compactMap { tag in
            content?.languages.first { LanguageTag.normalized($0.language.value) == tag }?.content
        }
    }

    /// Variants that say the same as an earlier one in every language: there is nothing to compare.
    private func sameVariants(_ written: [MessageVariant]) -> [Diagnostic] {
        var seen: [[ContentSignature]: String] = [:]
        return zip(variants, written).compactMap { variant, source in
            guard !variant.isHoldout else { return nil }
            let said = contents(of: variant).map { ContentSignature($0.content) }
            guard let other = seen[said] else {
                seen[said] = variant.name
                return nil
            }
            return .warning(
                .sameVariants, message: "the variant '\(variant.name)' says the same as '\(other)'",
                at: source.name.position,
                remedy:
                    "Change its content, or make one variant of both; a variant that gets nothing is called 'holdout'.")
        }
    }

    /// Texts that people see, by key.
    private static func texts(_ content: MessageContent) -> [(key: String, text: SourceText)] {
        [("title", content.title), ("subtitle", content.subtitle), ("body", content.body)].compactMap { key, text in
            text.map { (key, $0) }
        }
    }

    /// A push that is half in one language and half in another.
    private static func partial(_ translation: Translation, of content: MessageContent) -> [Diagnostic] {
        let chain = LanguageTag.fallbacks(of: translation.language.value)
        let said = Set(translations(of: content, chain.reversed()).flatMap { texts($0).map(\.key) })
        let missing = texts(content).map(\.key).filter { !said.contains($0) }
        guard !missing.isEmpty, !said.isEmpty else { return [] }
        let keys = missing.map { "'\($0)'" }.joined(separator: " and ")
        return [
            .warning(
                .partlyTranslated,
                message:
                    "\(translation.language.value) has no \(keys) of its own, so those devices read two languages in one push",
                at: translation.language.position, remedy: "Add \(keys) to \(translation.language.value).")
        ]
    }

    /// A variant with a new text that devices of some languages never read.
    private static func untranslated(_ variant: MessageVariant, _ base: MessageContent) -> [Diagnostic] {
        guard let content = variant.content else { return [] }
        return base.languages.compactMap { translation in
            let chain = LanguageTag.fallbacks(of: translation.language.value).reversed()
            let own = Set(translations(of: content, chain).flatMap { texts($0).map(\.key) })
            let usual = Set(translations(of: base, chain).flatMap { texts($0).map(\.key) })
            let missing = texts(content).map(\.key).filter { usual.contains($0) && !own.contains($0) }
            guard !missing.isEmpty else { return nil }
            let keys = missing.map { "'\($0)'" }.joined(separator: " and ")
            return .warning(
                .variantNotTranslated,
                message:
                    "the variant '\(variant.name.value)' has no \(keys) for \(translation.language.value), so its devices read the same as in every other variant",
                at: variant.name.position,
                remedy:
                    "Add it to the variant's content: languages: {\(translation.language.value): {\(missing[0]): \"…\"}}."
            )
        }
    }
}

/// The meaning of a content, without its places in the file: equal for contents that give the same
/// push.
struct ContentSignature: Hashable {
    private let texts: [String?]
    private let localized: [ContentKey: [String]]
    private let badge: Int?
    private let flags: [Bool]
    private let objects: [Node?]

    init(_ content: MessageContent) {
        texts = [
            content.title, content.subtitle, content.body, content.sound, content.category, content.thread,
            content.image, content.link,
            content.interruption, content.targetContent, content.filter,
        ].map { $0?.value }
        localized = content.localized.mapValues { [$0.key.value] + $0.arguments.map(\.value) }
        badge = content.badge
        flags = [content.wakesApp, content.isSilent]
        objects = [content.data, content.payload, content.relevance].map { $0.map(Node.init) }
    }

    private indirect enum Node: Hashable {
        case null, bool(Bool), integer(Int64), double(Double), text(String), array([Node]), object([String: Node])

        init(_ node: ContentNode) {
            self =
                switch node {
                case .null: .null
                case .bool(let value, _): .bool(value)
                case .integer(let value, _): .integer(value)
                case .double(let value, _): .double(value)
                case .text(let text): .text(text.value)
                case .array(let nodes, _): .array(nodes.map(Node.init))
                case .object(let members, _):
                    .object(Dictionary(members.map { ($0.name.value, Node($0.value)) }) { first, _ in first })
                }
        }
    }
}

/// Which pushes of a run say which they are (`delivery: {track: true}`).
extension PushTracking {
    /// Content that says which push it is, unless it is a hand-written payload, which is sent as
    /// written, a Live Activity, which has no place for it, or silent.
    func applied(to content: MessageContent, variant: String) -> MessageContent {
        guard content.payload == nil, content.activity == nil, !content.isSilent || includesSilent else {
            return content
        }
        var content = content
        content.tracking = self
        content.tracking?.variant = variant
        return content
    }

    /// Why a content is not tracked; nil if it is.
    func warning(about content: MessageContent) -> Diagnostic? {
        guard content.tracking == nil else { return nil }
        if let payload = content.payload {
            return .warning(
                .notTracked,
                message: "a payload written by hand is sent as it is written, so these pushes are not tracked",
                at: payload.position,
                remedy: "Write the push with the keys of 'content'; or write track: false under 'delivery'.")
        }
        guard content.activity == nil else {
            return .warning(
                .notTracked,
                message: "a Live Activity has no place that says which push it is, so these pushes are not tracked",
                at: place,
                remedy: "Write track: false under 'delivery'.")
        }
        return .warning(
            .notTracked, message: "no one sees or opens a silent push, so these are not tracked", at: place,
            remedy: "Write track: silent if the app should report that it got them, otherwise track: false.")
    }
}

extension MessageSources {
    /// The variants that a tracked push of a service may name. Where devices of a request share its
    /// body, a name must never be what keeps two devices from sharing one: such a variant has a
    /// text that begins otherwise than those of all others, so that none of its payloads is the
    /// same.
    func nameableVariants(through service: any PushService) -> Set<String> {
        let written = variants.filter { !$0.isHoldout }
        guard service.batching.largestTargets > 1, !service.batching.hasOwnTexts else {
            return Set(written.map(\.name))
        }
        let starts = written.map { variant in contents(of: variant).map { FixedStarts($0.content) } }
        return Set(
            written.indices.filter { index in
                written.indices.allSatisfy { other in
                    other == index
                        || starts[index].allSatisfy { own in starts[other].allSatisfy { own.differ(from: $0) } }
                }
            }.map { written[$0].name })
    }
}

/// How the texts of a content begin, up to the first tag: in every payload of every service.
private struct FixedStarts {
    private let texts: [(start: String, isWhole: Bool)]

    init(_ content: MessageContent) {
        texts = [content.title, content.body].map { text in
            let value = text?.value ?? ""
            let end = [value.firstRange(of: "{{"), value.firstRange(of: "{%")].compactMap { $0?.lowerBound }.min()
            guard let end else { return (value, true) }
            // A tag may take away the white space in front of it.
            let start = value[..<end]
            return (
                String(start[..<(start.lastIndex { !$0.isWhitespace }.map(start.index(after:)) ?? start.startIndex)]),
                false
            )
        }
    }

    /// Whether no cells can make the same texts of both.
    func differ(from other: FixedStarts) -> Bool {
        zip(texts, other.texts).contains { one, other in
            let (short, long) = one.start.utf8.count < other.start.utf8.count ? (one, other) : (other, one)
            return !long.start.hasPrefix(short.start) || short.isWhole && short.start != long.start
        }
    }
}
