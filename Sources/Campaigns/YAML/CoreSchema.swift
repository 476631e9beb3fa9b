/// What text without quotes means. Source: YAML 1.2.2, section 10.3.2, the core schema.
enum CoreSchema {
    /// The types that JSON can carry.
    enum Value: Hashable {
        case null
        case bool(Bool)
        case integer(Int64)
        case double(Double)
        case text
        /// A number that no JSON reader could hold: beyond 64 bits, infinite or not a number.
        case unusableNumber
    }

    /// Decides the type of text without quotes.
    static func value(of text: String) -> Value {
        if isNull(text) { return .null }
        if let truth = bool(text) { return .bool(truth) }
        let bytes = Array(text.utf8)
        if let digits = integerDigits(bytes) {
            guard let number = Int64(digits.text, radix: digits.radix) else { return .unusableNumber }
            return .integer(number)
        }
        if isDecimal(bytes) {
            guard let number = Double(text), number.isFinite else { return .unusableNumber }
            return .double(number)
        }
        let unsigned = text.hasPrefix("-") || text.hasPrefix("+") ? String(text.dropFirst()) : text
        return [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(unsigned) ? .unusableNumber : .text
    }

    static func isNull(_ text: String) -> Bool { ["", "~", "null", "Null", "NULL"].contains(text) }

    static func bool(_ text: String) -> Bool? {
        switch text {
        case "true", "True", "TRUE": true
        case "false", "False", "FALSE": false
        default: nil
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// `[-+]?[0-9]+`, `0o[0-7]+`, `0x[0-9a-fA-F]+`
    private static func integerDigits(_ bytes: [UInt8]) -> (text: String, radix: Int)? {
        if bytes.count > 2, bytes[0] == UInt8(ascii: "0") {
            let digits = bytes.dropFirst(2)
            let text = String(decoding: digits, as: UTF8.self)
            if bytes[1] == UInt8(ascii: "o"), digits.allSatisfy({ isDigit($0) && $0 < UInt8(ascii: "8") }) {
                return (text, 8)
            }
            if bytes[1] == UInt8(ascii: "x"), text.allSatisfy({ $0.isASCII && $0.isHexDigit }) { return (text, 16) }
        }
        let sign = bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+") ? 1 : 0
        guard bytes.count > sign, bytes.dropFirst(sign).allSatisfy(isDigit) else { return nil }
        return (String(decoding: bytes, as: UTF8.self), 10)
    }

    /// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
    private static func isDecimal(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        func skipSign() {
            if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        }
        func skipDigits() -> Int {
            let before = rest.count
            rest = rest.drop(while: isDigit)
            return before - rest.count
        }
        skipSign()
        var digits = skipDigits()
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            digits += skipDigits()
        }
        guard digits > 0 else { return false }
        if let byte = rest.first, byte | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            skipSign()
            guard skipDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
