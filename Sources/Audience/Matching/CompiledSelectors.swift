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
    /// See `SeveralInOne.table`.
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
        for (selector, number) in tags.numbers(of: selectors.tags).enumerated() { roles[number].selector = UInt32(selector) }
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
        tagParts = SeveralInOne.table(tags)
        aliasParts = SeveralInOne.table(aliases)
        registrationIDParts = SeveralInOne.table(registrationIDs)
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
