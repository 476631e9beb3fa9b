import Base

/// What selects and excludes by tag, alias and registration id, compiled once for all threads.
final class CompiledSelectors: Sendable {
    /// What a tag of the query is for.
    struct TagRole: Sendable {
        /// The number of its selector.
        var selector: UInt32?
        var isAny = false
        var isAll = false
        var isNone = false
        var isExcluded = false
    }

    let tags: NameTable
    /// Selecting names first, then excluded ones, in both tables.
    let aliases: NameTable
    let registrationIDs: NameTable
    /// By tag number.
    let roles: [TagRole]
    let hasAny: Bool
    let allCount: Int
    let selectsByTags: Bool
    /// The selectors of the tags that must all be there.
    let allSelectors: [UInt32]
    let selectingAliasCount: Int
    let selectingRegistrationIDCount: Int
    let isAliasExcluded: [Bool]
    let isRegistrationIDExcluded: [Bool]
    /// The numbers of the query's selectors.
    let selectors: AudienceQuery.Selectors
    let isEveryone: Bool
    let separator: [UInt8]
    /// See `JoinedNames.table`.
    let tagParts: NameTable
    let aliasParts: NameTable
    let registrationIDParts: NameTable
    let nearTags: SimilarSpellings
    let nearAliases: SimilarSpellings
    let nearIDs: SimilarSpellings
    /// Whether the tags of a device's rows are united.
    let unitesRows: Bool

    init(_ query: AudienceQuery) {
        let selectors = query.selectors
        tags = NameTable([query.anyTags, query.allTags, query.noneTags, query.excludedTags])
        aliases = NameTable([query.aliases, query.excludedAliases])
        registrationIDs = NameTable([query.registrationIDs, query.excludedRegistrationIDs])
        var roles = Array(repeating: TagRole(), count: tags.names.count)
        for number in tags.numbers(of: query.anyTags) { roles[number].isAny = true }
        for number in tags.numbers(of: query.allTags) { roles[number].isAll = true }
        for number in tags.numbers(of: query.noneTags) { roles[number].isNone = true }
        for number in tags.numbers(of: query.excludedTags) { roles[number].isExcluded = true }
        for (selector, number) in tags.numbers(of: selectors.tags).enumerated() {
            roles[number].selector = UInt32(selector)
        }
        self.roles = roles
        hasAny = roles.contains { $0.isAny }
        allCount = roles.count { $0.isAll }
        allSelectors = roles.filter(\.isAll).compactMap(\.selector)
        selectsByTags = roles.contains { $0.isAny || $0.isAll || $0.isNone }
        selectingAliasCount = (aliases.numbers(of: query.aliases).max() ?? -1) + 1
        selectingRegistrationIDCount = (registrationIDs.numbers(of: query.registrationIDs).max() ?? -1) + 1
        isAliasExcluded = Self.marks(aliases, names: query.excludedAliases)
        isRegistrationIDExcluded = Self.marks(registrationIDs, names: query.excludedRegistrationIDs)
        self.selectors = selectors
        isEveryone = query.everyone
        separator = Array(query.columns.tagSeparator.utf8)
        tagParts = JoinedNames.table(tags)
        aliasParts = JoinedNames.table(aliases)
        registrationIDParts = JoinedNames.table(registrationIDs)
        nearTags = SimilarSpellings(tags.names)
        nearAliases = SimilarSpellings(aliases.names)
        nearIDs = SimilarSpellings(registrationIDs.names, ignoresCase: false)
        unitesRows = query.columns.rows == .merge
    }

    private static func marks(_ table: NameTable, names: [String]) -> [Bool] {
        var marks = Array(repeating: false, count: table.names.count)
        for number in table.numbers(of: names) { marks[number] = true }
        return marks
    }
}

/// What the rows of a device say where an export has several, for example one for each tag
/// (`columns: {rows: merge}`): the query's tags that they carry, by their numbers, from all of
/// them; then what the newest row decides.
struct RowFacts: Sendable {
    /// What the newest row decides.
    enum NewestRowFacts: UInt32, CaseIterable {
        case alias = 0x8000_0000
        case registrationID, everyone, filtered, excluded, noService, missingToken, badToken
        /// No row of the device: one that has what identifies it as its activity, or as its
        /// registration id (`ActivityLinks`).
        case outdated

        /// Why nothing can be sent by a row that names its device.
        static func lacking(_ reason: SkipReason) -> NewestRowFacts {
            switch reason {
            case .noService: .noService
            case .badToken: .badToken
            default: .missingToken
            }
        }
    }

    /// After them, for an excluded row: what excludes it, as the bits of `Exclusions`.
    private static let exclusions: UInt32 = 0x9000_0000

    /// The facts of a row that something excludes.
    static func excluded(by exclusions: Exclusions) -> [UInt32] {
        [NewestRowFacts.excluded.rawValue, Self.exclusions | UInt32(truncatingIfNeeded: exclusions.rawValue)]
    }

    private let compiled: CompiledSelectors

    init(_ compiled: CompiledSelectors) { self.compiled = compiled }

    /// The facts of a device.
    /// - Parameters:
    ///   - newest: those of its newest row, ascending.
    ///   - older: those of other rows, ascending.
    func united(_ newest: [UInt32], withTagsOf older: [UInt32]) -> [UInt32] {
        let more = older.filter { $0 < NewestRowFacts.alias.rawValue && !newest.contains($0) }
        return more.isEmpty ? newest : (newest + more).sorted()
    }

    /// What follows from the facts of a device.
    /// - Returns: the selectors that name it, ascending, and why it cannot be a recipient whatever
    ///   else is known; nil when it may be one; what excludes it.
    func conclusion(_ facts: [UInt32]) -> (selected: [UInt32], reason: SkipReason?, exclusions: Exclusions) {
        if facts.contains(NewestRowFacts.outdated.rawValue) { return ([], .duplicateToken, []) }
        let tags = facts.prefix { $0 < NewestRowFacts.alias.rawValue }.map { compiled.roles[Int($0)] }
        func holds(_ fact: NewestRowFacts) -> Bool { facts.contains(fact.rawValue) }
        var selected = compiled.selectors(ofTags: tags)
        if holds(.alias), let selector = compiled.selectors.alias { selected.append(selector) }
        if holds(.registrationID), let selector = compiled.selectors.registrationID { selected.append(selector) }
        if holds(.everyone), let selector = compiled.selectors.everyone { selected.append(selector) }
        if selected.isEmpty { return ([], .notMatched, []) }
        if holds(.filtered) { return (selected, .filtered, []) }
        var exclusions: Exclusions = tags.contains(where: \.isExcluded) ? .tags : []
        if let last = facts.last, last >= Self.exclusions {
            exclusions.formUnion(Exclusions(rawValue: Int(last ^ Self.exclusions)))
        }
        if holds(.excluded) || exclusions.contains(.tags) { return (selected, .excluded, exclusions) }
        let lacking: SkipReason? =
            holds(.noService) ? .noService : holds(.missingToken) ? .missingToken : holds(.badToken) ? .badToken : nil
        return (selected, lacking, exclusions)
    }
}

extension CompiledSelectors {
    /// The selectors that name a device with these tags of the query, each once, ascending.
    fileprivate func selectors(ofTags tags: [TagRole]) -> [UInt32] {
        guard selectsByTags, !tags.contains(where: \.isNone), tags.count(where: \.isAll) == allCount else { return [] }
        let named = tags.filter(\.isAny).compactMap(\.selector)
        if hasAny, named.isEmpty { return [] }
        return Set(named + allSelectors + (selectors.noneOnly.map { [$0] } ?? [])).sorted()
    }
}

/// Finds texts that differ from the names of a table only in details that people overlook
/// (`Spelling`): tags, aliases, registration ids, and values of conditions.
struct SimilarSpellings: Sendable {
    /// Bit n: a name begins with a byte that has n in its lower five bits, which are the same for a
    /// small and a capital letter.
    private let firstBytes: UInt32
    /// The first bytes of each name, as far as they are letters or digits, at most eight, without
    /// the bit that distinguishes case.
    private let openings: [Opening]
    /// The numbers of the names, by their folded spelling (`Spelling`).
    private let folded: [String: Int]
    private let names: [String]
    /// By outline, the number of the last name that has it; and by number, that of the one before
    /// it, or -1.
    private let last: [UInt64: Int32]
    private let earlier: [Int32]
    /// Whether a text without any sign may be one of the names, as these have signs.
    private let areDisguised: Bool

    private struct Opening: Sendable {
        var word: UInt64
        var mask: UInt64
    }

    /// A program wrote any longer list of names: it spells them in one way.
    private static let mostNames = 1_000

    /// - Parameter ignoresCase: whether a text that begins like a name is examined, as it may
    ///   differ in capitals or hyphens. Ids have none.
    init(_ names: [String], ignoresCase: Bool = true) {
        var (firstBytes, openings, folded) = (UInt32(0), [Opening](), [String: Int]())
        for (number, name) in names.enumerated() where names.count <= Self.mostNames {
            let form = Spelling.folded(name)
            if !form.isEmpty { folded[form] = folded[form] ?? number }
            guard ignoresCase, let first = name.utf8.first else { continue }
            firstBytes |= 1 << UInt32(first & 0x1F)
            var opening = Opening(word: 0, mask: 0)
            for (place, byte) in Self.opening(name).enumerated() {
                opening.mask |= 0xDF << UInt64(8 * place)
                opening.word |= UInt64(byte & 0xDF) << UInt64(8 * place)
            }
            openings.append(opening)
            for byte in Self.otherFirstBytes(of: name) {
                firstBytes |= 1 << UInt32(byte & 0x1F)
                openings.append(Opening(word: UInt64(byte & 0xDF), mask: 0xDF))
            }
        }
        var (last, earlier, areDisguised) = ([UInt64: Int32](), [Int32](), false)
        last.reserveCapacity(names.count)
        for (number, name) in names.enumerated() {
            let (outline, isDisguised) = Self.outline(name)
            earlier.append(last.updateValue(Int32(truncatingIfNeeded: number), forKey: outline) ?? -1)
            areDisguised = areDisguised || isDisguised
        }
        (self.firstBytes, self.openings, self.folded) = (firstBytes, openings, folded)
        (self.names, self.last, self.earlier, self.areDisguised) = (names, last, earlier, areDisguised)
    }

    /// What a name begins with if its first letter is written in the other form of Unicode (NFC and
    /// NFD): a letter and its accent as one character, or as two.
    private static func otherFirstBytes(of name: String) -> [UInt8] {
        guard let letter = name.first, !letter.isASCII, let first = letter.unicodeScalars.first else { return [] }
        guard first.isASCII else {
            let letters = (UInt8(ascii: "A")...UInt8(ascii: "Z")).flatMap { [$0, $0 | 0x20] }
            return letters.filter { byte in
                accents.contains { "\(Unicode.Scalar(byte))\($0)" == String(letter) }
            }
        }
        return latin.first { String($0) == String(letter) }.flatMap { String($0).utf8.first }.map { [$0] } ?? []
    }

    private static let accents = (0x300...0x331).compactMap(Unicode.Scalar.init)
    private static let latin = (Array(0xC0...0x24F) + Array(0x1E00...0x1EFF)).compactMap(Unicode.Scalar.init)

    private static func outline(_ name: String) -> (outline: UInt64, isDisguised: Bool) {
        (Array(name.utf8) + [UInt8](repeating: 0, count: NameTable.slack)).withUnsafeBufferPointer {
            let text = UnsafeBufferPointer(rebasing: $0.dropLast(NameTable.slack))
            return (Spelling.outline(text), Spelling.mayBeDisguised(text))
        }
    }

    /// Whether a text begins like one of the names, ignoring case, or is one without its signs. A
    /// single check rules out most texts.
    /// - Parameter text: not empty; `NameTable.slack` bytes after it are readable.
    @inline(__always) func mayHold(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        firstBytes >> UInt32(text[0] & 0x1F) & 1 != 0 && begins(text) || areDisguised && hasOutline(text)
    }

    /// The same, also for a text with quotes, invisible characters or letters of another script.
    /// - Parameter text: not empty; `NameTable.slack` bytes after it are readable.
    @inline(__always) func mayHoldDisguised(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        mayHold(text) || !areDisguised && Spelling.mayBeDisguised(text) && hasOutline(text)
    }

    /// Whether a name begins with a byte, ignoring case.
    @inline(__always) func mayBegin(with byte: UInt8) -> Bool { firstBytes >> UInt32(byte & 0x1F) & 1 != 0 }

    @inline(never) private func hasOutline(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        last[Spelling.outline(text)] != nil
    }

    /// Hyphens and the like are ignored, so a check of two letters would be too strict.
    private static func opening(_ name: String) -> some Collection<UInt8> {
        let text = name.utf8.prefix(8).prefix { $0 > 0x20 && $0 < 0x80 }
        let word = text.prefix { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 <= 9 }
        return word.count < 3 ? text : word
    }

    private func begins(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = UnsafeRawBufferPointer(text).baseAddress else { return false }
        let word = UInt64(littleEndian: base.loadUnaligned(as: UInt64.self))
        return openings.contains { word & $0.mask == $0.word }
    }

    /// The number of the name that a text equals apart from details that people overlook.
    func number(of text: String) -> Int? {
        if let number = folded[Spelling.folded(text)] { return number }
        let plain = Spelling.plain(text)
        guard !plain.isEmpty else { return nil }
        var number = last[Self.outline(text).outline] ?? -1
        while number >= 0 {
            if Spelling.plain(names[Int(number)]) == plain { return Int(number) }
            number = earlier[Int(number)]
        }
        return nil
    }
}
