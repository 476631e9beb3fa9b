import Base

/// Decides which selectors name a row, and whether a tag, alias or registration id excludes it.
///
/// Every row that can be read comes by here, whatever becomes of it, so that the names no row carries are known at the end.
struct RowSelector: ~Copyable {
    /// What the current row is selected by: numbers of selectors, ascending, each once.
    private(set) var selected: [UInt32] = []
    /// Whether a tag, alias or registration id of the current row is excluded.
    private(set) var isExcluded = false
    /// The number, among the query's aliases, of the alias that selects the current row.
    private(set) var selectingAlias: Int?

    private(set) var tags: NameTable
    private(set) var aliases: NameTable
    private(set) var registrationIDs: NameTable

    /// What a tag of the query is for.
    private struct TagRole {
        var selector: UInt32?
        var isAny = false
        var isAll = false
        var isNone = false
        var isExcluded = false
        /// The last row that was seen with it, for tags that stand twice in a cell.
        var lastRow = 0
    }

    private var roles: [TagRole]
    private let hasAny: Bool
    private let allCount: Int
    private let selectsByTags: Bool
    private let allSelectors: [UInt32]
    /// For tables that hold selecting names first and excluded ones behind them.
    private let selectingAliasCount: Int
    private let selectingRegistrationIDCount: Int
    private var isAliasExcluded: [Bool]
    private var isRegistrationIDExcluded: [Bool]

    /// The numbers of the selectors that are no tags.
    let selectors: AudienceQuery.Selectors
    private let isEveryone: Bool
    private let separator: [UInt8]
    private var rowNumber = 0
    /// Tags of the first rows, to guess what a misspelt one means.
    private(set) var sampledTags: Set<String> = []

    private static let sampledRows = 2000
    private static let sampledTagLimit = 10_000

    init(_ query: AudienceQuery, hash: KeyedHash) {
        let selectors = query.selectors
        tags = NameTable([query.anyTags, query.allTags, query.noneTags, query.excludedTags], hash: hash)
        aliases = NameTable([query.aliases, query.excludedAliases], hash: hash)
        registrationIDs = NameTable([query.registrationIDs, query.excludedRegistrationIDs], hash: hash)
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
        selectingAliasCount = NameTable([query.aliases], hash: hash).names.count
        selectingRegistrationIDCount = NameTable([query.registrationIDs], hash: hash).names.count
        isAliasExcluded = Array(repeating: false, count: aliases.names.count)
        for number in aliases.numbers(of: query.excludedAliases) { isAliasExcluded[number] = true }
        isRegistrationIDExcluded = Array(repeating: false, count: registrationIDs.names.count)
        for number in registrationIDs.numbers(of: query.excludedRegistrationIDs) { isRegistrationIDExcluded[number] = true }
        self.selectors = selectors
        isEveryone = query.everyone
        separator = Array(query.columns.tagSeparator.utf8)
    }

    /// Looks at a row; afterwards `selected`, `isExcluded` and `selectingAlias` are about it.
    /// - Returns: whether anything selects it.
    mutating func look(at row: CellRow, _ plan: ColumnPlan) -> Bool {
        rowNumber += 1
        if !selected.isEmpty { selected.removeAll(keepingCapacity: true) }
        isExcluded = false
        selectingAlias = nil
        if !tags.isEmpty { lookAtTags(row.bytes(plan.tags), isJoined: row.isJoined(plan.tags)) }
        if !aliases.isEmpty, let number = aliases.look(up: row.bytes(plan.alias)) {
            if number < selectingAliasCount {
                selectingAlias = number
                if let selector = selectors.alias { selected.append(selector) }
            }
            if isAliasExcluded[number] { isExcluded = true }
        }
        if !registrationIDs.isEmpty, let number = registrationIDs.look(up: row.bytes(plan.registrationID)) {
            if number < selectingRegistrationIDCount, let selector = selectors.registrationID { selected.append(selector) }
            if isRegistrationIDExcluded[number] { isExcluded = true }
        }
        if isEveryone, let selector = selectors.everyone { selected.append(selector) }
        return !selected.isEmpty
    }

    private mutating func lookAtTags(_ cell: UnsafeBufferPointer<UInt8>, isJoined: Bool) {
        var (isAnyFound, allFound, isNoneFound) = (false, 0, false)
        forEachTag(in: cell, isJoined: isJoined) { (selector: inout RowSelector, tag) in
            if selector.rowNumber <= Self.sampledRows { selector.sample(tag) }
            guard let number = selector.tags.look(up: tag), selector.roles[number].lastRow != selector.rowNumber else { return }
            selector.roles[number].lastRow = selector.rowNumber
            let role = selector.roles[number]
            if role.isAny {
                isAnyFound = true
                if let number = role.selector { selector.selected.append(number) }
            }
            if role.isAll { allFound += 1 }
            if role.isNone { isNoneFound = true }
            if role.isExcluded { selector.isExcluded = true }
        }
        guard selectsByTags, !isNoneFound, allFound == allCount, isAnyFound || !hasAny else {
            if !selected.isEmpty { selected.removeAll(keepingCapacity: true) }
            return
        }
        for number in allSelectors where !selected.contains(number) { selected.append(number) }
        if let number = selectors.noneOnly { selected.append(number) }
        if selected.count > 1 { selected.sort() }
    }

    @inline(__always) private mutating func forEachTag(
        in cell: UnsafeBufferPointer<UInt8>, isJoined: Bool, _ body: (inout RowSelector, UnsafeBufferPointer<UInt8>) -> Void
    ) {
        guard isJoined || separator.count == 1 else { return forEachTagBySeparator(in: cell, body) }
        let separator = isJoined ? 0 : separator[0]
        var start = 0
        for place in 0...cell.count where place == cell.count || cell[place] == separator {
            body(&self, trimmed(UnsafeBufferPointer(rebasing: cell[start..<place])))
            start = place + 1
        }
    }

    private mutating func forEachTagBySeparator(
        in cell: UnsafeBufferPointer<UInt8>, _ body: (inout RowSelector, UnsafeBufferPointer<UInt8>) -> Void
    ) {
        let length = separator.count
        var (start, place) = (0, 0)
        while length > 0, place + length <= cell.count {
            guard cell[place..<place + length].elementsEqual(separator) else {
                place += 1
                continue
            }
            body(&self, trimmed(UnsafeBufferPointer(rebasing: cell[start..<place])))
            place += length
            start = place
        }
        body(&self, trimmed(UnsafeBufferPointer(rebasing: cell[start...])))
    }

    private mutating func sample(_ tag: UnsafeBufferPointer<UInt8>) {
        guard sampledTags.count < Self.sampledTagLimit, !tag.isEmpty else { return }
        sampledTags.insert(String(decoding: tag, as: UTF8.self))
    }
}
