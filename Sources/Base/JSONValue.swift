/// A JSON value (RFC 8259). Objects keep the order in which their members were written.
///
/// ```swift
/// let message = try JSONValue(parsing: #"{"title": "Spring sale", "badge": 1}"#)
/// let title = message["title"]?.stringValue
/// let text = JSONValue.object(pairs: [("badge", .integer(2))]).text
/// ```
public indirect enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])

    /// An object from pairs, in the order in which they are written.
    public static func object(pairs: [(String, JSONValue)]) -> JSONValue {
        .object(pairs.map { JSONMember($0.0, $0.1) })
    }

    /// The value of the last member with this name, as in most parsers; nil for anything but an
    /// object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// The text of a string, otherwise nil.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The number of an integer, otherwise nil.
    public var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The number, with a fraction or without, otherwise nil: `6.0` is written as `6`.
    public var doubleValue: Double? {
        switch self {
        case .double(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }
}

/// A name and its value within a JSON object.
public struct JSONMember: Hashable, Sendable {
    /// The member's name, unescaped.
    public var name: String
    /// Its value.
    public var value: JSONValue

    /// A member.
    public init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue {
    /// Reads exactly one JSON value (RFC 8259); white space around it and byte order marks in front
    /// are allowed, anything else is an error.
    /// - Parameter maximumDepth: how deeply arrays and objects may nest, so that hostile input
    ///   cannot exhaust the stack.
    public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(Mistake) {
        var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth)
        self = try parser.parseDocument()
    }

    /// Reads exactly one JSON value from text.
    public init(parsing text: String, maximumDepth: Int = 64) throws(Mistake) {
        try self.init(parsing: Array(text.utf8), maximumDepth: maximumDepth)
    }
}

/// A plain recursive-descent parser for small documents: payloads, answers, key files. Exports have
/// their own.
private struct JSONParser {
    let bytes: [UInt8]
    let maximumDepth: Int
    var index = 0
    var depth = 0

    init(bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        index = TextEncoding.markBytes(bytes)
    }

    mutating func parseDocument() throws(Mistake) -> JSONValue {
        skipSpace()
        let value = try parseValue()
        skipSpace()
        guard index == bytes.count else { throw failure("something follows the end of the JSON") }
        return value
    }

    /// - Parameter isFurther: after a comma in an array.
    private mutating func parseValue(isFurther: Bool = false) throws(Mistake) -> JSONValue {
        guard index < bytes.count else { throw failure("the JSON ends too early") }
        if isFurther, bytes[index] == UInt8(ascii: "]") { throw typo(.furtherValue, at: index) }
        switch bytes[index] {
        case UInt8(ascii: "{"): return try nested { (parser) throws(Mistake) in try parser.parseObject() }
        case UInt8(ascii: "["): return try nested { (parser) throws(Mistake) in try parser.parseArray() }
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "t"): return try parseWord("true", .bool(true))
        case UInt8(ascii: "f"): return try parseWord("false", .bool(false))
        case UInt8(ascii: "n"): return try parseWord("null", .null)
        default: return try parseNumber()
        }
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(Mistake) -> JSONValue
    ) throws(Mistake) -> JSONValue {
        depth += 1
        guard depth <= maximumDepth else { throw failure("nested deeper than \(maximumDepth) levels") }
        index += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func parseObject() throws(Mistake) -> JSONValue {
        var members: [JSONMember] = []
        skipSpace()
        if consume(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipSpace()
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
                throw typo(members.isEmpty ? .name : .furtherName, at: index)
            }
            let name = try parseString()
            skipSpace()
            guard consume(UInt8(ascii: ":")) else { throw failure("expected ':'") }
            skipSpace()
            members.append(JSONMember(name, try parseValue()))
            skipSpace()
            if consume(UInt8(ascii: ",")) { continue }
            guard consume(UInt8(ascii: "}")) else { throw failure("expected ',' or '}'") }
            return .object(members)
        }
    }

    private mutating func parseArray() throws(Mistake) -> JSONValue {
        var values: [JSONValue] = []
        skipSpace()
        if consume(UInt8(ascii: "]")) { return .array([]) }
        while true {
            skipSpace()
            values.append(try parseValue(isFurther: !values.isEmpty))
            skipSpace()
            if consume(UInt8(ascii: ",")) { continue }
            guard consume(UInt8(ascii: "]")) else { throw failure("expected ',' or ']'") }
            return .array(values)
        }
    }

    private mutating func parseString() throws(Mistake) -> String {
        let start = index
        index += 1
        var text: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw Mistake("the text is not UTF-8", at: start)
                }
                return string
            case UInt8(ascii: "\\"): try parseEscape(into: &text)
            case 0..<0x20: throw Mistake("there is a control character inside a text", at: index - 1)
            default: text.append(byte)
            }
        }
        throw Mistake("the text has no closing quote", at: start)
    }

    private mutating func parseEscape(into text: inout [UInt8]) throws(Mistake) {
        guard index < bytes.count else { throw failure("the JSON ends too early") }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(8)
        case UInt8(ascii: "f"): text.append(12)
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "u"):
            var code = try parseHex()
            if (0xD800..<0xDC00).contains(code) {
                guard consume(UInt8(ascii: "\\")), consume(UInt8(ascii: "u")) else {
                    throw failure("half of a surrogate pair")
                }
                let low = try parseHex()
                guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw failure("half of a surrogate pair") }
            text.append(contentsOf: Array(String(scalar).utf8))
        default: throw Mistake("an unknown escape", at: index - 2)
        }
    }

    private mutating func parseHex() throws(Mistake) -> UInt32 {
        guard index + 4 <= bytes.count else { throw failure("the JSON ends too early") }
        var code: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw failure("expected four hex digits")
            }
            code = code << 4 | UInt32(digit)
        }
        index += 4
        return code
    }

    private mutating func parseNumber() throws(Mistake) -> JSONValue {
        let start = index
        _ = consume(UInt8(ascii: "-"))
        let whole = digits()
        // A zero in front of other digits, or of the x of a hexadecimal number.
        let isPadded = whole > 0 && bytes[index - whole] == UInt8(ascii: "0") && (whole > 1 || isNext("xX"))
        guard whole > 0, !isPadded else { throw typo(.value, at: start) }
        var isWhole = true
        if consume(UInt8(ascii: ".")) {
            isWhole = false
            guard digits() > 0 else { throw typo(.value, at: start) }
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            index += 1
            if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
            guard digits() > 0 else { throw typo(.value, at: start) }
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isWhole, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw Mistake("the number is too large", at: start) }
        return .double(value)
    }

    private mutating func digits() -> Int {
        let start = index
        while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) { index += 1 }
        return index - start
    }

    private mutating func parseWord(_ word: StaticString, _ value: JSONValue) throws(Mistake) -> JSONValue {
        let end = index + word.utf8CodeUnitCount
        let matches = word.withUTF8Buffer { expected in end <= bytes.count && bytes[index..<end].elementsEqual(expected)
        }
        guard matches else { throw typo(.value, at: index) }
        index = end
        return value
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private func isNext(_ bytes: StaticString) -> Bool {
        index < self.bytes.count && bytes.withUTF8Buffer { $0.contains(self.bytes[index]) }
    }

    private func typo(_ need: JSONTypo.Need, at place: Int) -> Mistake {
        place < bytes.count
            ? Mistake(JSONTypo.words(bytes[place...], for: need), at: place)
            : Mistake("the JSON ends too early", at: place)
    }

    private func failure(_ message: String) -> Mistake { Mistake(message, at: index) }
}
