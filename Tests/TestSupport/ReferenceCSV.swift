/// CSV read slowly and obviously, a byte at a time: what `DelimitedReader` must agree with.
public struct ReferenceCSV {
    /// A record.
    public struct Row: Equatable {
        /// The line on which it begins, from 1.
        public var line: Int
        /// nil when the row cannot be read.
        public var cells: [String]?

        /// A record.
        public init(line: Int, cells: [String]?) {
            self.line = line
            self.cells = cells
        }
    }

    private let bytes: [UInt8]
    private let separator: UInt8
    private var index = 0
    private var line = 1

    /// All records but blank lines, the header being the first.
    public static func rows(_ bytes: [UInt8], separator: UInt8) -> [Row] {
        var reader = ReferenceCSV(bytes: bytes, separator: separator)
        var rows: [Row] = []
        while let row = reader.row(columns: rows.first?.cells?.count) { rows.append(row) }
        return rows
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

    private mutating func row(columns: Int?) -> Row? {
        while takeLineEnd() {}
        guard next != nil else { return nil }
        let startLine = line
        var cells: [[UInt8]] = []
        var isBroken = false
        repeat {
            guard let cell = field(&isBroken) else { return Row(line: startLine, cells: nil) }
            cells.append(cell)
        } while takeSeparator()
        _ = takeLineEnd()
        let texts = cells.compactMap { String(validating: $0, as: UTF8.self) }
        isBroken = isBroken || texts.count < cells.count || cells.contains { $0.contains(0) } || columns.map { $0 != cells.count } ?? false
        return Row(line: startLine, cells: isBroken ? nil : texts.map(trim))
    }

    private mutating func takeSeparator() -> Bool {
        guard next == separator else { return false }
        index += 1
        return true
    }

    /// nil when the file ends within quotes.
    private mutating func field(_ isBroken: inout Bool) -> [UInt8]? {
        var cell: [UInt8] = []
        let isQuoted = next == UInt8(ascii: "\"")
        if isQuoted {
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
        while let byte = next, byte != separator, byte != 0x0A, byte != 0x0D {
            if isQuoted { isBroken = true }
            cell.append(byte)
            index += 1
        }
        return cell
    }

    private func trim(_ text: String) -> String {
        let spaces: [Unicode.Scalar] = [" ", "\t", "\n", "\r"]
        var scalars = text.unicodeScalars[...]
        while let first = scalars.first, spaces.contains(first) { scalars.removeFirst() }
        while let last = scalars.last, spaces.contains(last) { scalars.removeLast() }
        return String(scalars)
    }
}
