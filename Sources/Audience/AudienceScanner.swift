import Base

/// One pass over the exports of a query.
///
/// Not generic over the sink: it is reached through `put`, so that the loop over rows is compiled once, for itself.
struct AudienceScanner: ~Copyable {
    typealias Put = (Recipient, Int) throws -> SkipReason?

    let query: AudienceQuery
    let limits: ReadingLimits
    private(set) var rows = 0
    private(set) var badRowCount = 0
    private(set) var badRows: [Diagnostic] = []
    private(set) var warnings: [Diagnostic] = []
    private(set) var skipped = [Int](repeating: 0, count: SkipReason.allCases.count)
    /// Rows that got as far as having a token.
    private(set) var rowsWithToken = 0

    private(set) var selector: RowSelector
    private(set) var filter: RowFilter
    private(set) var excluded: ExcludedDevices
    private(set) var selections: SelectionSets
    private(set) var languages: LanguageNames
    var devices = DeviceTable()
    var aliasMembers = AliasMembers()
    var exclusionMarks = ExclusionMarks()

    private var plan: ColumnPlan?
    private let hash: KeyedHash
    private let tokens = TokenBuffer()
    private let separator: [UInt8]

    static let shownBadRows = 10
    /// Lines of one unreadable row from which on it is worth a warning: rows are hidden in it.
    private static let suspiciousLines = 20

    /// Loads the lists of excluded devices.
    init(_ query: AudienceQuery, limits: ReadingLimits) throws(Diagnostics) {
        let hash = KeyedHash.random()
        self.query = query
        self.limits = limits
        self.hash = hash
        selector = RowSelector(query, hash: hash)
        filter = RowFilter(query)
        selections = SelectionSets(hash: hash)
        languages = LanguageNames(hash: hash)
        separator = Array(query.columns.tagSeparator.utf8)
        excluded = try ExcludedDevices(query, hash: hash, limits: limits)
    }

    // MARK: - Files

    /// Looks at the header of every file before any is scanned.
    /// - Throws: all mistakes; a column that several files lack is reported once, with the first of them.
    mutating func checkColumns() throws(Diagnostics) {
        var mistakes: [Diagnostic] = []
        var places: Set<SourcePosition> = []
        for file in query.files {
            do {
                guard let header = try header(of: file) else { continue }
                let resolver = ColumnResolver(columns: query.columns, header: header, file: file)
                warnings += resolver.duplicateNames()
                warnings += resolver.absentNames()
                do {
                    _ = try plan(header: header, file: file)
                } catch {
                    mistakes += error.all.filter { $0.position.map { places.insert($0).inserted } ?? true }
                }
            } catch {
                mistakes.append(error)
            }
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
    }

    private func header(of file: String) throws(Diagnostic) -> [String]? {
        guard let format = ExportFormat(path: file) else { throw ExportFormat.unknown(path: file) }
        guard case .delimited(let separator) = format.records else { return try sampleKeys(path: file, format: format, limits: limits) }
        return try DelimitedReader.open(path: file, isGzip: format.isGzip, separator: separator, limits: limits).header
    }

    private func plan(header: [String], file: String) throws(Diagnostics) -> ColumnPlan {
        let needsID = !query.registrationIDs.isEmpty || !query.excludedRegistrationIDs.isEmpty || excluded.hasRegistrationIDs
        return try ColumnPlan(query, header: header, file: file, needsRegistrationID: needsID)
    }

    /// Reads one file to its end.
    /// - Parameter tick: called after each chunk with the bytes taken from the disk so far.
    mutating func scan(file: String, put: Put, tick: (borrowing AudienceScanner, Int) throws -> Void) throws {
        guard let format = ExportFormat(path: file) else { throw Diagnostics(ExportFormat.unknown(path: file)) }
        do {
            switch format.records {
            case .delimited(let separator):
                var reader = try DelimitedReader.open(path: file, isGzip: format.isGzip, separator: separator, limits: limits)
                let plan = try plan(header: reader.header, file: file)
                reader.use(columns: plan.columns)
                try scan(&reader, plan, put, tick)
            case .jsonLines:
                guard let header = try header(of: file) else { return }
                let plan = try plan(header: header, file: file)
                var reader = try JSONLinesReader(
                    path: file, isGzip: format.isGzip, keys: plan.names(in: header), tagsCell: plan.tagsCell, limits: limits)
                try scan(&reader, plan, put, tick)
            case .jsonArray:
                guard let header = try header(of: file) else { return }
                let plan = try plan(header: header, file: file)
                var reader = try JSONArrayReader(
                    path: file, isGzip: format.isGzip, keys: plan.names(in: header), tagsCell: plan.tagsCell, limits: limits)
                try scan(&reader, plan, put, tick)
            }
        } catch let mistake as Diagnostic {
            throw Diagnostics(mistake)
        }
    }

    private mutating func scan(
        _ reader: inout some RowReader & ~Copyable, _ plan: ColumnPlan, _ put: Put, _ tick: (borrowing AudienceScanner, Int) throws -> Void
    ) throws {
        filter.use(plan)
        while true {
            switch try reader.next() {
            case .row:
                rows += 1
                if let reason = try take(reader.row, plan, put) { skipped[reason.ordinal] += 1 }
            case .badRow: noteBadRow(reader.badRow, lines: reader.badRowLines)
            case .needsMore:
                try reader.refill()
                try tick(self, reader.bytesRead)
            case .end: return
            }
        }
    }

    private mutating func noteBadRow(_ mistake: Diagnostic, lines: Int) {
        rows += 1
        badRowCount += 1
        skipped[SkipReason.badRow.ordinal] += 1
        if badRows.count < Self.shownBadRows { badRows.append(mistake) }
        if lines >= Self.suspiciousLines, warnings.count < 100 {
            warnings.append(
                Diagnostic(
                    "one unreadable row takes up \(lines) lines: \(mistake.message)",
                    at: mistake.position ?? SourcePosition(file: "", line: 1, column: 1),
                    remedy: "A quote that is never closed hides the rows behind it; check the export.", severity: .warning))
        }
    }

    // MARK: - Rows

    /// Takes a row as far as it goes.
    /// - Returns: why it goes no further, or nil when it has a device that may be sent to.
    @inline(__always) private mutating func take(_ row: CellRow, _ plan: ColumnPlan, _ put: Put) throws -> SkipReason? {
        let isSelected = selector.look(at: row, plan)
        let isExcluded = selector.isExcluded || excludesByID(row, plan)
        if isExcluded { markExclusion(row, plan) }
        guard isSelected else { return .notMatched }
        guard query.conditions.isEmpty || filter.passes(row) else { return .filtered }
        if isExcluded { return .excluded }
        let cell = row.bytes(plan.token)
        guard let token = tokens.normalize(cell) else { return cell.isEmpty ? .missingToken : .badToken }
        let key = hash(token)
        if !excluded.isEmpty && excluded.contains(token: key) { return .excluded }
        try add(row, plan, token, key, put)
        return nil
    }

    /// Remembers the device of an excluded row, whatever else becomes of the row.
    private mutating func markExclusion(_ row: CellRow, _ plan: ColumnPlan) {
        guard let token = tokens.normalize(row.bytes(plan.token)) else { return }
        exclusionMarks.add(hash(token), lastActive: dateMilliseconds(row.bytes(plan.lastActive)) ?? DeviceTable.never)
    }

    private func excludesByID(_ row: CellRow, _ plan: ColumnPlan) -> Bool {
        !excluded.isEmpty && excluded.contains(registrationID: row.bytes(plan.registrationID))
    }

    /// Adds a row to its device: the newest row is the one that is handed to the sink; all rows' selectors count.
    private mutating func add(_ row: CellRow, _ plan: ColumnPlan, _ token: UnsafeBufferPointer<UInt8>, _ key: Hash128, _ put: Put) throws {
        rowsWithToken += 1
        let lastActive = dateMilliseconds(row.bytes(plan.lastActive)) ?? DeviceTable.never
        let (slot, isNew) = devices.slot(of: key)
        var device = devices[slot]
        device.selection = isNew ? selections.number(of: selector.selected) : selections.union(device.selection, selector.selected)
        if let alias = selector.selectingAlias { aliasMembers.add(alias: alias, slot: slot, token: token) }
        if isNew || lastActive > device.lastActive {
            device.lastActive = lastActive
            device.language = languages.number(of: row.bytes(plan.language))
            let verdict = try put(recipient(row, plan, token), slot)
            device.verdict = verdict.map { UInt8($0.ordinal + 1) } ?? 0
        }
        devices[slot] = device
    }

    private func recipient(_ row: CellRow, _ plan: ColumnPlan, _ token: UnsafeBufferPointer<UInt8>) -> Recipient {
        Recipient(
            token: DeviceToken(normalized: String(decoding: token, as: UTF8.self)),
            registrationID: row.text(plan.registrationID, separator: separator),
            alias: row.text(plan.alias, separator: separator),
            language: row.text(plan.language, separator: separator),
            fields: plan.fields.map { row.text($0, separator: separator) })
    }
}

extension SkipReason {
    /// The place in `allCases`, which is the order in which reasons apply.
    var ordinal: Int {
        switch self {
        case .badRow: 0
        case .notMatched: 1
        case .filtered: 2
        case .excluded: 3
        case .missingToken: 4
        case .badToken: 5
        case .suppressed: 6
        case .duplicateToken: 7
        case .aliasLimit: 8
        case .holdout: 9
        case .renderError: 10
        case .payloadTooLarge: 11
        }
    }
}
