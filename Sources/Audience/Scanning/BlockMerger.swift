import Base

/// Puts block results together in the order of their blocks: devices, counts and warnings.
struct BlockMerger: ~Copyable {
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
    private(set) var bytesRead = 0
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
    private(set) var sampledAliases: Set<String> = []
    private(set) var badTokens = BadTokens()
    private(set) var foreignTargets = ForeignTargets()
    private(set) var unreached: [[UInt8]: Int] = [:]
    private(set) var unreadDates = UnreadDates()
    private(set) var rowsDespiteNone = 0
    private(set) var unreadRegistrations = UnreadDates()

    var devices: DeviceCollector
    /// Places of listed devices that are in the exports.
    private(set) var listedDevices = BitSet()

    /// Reads blocks again that were cut in the wrong place.
    private var repairer: ChosenBlockScanner
    private var pending = Pending()

    /// What is left of the blocks so far, and the expected state there.
    private struct Pending {
        var bytes: [UInt8] = []
        var state = ReadingState.start
        var place = TextPlace()
        /// How many bytes were not enough for a record.
        var fruitlessBytes = 0
    }

    private static let mostWarnings = 100
    /// Rows from which on it shows how many devices there will be.
    private static let rowsToReckonFrom = 50_000
    private let bytesTotal: Int
    private var hasReserved = false

    /// - Parameter recordLimit: slots whose texts the sink wants.
    init(_ plan: ScanLayout, warnings: [Diagnostic], recordLimit: Int) {
        self.plan = plan
        self.warnings = warnings
        devices = DeviceCollector(plan, recordLimit: recordLimit)
        repairer = ChosenBlockScanner(plan)
        bytesTotal = plan.files.reduce(0) { $0 + fileSize($1.path) }
        seen = SeenFlags(plan.selectors)
        conditions = plan.query.conditions.map(ConditionFindings.init)
        comparisons = plan.query.comparisons.map { _ in ComparisonFindings() }
        flaws = plan.query.fields.map { _ in CellFlaws() }
        tagForms = Array(repeating: TagFormats(), count: plan.files.count)
    }

    /// What coming blocks are asked for.
    var wants: ScanWants { ScanWants(records: devices.isRecording) }

    /// Adds the next block.
    /// - Throws: a mistake after which nothing in the file can be trusted; whatever the sink throws.
    mutating func merge(_ scanned: BlockDispatcher.Scanned, into sink: any RecipientSink) throws {
        let block = scanned.block
        bytesRead = block.bytesRead
        if block.isFirst { pending = Pending(state: plan.files[block.file].stateOfFile) }
        if pending.bytes.isEmpty, scanned.blockResult.expected == pending.state {
            return try settle(scanned.blockResult, block, into: sink)
        }
        // The block before this one did not end with a record.
        pending.bytes.append(contentsOf: block.text)
        let limit = plan.limits.maximumRecordSize
        // Trying again with every block would take quadratic time.
        if !block.isLast, pending.bytes.count < 2 * pending.fruitlessBytes, pending.bytes.count < limit { return }
        let repaired = Block(capacity: pending.bytes.count)
        repaired.begin(number: block.number, file: block.file, isFirst: false)
        pending.bytes.withUnsafeBufferPointer { repaired.append($0) }
        repaired.end(after: pending.bytes.count, isLast: block.isLast, bytesRead: block.bytesRead)
        let blockResult = repairer.scan(repaired, expecting: pending.state, wants)
        if blockResult.consumed == 0, blockResult.failure == nil, pending.bytes.count >= limit {
            throw Diagnostics(RecordBuffer.tooLong(limit, file: plan.files[block.file].path))
        }
        try settle(blockResult, repaired, into: sink)
    }

    private mutating func settle(_ blockResult: BlockResult, _ block: Block, into sink: any RecipientSink) throws {
        if let failure = blockResult.failure { throw Diagnostics(placed(failure)) }
        note(blockResult)
        switch try devices.add(blockResult) {
        case .none: break
        case .all(let records): try sink.receive(records)
        case .some(let renewed):
            var records = repairer.scan(block, expecting: blockResult.expected, ScanWants(records: true)).records
            for (index, slot) in renewed { records.setSlot(slot, of: index) }
            try sink.receive(records)
        }
        let rest = Array(block.text[blockResult.consumed...])
        pending = Pending(
            bytes: rest, state: blockResult.state, place: pending.place.adding(blockResult.end),
            fruitlessBytes: blockResult.consumed == 0 ? rest.count : 0)
    }

    private mutating func note(_ blockResult: BlockResult) {
        if rows < RowSelector.sampledRows {
            sampledTags.formUnion(blockResult.sampledTags)
            sampledAliases.formUnion(blockResult.sampledAliases)
        }
        seen.add(blockResult.seen)
        tagForms[blockResult.file].add(blockResult.tagForms)
        tagSpellings.add(blockResult.tagSpellings)
        aliasSpellings.add(blockResult.aliasSpellings)
        if !blockResult.unreached.isEmpty { unreached.merge(blockResult.unreached, uniquingKeysWith: +) }
        badTokens.add(blockResult.badTokens, in: plan.files[blockResult.file].path, from: pending.place.line)
        foreignTargets.add(blockResult.foreignTargets)
        unreadDates.add(blockResult.unreadDates)
        rowsDespiteNone += blockResult.rowsDespiteNone
        unreadRegistrations.add(blockResult.unreadRegistrations)
        for index in conditions.indices { conditions[index].add(blockResult.conditions[index]) }
        for index in comparisons.indices { comparisons[index].add(blockResult.comparisons[index]) }
        for index in flaws.indices { flaws[index].add(blockResult.flaws[index]) }
        for place in blockResult.listedDevices { listedDevices.insert(Int(place)) }
        rows += blockResult.rows
        skipped.add(blockResult.skipped)
        digest.append(blockResult.digest)
        rowsWithDuplicateKeys += blockResult.rowsWithDuplicateKeys
        rowsWithLookalikes.merge(blockResult.rowsWithLookalikes, uniquingKeysWith: +)
        for row in blockResult.badRows.prefix(BlockResult.shownBadRows - badRows.count) {
            badRows.append(BadRow(mistake: placed(row.mistake), isUTF8: row.isUTF8))
        }
        if longBadRow == nil, let mistake = blockResult.longBadRows.first { longBadRow = placed(mistake) }
        for mistake in blockResult.longBadRows.prefix(max(0, Self.mostWarnings - warnings.count)) {
            var warning = placed(mistake)
            (warning.severity, warning.name) = (.warning, .badRow)
            warning.remedy = "A quote that is never closed hides the rows after it. Check the export."
            warnings.append(warning)
        }
        rowsWithDevice += blockResult.devices.count - blockResult.unusedTargets
        if !hasReserved, rowsWithDevice >= Self.rowsToReckonFrom {
            hasReserved = true
            devices.reserve(Int(Double(rowsWithDevice) * Double(bytesTotal) / Double(max(bytesRead, 1)) * 1.03))
        }
        tagRows.add(blockResult.tagSamples, file: blockResult.file)
    }

    /// A mistake whose place counts from the beginning of the pending bytes.
    private func placed(_ mistake: Diagnostic) -> Diagnostic {
        guard let position = mistake.position else { return mistake }
        var mistake = mistake
        let place = pending.place.adding(TextPlace(line: position.line, column: position.column))
        mistake.position = SourcePosition(file: position.file, line: place.line, column: place.column)
        return mistake
    }
}
