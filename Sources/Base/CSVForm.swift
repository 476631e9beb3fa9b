/// The layout of a CSV: for programs, or for Excel.
public struct CSVForm: Hashable, Sendable {
    /// The character between cells: a comma, or a semicolon.
    public let separator: UInt8
    /// Whether the file begins with a byte order mark, its lines end in CRLF, and cells that Excel would take for numbers, dates or truth values are written as texts.
    public let isForExcel: Bool

    /// RFC 4180 in UTF-8 without a byte order mark. Lines end in LF only, because scripts (cut, awk, sort) read it as often as
    /// spreadsheets.
    public static let plain = CSVForm(separator: UInt8(ascii: ","), isForExcel: false)

    /// The form that Excel opens with a double click. Without the mark, Excel reads UTF-8 as the code page of Windows.
    /// - Parameter hasDecimalComma: whether the decimal mark of the reader's locale is a comma; cells are then separated by semicolons.
    public static func excel(hasDecimalComma: Bool) -> CSVForm {
        CSVForm(separator: hasDecimalComma ? UInt8(ascii: ";") : UInt8(ascii: ","), isForExcel: true)
    }

    /// The start of the file: the byte order mark, if any, and the names of its columns.
    public func header(_ columns: [String]) -> [UInt8] {
        let mark: [UInt8] = isForExcel ? [0xEF, 0xBB, 0xBF] : []
        return mark + Array(columns.joined(separator: String(UnicodeScalar(separator))).utf8) + lineEnd
    }

    /// The end of a line.
    public var lineEnd: [UInt8] { isForExcel ? [0x0D, 0x0A] : [0x0A] }

    /// The most rows of a file that Excel shows; it leaves out the rest. Source: Microsoft, "Excel specifications and limits".
    public static let excelRows = 1_048_576
}
