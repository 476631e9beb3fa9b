import Base
import PushServices

/// Scans the rows of one block after another. One for each thread.
struct BlockScanner<Targets: TargetReader & ~Copyable>: ~Copyable {
    let plan: ScanLayout
    private(set) var selector: RowSelector
    private var filter: RowFilter
    private var watch: ComparisonChecker
    private let judge: RecipientChecker
    let targets: Targets
    private let separator: [UInt8]
    let latestActivity: Int64
    private let hasConditions: Bool
    /// Whether some export says when devices were active.
    private let hasDates: Bool
    let hasExcludedDevices: Bool
    let suppressed: SuppressedDevices?
    let capped: CappedDevices?
    private let reached: CappedDevices?
    private let today: CappedDevices?
    /// By number of a service, whether its targets are users.
    let areUsers: [Bool]
    let foreignForms: ForeignTargetForms
    /// The file that the filter is prepared for.
    private var file = -1
    private var languages = BlockLanguages()
    /// The numbers of the block's selections beyond the first few.
    private var selectionNumbers: [[UInt32]: Int] = [:]
    private var wantsRecords = true
    /// The most rows with a device in any block so far: room for as many is reserved at once.
    private var mostRows = 0
    /// Whether the row names a device and, in place of the token of its activity, something else.
    private var hasBadActivity = false
    /// Whether tags of rows are looked at for a row for each tag, and of all rows of the block.
    private var samplesTags = false
    private var samplesAllTags = false

    /// The number of blocks with first rows that are sampled for tags: more than one, because the
    /// first may hold few rows.
    private static var sampledBlocks: Int { 16 }
    /// Records that are not wanted are removed at this many bytes: removing each one costs more
    /// than writing it.
    private static var unwantedBytes: Int { 16 << 10 }
    /// Lines of one unreadable row from which on it causes a warning: rows are hidden in it.
    private static var suspiciousLines: Int { 20 }

    init(_ plan: ScanLayout, _ targets: consuming Targets) {
        self.plan = plan
        self.targets = targets
        selector = RowSelector(plan.selectors)
        filter = RowFilter(plan.query)
        watch = ComparisonChecker(plan.query)
        judge = plan.makeChecker()
        separator = Array(plan.query.columns.tagSeparator.utf8)
        latestActivity = plan.query.latestActivity
        hasConditions = !plan.query.conditions.isEmpty
        hasDates = plan.files.contains { $0.plan.lastActive != $0.plan.blankCell }
        hasExcludedDevices = !plan.excluded.isEmpty
        suppressed = plan.query.suppressed
        capped = plan.query.capped
        reached = plan.query.reached
        today = plan.query.today
        areUsers = plan.query.services.map(\.target.areUsers)
        foreignForms = ForeignTargetForms(plan.query.services)
    }

    /// Reads a block as far as whole records reach.
    /// - Parameters:
    ///   - state: what the block begins with.
    ///   - wants: what is still needed in addition to the devices.
    mutating func scan(_ block: Block, expecting state: ReadingState, _ wants: ScanRequirements) -> BlockResult {
        var blockResult = BlockResult(block, expecting: state, plan)
        let export = plan.files[block.file]
        blockResult.devices.reserveCapacity(mostRows)
        wantsRecords = wants.records
        if file != block.file {
            filter.use(export.plan)
            watch.use(export.plan)
        }
        file = block.file
        languages.clear()
        selectionNumbers.removeAll(keepingCapacity: true)
        samplesAllTags = block.number < Self.sampledBlocks
        selector.beginBlock(samplesTags: samplesAllTags)
        samplesTags = plan.query.usesTags && export.plan.tagsCell != nil && !plan.selectors.unitesRows
        filter.beginBlock()
        watch.beginBlock()
        switch export.format.records {
        case .delimited(let separator):
            var reader = DelimitedReader.ofBlock(
                block.bytes, expecting: state, of: export, separator: separator, targets: plan.query.targets)
            reader.use(columns: export.plan.columns)
            scan(&reader, export.plan, &blockResult)
        case .jsonLines:
            var reader = JSONLinesReader.ofBlock(block.bytes, of: export)
            scan(&reader, export.plan, &blockResult)
        case .jsonArray:
            var reader = JSONArrayReader.ofBlock(block.bytes, expecting: state, of: export)
            scan(&reader, export.plan, &blockResult)
        }
        mostRows = max(mostRows, blockResult.devices.count)
        if !wantsRecords { blockResult.records = RecipientBatch() }
        return blockResult
    }

    private mutating func scan(
        _ reader: inout some RowReader & ~Copyable, _ columns: ColumnPlan, _ blockResult: inout BlockResult
    ) {
        do throws(Diagnostic) {
            reading: while true {
                switch try reader.next() {
                case .row:
                    blockResult.rows += 1
                    let reason = process(reader.row, columns, &blockResult)
                    if selector.tagForms.wantsLine { selector.tagForms.note(line: reader.rowLine) }
                    guard let reason else {
                        if hasBadActivity { noteBadActivity(reader.row, columns, line: reader.rowLine, &blockResult) }
                        if watch.wantsLine { watch.note(line: reader.rowLine) }
                        continue
                    }
                    blockResult.skipped[reason] += 1
                    if reason == .noService { blockResult.noteUnreached(reader.row.bytes(columns.service)) }
                    if reason == .badToken {
                        blockResult.badTokens.note(
                            targets.target(of: reader.row, columns), line: reader.rowLine, plan.query.services)
                    }
                case .badRow:
                    note(
                        BadRow(mistake: reader.badRow, isUTF8: reader.badRowIsUTF8), lines: reader.badRowLines,
                        &blockResult)
                case .needsMore, .end: break reading
                }
            }
        } catch { blockResult.failure = error }
        (blockResult.seen, blockResult.sampledTags, blockResult.conditions) = (
            selector.seen, selector.sampledTags, filter.allFindings
        )
        (blockResult.tagForms, blockResult.comparisons, blockResult.flaws) = (
            selector.tagForms, watch.findings, watch.flaws
        )
        (blockResult.tagSpellings, blockResult.aliasSpellings) = (selector.nearTags.counts, selector.nearAliases.counts)
        (blockResult.sampledAliases, blockResult.idSpellings) = (selector.sampledAliases, selector.nearIDs.counts)
        (blockResult.rowsWithDuplicateKeys, blockResult.rowsWithLookalikes) = (
            reader.rowsWithDuplicateKeys, reader.rowsWithLookalikes
        )
        (blockResult.consumed, blockResult.end, blockResult.state) = (reader.consumed, reader.place, reader.state)
    }

    private func note(_ row: BadRow, lines: Int, _ blockResult: inout BlockResult) {
        // A quote that is never closed hides rows: each of its lines counts as one.
        blockResult.rows += lines
        blockResult.skipped[.badRow] += lines
        if blockResult.badRows.count < BlockResult.shownBadRows { blockResult.badRows.append(row) }
        if lines >= Self.suspiciousLines { blockResult.longBadRows.append(row.mistake) }
    }

    // MARK: - Rows

    /// Processes a row as far as possible. A row that is not selected is noted with its device too:
    /// it may be the device's newest, which decides.
    /// - Returns: why it goes no further when it has no device.
    @inline(__always) private mutating func process(
        _ row: CellRow, _ columns: ColumnPlan, _ blockResult: inout BlockResult
    ) -> SkipReason? {
        if plan.selectors.unitesRows { return processFacts(row, columns, &blockResult) }
        let isSelected = selector.select(row, columns)
        let isIDListed = hasExcludedDevices && isIDListed(row, columns, &blockResult)
        let reason: SkipReason? =
            if !isSelected {
                .notMatched
            } else if hasConditions && !filter.passes(row) {
                .filtered
            } else if selector.isExcluded || isIDListed {
                .excluded
            } else {
                nil
            }
        let reading = targets.target(of: row, columns)
        guard let id = reading.device else {
            return reasonWithoutDevice(reading, reason, isExcluded: selector.isExcluded || isIDListed, &blockResult)
        }
        let fingerprint = plan.hash.fingerprint(id)
        let links = ActivityLinks(reading, of: fingerprint, plan.hash)
        let (listed, others) = otherTargets(row, columns, of: reading, fingerprint, &blockResult)
        let lastActive = lastActive(row, columns, &blockResult)
        let device = device(
            reading, fingerprint, lastActive, otherReason(others, reading, fingerprint, row, columns), &blockResult)
        if samplesTags { sampleTags(row, columns, of: device, &blockResult) }
        if let reason {
            // Without a date the row may lose to another one, and then the report says that the
            // device should have been left out.
            let isNamed =
                reason == .excluded || lastActive == ActivityMoment.never && (selector.isExcluded || isIDListed)
            var exclusions = isNamed ? exclusions(row, columns, fingerprint) : []
            if reason == .filtered, isUndatedNo(row, lastActive) { exclusions.insert(.whereCell) }
            blockResult.devices.append(
                DeviceRow(fingerprint, ActivityMoment(lastActive), reason: reason, exclusions: exclusions))
        } else if let listed {
            let exclusions = exclusions(row, columns, listed)
            blockResult.devices.append(
                DeviceRow(fingerprint, ActivityMoment(lastActive), reason: .excluded, exclusions: exclusions))
        } else if !reading.isReached {
            blockResult.noteUnreached(row.bytes(columns.service))
            blockResult.devices.append(
                DeviceRow(fingerprint, ActivityMoment(lastActive), reason: .noService, exclusions: []))
        } else if reading.target == nil {
            hasBadActivity = reading.reason == .badToken
            blockResult.devices.append(
                DeviceRow(fingerprint, ActivityMoment(lastActive), reason: reading.reason, exclusions: []))
        } else {
            add(row, columns, of: device, selected: selector.selected, &blockResult)
        }
        if let links { add(links, of: fingerprint, lastActive, &blockResult) }
        // The row also decides for its other targets: an older row with one of them says nothing
        // any more.
        for other in others {
            blockResult.devices.append(DeviceRow(other, ActivityMoment(lastActive), reason: .duplicateToken))
        }
        blockResult.unusedTargets += others.count
        return nil
    }

    private func device(
        _ reading: TargetReading, _ fingerprint: TokenFingerprint, _ lastActive: Int64, _ otherReason: SkipReason?,
        _ blockResult: inout BlockResult
    ) -> Device {
        guard let id = reading.device, let token = reading.target ?? reading.device else {
            preconditionFailure("a row without a device")
        }
        if reading.target != nil { foreignForms.note(token, of: Int(reading.service), &blockResult.foreignTargets) }
        return Device(
            id: id, token: token, service: reading.service, fingerprint: fingerprint,
            ofToken: reading.owner == nil ? fingerprint : plan.hash.fingerprint(token), lastActive: lastActive,
            otherReason: otherReason)
    }

    @inline(never) private mutating func noteBadActivity(
        _ row: CellRow, _ columns: ColumnPlan, line: Int, _ blockResult: inout BlockResult
    ) {
        hasBadActivity = false
        blockResult.badTokens.note(targets.target(of: row, columns), line: line, plan.query.services)
    }

    /// Why a row without a device goes no further.
    /// - Parameter reason: by its tags and other cells.
    private func reasonWithoutDevice(
        _ reading: TargetReading, _ reason: SkipReason?, isExcluded: Bool, _ blockResult: inout BlockResult
    ) -> SkipReason {
        guard let early = reading.earlyReason else { return reason ?? reading.reason }
        if isExcluded { blockResult.excludedWithoutDevice += 1 }
        return early
    }

    /// Processes a row where the tags of a device's rows are united: the result is known when all
    /// are read.
    private mutating func processFacts(_ row: CellRow, _ columns: ColumnPlan, _ blockResult: inout BlockResult)
        -> SkipReason?
    {
        let isSelected = selector.select(row, columns)
        let passes = !hasConditions || filter.passes(row)
        let isIDListed = hasExcludedDevices && isIDListed(row, columns, &blockResult)
        let reading = targets.target(of: row, columns)
        guard let id = reading.device else {
            let isExcluded = selector.isExcluded || isIDListed
            let reason: SkipReason? = !isSelected ? .notMatched : !passes ? .filtered : isExcluded ? .excluded : nil
            return reasonWithoutDevice(reading, reason, isExcluded: isExcluded, &blockResult)
        }
        let fingerprint = plan.hash.fingerprint(id)
        let links = ActivityLinks(reading, of: fingerprint, plan.hash)
        let (listed, others) = otherTargets(row, columns, of: reading, fingerprint, &blockResult)
        let isExcluded = !selector.exclusions.subtracting(.tags).isEmpty || listed != nil || isIDListed
        var facts = selector.facts
        if !passes { facts.append(RowFacts.NewestRowFacts.filtered.rawValue) }
        if !reading.isReached && !isExcluded {
            if isSelected && passes { blockResult.noteUnreached(row.bytes(columns.service)) }
            facts.append(RowFacts.NewestRowFacts.noService.rawValue)
        } else if reading.target == nil && passes && !isExcluded {
            hasBadActivity = reading.reason == .badToken && isSelected
            facts.append(RowFacts.NewestRowFacts.lacking(reading.reason).rawValue)
        }
        if isExcluded {
            facts += RowFacts.excluded(by: exclusions(row, columns, listed ?? fingerprint).subtracting(.tags))
        }
        let lastActive = lastActive(row, columns, &blockResult)
        if !passes, !isExcluded, reading.isReached, isUndatedNo(row, lastActive) {
            facts += RowFacts.excluded(by: .whereCell)
        }
        if passes && !isExcluded && reading.isReached && reading.target != nil {
            let device = device(
                reading, fingerprint, lastActive, otherReason(others, reading, fingerprint, row, columns), &blockResult)
            add(row, columns, of: device, selected: facts, &blockResult)
        } else {
            blockResult.devices.append(
                DeviceRow(fingerprint, ActivityMoment(lastActive), reason: nil, facts: selection(facts, &blockResult)))
        }
        if let links { add(links, of: fingerprint, lastActive, &blockResult) }
        return nil
    }

    /// The row that was added last also decides for the activity that it names, and for its
    /// registration id.
    private mutating func add(
        _ links: ActivityLinks, of device: TokenFingerprint, _ lastActive: Int64, _ blockResult: inout BlockResult
    ) {
        blockResult.activityLinks.append(.init(row: blockResult.devices.count - 1, value: links))
        for claim in links.claims(of: device) {
            blockResult.activityLinks.append(.init(row: blockResult.devices.count, value: ActivityLinks(owner: device)))
            let facts =
                plan.selectors.unitesRows ? selection([RowFacts.NewestRowFacts.outdated.rawValue], &blockResult) : 0
            blockResult.devices.append(
                DeviceRow(
                    claim.key, ActivityMoment(lastActive), reason: plan.selectors.unitesRows ? nil : .duplicateToken,
                    facts: facts))
            blockResult.unusedTargets += 1
        }
    }

    /// Whether a row that `where` leaves out may lose to another one because it has no date.
    private func isUndatedNo(_ row: CellRow, _ lastActive: Int64) -> Bool {
        hasDates && lastActive == ActivityMoment.never && filter.saysNo(row)
    }

    /// The device of a row.
    private struct Device {
        /// What identifies it. Valid until the next target is read: use it before `exclusions`,
        /// which reads those of lists.
        let id: UnsafeBufferPointer<UInt8>
        /// What a push goes to, valid as long: the same, or the token of an activity.
        let token: UnsafeBufferPointer<UInt8>
        /// The number of its service among the app's.
        let service: UInt8
        let fingerprint: TokenFingerprint
        let ofToken: TokenFingerprint
        /// Milliseconds since 1970, or `never`.
        let lastActive: Int64
        /// Why the row's other targets keep it from getting anything.
        let otherReason: SkipReason?
    }

    private mutating func sampleTags(
        _ row: CellRow, _ columns: ColumnPlan, of device: Device, _ blockResult: inout BlockResult
    ) {
        guard samplesAllTags || TagSample.isAlwaysTaken(device.id) else { return }
        // Cells that are not dates may differ.
        if device.lastActive == ActivityMoment.never, !Blank.isCell(row.bytes(columns.lastActive)) { return }
        let tags = SequenceDigest.element(row.bytes(columns.tags), with: 0)
        blockResult.tagSamples.append(
            TagSample(fingerprint: device.fingerprint, lastActive: device.lastActive, tags: tags, token: device.id))
    }

    /// Adds a row that makes its device a recipient when it is the newest one, and what the judge
    /// says.
    private mutating func add(
        _ row: CellRow, _ columns: ColumnPlan, of device: Device, selected: [UInt32], _ blockResult: inout BlockResult
    ) {
        let (token, fingerprint, lastActive) = (device.token, device.ofToken, device.lastActive)
        suppressed?.prefetch(fingerprint.word)
        capped?.prefetch(fingerprint.word)
        reached?.prefetch(fingerprint.word)
        today?.prefetch(fingerprint.word)
        watch.observe(row)
        if selector.isSelectedDespiteNone { blockResult.rowsDespiteNone += 1 }
        let moment = ActivityMoment(lastActive)
        if selector.selectingAlias >= 0 {
            blockResult.aliasHits.append(
                .init(row: blockResult.devices.count, alias: selector.selectingAlias, token: Array(device.id)))
        }
        blockResult.records.append(row, columns, token: token, service: device.service, separator: separator)
        let judge = judge
        let element: UInt64
        var recipientCheck: RecipientCheck
        (recipientCheck, element) = blockResult.records.withRecord(blockResult.records.count - 1) { record in
            (judge(record), Self.element(record, lastActive: lastActive))
        }
        // Checked last, when the prefetched data has arrived; as reasons they come before those of
        // the check.
        if let capped, capped.contains(fingerprint.word) { recipientCheck = RecipientCheck(reason: .frequency) }
        if let reason = device.otherReason { recipientCheck = RecipientCheck(reason: reason) }
        if let validity = columns.validity {
            switch isValid(row.bytes(validity)) {
            case true?: break
            case false?: recipientCheck = RecipientCheck(reason: .suppressed, group: AudienceResult.groupOfInvalid)
            case nil: blockResult.unreadValidity.note(row.bytes(validity))
            }
        }
        if let entry = suppressed?.entry(fingerprint.word),
            isStillSuppressed(entry, row.bytes(columns.registeredAt), &blockResult)
        {
            recipientCheck = RecipientCheck(reason: .suppressed)
        }
        blockResult.digest.append(element)
        if !wantsRecords, blockResult.records.bytes.count > Self.unwantedBytes { blockResult.records.removeAll() }
        let language = languages.number(of: row.bytes(columns.language), names: &blockResult.languages)
        var row = DeviceRow(
            device.fingerprint, moment, recipientCheck, selection: selection(selected, &blockResult), language: language
        )
        let sending = reached?.firstCap(of: fingerprint.word).map { $0 + 1 } ?? 0
        row.sending = DeviceClass.reached(
            sending: sending, cap: today?.firstCap(of: fingerprint.word).map { $0 + 1 } ?? 0)
        blockResult.devices.append(row)
    }

    /// Milliseconds since 1970; `never` for a cell that is not a date, or is in the future.
    @inline(__always) private func lastActive(_ row: CellRow, _ columns: ColumnPlan, _ blockResult: inout BlockResult)
        -> Int64
    {
        let cell = row.bytes(columns.lastActive)
        if let moment = dateMilliseconds(cell), moment <= latestActivity { return moment }
        if !cell.isEmpty { note(noDate: cell, &blockResult) }
        return ActivityMoment.never
    }

    @inline(never) private func note(noDate cell: UnsafeBufferPointer<UInt8>, _ blockResult: inout BlockResult) {
        if !Blank.isCell(cell) { blockResult.unreadDates.note(cell) }
    }

    /// A recipient's part of a plan's hash: everything that decides what is sent to which device.
    @inline(__always) private static func element(_ record: RecipientRecord, lastActive: Int64) -> UInt64 {
        var state = SequenceDigest.element(record.token, with: UInt64(bitPattern: lastActive))
        state = SequenceDigest.element(record.language, with: state &+ UInt64(record.service))
        return SequenceDigest.element(record.fields, with: state)
    }

    /// The number of a set among the block result's.
    @inline(__always) private mutating func selection(_ set: [UInt32], _ blockResult: inout BlockResult) -> Int {
        // Most rows are selected by one of few sets.
        for number in 0..<min(blockResult.selections.count, 8) where blockResult.selections[number] == set {
            return number
        }
        return selectionAmongMany(set, &blockResult)
    }

    private mutating func selectionAmongMany(_ set: [UInt32], _ blockResult: inout BlockResult) -> Int {
        if let number = selectionNumbers[set] { return number }
        selectionNumbers[set] = blockResult.selections.count
        blockResult.selections.append(set)
        return blockResult.selections.count - 1
    }
}
