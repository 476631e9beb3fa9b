/// CSV read slowly and obviously, one byte at a time, for comparison with `DelimitedReader`.
public struct ReferenceCSV {
    /// A record.
    public struct Row: Equatable {
        /// The line on which it begins, from 1.
        public var line: Int
        /// nil if the row cannot be read.
        public var cells: [String]?
        /// How many lines it has, which is also what it counts as if it cannot be read.
        public var lines: Int

        /// A record.
        public init(line: Int, cells: [String]?, lines: Int = 1) {
            self.line = line
            self.cells = cells
            self.lines = lines
        }
    }

    /// All records except blank lines, with the header first; for a refused file, those before the
    /// place of the refusal.
    public struct Reading {
        /// The header and the rows.
        public var rows: [Row] = []
        /// Whether zero bytes or a second header end the reading.
        public var isRefused = false
    }

    private let bytes: [UInt8]
    private let separator: UInt8
    private var index = 0
    private var line = 1
    private var isRefused = false

    /// Reads a file.
    public static func read(_ bytes: [UInt8], separator: UInt8) -> Reading {
        var reader = ReferenceCSV(bytes: bytes, separator: separator)
        var reading = Reading()
        while let row = reader.row(header: reading.rows.first?.cells) {
            if reader.isRefused {
                reading.isRefused = true
                break
            }
            reading.rows.append(row)
        }
        return reading
    }

    private init(bytes: [UInt8], separator: UInt8) {
        self.bytes = bytes
        self.separator = separator
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func takeLineEnd() -> Bool {
        guard next == 0x0A || next == 0x0D else { return false }
        index += next == 0x0D && index + 1 < bytes.count && bytes[index + 1] == 0x0A ? 2 : 1
        line += 1
        return true
    }

    private mutating func row(header: [String]?) -> Row? {
        while takeLineEnd() {}
        guard next != nil else { return nil }
        let (startIndex, startLine) = (index, line)
        var cells: [[UInt8]] = []
        var areQuoted: [Bool] = []
        var firstCount = 0
        var isBroken = false
        repeat {
            areQuoted.append(opensQuoted)
            let cellIndex = index
            guard let cell = field(&isBroken) else {
                isRefused = hasZeroBytes(from: startIndex)
                let endsLine = bytes.last == 0x0A || bytes.last == 0x0D
                return Row(
                    line: startLine, cells: nil, lines: line - startLine + (endsLine && line > startLine ? 0 : 1))
            }
            if cells.isEmpty { firstCount = index - cellIndex }
            cells.append(cell)
            if let header, holdsRow(cell, header.count) { isBroken = true }
        } while takeSeparator()
        isRefused =
            hasZeroBytes(from: startIndex)
            || !isBroken && isHeader(cells, header, firstCount, isFirstQuoted: areQuoted[0])
        let lines = line - startLine + 1
        _ = takeLineEnd()
        let texts = cells.compactMap { String(validating: $0, as: UTF8.self) }
        isBroken =
            isBroken || texts.count < cells.count || cells.contains { $0.contains(0) }
            || header.map { $0.count != cells.count } ?? false
        return Row(line: startLine, cells: isBroken ? nil : zip(texts, areQuoted).map(read), lines: lines)
    }

    /// Whether a line of a cell other than its first is a row with a device token; the last line
    /// may lack fields.
    private func holdsRow(_ cell: [UInt8], _ columns: Int) -> Bool {
        let lines = cell.split(omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x0D }
        return lines.enumerated().dropFirst().contains { index, line in
            let fields = line.split(separator: separator, omittingEmptySubsequences: false)
            let isLast = index == lines.count - 1
            let tokens = fields.filter { field in
                field.count >= 32 && field.count % 2 == 0
                    && field.allSatisfy { "0123456789abcdefABCDEF".utf8.contains($0) }
            }
            return !tokens.isEmpty
                && (isLast ? (min(2, columns)...columns).contains(fields.count) : fields.count == columns)
        }
    }

    private func hasZeroBytes(from start: Int) -> Bool {
        zip(bytes[start..<index], bytes[start..<index].dropFirst()).contains { $0 == 0 && $1 == 0 }
    }

    /// Whether the cells are the header's in any order, even after the cells of a row without a
    /// line end.
    /// - Parameter firstCount: bytes of the first cell as written. Next to a name, only a mark,
    ///   quotes and a blank or so are expected.
    private func isHeader(_ cells: [[UInt8]], _ header: [String]?, _ firstCount: Int, isFirstQuoted: Bool) -> Bool {
        guard let header, header.count > 1, header.contains(where: { !$0.isEmpty }),
            !header.contains(where: { $0.contains("\"") })
        else {
            return false
        }
        guard
            !header.contains(where: {
                $0.utf8.count.isMultiple(of: 2) && $0.utf8.count >= 8 && $0.allSatisfy(\.isHexDigit)
            })
        else {
            return false
        }
        let texts = cells.map { String(decoding: $0, as: UTF8.self) }
        if cells.count == header.count {
            let first = isFirstQuoted ? texts[0] : bare(texts[0])
            let mayBeName = header.contains {
                (0...6).contains(firstCount - $0.utf8.count) || firstCount > 62 && $0.utf8.count > 56
            }
            return mayBeName && ([first] + texts.dropFirst().map(trim)).sorted() == header.sorted()
        }
        guard cells.count == 2 * header.count - 1 else { return false }
        let last = texts.suffix(header.count - 1).map(trim)
        return header.indices.contains { index in
            var others = header
            let first = others.remove(at: index)
            return !first.isEmpty && last.sorted() == others.sorted()
                && trim(texts[header.count - 1]).utf8.reversed().starts(with: first.utf8.reversed())
        }
    }

    /// Without byte order marks, blanks and quotes.
    private func bare(_ text: String) -> String {
        let rest = trim(String(String.UnicodeScalarView(text.unicodeScalars.drop { $0 == "\u{FEFF}" })))
        return rest.utf8.count > 1 && rest.first == "\"" && rest.last == "\""
            ? String(rest.dropFirst().dropLast()) : rest
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 && separator != 0x09 }

    /// Whether a quote opens the next cell, perhaps after blanks.
    private var opensQuoted: Bool { bytes[index...].first { !isBlank($0) } == UInt8(ascii: "\"") }

    private mutating func takeSeparator() -> Bool {
        guard next == separator else { return false }
        index += 1
        return true
    }

    /// nil if the file ends within quotes.
    private mutating func field(_ isBroken: inout Bool) -> [UInt8]? {
        var cell: [UInt8] = []
        let startLine = line
        let isQuoted = opensQuoted
        if isQuoted {
            while let byte = next, isBlank(byte) { index += 1 }
            index += 1
            while true {
                guard let byte = next else { return nil }
                if byte == UInt8(ascii: "\"") {
                    index += 1
                    guard next == UInt8(ascii: "\"") else { break }
                }
                if byte == 0x0A || byte == 0x0D && !(index + 1 < bytes.count && bytes[index + 1] == 0x0A) { line += 1 }
                cell.append(byte)
                index += 1
            }
        }
        while isQuoted, let byte = next, isBlank(byte) { index += 1 }
        // More line breaks than a spreadsheet cell can hold.
        if line - startLine > 253 { isBroken = true }
        while let byte = next, byte != separator, byte != 0x0A, byte != 0x0D {
            if isQuoted { isBroken = true }
            cell.append(byte)
            index += 1
        }
        return cell
    }

    /// A formula around a text, in quotes for Excel, is read as that text.
    private func read(_ cell: String, isQuoted: Bool) -> String {
        let text = trim(cell), scalars = text.unicodeScalars
        guard isQuoted, scalars.count >= 3, scalars.starts(with: "=\"".unicodeScalars), scalars.last == "\"" else {
            return text
        }
        let inside = scalars.dropFirst(2).dropLast()
        return inside.contains("\"") ? text : trim(String(inside))
    }

    private func trim(_ text: String) -> String {
        let spaces: [Unicode.Scalar] = [" ", "\t", "\n", "\r"]
        var scalars = text.unicodeScalars[...]
        while let first = scalars.first, spaces.contains(first) { scalars.removeFirst() }
        while let last = scalars.last, spaces.contains(last) { scalars.removeLast() }
        return String(scalars)
    }
}
