public import Base
public import PushServices

/// Everything that a campaign may say, compiled: a message for each variant in each language, and
/// which devices get it.
public struct MessageCatalog: Sendable {
    /// What the devices of one service, one variant and one language get.
    public struct Message: Sendable {
        /// The number of the service among the catalog's.
        public let service: Int
        /// Blank if the campaign has no variants.
        public let variant: String
        /// The tag of `languages` as written; blank for the text above it.
        public let language: String
        /// Its cells come in the order of the catalog's columns.
        public let template: PayloadTemplate
        /// The content that it was made from; has the places of its texts in the campaign.
        public let content: MessageContent
    }

    /// Changes whenever the same campaign and cells may give a different payload: a plan made under
    /// other rules is not sent.
    public static let renderingRules = 6

    /// The most messages: with more, a preview could not count them separately.
    public static let mostMessages = 500

    /// A variant, with its share of the hashes.
    struct Variant: Sendable {
        let name: String
        /// The upper end of its hashes, in units of 1/10,000; they begin at the bound of the
        /// variant before it.
        let bound: UInt64
        /// The number of its first message; nil for the holdout.
        let firstMessage: Int?
    }

    /// The columns that templates name, each once, with the place of its first use.
    public let columns: [SourceText]
    /// alert, or background for a silent campaign.
    public let pushType: PushType
    /// Things that are allowed but rarely meant, in the order of their places; empty for a planned
    /// campaign.
    public let warnings: [Diagnostic]
    /// Service by service, in each variant by variant, in the order of the file, and in each the
    /// text above `languages` first.
    public let messages: [Message]
    /// How many messages each service has.
    public var messagesOfService: Int { messages.count / services.count }

    /// The services that take the pushes, at least one.
    public let services: [any PushService]
    /// The first of them.
    public var service: any PushService { services[0] }

    let variants: [Variant]
    /// Normalised tags of `languages`; a tag's index + 1 is the index of the language's message in
    /// its variant.
    let languages: [String]
    /// Hashed together with aliases and device tokens.
    let campaign: String
    /// How devices are assigned to variants.
    public let dealing: VariantDealing
    /// Whether its pushes say which they are: payloads may have places for ids.
    public let isTracked: Bool

    /// Compiles and checks everything that a campaign may say.
    /// - Parameters:
    ///   - services: each determines the form and the largest size of its payloads.
    ///   - variants: their shares add up to `MessageVariant.wholeShare`; empty if all devices get
    ///     the same.
    ///   - campaign: its name; together with a device's alias or token it decides which variant the
    ///     device gets.
    ///   - dealing: whether the alias or the token decides.
    ///   - tracking: of the run, or of one like it for a preview; nil if its pushes do not say
    ///     which they are.
    ///   - isPlanned: whether the content was checked when it was planned. Then texts are only
    ///     compiled: looking for what is rarely meant takes many times as long, and the warnings
    ///     would not be read.
    /// - Throws: every mistake at once, each at its place in the campaign.
    public init(
        _ content: MessageContent, for services: [any PushService] = [PushServices.standard],
        variants: [MessageVariant] = [],
        campaign: String = "", dealing: VariantDealing = .alias, tracking: PushTracking? = nil, isPlanned: Bool = false
    ) throws(Diagnostics) {
        self.services = services
        self.isTracked = tracking != nil
        let sources = services.map { MessageSources(content, variants, for: $0) }
        let count = sources.reduce(0) { $0 + $1.count }
        guard count <= Self.mostMessages else {
            let parts = services.count > 1 ? "services, variants and languages" : "variants and languages"
            throw Diagnostics(
                Diagnostic(
                    "\(parts) come to \(count) different texts, and at most \(Self.mostMessages) are possible",
                    at: content.position, remedy: "Leave out some."))
        }
        // A run may go through fewer services than the app that it was planned for.
        var compiler = MessageCompiler(lints: !isPlanned, hasSeveral: services.count > 1 || isPlanned)
        var messages: [Message] = []
        for (number, service) in services.enumerated() {
            let named = tracking.map { _ in sources[number].nameableVariants(through: service) } ?? []
            for variant in sources[number].variants where !variant.isHoldout {
                for (language, content) in sources[number].contents(of: variant) {
                    let content =
                        tracking?.applied(to: content, variant: named.contains(variant.name) ? variant.name : "")
                        ?? content
                    guard let template = compiler.compile(content, for: service) else { continue }
                    messages.append(
                        Message(
                            service: number, variant: variants.isEmpty ? "" : variant.name, language: language,
                            template: template,
                            content: content))
                }
            }
        }
        let untracked = messages.compactMap { message in tracking?.warning(about: message.content) }
        (columns, pushType, warnings) = try compiler.finish(sources.flatMap(\.warnings) + (isPlanned ? [] : untracked))
        self.messages = messages
        self.variants = Self.placed(sources[0])
        self.campaign = campaign
        self.dealing = dealing
        languages = sources[0].tags.map(\.normal)
    }

    /// The variants with their shares of the hashes.
    private static func placed(_ sources: MessageSources) -> [Variant] {
        var placed: [Variant] = []
        var (bound, messages) = (0, 0)
        for variant in sources.variants {
            bound += variant.share
            placed.append(
                Variant(name: variant.name, bound: UInt64(bound), firstMessage: variant.isHoldout ? nil : messages))
            if !variant.isHoldout { messages += sources.tags.count + 1 }
        }
        return placed
    }

    /// Appends the payload of one device, as `PayloadTemplate.append` does.
    /// - Parameters:
    ///   - message: a number from `MessageChooser`, or 0 if there is no choice.
    ///   - cells: the device's cells in the order of `columns`.
    ///   - language: its language tag; empty if it is not known.
    public func append(
        message: Int, _ cells: EscapedCells, language: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]
    ) -> RenderFailure? {
        messages[message].template.append(cells, language: language, to: &bytes)
    }

    /// The comparisons in the conditions of its texts: each once, at its first place, however many
    /// texts contain it.
    public var comparisons: [TemplateComparison] {
        var seen: Set<String> = []
        return messages.flatMap(\.template.comparisons).filter { seen.insert($0.description).inserted }
    }

    /// The parts of its payloads that a service limits, each once.
    public var limitedParts: [PayloadPart] {
        var seen: Set<PayloadPart> = []
        return messages.flatMap(\.template.limitedParts).filter { seen.insert($0).inserted }
    }

    /// What people read, each text once, without its tags and without signs, which already have a
    /// warning.
    public var texts: [SourceText] {
        var seen: Set<String> = []
        return messages.flatMap { [$0.content.title, $0.content.subtitle, $0.content.body] }.compactMap(\.self)
            .filter { seen.insert($0.value).inserted }
            .map { SourceText(TextReadiness.withoutSigns(ShownText.words($0.value)), at: $0.position) }
    }

    /// The columns that all these contents name, as far as they can be read: for mistakes about
    /// columns in addition to those that `init` throws.
    public static func columns(
        of content: MessageContent, for services: [any PushService] = [PushServices.standard],
        variants: [MessageVariant]
    ) -> [SourceText] {
        sources(of: content, for: services, variants: variants).reduce([]) {
            PayloadTemplate.columns(of: $1.content, for: services[$1.service], after: $0)
        }
    }

    /// The content of a message, before it is compiled.
    public struct Source: Sendable {
        /// The number of its service.
        public let service: Int
        /// Blank if the campaign has no variants.
        public let variant: String
        /// The tag of `languages` as written; blank for devices of other languages.
        public let language: String
        /// What its devices get.
        public let content: MessageContent
    }

    /// The contents of the messages that a catalog of these would have, also where some have
    /// mistakes.
    public static func sources(
        of content: MessageContent, for services: [any PushService] = [PushServices.standard],
        variants: [MessageVariant]
    ) -> [Source] {
        services.enumerated().flatMap { number, service in
            let sources = MessageSources(content, variants, for: service)
            return sources.variants.filter { !$0.isHoldout }.flatMap { variant in
                sources.contents(of: variant).map {
                    Source(service: number, variant: variant.name, language: $0.language, content: $0.content)
                }
            }
        }
    }

    /// The largest payload of a message that its service takes, in bytes.
    public func byteLimit(ofMessage number: Int) -> Int {
        services[messages[number].service].payloadLimit(of: pushType)
    }

    /// Whether what a device gets depends on its language or variant.
    public var hasChoice: Bool { messages.count > 1 }

    /// Whether a device's language or variant must be known to render what it gets.
    public var needsTraits: Bool { hasChoice || messages.contains { $0.template.usesLanguage } }

    /// The languages among these that need dates and numbers in forms that Volley does not have, so
    /// that the English ones are used.
    public func unknownLanguages(among tags: some Sequence<String>) -> [String] {
        let tags = Array(tags)
        return messages.lazy.map { $0.template.unknownLanguages(among: tags) }.first { !$0.isEmpty } ?? []
    }

    /// The names of the variants in the order of the file, including the holdout; empty if all
    /// devices get the same.
    public var variantNames: [String] { variants.count == 1 && variants[0].name.isEmpty ? [] : variants.map(\.name) }
}

/// Compiles one content after another into templates that share their columns.
private struct MessageCompiler {
    private let lints: Bool
    private let hasSeveral: Bool
    private var columns: [SourceText] = []
    private var pushType: PushType?
    private var findings: [Diagnostic] = []

    /// - Parameters:
    ///   - lints: whether to look for what is rarely meant.
    ///   - hasSeveral: whether the contents are for several services.
    init(lints: Bool, hasSeveral: Bool) {
        self.lints = lints
        self.hasSeveral = hasSeveral
    }

    mutating func compile(_ content: MessageContent, for service: any PushService) -> PayloadTemplate? {
        do throws(Diagnostics) {
            let template = try PayloadTemplate(content, for: service, after: columns, isOneOfSeveral: hasSeveral)
            columns = template.columns
            if lints { findings += template.warnings + ContentLint.warnings(content, for: service) }
            // That a service has no activities is said where the campaign asks for one.
            if content.activity != nil, service.rules.activities == nil { return template }
            if let pushType, template.pushType != pushType {
                findings.append(
                    Diagnostic(
                        "some devices would get a visible push here, and others a background push",
                        at: content.position,
                        remedy: "Make a separate campaign for each."))
            }
            pushType = pushType ?? template.pushType
            return template
        } catch {
            findings += error.all
            return nil
        }
    }

    /// - Throws: every mistake, each once.
    func finish(_ more: [Diagnostic]) throws(Diagnostics) -> ([SourceText], PushType, [Diagnostic]) {
        // Texts that several messages share are compiled several times.
        var seen: Set<Diagnostic> = []
        let all = Diagnostics((findings + more).filter { seen.insert($0).inserted }).all
        let errors = all.filter { $0.severity == .error }
        guard errors.isEmpty, let pushType else { throw Diagnostics(errors) }
        return (columns, pushType, all)
    }
}
