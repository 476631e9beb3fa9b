import Base

/// What the rows of a device say where an export has several, for example one for each tag (`columns: {rows: merge}`): the query's tags that
/// they carry, by their numbers, from all of them; then what the newest row decides.
struct RowFacts: Sendable {
    /// What the newest row decides.
    enum OfNewest: UInt32, CaseIterable {
        case alias = 0x8000_0000
        case registrationID, everyone, filtered, excluded, noService
    }

    /// After them, for an excluded row: what excludes it, as the bits of `Exclusions`.
    private static let exclusions: UInt32 = 0x9000_0000

    /// The facts of a row that something excludes.
    static func excluded(by exclusions: Exclusions) -> [UInt32] {
        [OfNewest.excluded.rawValue, Self.exclusions | UInt32(truncatingIfNeeded: exclusions.rawValue)]
    }

    private let compiled: CompiledSelectors

    init(_ compiled: CompiledSelectors) { self.compiled = compiled }

    /// The facts of a device.
    /// - Parameters:
    ///   - newest: those of its newest row, ascending.
    ///   - older: those of other rows, ascending.
    func united(_ newest: [UInt32], withTagsOf older: [UInt32]) -> [UInt32] {
        let more = older.filter { $0 < OfNewest.alias.rawValue && !newest.contains($0) }
        return more.isEmpty ? newest : (newest + more).sorted()
    }

    /// What follows from the facts of a device.
    /// - Returns: the selectors that name it, ascending, and why it cannot be a recipient whatever else is known; nil when it may be one;
    ///   what excludes it.
    func conclusion(_ facts: [UInt32]) -> (selected: [UInt32], reason: SkipReason?, exclusions: Exclusions) {
        let tags = facts.prefix { $0 < OfNewest.alias.rawValue }.map { compiled.roles[Int($0)] }
        func holds(_ fact: OfNewest) -> Bool { facts.contains(fact.rawValue) }
        var selected = compiled.selectors(ofTags: tags)
        if holds(.alias), let selector = compiled.selectors.alias { selected.append(selector) }
        if holds(.registrationID), let selector = compiled.selectors.registrationID { selected.append(selector) }
        if holds(.everyone), let selector = compiled.selectors.everyone { selected.append(selector) }
        if selected.isEmpty { return ([], .notMatched, []) }
        if holds(.filtered) { return (selected, .filtered, []) }
        var exclusions: Exclusions = tags.contains(where: \.isExcluded) ? .tags : []
        if let last = facts.last, last >= Self.exclusions { exclusions.formUnion(Exclusions(rawValue: Int(last ^ Self.exclusions))) }
        if holds(.excluded) || exclusions.contains(.tags) { return (selected, .excluded, exclusions) }
        return (selected, holds(.noService) ? .noService : nil, exclusions)
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
