/// A cell of CSV as Volley writes it: RFC 4180, and safe to open in a spreadsheet.
public enum CSVCell {
    /// Appends a cell, in quotes where they are needed. One that a spreadsheet would run as a formula (first character `= + - @`, tab or
    /// carriage return) gets an apostrophe in front.
    public static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { append($0, to: &bytes) }
    }

    /// The same for the bytes of a text in UTF-8.
    public static func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        guard let first = text.first else { return }
        // Each byte is looked at, as an early end would keep several from being looked at at once.
        var needsQuotes = false
        for byte in text { needsQuotes = needsQuotes || Self.needsQuotes(byte) }
        if needsQuotes { bytes.append(UInt8(ascii: "\"")) }
        if startsFormula(first) { bytes.append(UInt8(ascii: "'")) }
        guard needsQuotes else { return bytes.append(contentsOf: text) }
        for byte in text {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func startsFormula(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: "\t"), UInt8(ascii: "\r"): true
        default: false
        }
    }

    private static func needsQuotes(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}
