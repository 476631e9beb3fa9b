/// How a CSV is laid out: for programs, or for Excel.
public struct CSVForm: Hashable, Sendable {
    /// What stands between cells: a comma, or a semicolon.
    public let separator: UInt8
    /// Whether the file begins with a byte order mark, its lines end in CRLF, and cells that Excel would take for numbers, dates or truth values are written as texts.
    public let isForExcel: Bool

    /// RFC 4180 in UTF-8 without a byte order mark; lines end in LF alone, because scripts (cut, awk, sort) read it as often as spreadsheets.
    public static let plain = CSVForm(separator: UInt8(ascii: ","), isForExcel: false)

    /// As Excel opens it with a double click. Without the mark it takes UTF-8 for the code page of Windows.
    /// - Parameter hasDecimalComma: whether the decimal mark of the reader's locale is a comma; cells are separated by semicolons there.
    public static func excel(hasDecimalComma: Bool) -> CSVForm {
        CSVForm(separator: hasDecimalComma ? UInt8(ascii: ";") : UInt8(ascii: ","), isForExcel: true)
    }

    /// What the file begins with: the byte order mark, if any, and the names of its columns.
    public func header(_ columns: [String]) -> [UInt8] {
        let mark: [UInt8] = isForExcel ? [0xEF, 0xBB, 0xBF] : []
        return mark + Array(columns.joined(separator: String(UnicodeScalar(separator))).utf8) + lineEnd
    }

    /// What a line ends with.
    public var lineEnd: [UInt8] { isForExcel ? [0x0D, 0x0A] : [0x0A] }

    /// Rows that Excel shows of a file; it leaves out those that follow. Source: Microsoft, "Excel specifications and limits".
    public static let excelRows = 1_048_576
}
