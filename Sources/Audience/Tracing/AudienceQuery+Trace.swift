public import Base

extension AudienceQuery {
    /// Shows step by step how planning treats the devices that a subject names. Reads the exports
    /// from front to back, up to four times, and more often for tokens of Live Activities; the
    /// verdicts are those of `scan`.
    /// - Parameters:
    ///   - makeChecker: as for `scan`.
    ///   - isCancelled: called often; true ends the trace with `CancellationError`.
    /// - Throws: `Diagnostics` or `Diagnostic` for a file that cannot be read or lacks a column,
    ///   and when the subject means too many rows.
    public func trace(
        _ subject: TraceSubject,
        checking makeChecker: @escaping @Sendable () -> RecipientChecker = { { _ in RecipientCheck() } },
        isCancelled: () -> Bool = { false }
    ) throws -> AudienceTrace {
        try overUnchangedFiles {
            let plan = try plan(ReadingLimits(), makeChecker).0
            let trace = try DeviceTracer(plan).trace(subject) { if isCancelled() { throw CancellationError() } }
            try sources.checkUnchanged()
            return trace
        }
    }
}

/// Puts traced rows together: devices, the newest row of each, alias limits. A second, slow way to
/// the result of `DeviceCollector`.
private struct DeviceTracer {
    private let plan: ScanLayout
    private let tracer: RowTracer

    /// What is known of a device from all its rows.
    private struct Device {
        var digits: [UInt8]
        /// The index of the row that counts.
        var newest: Int
        /// The index of a newer row that has the target in addition to the one that it uses; nil
        /// for none.
        var supersededBy: Int?
        /// The index of the row of a device that stands for this user; nil for none.
        var stoodForBy: Int?
        var moment: ActivityMoment
        var reason: SkipReason?
        var selected: [UInt32]
        /// The number of the alias that selects it; -1 for none.
        var alias: Int
        /// Where the tags of its rows are united, the facts of all of them.
        var facts: [UInt32]
        /// The parts of `exclude` that name tags of its rows.
        var excludedTags: [String]
        /// The tags of its rows, as the export has them.
        var tags: [String]

        /// Whether it takes one of an alias's places.
        var takesPlace: Bool { reason?.takesPlaceInAlias ?? true }

        /// Whether a user that its row names gets no push of their own.
        var standsForUser: Bool { reason?.standsForUser ?? true }
    }

    init(_ plan: ScanLayout) {
        self.plan = plan
        tracer = RowTracer(plan)
    }

    func trace(_ subject: TraceSubject, tick: () throws -> Void) throws -> AudienceTrace {
        let named = try tracer.rows(
            asksJudge: false, where: { isNamed(by: subject, $0) }, tick: tick)
        let tokens = try withDevices(ofUsers: Set(named.rows.compactMap(\.digits)), tick)
        var rows = try rows(
            of: tokens, asksJudge: true,
            where: { rowKeys in
                rowKeys.digits == nil ? isNamed(by: subject, rowKeys) : rowKeys.others.contains(where: tokens.contains)
            }, tick)
        let devices = settled(rows)
        let kept = try devicesWithinLimits(of: devices, tick)
        for device in devices { conclude(device, kept, &rows) }
        return AudienceTrace(rows: rows.map(\.traced), badRows: named.badRows)
    }

    /// The rows of some devices; where pushes go to the tokens of Live Activities, with those of
    /// all devices that have an activity or a registration id in common with them.
    /// - Parameter isWanted: which other rows are wanted.
    private func rows(
        of tokens: Set<[UInt8]>, asksJudge: Bool, where isWanted: (RowTracer.RowKeys) -> Bool, _ tick: () throws -> Void
    ) throws -> [RowTracer.Row] {
        var tokens = tokens
        while true {
            let rows = try tracer.rows(
                asksJudge: asksJudge,
                where: { rowKeys in
                    guard let digits = rowKeys.digits else { return isWanted(rowKeys) }
                    return tokens.contains(digits) || rowKeys.claims.contains(where: tokens.contains)
                        || isWanted(rowKeys)
                }, tick: tick
            ).rows
            guard plan.query.sendsToActivities else { return rows }
            let known = tokens.count
            for row in rows { tokens.formUnion(row.claims + [row.digits].compactMap(\.self)) }
            if tokens.count == known { return rows }
        }
    }

    /// Targets, with those of the devices that name one of them in a row as their user: these may
    /// stand for the user.
    private func withDevices(ofUsers tokens: Set<[UInt8]>, _ tick: () throws -> Void) throws -> Set<[UInt8]> {
        guard plan.query.mayNameUsers else { return tokens }
        let naming = try tracer.rows(asksJudge: false, where: { $0.user.map(tokens.contains) ?? false }, tick: tick)
            .rows
        return tokens.union(naming.compactMap(\.digits))
    }

    private func isNamed(by subject: TraceSubject, _ rowKeys: RowTracer.RowKeys) -> Bool {
        rowKeys.digits.map {
            ([$0, rowKeys.target].compactMap(\.self) + rowKeys.others).contains(where: subject.names(token:))
        }
            ?? subject.names(badToken: rowKeys.token)
            || subject.names(rowKeys.alias) || subject.names(rowKeys.registrationID)
    }

    /// The devices of rows, in the order of their first rows.
    private func settled(_ rows: [RowTracer.Row]) -> [Device] {
        var devices: [Device] = []
        var places: [[UInt8]: Int] = [:]
        for (index, row) in rows.enumerated() {
            guard let digits = row.digits else { continue }
            var device = Device(
                digits: digits, newest: index, moment: row.moment, reason: row.reason, selected: row.selected,
                alias: row.selectingAlias,
                facts: row.facts, excludedTags: row.excludedTags, tags: [row.traced.tags])
            guard let place = places[digits] else {
                places[digits] = devices.count
                devices.append(device)
                continue
            }
            var older = devices[place]
            if row.moment < older.moment { swap(&device, &older) }
            if plan.selectors.unitesRows {
                device.facts = RowFacts(plan.selectors).united(device.facts, withTagsOf: older.facts)
                device.excludedTags += older.excludedTags.filter { !device.excludedTags.contains($0) }
                device.tags = devices[place].tags + [row.traced.tags].filter { !devices[place].tags.contains($0) }
            }
            devices[place] = device
        }
        if plan.selectors.unitesRows {
            for index in devices.indices { unite(&devices[index], rows) }
        } else {
            for (index, row) in rows.enumerated() {
                for other in row.others { supersede(other, by: index, row, places, &devices) }
            }
        }
        for (index, row) in rows.enumerated() {
            for claim in row.claims { supersede(claim, by: index, row, places, &devices) }
        }
        if plan.query.mayNameUsers { leaveOutUsers(rows, places, &devices) }
        if plan.query.sendsToActivities { leaveOutOutdated(rows, &devices) }
        return devices
    }

    /// A row also decides for a target that it has in addition to the one that it uses.
    private func supersede(
        _ other: [UInt8], by index: Int, _ row: RowTracer.Row, _ places: [[UInt8]: Int], _ devices: inout [Device]
    ) {
        guard let place = places[other] else { return }
        let device = devices[place]
        guard device.moment < row.moment || !(row.moment < device.moment) && index > device.newest else { return }
        devices[place].supersededBy = index
        devices[place].reason = .duplicateToken
    }

    /// Users that the newest row of a device names get no push of their own.
    private func leaveOutUsers(_ rows: [RowTracer.Row], _ places: [[UInt8]: Int], _ devices: inout [Device]) {
        for device in devices.filter(\.standsForUser) {
            guard let place = rows[device.newest].user.flatMap({ places[$0] }), devices[place].reason == nil else {
                continue
            }
            devices[place].stoodForBy = device.newest
            devices[place].reason = .duplicateToken
        }
    }

    /// The newest row that has an activity decides for it, and so does one that has nothing but a
    /// registration id, as `ActivityLinks` says.
    private func leaveOutOutdated(_ rows: [RowTracer.Row], _ devices: inout [Device]) {
        var newest: [[UInt8]: Int] = [:]
        for (index, row) in rows.enumerated() {
            for key in row.claims + [row.digits].compactMap(\.self)
            where newest[key].map({ rows[$0].moment <= row.moment }) ?? true {
                newest[key] = index
            }
        }
        for place in devices.indices where devices[place].reason == nil {
            let row = rows[devices[place].newest]
            let ofActivity = row.activity.flatMap { newest[$0] }.flatMap { rows[$0].digits == row.digits ? nil : $0 }
            let ofID = row.registrationID.flatMap { newest[$0] }.flatMap {
                rows[$0].digits == row.registrationID ? $0 : nil
            }
            guard let newer = ofActivity ?? ofID else { continue }
            devices[place].supersededBy = newer
            devices[place].reason = .duplicateToken
        }
    }

    /// What follows from all rows of a device together.
    private func unite(_ device: inout Device, _ rows: [RowTracer.Row]) {
        let reason: SkipReason?
        (device.selected, reason, _) = RowFacts(plan.selectors).conclusion(device.facts)
        device.reason = reason ?? rows[device.newest].laterReason
        if let selector = plan.selectors.selectors.alias, !device.selected.contains(selector) { device.alias = -1 }
    }

    /// For each alias that alone selects one of these devices, the devices within its limit.
    private func devicesWithinLimits(
        of devices: [Device], _ tick: () throws -> Void
    ) throws -> [Int: [TracedRow.ChosenDevice]] {
        guard let selector = plan.selectors.selectors.alias else { return [:] }
        let aliases = Set(devices.filter { $0.takesPlace && $0.selected == [selector] }.map(\.alias))
        guard !aliases.isEmpty else { return [:] }
        let names = plan.selectors.aliases
        let members = try tracer.rows(asksJudge: false, where: { aliases.contains(names.find($0.alias)) }, tick: tick)
        let tokens = try withDevices(ofUsers: Set(members.rows.compactMap(\.digits)), tick)
        // A member's newest row may carry another alias, or none. What the judge says decides
        // whether a device stands for its user, and whether it gave way to another one.
        let rows = try rows(
            of: tokens, asksJudge: plan.query.mayNameUsers || plan.query.sendsToActivities, where: { _ in false }, tick)
        let candidates = settled(rows).filter(\.takesPlace)
        var chosen: [Int: [TracedRow.ChosenDevice]] = [:]
        for alias in aliases {
            let ranked = candidates.filter { $0.alias == alias }.sorted { left, right in
                left.moment != right.moment
                    ? left.moment > right.moment : left.digits.lexicographicallyPrecedes(right.digits)
            }
            chosen[alias] = ranked.prefix(plan.query.aliasLimit).map { device in
                .init(
                    token: Target(normalized: String(decoding: device.digits, as: UTF8.self)),
                    lastActive: rows[device.newest].traced.lastActive)
            }
        }
        return chosen
    }

    /// Writes the verdicts of a device into its rows.
    private func conclude(_ device: Device, _ kept: [Int: [TracedRow.ChosenDevice]], _ rows: inout [RowTracer.Row]) {
        let token = Target(normalized: String(decoding: device.digits, as: UTF8.self))
        let newest = rows[device.newest].traced.position
        for index in rows.indices where rows[index].digits == device.digits && index != device.newest {
            (rows[index].traced.verdict, rows[index].traced.decidedBy) = (.duplicateToken, newest)
            rows[index].traced.lacksDate = rows[index].moment.isNever && !rows[device.newest].moment.isNever
        }
        rows[device.newest].traced.verdict = device.reason
        if let standing = device.stoodForBy {
            rows[device.newest].traced.stoodForBy = (rows[standing].traced.position, rows[standing].traced.service)
        }
        if let newer = device.supersededBy {
            (rows[device.newest].traced.decidedBy, rows[device.newest].traced.decidesWithoutTags) = (
                rows[newer].traced.position, true
            )
            rows[device.newest].traced.lacksDate = device.moment.isNever && !rows[newer].moment.isNever
        }
        if plan.selectors.unitesRows { unite(device, &rows[device.newest].traced) }
        guard device.takesPlace, let selector = plan.selectors.selectors.alias, device.selected == [selector] else {
            return
        }
        let chosen = kept[device.alias] ?? []
        guard !chosen.contains(where: { $0.token == token }) else { return }
        rows[device.newest].traced.verdict = .aliasLimit
        rows[device.newest].traced.chosenInstead = chosen
    }

    /// The newest row speaks for the tags of all.
    private func unite(_ device: Device, _ row: inout TracedRow) {
        row.selectors = device.selected.map { plan.selectors.selectors.names[Int($0)] }
        row.exclusions = device.excludedTags + row.exclusions.filter { !$0.hasPrefix("tag:") }
        row.tags = device.tags.filter { !$0.isEmpty }.joined(separator: plan.query.columns.tagSeparator)
    }
}

/// How planning treats one row, step by step.
public struct TracedRow: Sendable {
    /// Its place.
    public var position: SourcePosition
    /// What its push goes to; nil when the cell is blank, or holds something else.
    public var token: Target?
    /// What identifies its device, with or without such a token: the same, unless that is a Live
    /// Activity's. nil for no device.
    public var device: Target?
    /// Whether the token, or the cell in its place, is a Live Activity's.
    public var isOfActivity = false
    /// The number of its service among the app's: of the token, or of the flawed cell.
    public var service = 0
    /// Whether a service of the app reaches the device, as far as this row says.
    public var isReached = true
    /// The cell of the column that says which service reaches the device; blank without such a
    /// column.
    public var serviceCell = ""
    /// Why its cell in the column of tokens is not one, with the cell, shortened; nil for a token,
    /// and for a blank cell.
    public var tokenFlaw: (shown: String, clause: String)?
    /// As the export has them.
    public var registrationID: String, alias: String, tags: String, language: String, lastActive: String
    /// Names of the selectors that name it, in the query's order.
    public var selectors: [String]
    /// Conditions of `where` that are not met, each with what the row has instead.
    public var failedConditions: [(condition: ColumnCondition, cell: String)]
    /// The parts of `exclude` that name it: `tag:NAME`, `alias:NAME`, `registration_id:ID`, or
    /// `list` for a file of devices.
    public var exclusions: [String]
    /// Since when its token is known to be invalid, when that counts.
    public var suppressedSince: Timestamp?
    /// Whether the export calls its device invalid.
    public var isInvalid = false
    /// Whether its device lately got as many pushes as it may.
    public var isCapped = false
    /// The check's result; nil when it did not get that far.
    public var recipientCheck: RecipientCheck?
    /// With the cells that templates need; nil when it did not get that far.
    public var recipient: Recipient?

    /// Why it does not become a recipient, or nil when it does.
    public var verdict: SkipReason?
    /// The row that counts instead of this one (`duplicateToken`), or that excludes the device
    /// though this one does not (`excluded`).
    public var decidedBy: SourcePosition?
    /// For `duplicateToken`: whether the row that counts has the device under something else, so
    /// that their tags are never united.
    public var decidesWithoutTags = false
    /// For `duplicateToken`: whether the row that counts has a past date in `last_active` and this
    /// one has none.
    public var lacksDate = false
    /// For `duplicateToken` of a user's ID: the row of a device that stands for the user, and the
    /// number of the device's service.
    public var stoodForBy: (position: SourcePosition, service: Int)?
    /// For `aliasLimit`: the devices that have the alias's places, the most recently active first.
    public var chosenInstead: [ChosenDevice]

    /// What earlier runs show about its device, as a reason.
    var earlierReason: SkipReason? { suppressedSince != nil || isInvalid ? .suppressed : isCapped ? .frequency : nil }

    /// A device within an alias's limit.
    public struct ChosenDevice: Hashable, Sendable {
        /// Its token.
        public var token: Target
        /// As its newest row has it; blank without one.
        public var lastActive: String
    }
}

/// How planning treats everything that a subject names.
public struct AudienceTrace: Sendable {
    /// All rows of the devices that the subject names, and rows that it names themselves, in
    /// reading order.
    public var rows: [TracedRow]
    /// Rows that cannot be read, which may hide a device.
    public var badRows: Int
}
