public import Base

/// Decides which message of a catalog a device gets. Belongs to one thread: it remembers the
/// languages it has met.
public struct MessageChooser {
    private let catalog: MessageCatalog
    private let seed: UInt64
    private var known: [String: Int] = [:]
    private var lastLanguage: [UInt8] = []
    private var lastNumber = 0

    /// The most languages to remember: a column with other contents must not fill the memory.
    private static let mostLanguages = 10_000

    /// A chooser that has met no device yet.
    public init(_ catalog: MessageCatalog) {
        self.catalog = catalog
        seed = Self.fold(Array(catalog.campaign.utf8) + [0], into: Self.offsetBasis)
        for (index, tag) in catalog.languages.enumerated() { known[tag] = index + 1 }
    }

    /// The number of the variant that a device gets, in the order of `variantNames`; 0 without
    /// variants. Always the same for the same campaign name, shares and alias or token.
    ///
    /// FNV-1a over the campaign's name, a zero byte and the alias or the token's hex digits, mixed
    /// as in SplitMix64; the upper 32 bits times 10,000 give the share. Source: Fowler, Noll, Vo,
    /// "The FNV Non-Cryptographic Hash Algorithm"; Steele, Lea, Flood, "Fast Splittable
    /// Pseudorandom Number Generators".
    /// - Parameters:
    ///   - token: in lower-case hex.
    ///   - alias: the alias in the device's newest row; blank for none.
    public func variant(of token: UnsafeBufferPointer<UInt8>, alias: UnsafeBufferPointer<UInt8>) -> Int {
        guard catalog.variants.count > 1 else { return 0 }
        let point = ((hash(token, alias) >> 32) &* UInt64(MessageVariant.wholeShare)) >> 32
        // The last bound is above every point.
        return catalog.variants.firstIndex { point < $0.bound } ?? catalog.variants.count - 1
    }

    /// The number of the variant that a device of the holdout would get if there were no holdout,
    /// in proportion to the variants' shares.
    public func variantWithoutHoldout(of token: UnsafeBufferPointer<UInt8>, alias: UnsafeBufferPointer<UInt8>) -> Int {
        var shares: [(variant: Int, share: UInt64)] = []
        var bound: UInt64 = 0
        for (number, variant) in catalog.variants.enumerated() {
            if variant.firstMessage != nil { shares.append((number, variant.bound - bound)) }
            bound = variant.bound
        }
        // Uses the lower half of the hash: the upper half put the device into the holdout.
        let whole = shares.reduce(0) { $0 + $1.share }
        var point = ((hash(token, alias) & 0xFFFF_FFFF) &* whole) >> 32
        for (variant, share) in shares {
            if point < share { return variant }
            point -= share
        }
        return shares.last?.variant ?? 0
    }

    /// The number of the message for a variant and a device's language and service; nil for the
    /// holdout.
    /// - Parameters:
    ///   - language: as in the export.
    ///   - service: its number among the catalog's.
    public mutating func message(variant: Int, language: UnsafeBufferPointer<UInt8>, service: Int = 0) -> Int? {
        guard let inService = catalog.variants[variant].firstMessage else { return nil }
        let first = service * catalog.messagesOfService + inService
        return catalog.languages.isEmpty ? first : first + number(of: language)
    }

    /// The number of the message for a variant's name, as in a run file; nil if there is no such
    /// variant.
    public mutating func message(
        variant name: UnsafeBufferPointer<UInt8>, language: UnsafeBufferPointer<UInt8>, service: Int = 0
    ) -> Int? {
        guard let variant = catalog.variants.firstIndex(where: { $0.name.utf8.elementsEqual(name) }) else { return nil }
        return message(variant: variant, language: language, service: service)
    }

    /// The number of the message for a recipient; nil for the holdout.
    /// - Parameter service: the number of its service among the catalog's.
    public mutating func message(of recipient: Recipient, service: Int = 0) -> Int? {
        let variant = variant(of: recipient)
        let language = Array(recipient.language.utf8)
        return language.withUnsafeBufferPointer { message(variant: variant, language: $0, service: service) }
    }

    /// The number of the variant that a recipient gets.
    public func variant(of recipient: Recipient) -> Int { withKeys(of: recipient) { variant(of: $0, alias: $1) } }

    /// The number of the variant that a recipient of the holdout would get if there were no
    /// holdout.
    public func variantWithoutHoldout(of recipient: Recipient) -> Int {
        withKeys(of: recipient) { variantWithoutHoldout(of: $0, alias: $1) }
    }

    private func withKeys(
        of recipient: Recipient, _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int
    ) -> Int {
        Array(recipient.token.text.utf8).withUnsafeBufferPointer { token in
            Array(recipient.alias.utf8).withUnsafeBufferPointer { body(token, $0) }
        }
    }

    /// The hash of the alias if variants are assigned by alias and the device has one, otherwise of
    /// the token.
    private func hash(_ token: UnsafeBufferPointer<UInt8>, _ alias: UnsafeBufferPointer<UInt8>) -> UInt64 {
        Self.mixed(Self.fold(catalog.dealing == .device || Blank.isCell(alias) ? token : alias, into: seed))
    }

    /// 0 for the text above `languages`.
    private mutating func number(of language: UnsafeBufferPointer<UInt8>) -> Int {
        if language.elementsEqual(lastLanguage) { return lastNumber }
        let name = String(decoding: language, as: UTF8.self)
        lastLanguage.removeAll(keepingCapacity: true)
        lastLanguage.append(contentsOf: language)
        if let number = known[name] {
            lastNumber = number
        } else {
            lastNumber =
                LanguageTag.fallbacks(of: name).lazy.compactMap { [catalog] in catalog.languages.firstIndex(of: $0) }
                .first.map { $0 + 1 }
                ?? 0
            if known.count < Self.mostLanguages { known[name] = lastNumber }
        }
        return lastNumber
    }

    private static let offsetBasis: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let prime: UInt64 = 0x0000_0100_0000_01B3

    private static func fold(_ bytes: some Sequence<UInt8>, into hash: UInt64) -> UInt64 {
        bytes.reduce(hash) { ($0 ^ UInt64($1)) &* prime }
    }

    private static func mixed(_ hash: UInt64) -> UInt64 {
        var generator = SplitMix(seed: hash)
        return generator.next()
    }
}
