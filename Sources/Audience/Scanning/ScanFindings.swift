import Base

/// What the blocks of a scan showed, but for their devices: counts, names that were seen, and mistakes.
///
/// A value apart from `BlockMerger`: the compiler takes minutes for a method of a large noncopyable struct.
struct ScanFindings {
    let plan: ScanLayout
    private(set) var rows = 0
    /// Rows without a device.
    private(set) var skipped = SkipCounts()
    private(set) var badRows: [BadRow] = []
    private(set) var warnings: [Diagnostic]
    /// The first unreadable row that hides many others.
    private(set) var longBadRow: Diagnostic?
    private(set) var digest = SequenceDigest()
    private(set) var rowsWithDuplicateKeys = 0
    private(set) var rowsWithLookalikes: [String: Int] = [:]
    /// Rows that have a device.
    private(set) var rowsWithDevice = 0
    private(set) var tagRows = TagRows()
    private(set) var seen: SeenFlags
    private(set) var conditions: [ConditionFindings]
    private(set) var comparisons: [ComparisonFindings]
    private(set) var flaws: [CellFlaws]
    /// Tags of the first rows, to guess what a misspelt one means.
    private(set) var sampledTags: Set<String> = []
    /// By file.
    private(set) var tagForms: [TagFormats]
    private(set) var tagSpellings = SpellingCounts()
    private(set) var aliasSpellings = SpellingCounts()
    private(set) var idSpellings = SpellingCounts()
    private(set) var listedInDisguise = SpellingCounts()
    private(set) var sampledAliases: Set<String> = []
    private(set) var badTokens = BadTokens()
    private(set) var excludedWithoutDevice = 0
    private(set) var foreignTargets = ForeignTargets()
    private(set) var unreached: [[UInt8]: Int] = [:]
    private(set) var unreadDates = UnreadDates()
    private(set) var unreadValidity = UnreadDates()
    private(set) var rowsDespiteNone = 0
    private(set) var unreadRegistrations = UnreadDates()
    /// Places of listed devices that are in the exports.
    private(set) var listedDevices = BitSet()

    private static let mostWarnings = 100

    init(_ plan: ScanLayout, warnings: [Diagnostic]) {
        self.plan = plan
        self.warnings = warnings
        seen = SeenFlags(plan.selectors)
        conditions = plan.query.conditions.map(ConditionFindings.init)
        comparisons = plan.query.comparisons.map { _ in ComparisonFindings() }
        flaws = plan.query.fields.map { _ in CellFlaws() }
        tagForms = Array(repeating: TagFormats(), count: plan.files.count)
    }

    /// Adds what the next block showed.
    /// - Parameter place: where the block begins.
    mutating func note(_ blockResult: BlockResult, from place: TextPlace) {
        if rows < RowSelector.sampledRows {
            sampledTags.formUnion(blockResult.sampledTags)
            sampledAliases.formUnion(blockResult.sampledAliases)
        }
        seen.add(blockResult.seen)
        tagForms[blockResult.file].add(blockResult.tagForms, from: place.line)
        tagSpellings.add(blockResult.tagSpellings)
        aliasSpellings.add(blockResult.aliasSpellings)
        idSpellings.add(blockResult.idSpellings)
        listedInDisguise.add(blockResult.listedInDisguise)
        if !blockResult.unreached.isEmpty { unreached.merge(blockResult.unreached, uniquingKeysWith: +) }
        badTokens.add(blockResult.badTokens, in: plan.files[blockResult.file].path, from: place.line)
        excludedWithoutDevice += blockResult.excludedWithoutDevice
        foreignTargets.add(blockResult.foreignTargets)
        unreadDates.add(blockResult.unreadDates)
        unreadValidity.add(blockResult.unreadValidity)
        rowsDespiteNone += blockResult.rowsDespiteNone
        unreadRegistrations.add(blockResult.unreadRegistrations)
        for index in conditions.indices { conditions[index].add(blockResult.conditions[index]) }
        for index in comparisons.indices { comparisons[index].add(blockResult.comparisons[index]) }
        for index in flaws.indices { flaws[index].add(blockResult.flaws[index], in: plan.files[blockResult.file].path, from: place.line) }
        for number in blockResult.listedDevices { listedDevices.insert(Int(number)) }
        rows += blockResult.rows
        skipped.add(blockResult.skipped)
        digest.append(blockResult.digest)
        rowsWithDuplicateKeys += blockResult.rowsWithDuplicateKeys
        rowsWithLookalikes.merge(blockResult.rowsWithLookalikes, uniquingKeysWith: +)
        for row in blockResult.badRows.prefix(BlockResult.shownBadRows - badRows.count) {
            badRows.append(BadRow(mistake: row.mistake.placed(from: place), isUTF8: row.isUTF8))
        }
        if longBadRow == nil, let mistake = blockResult.longBadRows.first { longBadRow = mistake.placed(from: place) }
        for mistake in blockResult.longBadRows.prefix(max(0, Self.mostWarnings - warnings.count)) {
            var warning = mistake.placed(from: place)
            (warning.severity, warning.name) = (.warning, .badRow)
            warning.remedy = "A quote that is never closed hides the rows after it. Check the export."
            warnings.append(warning)
        }
        rowsWithDevice += blockResult.devices.count - blockResult.unusedTargets
        tagRows.add(blockResult.tagSamples, file: blockResult.file)
    }
}

extension Diagnostic {
    /// A mistake whose place counts from the beginning of a block.
    func placed(from start: TextPlace) -> Diagnostic {
        guard let position else { return self }
        var mistake = self
        let place = start.adding(TextPlace(line: position.line, column: position.column))
        mistake.position = SourcePosition(file: position.file, line: place.line, column: place.column)
        return mistake
    }
}
