import Base

/// What the blocks of a scan showed, but for their devices: counts, names that were seen, and
/// mistakes.
///
/// A value apart from `BlockMerger`: the compiler takes minutes for a method of a large noncopyable
/// struct.
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
        for index in flaws.indices {
            flaws[index].add(blockResult.flaws[index], in: plan.files[blockResult.file].path, from: place.line)
        }
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
    /// A mistake with a place that counts from the beginning of a block.
    func placed(from start: TextPlace) -> Diagnostic {
        guard let position else { return self }
        var mistake = self
        let place = start.adding(TextPlace(line: position.line, column: position.column))
        mistake.position = SourcePosition(file: position.file, line: place.line, column: place.column)
        return mistake
    }
}

/// Cells of a date column without a date, or with one in the future, where that matters; and those
/// of a column of truth values without one.
struct UnreadDates: Sendable {
    private(set) var rows = 0
    /// The first different ones.
    private var cells: [String] = []

    mutating func note(_ cell: UnsafeBufferPointer<UInt8>) {
        rows += 1
        if cells.count < ConditionCount.mostCells { keep(String(decoding: cell.prefix(4096), as: UTF8.self)) }
    }

    mutating func add(_ other: UnreadDates) {
        rows += other.rows
        for cell in other.cells { keep(cell) }
    }

    private mutating func keep(_ cell: String) {
        if cells.count < ConditionCount.mostCells, !cells.contains(cell) { cells.append(cell) }
    }

    /// The mistake of truth values that cannot be read: a device that must be left out may be among
    /// them.
    /// - Parameter column: what the export calls it.
    func refusal(_ column: String, file: String?) -> Diagnostic {
        let hold = TextFormat.counted(rows, one: "row holds", many: "rows hold")
        return Diagnostic(
            "in '\(column)' \(hold) something other than true or false: \(ConditionFindings.list(cells))", file: file,
            remedy: "Write true in the export for devices that may get pushes, and false for all others.")
    }

    /// - Parameters:
    ///   - column: what the exports call it.
    ///   - effect: the consequence.
    func warning(_ column: String, effect: String) -> Diagnostic {
        let hold = TextFormat.counted(rows, one: "row holds", many: "rows hold")
        let ahead = cells.filter { Array($0.utf8).withUnsafeBufferPointer(dateMilliseconds) != nil }
        let remedy =
            ahead.count == cells.count
            ? "Dates more than a day ahead are in the future. Correct them in the export."
            : "Write dates in the export as 2026-11-30 or 2026-11-30T09:00:00Z\(ahead.isEmpty ? "" : ", none of them more than a day ahead")."
        return .warning(
            .cellsNotCompared,
            message:
                "in '\(column)' \(hold) something other than a date\(ahead.isEmpty ? "" : " in the past"), \(effect): "
                + ConditionFindings.list(cells), remedy: remedy)
    }
}

/// Tags in cells in forms that do not count: without a warning, they would silently not be tags of
/// the campaign.
extension ScanFindings {
    /// - Throws: tags of the campaign that follow other separators, unless the campaign allows it.
    func checkTagSeparators() throws(Diagnostics) {
        guard !plan.query.allowed.contains(.tagSeparator) else { return }
        let mistakes = oddMarks(isDoubtful: true).map { warning in
            var mistake = warning
            (mistake.severity, mistake.name) = (.error, nil)
            return mistake
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
    }

    /// The same where it is allowed, and where a blank is usually part of a tag.
    var tagSeparators: [Diagnostic] { oddMarks(isDoubtful: true) + oddMarks(isDoubtful: false) }

    /// - Parameter isDoubtful: whether the mark may or may not separate tags. A blank does not
    ///   where the column uses its separator, and some marks never do.
    private func oddMarks(isDoubtful: Bool) -> [Diagnostic] {
        zip(plan.files, tagForms).flatMap { file, forms in
            forms.inOrder.filter { mark, _ in isDoubtful != (mark.isOftenPart || mark == .blank && forms.usesSeparator)
            }
            .prefix(Self.mostMarks).map { mark, sighting in
                var warning = warning(mark, sighting, forms, file)
                warning.position = SourcePosition(file: file.path, line: sighting.line, column: 1)
                return warning
            }
        }
    }

    /// Signs of one file that are named.
    private static let mostMarks = 10

    private func warning(_ mark: TagMark, _ sighting: TagFormats.Occurrence, _ forms: TagFormats, _ file: ExportFile)
        -> Diagnostic
    {
        let column = file.plan.tagsCell.map { file.header[file.plan.columns[$0]] } ?? "tags"
        let (tag, cell) = (plan.selectors.tags.names[sighting.tag], sighting.cell)
        let separator = plan.query.columns.tagSeparator
        let hold = TextFormat.counted(sighting.rows, one: "row holds", many: "rows hold")
        let evidence = "\(hold) '\(tag)' only in this form, as in '\(cell)'"
        let allowance =
            "If '\(cell)' is a single tag, write in the campaign: `allow: [{warning: tag-separator, reason: \"…\"}]`."
        if let special = special(mark, column: column, tag: tag, cell: cell, evidence: evidence) {
            return .warning(.tagSeparator, message: special.message, file: file.path, remedy: special.remedy)
        }
        if mark == .enclosure {
            return .warning(
                .tagSeparator,
                message: "the column '\(column)' has brackets or quotes that do not form a list: \(evidence)",
                file: file.path,
                remedy: "Separate the tags by '\(separator)' in the export, or write a list: [\"a\", \"b\"].")
        }
        if sighting.isElement {
            return .warning(
                .tagSeparator, message: "an element of the lists in '\(column)' has \(mark.name) in it: \(evidence)",
                file: file.path,
                remedy: "Give each tag its own element in the export. \(allowance)")
        }
        let practice =
            forms.usesSeparator
            ? "separates tags by '\(separator)', and also by \(mark.name)"
            : "seems to separate tags by \(mark.name), not by '\(separator)'"
        let message = "the column '\(column)' \(practice): \(evidence)"
        if mark.isOftenPart {
            return .warning(
                .tagSeparator, message: "the column '\(column)' may also separate tags by \(mark.name): \(evidence)",
                file: file.path,
                remedy:
                    "If '\(cell)' is several tags, separate them by '\(separator)' in the export\(forms.usesSeparator ? "" : ", or name the separator in volley.yaml"). "
                    + allowance)
        }
        // With several marks, none can be named as the separator.
        let isOnly = forms.marks.keys.count { $0.isSeparator && !$0.isOftenPart } < 2
        if forms.usesSeparator || mark.yaml == nil || !isOnly {
            return .warning(
                .tagSeparator, message: message, file: file.path,
                remedy: "Separate all tags by '\(separator)' in the export. \(allowance)")
        }
        let remedy =
            "Name the separator in volley.yaml: `columns: {tags: {column: \(TextFormat.yaml(column)), separator: \(mark.yaml ?? "")}}`."
        return .warning(
            .tagSeparator, message: message, file: file.path, remedy: mark == .blank ? "\(remedy) \(allowance)" : remedy
        )
    }

    /// Forms of a single tag that are not separators.
    private func special(_ mark: TagMark, column: String, tag: String, cell: String, evidence: String) -> (
        message: String, remedy: String
    )? {
        let alone =
            "Write only the tag in the export: \(tag). Or name it as written there: tags: [\(TextFormat.yaml(tag)), \(TextFormat.yaml(cell))]."
        switch mark {
        case .object:
            let separator = plan.query.columns.tagSeparator
            return (
                "the column '\(column)' holds objects with names and values: \(evidence)",
                "Write only the tags in the export, separated by '\(separator)', or as a list: [\"a\", \"b\"]. If '\(tag)' is no tag there, "
                    + "write in the campaign: `allow: [{warning: tag-separator, reason: \"…\"}]`."
            )
        case .writtenOut:
            return (
                "tags in '\(column)' have characters that a program wrote out: \(evidence)",
                "Write the tag itself in the export: \(tag)."
            )
        case .hash: return ("tags in '\(column)' follow a '#': \(evidence)", alone)
        case .value: return ("tags in '\(column)' have values attached: \(evidence)", alone)
        // `!vip` may be the opposite of vip.
        case .sign:
            return (
                "tags in '\(column)' have a sign before or after them: \(evidence)",
                "\(alone) First find out what the sign means there."
            )
        default: return nil
        }
    }
}
