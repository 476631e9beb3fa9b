import Base
import PushServices

/// Puts block results together in the order of their blocks: devices, counts and warnings.
struct BlockMerger: ~Copyable {
    let plan: ScanLayout
    private(set) var findings: ScanFindings
    private(set) var bytesRead = 0
    var devices: DeviceCollector

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

    /// Rows from which on it shows how many devices there will be.
    private static let rowsToReckonFrom = 50_000
    private let bytesTotal: Int
    private var hasReserved = false

    /// - Parameter recordLimit: the number of slots for which the sink wants texts.
    init(_ plan: ScanLayout, warnings: [Diagnostic], recordLimit: Int) {
        self.plan = plan
        findings = ScanFindings(plan, warnings: warnings)
        devices = DeviceCollector(plan, recordLimit: recordLimit)
        repairer = ChosenBlockScanner(plan)
        bytesTotal = plan.files.reduce(0) { $0 + fileSize($1.path) }
    }

    /// What later blocks must deliver.
    var wants: ScanRequirements { ScanRequirements(records: devices.isRecording) }

    /// Adds the next block.
    /// - Throws: a mistake after which nothing in the file can be trusted; whatever the sink
    ///   throws.
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
        if let failure = blockResult.failure { throw Diagnostics(failure.placed(from: pending.place)) }
        findings.note(blockResult, from: pending.place)
        reserveDevices()
        switch try devices.add(blockResult) {
        case .none: break
        case .all(let records): try sink.receive(records)
        case .some(let renewed):
            var records = repairer.scan(block, expecting: blockResult.expected, ScanRequirements(records: true)).records
            for (index, slot) in renewed { records.setSlot(slot, of: index) }
            try sink.receive(records)
        }
        let rest = Array(block.text[blockResult.consumed...])
        pending = Pending(
            bytes: rest, state: blockResult.state, place: pending.place.adding(blockResult.end),
            fruitlessBytes: blockResult.consumed == 0 ? rest.count : 0)
    }

    private mutating func reserveDevices() {
        guard !hasReserved, findings.rowsWithDevice >= Self.rowsToReckonFrom else { return }
        hasReserved = true
        devices.reserve(Int(Double(findings.rowsWithDevice) * Double(bytesTotal) / Double(max(bytesRead, 1)) * 1.03))
    }
}

extension BlockMerger {
    /// Concludes what only the end of the scan can: alias limits, counts, warnings.
    /// - Parameter tick: called often, with the share that is done.
    mutating func finish(
        into sink: any RecipientSink, tick: (Double) throws -> Void
    ) throws -> (result: AudienceResult, devices: DeviceResults) {
        try findings.checkBadRows()
        try findings.checkTagSeparators()
        try findings.checkExclusions()
        let settled = try devices.settle(into: sink, tick: tick)
        var skipped = findings.skipped
        skipped[.duplicateToken] += findings.rowsWithDevice - settled.devices
        let names = plan.selectors.selectors.names
        var selectedBy = [Int](repeating: 0, count: names.count)
        var byLanguage = [Int](repeating: 0, count: devices.languages.names.count)
        var byPayloadBytes: [Int: [Int: Int]] = [:]
        var byGroup: [Int: Int] = [:]
        var byWave: [Int: Int] = [:]
        var bySending: [Int: Int] = [:]
        var byCap: [Int: Int] = [:]
        var skippedByGroup: [SkipReason: [Int: Int]] = [:]
        var (audience, largestSkipped) = (0, 0)
        devices.classes.forEach { deviceClass, count in
            if let reason = deviceClass.reason {
                skipped[reason] += count
                skippedByGroup[reason, default: [:]][deviceClass.group, default: 0] += count
                if reason == .payloadTooLarge { largestSkipped = max(largestSkipped, deviceClass.payloadBytes) }
                return
            }
            audience += count
            byLanguage[deviceClass.language] += count
            byPayloadBytes[deviceClass.group, default: [:]][deviceClass.payloadBytes, default: 0] += count
            byGroup[deviceClass.group, default: 0] += count
            byWave[deviceClass.wave, default: 0] += count
            if let number = deviceClass.numberOfSending { bySending[number, default: 0] += count }
            if let number = deviceClass.numberOfCap { byCap[number, default: 0] += count }
            for number in devices.classes.selections[deviceClass.selection] { selectedBy[Int(number)] += count }
        }
        let spoken = zip(devices.languages.names, byLanguage).filter { $0.1 > 0 }
        try findings.checkDates(settled)
        let result = AudienceResult(
            rows: findings.rows, audience: audience, skipped: skipped.byReason,
            selectedBy: Array(zip(names, selectedBy)).map { (selector: $0.0, recipients: $0.1) },
            languages: Dictionary(spoken, uniquingKeysWith: +), payloadBytesOfGroups: byPayloadBytes, groups: byGroup,
            waves: byWave,
            reachedBySending: bySending, reachedToday: byCap,
            skippedGroups: skippedByGroup, exclusions: findings.exclusions(skippedByGroup[.excluded] ?? [:]),
            conditions: findings.conditionCounts, badTokens: findings.badTokens.list,
            unreachedCells: findings.unreachedCells,
            servicesWithoutColumn: findings.servicesWithoutColumn, badRows: findings.badRows.map(\.mistake),
            warnings: findings.allWarnings(
                rowsOfSeveral: findings.rowsWithDevice > settled.devices - settled.decidedByOthers,
                undatedExclusions: settled.undatedExclusions),
            firstRecipients: settled.first.mapValues { recipients in
                recipients.map {
                    FirstRecipient(
                        slot: $0.place, selectors: devices.classes.selections[$0.selection].map { names[Int($0)] })
                }
            },
            largestSkippedPayload: largestSkipped,
            digest: digestWords(settled))
        return (result, settled)
    }

    /// Equal for two audiences only when the same rows were selected in the same order, and the
    /// same devices dropped.
    private func digestWords(_ settled: DeviceResults) -> [UInt64] {
        var ends = SequenceDigest()
        settled.dropped.forEach { ends.append(UInt64($0)) }
        return findings.digest.words + ends.words + [UInt64(settled.count)]
    }
}
