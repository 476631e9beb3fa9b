import Base
import PushServices

/// Reads exports from front to back, and shows how `BlockScanner` treats single rows, with the
/// reasons.
struct RowTracer {
    /// A row, with what is needed to settle its device.
    struct Row {
        var traced: TracedRow
        /// What identifies its device, normalised; nil without one.
        var digits: [UInt8]?
        /// The same, of the row's targets other than the one that is used.
        var others: [[UInt8]]
        /// The one of them that is a user; nil without one.
        var user: [UInt8]?
        /// Where pushes go to the tokens of Live Activities, the row's activity and its
        /// registration id, unless they are `digits`.
        var activity: [UInt8]?, registrationID: [UInt8]?
        var moment: ActivityMoment
        var selected: [UInt32]
        /// The number of the alias that selects it; -1 for none.
        var selectingAlias: Int
        /// Where the tags of a device's rows are united, its `RowFacts`.
        var facts: [UInt32]
        /// The parts of `exclude` that name its tags.
        var excludedTags: [String]
        /// Why it goes no further by itself, or nil when it has a device that may be sent to.
        var ownReason: SkipReason?
        /// What else the row counts for.
        var claims: [[UInt8]] { [activity, registrationID].compactMap(\.self) }
        /// What is known of its device when this is its newest row; nil without a device.
        var reason: SkipReason? { ownReason ?? laterReason }
        /// The same, when the campaign does not leave it out.
        var laterReason: SkipReason? { traced.earlierReason ?? traced.recipientCheck?.reason }
    }

    let plan: ScanLayout
    private let judge: RecipientChecker
    private let separator: [UInt8]
    private let targets: MixedTargets?
    private let single: ChosenTargets

    /// The most rows that are kept: a question about an alias of thousands of devices has another
    /// purpose.
    static let mostRows = 100_000

    init(_ plan: ScanLayout) {
        self.plan = plan
        judge = plan.makeChecker()
        single = ChosenTargets(plan.query.targets)
        targets = plan.query.hasSeveralTargets ? MixedTargets(plan.query) : nil
        separator = Array(plan.query.columns.tagSeparator.utf8)
    }

    /// The columns that decide whether a row is wanted.
    struct RowKeys {
        /// What identifies the device; nil without one.
        var digits: [UInt8]?
        /// The target that is used.
        var target: [UInt8]?
        /// Of targets that are not used.
        var others: [[UInt8]]
        /// The first of them that is a user; nil without one.
        var user: [UInt8]?
        /// What a row of a Live Activity has in addition to what identifies its device.
        var claims: [[UInt8]]
        /// The cell in the column of tokens.
        var token: UnsafeBufferPointer<UInt8>
        var alias: UnsafeBufferPointer<UInt8>
        var registrationID: UnsafeBufferPointer<UInt8>
    }

    /// - Parameters:
    ///   - asksJudge: whether the check's result matters.
    ///   - isWanted: whether to trace a row.
    ///   - tick: called often.
    /// - Returns: the rows in reading order, and how many cannot be read.
    /// - Throws: `Diagnostic` for a file that cannot be read, and for more than `mostRows` rows.
    func rows(asksJudge: Bool, where isWanted: (RowKeys) -> Bool, tick: () throws -> Void) throws -> (
        rows: [Row], badRows: Int
    ) {
        var (rows, badRows) = ([Row](), 0)
        for file in plan.files {
            var tools = FileState(plan, file)
            func take(_ row: CellRow, line: Int) throws {
                let reading = reading(of: row, file.plan)
                let digits = reading.device.map { Array($0) }
                let (others, user) = others(of: row, file.plan, reading)
                let rowKeys = RowKeys(
                    digits: digits, target: reading.target.map { Array($0) }, others: others, user: user,
                    claims: [reading.activity, reading.registrationID].compactMap { $0.map { Array($0) } },
                    token: reading.cell,
                    alias: row.bytes(file.plan.alias),
                    registrationID: row.bytes(file.plan.registrationID))
                guard isWanted(rowKeys) else { return }
                guard rows.count < Self.mostRows else {
                    throw Diagnostic(
                        "this matches more than \(Self.mostRows) rows",
                        remedy: "Name a single device by its \(plan.query.services.shortTargetNoun).")
                }
                rows.append(
                    trace(
                        row, (reading, others, user), SourcePosition(file: file.path, line: line, column: 1), &tools,
                        asksJudge: asksJudge)
                )
            }
            badRows += try read(file, take, tick)
        }
        return (rows, badRows)
    }

    private func reading(of row: CellRow, _ columns: ColumnPlan) -> TargetReading {
        targets?.target(of: row, columns) ?? single.target(of: row, columns)
    }

    private func others(of row: CellRow, _ columns: ColumnPlan, _ reading: TargetReading) -> (
        all: [[UInt8]], user: [UInt8]?
    ) {
        guard let targets, reading.device != nil else { return ([], nil) }
        var (others, user): ([[UInt8]], [UInt8]?) = ([], nil)
        targets.forEachOther(of: row, columns, besides: reading.service) { other, service in
            others.append(Array(other))
            if user == nil, plan.query.services[service].target.areUsers { user = Array(other) }
        }
        return (others, user)
    }

    /// The state of one file.
    private struct FileState {
        let columns: ColumnPlan
        var selector: RowSelector
        var filter: RowFilter

        init(_ plan: ScanLayout, _ file: ExportFile) {
            columns = file.plan
            selector = RowSelector(plan.selectors)
            filter = RowFilter(plan.query)
            filter.use(file.plan)
        }
    }

    // MARK: - One row

    /// The same checks in the same order as in `BlockScanner`, but all of them.
    private func trace(
        _ row: CellRow, _ targets: (used: TargetReading, others: [[UInt8]], user: [UInt8]?), _ position: SourcePosition,
        _ tools: inout FileState,
        asksJudge: Bool
    ) -> Row {
        let (reading, others, user) = targets
        let columns = tools.columns
        let (digits, target) = (reading.device.map { Array($0) }, reading.target.map { Array($0) })
        let (activity, registrationID) = (reading.activity.map { Array($0) }, reading.registrationID.map { Array($0) })
        func text(_ cell: Int) -> String { row.text(cell, separator: separator) }
        let isSelected = tools.selector.select(row, columns)
        let failed = tools.filter.failing(row)
        let active = dateMilliseconds(row.bytes(columns.lastActive))
        let lastActive =
            active.map { $0 <= plan.query.latestActivity ? $0 : ActivityMoment.never } ?? ActivityMoment.never
        let id = row.bytes(columns.registrationID)
        let listsID =
            (self.targets.map { plan.excluded.place(ofID: id, $0) } ?? plan.excluded.place(ofID: id, single)) >= 0
        let isExcluded = tools.selector.isExcluded || !plan.excluded.isEmpty && listsID
        let fingerprint = target.map(hashed)
        // What identifies the device, unless it is the target, counts like a target that is not
        // used.
        let unused = (others + (reading.owner == nil ? [] : [digits].compactMap(\.self))).map(hashed)
        let listsToken = ([fingerprint].compactMap(\.self) + unused).contains { plan.excluded.place(ofToken: $0) >= 0 }
        let isListed = listsID && !plan.excluded.isEmpty || listsToken
        let excludedTags = excludedTags(row, columns, tools.selector)
        let names = plan.selectors.selectors.names
        var traced = TracedRow(
            position: position, token: target.map { Target(normalized: String(decoding: $0, as: UTF8.self)) },
            registrationID: text(columns.registrationID), alias: text(columns.alias), tags: text(columns.tags),
            language: text(columns.language), lastActive: text(columns.lastActive),
            selectors: tools.selector.selected.map { names[Int($0)] },
            failedConditions: failed.map { (plan.query.conditions[$0], text(columns.conditions[$0])) },
            exclusions: excludedTags + exclusions(row, columns, listed: isListed), chosenInstead: [])
        let ownReason: SkipReason? =
            if let early = reading.earlyReason {
                early
            } else if !isSelected {
                .notMatched
            } else if !failed.isEmpty {
                .filtered
            } else if isExcluded {
                .excluded
            } else if digits == nil {
                reading.reason
            } else if listsToken {
                .excluded
            } else if !reading.isReached {
                .noService
            } else if target == nil {
                reading.reason
            } else {
                nil
            }
        // Where rows are united, other rows' tags may select it.
        if ownReason == nil || plan.selectors.unitesRows, let target, let fingerprint {
            traced.suppressedSince =
                suppressedSince(fingerprint, row, columns)
                ?? unused.lazy.compactMap { suppressedSince($0, row, columns, onlyByPerson: true) }.first
            traced.isInvalid = columns.validity.map { isValid(row.bytes($0)) == false } ?? false
            traced.isCapped = ([fingerprint] + unused).contains { plan.query.capped?.contains($0) ?? false }
            if asksJudge {
                (traced.recipientCheck, traced.recipient) = judged(row, columns, target, service: reading.service)
            }
        }
        if target == nil { traced.tokenFlaw = BadTokens.flaw(of: reading, plan.query.services) }
        traced.device = digits.map { Target(normalized: String(decoding: $0, as: UTF8.self)) }
        (traced.service, traced.isReached, traced.isOfActivity) = (
            Int(reading.service), reading.isReached, reading.isOfActivity
        )
        if plan.query.columns.service != nil { traced.serviceCell = text(columns.service) }
        traced.verdict = ownReason
        return Row(
            traced: traced, digits: digits, others: others, user: user, activity: activity == digits ? nil : activity,
            registrationID: registrationID == digits ? nil : registrationID, moment: ActivityMoment(lastActive),
            selected: tools.selector.selected,
            selectingAlias: tools.selector.selectingAlias,
            facts: tools.selector.facts + (failed.isEmpty ? [] : [RowFacts.NewestRowFacts.filtered.rawValue])
                + (isListed || !tools.selector.exclusions.subtracting(.tags).isEmpty
                    ? [RowFacts.NewestRowFacts.excluded.rawValue] : [])
                + (reading.isReached && target != nil
                    ? [] : [RowFacts.NewestRowFacts.lacking(reading.reason).rawValue]),
            excludedTags: excludedTags, ownReason: ownReason)
    }

    private func hashed(_ digits: [UInt8]) -> UInt64 { digits.withUnsafeBufferPointer { plan.hash.token($0) } }

    /// - Parameter onlyByPerson: for a target that is not used.
    private func suppressedSince(
        _ fingerprint: UInt64, _ row: CellRow, _ columns: ColumnPlan, onlyByPerson: Bool = false
    ) -> Timestamp? {
        guard let entry = plan.query.suppressed?.entry(fingerprint), entry.isByPerson || !onlyByPerson else {
            return nil
        }
        return registered(
            after: entry.invalidSince, row, columns, latest: entry.isByPerson ? plan.query.latestActivity : .max)
            ? nil : Timestamp(epochMilliseconds: entry.invalidSince)
    }

    private func judged(_ row: CellRow, _ columns: ColumnPlan, _ digits: [UInt8], service: UInt8) -> (
        RecipientCheck, Recipient?
    ) {
        var batch = RecipientBatch()
        digits.withUnsafeBufferPointer { batch.append(row, columns, token: $0, service: service, separator: separator) }
        return batch.withRecord(0) { (judge($0), Recipient($0)) }
    }

    private func excludedTags(_ row: CellRow, _ columns: ColumnPlan, _ selector: RowSelector) -> [String] {
        if plan.query.excludedTags.isEmpty { return [] }
        let carried = selector.tags(of: row, cell: columns.tags)
        return NameTable([plan.query.excludedTags]).names.filter { carried.contains(Array($0.utf8)) }.map {
            "tag:\($0)"
        }
    }

    private func exclusions(_ row: CellRow, _ columns: ColumnPlan, listed: Bool) -> [String] {
        let query = plan.query
        var found: [String] = []
        for (kind, names, cell) in [
            ("alias", query.excludedAliases, columns.alias),
            ("registration_id", query.excludedRegistrationIDs, columns.registrationID),
        ] where !names.isEmpty {
            let table = NameTable([names])
            let number = table.find(row.bytes(cell))
            if number >= 0 { found.append("\(kind):\(table.names[number])") }
        }
        return found + (listed ? ["list"] : [])
    }

    // MARK: - Reading

    func read(_ file: ExportFile, _ take: (CellRow, Int) throws -> Void, _ tick: () throws -> Void) throws -> Int {
        let (path, isGzip, limits) = (file.path, file.format.isGzip, plan.limits)
        let keys = file.plan.names(in: file.header)
        switch file.format.records {
        case .delimited(let separator):
            var reader = try DelimitedReader.open(path: path, isGzip: isGzip, separator: separator, limits: limits)
            reader.use(columns: file.plan.columns)
            return try read(&reader, take, tick)
        case .jsonLines:
            var reader = try JSONLinesReader(
                path: path, isGzip: isGzip, keys: keys, tagsCell: file.plan.tagsCell, limits: limits, form: file.json)
            return try read(&reader, take, tick)
        case .jsonArray:
            var reader = try JSONArrayReader(
                path: path, isGzip: isGzip, keys: keys, tagsCell: file.plan.tagsCell, limits: limits, form: file.json)
            return try read(&reader, take, tick)
        }
    }

    private func read(
        _ reader: inout some RowReader & ~Copyable, _ take: (CellRow, Int) throws -> Void, _ tick: () throws -> Void
    ) throws -> Int {
        var badRows = 0
        while true {
            switch try reader.next() {
            case .row: try take(reader.row, reader.rowLine)
            case .badRow: badRows += reader.badRowLines
            case .needsMore:
                try reader.refill()
                try tick()
            case .end: return badRows
            }
        }
    }
}
