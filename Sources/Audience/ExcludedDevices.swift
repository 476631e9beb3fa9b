import Base

/// The devices that `exclude: {devices: …}` lists: tokens and registration ids, about 25 bytes each.
///
/// In a list nothing says which of the two an entry is; whatever could be a token is compared without regard to capitals.
struct ExcludedDevices: ~Copyable {
    private var index = HashIndex()
    private let hash: KeyedHash
    private let digits = TokenBuffer()
    /// Whether an entry can only be a registration id, so that exports need that column.
    private(set) var hasRegistrationIDs = false

    /// Reads all lists. A list that cannot be read as a whole is an error: what it hides would be sent to.
    init(_ query: AudienceQuery, hash: KeyedHash, limits: ReadingLimits) throws(Diagnostics) {
        self.hash = hash
        var mistakes: [Diagnostic] = []
        for path in query.excludedDevices {
            do {
                try load(path, query.columns, limits)
            } catch {
                mistakes.append(error)
            }
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
    }

    var isEmpty: Bool { index.count == 0 }

    /// Whether a normalised token is listed.
    func contains(token: Hash128) -> Bool { index.find(token) != nil }

    /// Whether a registration id is listed.
    func contains(registrationID: UnsafeBufferPointer<UInt8>) -> Bool {
        !registrationID.isEmpty && index.find(key(of: registrationID).hash) != nil
    }

    private func key(of entry: UnsafeBufferPointer<UInt8>) -> (hash: Hash128, isToken: Bool) {
        if let token = digits.normalize(entry) { return (hash(token), true) }
        return (hash(entry), false)
    }

    /// - Parameter besideToken: the same row lists the device's token as well, so that exports can do without its registration id.
    /// - Returns: whether the entry can be a token.
    @discardableResult
    private mutating func add(_ entry: UnsafeBufferPointer<UInt8>, besideToken: Bool = false) -> Bool {
        guard !entry.isEmpty else { return false }
        let (hash, isToken) = key(of: entry)
        if !isToken, !besideToken { hasRegistrationIDs = true }
        _ = index.insert(hash)
        return isToken
    }

    // MARK: - Reading

    private mutating func load(_ path: String, _ columns: ExportColumns, _ limits: ReadingLimits) throws(Diagnostic) {
        guard let format = ExportFormat(path: path) else {
            return try NameFile.forEachName(in: path, limits: limits) { add($0) }
        }
        switch format.records {
        case .delimited(let separator):
            var reader = try DelimitedReader.open(path: path, isGzip: format.isGzip, separator: separator, limits: limits)
            var cells = Self.columns(columns, reader.header, path)
            if cells.isEmpty, reader.header.count == 1 {
                // A plain list that is called .csv: its first line is an entry too, unless it is some header.
                var first = reader.header[0]
                first.withUTF8 { if digits.normalize($0) != nil { add($0) } }
                cells = [0]
            }
            if cells.isEmpty { throw Self.noColumns(reader.header, path) }
            reader.use(columns: cells)
            try add(from: &reader, cellCount: cells.count)
        case .jsonLines, .jsonArray:
            guard let header = try sampleKeys(path: path, format: format, limits: limits) else { return }
            let cells = Self.columns(columns, header, path)
            if cells.isEmpty { throw Self.noColumns(header, path) }
            let keys = cells.map { header[$0] }
            if format.records == .jsonLines {
                var reader = try JSONLinesReader(path: path, isGzip: format.isGzip, keys: keys, tagsCell: nil, limits: limits)
                try add(from: &reader, cellCount: cells.count)
            } else {
                var reader = try JSONArrayReader(path: path, isGzip: format.isGzip, keys: keys, tagsCell: nil, limits: limits)
                try add(from: &reader, cellCount: cells.count)
            }
        }
    }

    private mutating func add(from reader: inout some RowReader & ~Copyable, cellCount: Int) throws(Diagnostic) {
        while true {
            switch try reader.next() {
            case .row:
                var hasToken = false
                for cell in 0..<cellCount { hasToken = add(reader.row.bytes(cell), besideToken: hasToken) || hasToken }
            case .badRow:
                var mistake = reader.badRow
                mistake.remedy = "Every line of a list of excluded devices must be readable: whoever it hides would get the push."
                throw mistake
            case .needsMore: try reader.refill()
            case .end: return
            }
        }
    }

    private static func columns(_ columns: ExportColumns, _ header: [String], _ path: String) -> [Int] {
        let resolver = ColumnResolver(columns: columns, header: header, file: path)
        return [.token, .registrationID].compactMap { resolver.column(of: $0) }
    }

    private static func noColumns(_ header: [String], _ path: String) -> Diagnostic {
        Diagnostic(
            "the list of excluded devices has neither a token nor a registration_id column: its columns are "
                + ColumnResolver.list(header),
            file: path, remedy: "Name its column like the one of the exports, or write one token a line into a .txt file.")
    }
}

/// Room for one token, lower-cased.
struct TokenBuffer: ~Copyable {
    private let digits = UnsafeMutablePointer<UInt8>.allocate(capacity: DeviceToken.digitRange.upperBound)

    deinit { digits.deallocate() }

    /// The digits of a token in lower case, valid until the next call; nil when it cannot be one. Judges as `DeviceToken.normalize`.
    @inline(__always) func normalize(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard DeviceToken.digitRange.contains(cell.count), cell.count & 1 == 0 else { return nil }
        var bad: UInt8 = 0
        for place in 0..<cell.count {
            let byte = cell[place]
            let lower = byte | 0x20
            let isDigit = byte &- UInt8(ascii: "0") <= 9
            bad |= isDigit || lower &- UInt8(ascii: "a") <= 5 ? 0 : 1
            digits[place] = isDigit ? byte : lower
        }
        return bad == 0 ? UnsafeBufferPointer(start: digits, count: cell.count) : nil
    }
}
