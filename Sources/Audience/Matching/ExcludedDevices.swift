import Base
import PushServices

/// The devices that `exclude: {devices: …}` lists: tokens and registration ids, about 16 bytes
/// each.
///
/// A list does not say which of the two an entry is; an entry that could be a token is compared
/// without regard to case.
///
/// `@unchecked Sendable`: nothing changes after init.
///
/// Lines that are not a device of the exports are counted: they do not exclude the device that
/// their author meant.
final class ExcludedDevices: @unchecked Sendable {
    private var entries = FingerprintSet()
    /// The entries of each list; empty when there is only one list.
    private var entriesOfLists: [ListEntries] = []
    private(set) var lists: [ExclusionList] = []
    private let hash: KeyedHash
    private let targets: TargetForm
    /// Reads the targets of all services; nil if there is only one.
    private let mixed: MixedTargets?
    /// The keys of their columns; empty if there is only one.
    private let targetColumns: [String]
    /// Whether an entry can only be a registration id, so that exports need that column.
    private(set) var hasRegistrationIDs = false
    /// Whether a registration id may be an e-mail address.
    private let takesAddresses: Bool
    /// Entries of the current list that can be neither token nor registration id.
    private var flaws = ListMistakes(file: "")

    /// Reads all lists. A list that cannot be read completely is an error: the devices it hides
    /// would be sent to.
    init(_ query: AudienceQuery, hash: KeyedHash, limits: ReadingLimits) throws(Diagnostics) {
        self.hash = hash
        targets = query.targets
        mixed = query.services.count > 1 ? MixedTargets(query) : nil
        targetColumns = query.services.count > 1 ? query.services.map(\.target.column) : []
        takesAddresses = query.columns.candidates(for: .registrationID).contains { $0.lowercased().contains("mail") }
        var mistakes: [Diagnostic] = []
        for path in query.excludedDevices {
            lists.append(ExclusionList(path: path, targets: targets))
            if query.excludedDevices.count > 1 { entriesOfLists.append(ListEntries()) }
            flaws = ListMistakes(file: path)
            do {
                try load(path, query.columns, limits)
            } catch {
                mistakes.append(error)
            }
            mistakes += flaws.all
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
    }

    var isEmpty: Bool { entries.count == 0 }

    /// Where a normalised token is in the lists; -1 for one that is not listed.
    /// - Parameter fingerprint: the token's, with the hash of the scan.
    @inline(__always) func place(ofToken fingerprint: UInt64) -> Int { entries.place(of: fingerprint) }

    /// Where a registration id is in the lists; -1 for one that is not listed.
    /// - Parameter digits: room for the case that it could be a token.
    @inline(__always) func place(
        ofID registrationID: UnsafeBufferPointer<UInt8>, _ digits: borrowing some TargetReader & ~Copyable
    ) -> Int {
        registrationID.isEmpty ? -1 : entries.place(of: fingerprint(of: registrationID, digits).value)
    }

    /// The lists that a device is in, by their bits; those from the last bit on share it.
    /// - Parameter token: the fingerprint of its token.
    func lists(
        of token: UInt64, registrationID: UnsafeBufferPointer<UInt8>, _ digits: borrowing some TargetReader & ~Copyable
    ) -> Int {
        guard !isEmpty else { return 0 }
        let id = registrationID.isEmpty ? token : fingerprint(of: registrationID, digits).value
        if entriesOfLists.isEmpty { return entries.contains(token) || entries.contains(id) ? 1 : 0 }
        var mask = 0
        for list in entriesOfLists.indices
        where entriesOfLists[list].set.contains(token) || entriesOfLists[list].set.contains(id) {
            mask |= 1 << min(list, Exclusions.mostLists - 1)
        }
        return mask
    }

    /// By list: how many of its lines are not a device of the exports.
    /// - Parameter found: places of entries that are.
    func unmatched(_ found: BitSet) -> [Int] {
        lists.map { list in list.unmatched { found.contains(entries.place(of: $0)) } }
    }

    /// Warnings about the lists.
    /// - Parameter found: places of entries that are devices of the exports.
    func warnings(_ found: BitSet) -> [Diagnostic] {
        lists.flatMap { list in list.warnings { found.contains(entries.place(of: $0)) } }
    }

    private final class ListEntries {
        var set = FingerprintSet()
    }

    private func fingerprint(of entry: UnsafeBufferPointer<UInt8>, _ digits: borrowing some TargetReader & ~Copyable)
        -> (
            value: UInt64, isToken: Bool
        )
    {
        if let token = digits.normalize(entry) { return (hash.token(token), true) }
        return (hash(entry), false)
    }

    /// Adds the device of a row: its token, its registration id, or both.
    private func add(
        row cells: some Sequence<UnsafeBufferPointer<UInt8>>, line: Int,
        _ digits: borrowing some TargetReader & ~Copyable
    ) {
        var (isFirst, hasToken) = (true, false)
        for cell in cells where !isBlank(cell) {
            let (fingerprint, isToken) = fingerprint(of: cell, digits)
            if !isToken, !hasToken {
                // With a token, exports do not need the registration id.
                hasRegistrationIDs = true
                if Self.mayBeFlawed(cell) { judge(cell, line: line) }
            }
            if isFirst {
                lists[lists.count - 1].add(cell, fingerprint: fingerprint, isToken: isToken, line: line)
            } else {
                lists[lists.count - 1].addBeside(fingerprint)
            }
            insert(fingerprint)
            addOtherForms(of: cell, fingerprint)
            (isFirst, hasToken) = (false, hasToken || isToken)
        }
        if isFirst { lists[lists.count - 1].addBlank(line: line) }
    }

    private func insert(_ fingerprint: UInt64) {
        entries.insert(fingerprint)
        entriesOfLists.last?.set.insert(fingerprint)
    }

    /// An entry may be a target of several services, which keep it in different forms.
    private func addOtherForms(of cell: UnsafeBufferPointer<UInt8>, _ known: UInt64) {
        guard let mixed else { return }
        for form in mixed.allForms(of: cell) {
            let fingerprint = form.withUnsafeBufferPointer(hash.token)
            guard fingerprint != known else { continue }
            lists[lists.count - 1].addBeside(fingerprint)
            insert(fingerprint)
        }
    }

    /// Nothing, or what programs write for nothing.
    private func isBlank(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = cell.first, cell.count <= 9, !Blank.isCell(cell) else { return Blank.isCell(cell) }
        return "nNuU#".utf8.contains(first) && targets.shape(of: String(decoding: cell, as: UTF8.self)) == .word
    }

    /// Whether an entry that is not a token needs a closer look; most registration ids do not.
    private static func mayBeFlawed(_ entry: UnsafeBufferPointer<UInt8>) -> Bool {
        entry.count > 32 || entry.contains { $0 >= 0x80 || " \t.@<{+xX".utf8.contains($0) }
    }

    /// Notes an entry that cannot be meant as a registration id: it would exclude no device.
    private func judge(_ entry: UnsafeBufferPointer<UInt8>, line: Int) {
        let text = String(decoding: entry, as: UTF8.self)
        guard let shape = targets.shape(of: text) else { return }
        guard shape.wasTarget(text) || shape == .email && !takesAddresses else { return }
        flaws.add(
            "'\(TextFormat.foreign(TextFormat.namingInvisible(TargetRedaction.line(text)), maximumBytes: 60))' is \(targets.nothingListed): "
                + targets.clause(of: shape, length: entry.count), line: line,
            remedy: shape == .surrounded
                ? "It would exclude no device. Write one \(targets.shortNoun) a line and nothing else."
                : "It would exclude no device. Write \(targets.listedNouns) as in the exports.")
    }

    // MARK: - Reading

    /// The first line of a plain list is an entry too, unless it is a header: with tokens it can be
    /// recognised, and among registration ids a header does no harm.
    private func addFirst(_ line: String, isOnly: Bool, _ digits: borrowing some TargetReader & ~Copyable) {
        var line = line
        line.withUTF8 {
            if isOnly || hasRegistrationIDs || digits.normalize($0) != nil {
                add(row: CollectionOfOne($0), line: 1, digits)
            }
        }
    }

    private func load(_ path: String, _ columns: ExportColumns, _ limits: ReadingLimits) throws(Diagnostic) {
        if let mixed {
            try load(path, columns, limits, mixed)
        } else {
            try load(path, columns, limits, ChosenTargets(targets))
        }
    }

    private func load(
        _ path: String, _ columns: ExportColumns, _ limits: ReadingLimits,
        _ digits: borrowing some TargetReader & ~Copyable
    ) throws(Diagnostic) {
        guard let format = ExportFormat(path: path) else {
            return try NameFile.forEachName(
                in: path, limits: limits, comment: { lists[lists.count - 1].note(comment: $0, line: $1) }
            ) { name, line in
                add(row: CollectionOfOne(name), line: line, digits)
            }
        }
        switch format.records {
        case .delimited(let separator):
            var reader = try DelimitedReader.open(
                path: path, isGzip: format.isGzip, separator: separator, limits: limits)
            var cells = ListCells(
                ColumnResolver(
                    columns: LeanCloudExport.columns(columns, keys: reader.header), header: reader.header, file: path),
                targets,
                targets: targetColumns)
            // A plain list that is called .csv.
            let isPlain = cells.columns.isEmpty && reader.header.count == 1
            if isPlain { cells.columns = [0] }
            try cells.check()
            reader.use(columns: cells.columns)
            lists[lists.count - 1].columns = isPlain ? "" : cells.names
            let known = (entries: lists[lists.count - 1].entries, hasRegistrationIDs: hasRegistrationIDs)
            hasRegistrationIDs = false
            try add(from: &reader, cells, digits)
            if isPlain { addFirst(reader.header[0], isOnly: lists[lists.count - 1].entries == known.entries, digits) }
            hasRegistrationIDs = hasRegistrationIDs || known.hasRegistrationIDs
        case .jsonLines, .jsonArray:
            guard let header = try sampleKeys(path: path, format: format, limits: limits, until: { _ in false })?.keys
            else { return }
            let cells = ListCells(
                ColumnResolver(columns: LeanCloudExport.columns(columns, keys: header), header: header, file: path),
                targets,
                targets: targetColumns)
            try cells.check()
            let keys = cells.columns.map { header[$0] }
            lists[lists.count - 1].columns = cells.names
            if format.records == .jsonLines {
                var reader = try JSONLinesReader(
                    path: path, isGzip: format.isGzip, keys: keys, tagsCell: nil, limits: limits)
                try add(from: &reader, cells, digits)
            } else {
                var reader = try JSONArrayReader(
                    path: path, isGzip: format.isGzip, keys: keys, tagsCell: nil, limits: limits)
                try add(from: &reader, cells, digits)
            }
        }
    }

    private func add(
        from reader: inout some RowReader & ~Copyable, _ cells: ListCells,
        _ digits: borrowing some TargetReader & ~Copyable
    ) throws(Diagnostic) {
        var rows = 0
        while true {
            switch try reader.next() {
            case .row:
                rows += 1
                let row = reader.row
                add(row: cells.columns.indices.lazy.map { row.bytes($0) }, line: reader.rowLine, digits)
            case .badRow:
                var mistake = reader.badRow
                if mistake.remedy == JSONArrayReader.objects { throw mistake }
                mistake.remedy =
                    "Every line of a list of excluded devices must be readable: a device on a hidden line would get the push."
                throw mistake
            case .needsMore: try reader.refill()
            case .end:
                if rows > 0, lists[lists.count - 1].entries == 0 { throw cells.nothingListed(rows: rows) }
                return
            }
        }
    }
}

/// The columns of a list of excluded devices that identify them.
struct ListCells {
    /// The token's column, then the registration id's, as far as they exist.
    var columns: [Int]
    private let resolver: ColumnResolver
    private let form: TargetForm

    /// - Parameters:
    ///   - form: what targets look like.
    ///   - targets: the keys of columns of targets, of an app with several services.
    init(_ resolver: ColumnResolver, _ form: TargetForm, targets: [String] = []) {
        self.resolver = resolver
        self.form = form
        // Exports may call several of them by one name.
        var columns: [Int] = []
        for case let column? in [resolver.listedTokenColumn] + resolver.listedColumns(ofTargets: targets) + [
            resolver.listedRegistrationIDColumn
        ]
        where !columns.contains(column) { columns.append(column) }
        self.columns = columns
    }

    /// - Throws: that there is no column of either.
    func check() throws(Diagnostic) {
        guard columns.isEmpty else { return }
        throw Diagnostic(
            "the list of excluded devices has no column of \(form.listedNouns): its columns are "
                + ColumnResolver.list(resolver.header),
            file: resolver.file, remedy: remedy)
    }

    /// The columns as a message names them.
    var names: String { ColumnResolver.list(columns.map { resolver.header[$0] }) }

    /// The mistake of a list with blank rows where the devices should be: no device would be
    /// excluded.
    func nothingListed(rows: Int) -> Diagnostic {
        let whose = rows == 1 ? "the only row" : "none of the \(TextFormat.count(rows)) rows"
        return Diagnostic(
            "\(whose) of the list of excluded devices has \(TextFormat.plural(rows, one: "nothing", many: "anything")) in \(names), so it would exclude no device: "
                + "its columns are \(ColumnResolver.list(resolver.header))",
            file: resolver.file, remedy: remedy)
    }

    private var remedy: String {
        let tokens = resolver.columns.candidates(for: .token).filter { $0 != "device_token" } + ["device_token"]
        let ids = resolver.columns.candidates(for: .registrationID)
        return
            "Name the column of its \(form.shortNouns) \(tokens.map { "'\($0)'" }.joined(separator: " or ")), or the column of its registration ids "
            + "'\(ids[0])', or write one \(form.shortNoun) or id a line into a .txt file."
    }
}

extension ColumnResolver {
    /// Whether the file is a run's report, with the names that Volley gives.
    private var isReport: Bool {
        ["device_token", "outcome"].allSatisfy(header.contains)
            && PushServices.idColumns.contains(where: header.contains)
    }

    /// The tokens' column of a list of devices: called as in the exports, or `device_token` or
    /// `token`, as Volley writes it. A column that exports give a name of the report is something
    /// else.
    var listedTokenColumn: Int? {
        (isReport ? nil : column(of: .token)) ?? header.firstIndex(of: "device_token") ?? header.firstIndex(of: "token")
    }

    /// The columns of targets of single services, called as in the exports.
    fileprivate func listedColumns(ofTargets keys: [String]) -> [Int?] {
        isReport
            ? [] : keys.map { columns.candidates(forTargets: $0).lazy.compactMap { header.firstIndex(of: $0) }.first }
    }

    /// The registration ids' column of a list of devices. A report identifies the devices that got
    /// a push by their tokens: with exports that have one id for several devices, or `0` for all,
    /// ids would also exclude devices that did not.
    var listedRegistrationIDColumn: Int? { isReport ? nil : column(of: .registrationID) }
}
