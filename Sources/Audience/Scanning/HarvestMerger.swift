import Base

/// Puts harvests together in the order of their blocks: one device per token, the newest row of each, counts and warnings.
struct HarvestMerger: ~Copyable {
    let plan: ScanPlan
    private(set) var rows = 0
    private(set) var skipped = SkipCounts()
    private(set) var badRows: [Diagnostic] = []
    private(set) var warnings: [Diagnostic]
    private(set) var digest = SequenceDigest()
    private(set) var rowsWithDuplicateKeys = 0
    /// Rows that got as far as having a token.
    private(set) var rowsWithToken = 0
    private(set) var bytesRead = 0
    private(set) var seen: SeenFlags
    private(set) var conditions: ConditionFindings
    /// Tags of the first rows, to guess what a misspelt one means.
    private(set) var sampledTags: Set<String> = []

    var devices = DeviceTable()
    var classes = ClassTable()
    var selections = SelectionSets()
    var languages = LanguageNames()
    var aliasMembers = AliasMembers()
    var exclusions = ExclusionMarks()

    /// Reads again what was cut in the wrong place.
    private var repairer: BlockScanner
    private var pending = Pending()
    private let recordLimit: Int
    private(set) var isRecording = true

    /// What is left of the blocks so far, and what is to be expected there.
    private struct Pending {
        var bytes: [UInt8] = []
        var state = ReadingState.start
        var place = TextPlace()
        /// How many bytes were not enough for a record.
        var fruitlessBytes = 0
    }

    /// How far ahead devices are looked for.
    private static let prefetched = 12
    private static let mostWarnings = 100

    /// - Parameter recordLimit: slots whose texts the sink wants.
    init(_ plan: ScanPlan, warnings: [Diagnostic], recordLimit: Int) {
        self.plan = plan
        self.warnings = warnings
        self.recordLimit = recordLimit
        repairer = BlockScanner(plan)
        seen = SeenFlags(plan.selectors)
        conditions = ConditionFindings(plan.query.conditions)
        isRecording = recordLimit > 0
    }

    /// Adds the next block.
    /// - Throws: a mistake after which nothing in the file can be trusted; whatever the sink throws.
    mutating func merge(_ scanned: ScanBoard.Scanned, into sink: any RecipientSink) throws {
        let block = scanned.block
        bytesRead = block.bytesRead
        if block.isFirst { pending = Pending(state: plan.files[block.file].stateOfFile) }
        if pending.bytes.isEmpty, scanned.harvest.expected == pending.state {
            return try settle(scanned.harvest, block, into: sink)
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
        let harvest = repairer.scan(repaired, expecting: pending.state, wantsRecords: isRecording)
        if harvest.consumed == 0, harvest.failure == nil, pending.bytes.count >= limit {
            throw Diagnostics(RecordBuffer.tooLong(limit, plan.files[block.file].path))
        }
        try settle(harvest, repaired, into: sink)
    }

    private mutating func settle(_ harvest: Harvest, _ block: Block, into sink: any RecipientSink) throws {
        if let failure = harvest.failure { throw Diagnostics(placed(failure)) }
        note(harvest)
        try addDevices(harvest, of: block, into: sink)
        let rest = Array(block.text[harvest.consumed...])
        pending = Pending(
            bytes: rest, state: harvest.state, place: pending.place.adding(harvest.end),
            fruitlessBytes: harvest.consumed == 0 ? rest.count : 0)
    }

    private mutating func note(_ harvest: Harvest) {
        if rows < RowSelector.sampledRows { sampledTags.formUnion(harvest.sampledTags) }
        seen.add(harvest.seen)
        conditions.add(harvest.conditions)
        rows += harvest.rows
        skipped.add(harvest.skipped)
        digest.append(harvest.digest)
        rowsWithDuplicateKeys += harvest.rowsWithDuplicateKeys
        for mistake in harvest.badRows.prefix(BlockScanner.shownBadRows - badRows.count) { badRows.append(placed(mistake)) }
        for mistake in harvest.longBadRows.prefix(max(0, Self.mostWarnings - warnings.count)) {
            var warning = placed(mistake)
            warning.severity = .warning
            warning.remedy = "A quote that is never closed hides the rows behind it; check the export."
            warnings.append(warning)
        }
        for mark in harvest.exclusions { exclusions.add(mark) }
    }

    /// A mistake whose place counts from the beginning of what is pending.
    private func placed(_ mistake: Diagnostic) -> Diagnostic {
        guard let position = mistake.position else { return mistake }
        var mistake = mistake
        let place = pending.place.adding(TextPlace(line: position.line, column: position.column))
        mistake.position = SourcePosition(file: position.file, line: place.line, column: place.column)
        return mistake
    }

    // MARK: - Devices

    /// The numbers that a harvest's selections and languages have here.
    private struct Numbers {
        var selections: [Int]
        var languages: [Int]
    }

    private mutating func addDevices(_ harvest: Harvest, of block: Block, into sink: any RecipientSink) throws {
        let numbers = Numbers(
            selections: harvest.selections.map { selections.number(of: $0) }, languages: harvest.languages.map { languages.number(of: $0) })
        var records = harvest.records
        let count = harvest.candidates.count
        rowsWithToken += count
        var hits = harvest.aliasHits[...]
        /// Candidates whose texts are wanted although no new ones are.
        var renewed: [(index: Int, slot: Int)] = []
        for index in 0..<count {
            if index + Self.prefetched < count { devices.prefetch(harvest.candidates[index + Self.prefetched].fingerprint) }
            let (slot, isNewest) = try add(harvest.candidates[index], numbers)
            if let hit = hits.first, hit.candidate == index {
                hit.token.withUnsafeBufferPointer { aliasMembers.add(alias: hit.alias, slot: slot, token: $0) }
                hits.removeFirst()
            }
            guard isNewest else { continue }
            if isRecording { records.setSlot(slot, of: index) } else if slot < recordLimit { renewed.append((index, slot)) }
        }
        if !isRecording, !renewed.isEmpty {
            records = repairer.scan(block, expecting: harvest.expected, wantsRecords: true).records
            for (index, slot) in renewed { records.setSlot(slot, of: index) }
        }
        guard isRecording || !renewed.isEmpty else { return }
        try sink.take(records)
        isRecording = devices.count < recordLimit
    }

    /// Adds a row to its device: the newest row counts, and the selectors of all rows.
    @inline(__always) private mutating func add(_ candidate: Candidate, _ numbers: Numbers) throws -> (slot: Int, isNewest: Bool) {
        let selection = numbers.selections[Int(candidate.selection)]
        let slot = devices.find(candidate.fingerprint)
        guard slot < 0 else { return (slot, try renew(slot, candidate, selection, numbers)) }
        let number = try classNumber(
            DeviceClass(
                selection: selection, language: numbers.languages[Int(candidate.language)], payloadBytes: Int(candidate.payloadBytes),
                reason: candidate.reason == 0 ? nil : SkipReason.allCases[Int(candidate.reason) - 1]))
        classes.add(number)
        devices.append(candidate.fingerprint, lastActive: candidate.lastActive, class: number)
        return (devices.count - 1, true)
    }

    private mutating func renew(_ slot: Int, _ candidate: Candidate, _ selection: Int, _ numbers: Numbers) throws -> Bool {
        let isNewer = devices.isNewer(candidate.lastActive, than: slot)
        var deviceClass = classes[devices.classNumber(of: slot)]
        deviceClass.selection = selections.union(deviceClass.selection, selection)
        if isNewer {
            deviceClass.language = numbers.languages[Int(candidate.language)]
            deviceClass.payloadBytes = Int(candidate.payloadBytes)
            deviceClass.reason = candidate.reason == 0 ? nil : SkipReason.allCases[Int(candidate.reason) - 1]
            devices.setNewest(candidate.lastActive, of: slot)
        }
        try move(slot, to: deviceClass)
        return isNewer
    }

    /// Puts a device into another class.
    mutating func move(_ slot: Int, to deviceClass: DeviceClass) throws {
        let (old, new) = (devices.classNumber(of: slot), try classNumber(deviceClass))
        guard old != new else { return }
        classes.remove(old)
        classes.add(new)
        devices.setClass(new, of: slot)
    }

    private mutating func classNumber(_ deviceClass: DeviceClass) throws -> Int {
        if let number = classes.number(of: deviceClass) { return number }
        throw Diagnostics(
            Diagnostic(
                "the audience falls into more than \(DeviceTable.classLimit >> 20) million groups of tags, language and payload size",
                remedy: "Name fewer tags in one campaign."))
    }
}
