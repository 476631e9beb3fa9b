public import Base
public import PushServices

/// A file that lists devices to suppress, or to stop suppressing: one token a line, or a CSV or TSV
/// with a column of tokens. Each may be compressed (`.gz`).
public enum TokenList {
    /// A listed device.
    public struct Entry: Hashable, Sendable {
        /// Its token.
        public var token: Target
        /// The cell of the column `reason`; blank without one.
        public var reason: String
        /// The cell of the column `invalid_since`; nil without one, or where it is blank.
        public var invalidSince: Timestamp?
    }

    /// Hands over one device after another, some perhaps more than once. In a plain list (any name
    /// that does not end in .csv or .tsv) white space around a token does not count, and blank
    /// lines and lines that begin with `#` are skipped. A table needs a header, unless its only
    /// column is the tokens.
    /// - Parameters:
    ///   - targets: what targets look like.
    ///   - columns: where the app's exports keep things; `device_token` and `token` work too.
    ///   - latest: no `invalid_since` is later.
    ///   - allowsExport: whether a table may have other columns of an export in addition to the
    ///     tokens. Such a table is usually a whole export: read as a list, it names every device.
    ///   - meaningAll: how a person says that every device of an export is meant, as the part of a
    ///     sentence.
    /// - Throws: `Diagnostics` with the lines that cannot be read, the first ten and how many more
    ///   there are, when everything else has been handed over; whatever `body` throws, after which
    ///   it is not called again.
    public static func read(
        _ path: String, targets: TargetForm = PushServices.standard.target, columns: ExportColumns,
        latest: Timestamp? = nil,
        allowsExport: Bool = true, meaningAll: String = "give --every-device", _ body: (Entry) throws -> Void
    ) throws {
        var mistakes = Mistakes(latest: latest, list: ListMistakes(file: path))
        let limits = ReadingLimits(targets: targets)
        do throws(Diagnostic) {
            switch ExportFormat(path: path)?.records {
            case nil: try readLines(path, limits, &mistakes, body)
            case .delimited(let separator):
                let table = Table(
                    path: path, separator: separator, columns: columns, allowsExport: allowsExport,
                    meaningAll: meaningAll)
                try read(table, limits, &mistakes, body)
            case .jsonLines, .jsonArray:
                throw Diagnostic(
                    "a list of \(targets.shortNouns) cannot be JSON", file: path,
                    remedy: "Write one \(targets.shortNoun) a line into a .txt file, or a CSV with a column token.")
            }
        } catch {
            throw Diagnostics(error)
        }
        try limits.sources.checkUnchanged()
        if let failure = mistakes.failure { throw failure }
        if !mistakes.list.isEmpty { throw Diagnostics(mistakes.list.all) }
    }

    /// The mistakes of a file, and the error that `body` threw.
    private struct Mistakes {
        let latest: Timestamp?
        var list: ListMistakes
        var failure: (any Error)?
        /// What was said to do: the first line that needs it says so, not each.
        private var remedies: Set<String> = []

        init(latest: Timestamp?, list: ListMistakes) { (self.latest, self.list) = (latest, list) }

        mutating func add(_ mistake: Mistake, line: Int) {
            let remedy = mistake.remedy.flatMap { remedies.insert($0).inserted ? $0 : nil }
            list.add(mistake.message, line: line, remedy: remedy)
        }

        /// Hands an entry over, unless that failed before.
        mutating func attempt(_ body: () throws -> Void) {
            guard failure == nil else { return }
            do { try body() } catch { failure = error }
        }
    }

    private static func readLines(
        _ path: String, _ limits: ReadingLimits, _ mistakes: inout Mistakes, _ body: (Entry) throws -> Void
    ) throws(Diagnostic) {
        try NameFile.forEachName(in: path, limits: limits) { name, line in
            let text = String(decoding: name, as: UTF8.self)
            if let token = limits.targets.target(text) {
                mistakes.attempt { try body(Entry(token: token, reason: "", invalidSince: nil)) }
            } else {
                mistakes.add(noToken(text, limits.targets), line: line)
            }
        }
    }

    private static func noToken(_ text: String, _ targets: TargetForm) -> Mistake {
        guard let shape = targets.shape(of: text) else {
            return Mistake("there is no \(targets.noun)", remedy: "Write it into its cell, or remove the row.")
        }
        let shown =
            shape == .surrounded
            ? TextFormat.foreign(TargetRedaction.line(text), maximumBytes: 60) : Target.redact(text)
        let remedy =
            switch shape {
            case .oddDigits, .tooShort, .tooLong: targets.remedy
            default: "Write one \(targets.shortNoun) a line, or a cell of its column, and nothing else there."
            }
        return Mistake(
            "'\(shown)' cannot be \(targets.aNoun): \(targets.clause(of: shape, length: text.utf8.count))",
            remedy: remedy)
    }

    /// The cells of an entry; the last one, which is always blank, where a column is missing.
    private struct Cells {
        var used: [Int] = []
        private(set) var token = 0, reason = 0, invalidSince = 0

        init(token: Int, reason: Int?, invalidSince: Int?) {
            used = [token] + [reason, invalidSince].compactMap(\.self)
            self.reason = reason == nil ? used.count : 1
            self.invalidSince = invalidSince == nil ? used.count : used.count - 1
        }
    }

    /// A list with columns, and what it may hold.
    private struct Table {
        let path: String
        let separator: UInt8
        let columns: ExportColumns
        let allowsExport: Bool
        let meaningAll: String
    }

    private static func read(
        _ table: Table, _ limits: ReadingLimits, _ mistakes: inout Mistakes, _ body: (Entry) throws -> Void
    ) throws(Diagnostic) {
        let isGzip = ExportFormat(path: table.path)?.isGzip ?? false
        var reader = try DelimitedReader.open(
            path: table.path, isGzip: isGzip, separator: table.separator, limits: limits)
        let header = reader.header
        var cells: Cells
        if header.count == 1, let token = limits.targets.target(header[0]) {
            // A plain list that is called .csv.
            mistakes.attempt { try body(Entry(token: token, reason: "", invalidSince: nil)) }
            cells = Cells(token: 0, reason: nil, invalidSince: nil)
        } else {
            let resolver = ColumnResolver(columns: table.columns, header: header, file: table.path)
            cells = try columns(resolver, limits.targets, of: table)
        }
        reader.use(columns: cells.used)
        while true {
            switch try reader.next() {
            case .row:
                switch entry(reader.row, cells, limits.targets, latest: mistakes.latest) {
                case .success(let entry): mistakes.attempt { try body(entry) }
                case .failure(let flaw): mistakes.add(flaw, line: reader.recordLine)
                }
            case .badRow: mistakes.list.add(reader.badRow)
            case .needsMore: try reader.refill()
            case .end: return
            }
        }
    }

    private static func columns(_ resolver: ColumnResolver, _ targets: TargetForm, of table: Table) throws(Diagnostic)
        -> Cells
    {
        let header = resolver.header
        guard let token = resolver.listedTokenColumn else { throw noTokens(resolver, targets) }
        // Such a file also lists devices that got the push.
        if header.contains("outcome") || PushServices.idColumns.contains(where: header.contains) {
            throw Diagnostic(
                "this is a run's report: it lists every device, not only devices with invalid \(targets.shortNouns)",
                file: resolver.file,
                remedy:
                    "Devices with invalid \(targets.shortNouns) are in the list since the run ended. There is nothing to import."
            )
        }
        let others = ExportColumns.Standard.allCases.filter { $0 != .token }.compactMap { resolver.column(of: $0) }
            .sorted()
        if !table.allowsExport, !others.isEmpty {
            throw Diagnostic(
                "this looks like an export: besides the \(targets.shortNouns) it has \(ColumnResolver.list(others.map { header[$0] })). "
                    + "Every device in it would be suppressed", file: resolver.file,
                remedy:
                    "Keep the columns \(header[token]), invalid_since and reason only, and only the rows of devices that are gone; "
                    + "or \(table.meaningAll) if you mean all of them.")
        }
        return Cells(
            token: token, reason: header.firstIndex(of: "reason"), invalidSince: header.firstIndex(of: "invalid_since"))
    }

    /// What a table of a list needs is not what exports need: names that volley.yaml gives are for
    /// these.
    private static func noTokens(_ resolver: ColumnResolver, _ targets: TargetForm) -> Diagnostic {
        let header = "\(ExportColumns.Standard.token.rawValue),reason,invalid_since"
        if let found = resolver.targetsInHeader {
            return Diagnostic(
                "the list has no header row: its first line holds \(found.aNoun)", file: resolver.file,
                remedy:
                    "Its first line must name the columns: \(header). A list without columns has one \(targets.shortNoun) a line."
            )
        }
        var names = resolver.columns.candidates(for: .token)
        names += ["device_token", "token"].filter { !names.contains($0) }
        return Diagnostic(
            "the list has no column \(names.map { "'\($0)'" }.joined(separator: " or ")): its columns are \(resolver.list)",
            file: resolver.file,
            remedy: resolver.disguised(names)
                ?? "Name the column of its \(targets.shortNouns) token in its first line, as in \(header); leave volley.yaml as it is."
        )
    }

    private static func entry(_ row: CellRow, _ cells: Cells, _ targets: TargetForm, latest: Timestamp?) -> Result<
        Entry, Mistake
    > {
        func text(_ cell: Int) -> String { String(decoding: row.bytes(cell), as: UTF8.self) }
        guard let token = targets.target(text(cells.token)) else {
            return .failure(noToken(text(cells.token), targets))
        }
        let date = row.bytes(cells.invalidSince)
        guard !date.isEmpty else { return .success(Entry(token: token, reason: text(cells.reason), invalidSince: nil)) }
        guard let moment = Timestamp(date) else {
            let written = WrittenDate(text(cells.invalidSince))
            return .failure(
                Mistake(
                    "'\(TargetRedaction.cell(text(cells.invalidSince), maximumBytes: 40))' in invalid_since \(written?.flaw ?? "is not a date")",
                    remedy: written?.remedy { $0 } ?? "Write it like 2026-11-30, or leave the cell blank."))
        }
        // It would outlast every registration until then.
        if let latest, moment > latest {
            return .failure(
                Mistake(
                    "invalid_since is in the future: '\(TargetRedaction.cell(text(cells.invalidSince), maximumBytes: 40))'",
                    remedy:
                        "Write when the \(targets.shortNoun) became invalid, or leave the cell blank for the moment of the import."
                ))
        }
        return .success(Entry(token: token, reason: text(cells.reason), invalidSince: moment))
    }
}

/// The invalid lines of a list: the first ten, and how many more there are.
struct ListMistakes {
    let file: String
    private var shown: [Diagnostic] = []
    private var count = 0

    private static let mostShown = 10

    init(file: String) { self.file = file }

    var isEmpty: Bool { shown.isEmpty }

    mutating func add(_ mistake: Diagnostic) {
        count += 1
        if shown.count < Self.mostShown { shown.append(mistake) }
    }

    mutating func add(_ message: String, line: Int, remedy: String? = nil) {
        add(Diagnostic(message, at: SourcePosition(file: file, line: line, column: 1), remedy: remedy))
    }

    var all: [Diagnostic] {
        guard count > shown.count else { return shown }
        return shown + [
            Diagnostic(
                "\(TextFormat.counted(count - shown.count, one: "more line", many: "more lines")) cannot be read")
        ]
    }
}

/// Lists in separate files, one name a line: `aliases: {file: vip.txt}`.
public enum NameFile {
    /// Reads a list: white space around a name does not count; blank lines and lines that begin
    /// with `#` are skipped. Lines end in LF, CRLF or CR; the file is UTF-8, with or without byte
    /// order marks in front of lines, and may be compressed when its name ends in `.gz`.
    /// - Parameter sources: records that the file was read, when it must stay unchanged for longer.
    /// - Throws: `Diagnostic` for a file that is missing, empty, not a regular file, not UTF-8
    ///   (with the line), or changed while it is read.
    public static func read(_ path: String, noting sources: SourceFiles = SourceFiles()) throws(Diagnostic) -> [String]
    {
        var names: [String] = []
        try forEachName(in: path, limits: ReadingLimits(sources: sources)) { name, _ in
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names
    }

    /// A list with the places of its names.
    public struct Listed: Sendable {
        /// In the order of the file.
        public var names: [String] = []
        /// The places of the first thousand names; a program wrote any longer list.
        public var places: [SourceText] = []
        /// Lines that begin with `#` and a name, as `#vip`, rather than with a comment: the first
        /// hundred, and how many there are.
        public var hashed: [SourceText] = []
        /// See `hashed`.
        public var hashedLines = 0
    }

    /// Reads a list as `read` does.
    public static func list(_ path: String, noting sources: SourceFiles) throws(Diagnostic) -> Listed {
        var list = Listed()
        try forEachName(
            in: path, limits: ReadingLimits(sources: sources),
            comment: { text, line in
                guard text.count > 1, !isSpace(text[1]), text[1] != UInt8(ascii: "#"), !text.contains(where: isSpace)
                else { return }
                list.hashedLines += 1
                guard list.hashed.count < 100 else { return }
                list.hashed.append(
                    SourceText(
                        String(decoding: text, as: UTF8.self), at: SourcePosition(file: path, line: line, column: 1)))
            }
        ) { name, line in
            let name = String(decoding: name, as: UTF8.self)
            list.names.append(name)
            if list.places.count < 1_000 {
                list.places.append(SourceText(name, at: SourcePosition(file: path, line: line, column: 1)))
            }
        }
        return list
    }

    /// Hands over one name after another, each with its line, without keeping them.
    static func forEachName(
        in path: String, limits: ReadingLimits = ReadingLimits(),
        comment: (UnsafeBufferPointer<UInt8>, Int) -> Void = { _, _ in },
        _ body: (UnsafeBufferPointer<UInt8>, Int) -> Void
    ) throws(Diagnostic) {
        var buffer = try RecordBuffer.open(path: path, isGzip: path.lowercased().hasSuffix(".gz"), limits: limits)
        var line = 1
        while true {
            var end = buffer.start
            while buffer.base[end] != 0x0A, buffer.base[end] != 0x0D { end += 1 }
            // The buffer ends with a line feed that is not in the file.
            if end >= buffer.end || buffer.base[end] == 0x0D && end + 1 == buffer.end, !buffer.isAtEnd {
                try buffer.refill()
                continue
            }
            if buffer.zeroBytes < min(end, buffer.end) { throw buffer.holdsZeroBytes(line: line) }
            var name = trimmed(
                UnsafeBufferPointer(start: buffer.base + buffer.start, count: min(end, buffer.end) - buffer.start))
            // Lists that were put together have byte order marks within.
            let mark = TextEncoding.markBytes(name)
            if mark > 0 { name = trimmed(UnsafeBufferPointer(rebasing: name[mark...])) }
            if let flaw = buffer.flaw(from: buffer.start, to: min(end, buffer.end)) {
                throw Diagnostic(
                    flaw.text(of: "line"), at: SourcePosition(file: path, line: line, column: 1),
                    remedy: "Save the list as UTF-8.")
            }
            if let first = name.first { first == UInt8(ascii: "#") ? comment(name, line) : body(name, line) }
            if end >= buffer.end { return }
            let isPair = buffer.base[end] == 0x0D && end + 1 < buffer.end && buffer.base[end + 1] == 0x0A
            buffer.start = end + (isPair ? 2 : 1)
            line += 1
        }
    }
}
