/// A check of JSON's syntax (RFC 8259) that builds no values: the simulator must check every
/// payload of a fast sender.
///
/// The text must be an object in UTF-8. The check notes whether its member `aps` is an object, and
/// limits the depth, as every parser does.
struct JSONSyntax {
    /// The result of the check.
    enum Verdict: Equatable {
        case invalid
        case object(hasAps: Bool)
    }

    private static let deepest = 128
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    private var depth = 0
    private var hasAps = false

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Checks a whole text.
    static func verdict(on bytes: UnsafeBufferPointer<UInt8>) -> Verdict {
        var scanner = JSONSyntax(bytes)
        scanner.skipSpace()
        guard scanner.current == UInt8(ascii: "{"), scanner.object() else { return .invalid }
        scanner.skipSpace()
        return scanner.index == bytes.count ? .object(hasAps: scanner.hasAps) : .invalid
    }

    /// The current byte; at the end 0, which is not valid anywhere.
    private var current: UInt8 { index < bytes.count ? bytes[index] : 0 }

    private mutating func skipSpace() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x0A, 0x0D, 0x09: index += 1
            default: return
            }
        }
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        index += 1
        return true
    }

    private mutating func value() -> Bool {
        switch current {
        case UInt8(ascii: "{"): object()
        case UInt8(ascii: "["): array()
        case UInt8(ascii: "\""): string()
        case UInt8(ascii: "t"): word("true")
        case UInt8(ascii: "f"): word("false")
        case UInt8(ascii: "n"): word("null")
        default: number()
        }
    }

    private mutating func object() -> Bool {
        index += 1
        depth += 1
        guard depth <= Self.deepest else { return false }
        defer { depth -= 1 }
        skipSpace()
        if consume(UInt8(ascii: "}")) { return true }
        while true {
            let nameStart = index
            guard string() else { return false }
            let isAps = depth == 1 && isApsName(nameStart..<index)
            skipSpace()
            guard consume(UInt8(ascii: ":")) else { return false }
            skipSpace()
            if isAps { hasAps = current == UInt8(ascii: "{") }
            guard value() else { return false }
            skipSpace()
            if consume(UInt8(ascii: "}")) { return true }
            guard consume(UInt8(ascii: ",")) else { return false }
            skipSpace()
        }
    }

    private func isApsName(_ range: Range<Int>) -> Bool {
        range.count == 5 && bytes[range.lowerBound + 1] == UInt8(ascii: "a")
            && bytes[range.lowerBound + 2] == UInt8(ascii: "p")
            && bytes[range.lowerBound + 3] == UInt8(ascii: "s")
    }

    private mutating func array() -> Bool {
        index += 1
        depth += 1
        guard depth <= Self.deepest else { return false }
        defer { depth -= 1 }
        skipSpace()
        if consume(UInt8(ascii: "]")) { return true }
        while true {
            guard value() else { return false }
            skipSpace()
            if consume(UInt8(ascii: "]")) { return true }
            guard consume(UInt8(ascii: ",")) else { return false }
            skipSpace()
        }
    }

    private mutating func string() -> Bool {
        guard consume(UInt8(ascii: "\"")) else { return false }
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return true
            case UInt8(ascii: "\\"):
                guard escape() else { return false }
            case 0..<0x20: return false
            case 0x20..<0x80: index += 1
            default:
                guard sequence(startingWith: byte) else { return false }
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        index += 1
        switch current {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 1
            return true
        case UInt8(ascii: "u"):
            guard index + 4 < bytes.count, bytes[index + 1...index + 4].allSatisfy(isHexDigit) else { return false }
            index += 5
            return true
        default: return false
        }
    }

    /// Reads a character of two to four bytes, neither overlong nor a surrogate (RFC 3629 section
    /// 4).
    private mutating func sequence(startingWith first: UInt8) -> Bool {
        let count: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: count = 2
        case 0xE0: (count, second) = (3, 0xA0...0xBF)
        case 0xED: (count, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: count = 3
        case 0xF0: (count, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: count = 4
        case 0xF4: (count, second) = (4, 0x80...0x8F)
        default: return false
        }
        guard index + count <= bytes.count, second.contains(bytes[index + 1]) else { return false }
        for place in index + 2..<index + count where bytes[place] & 0xC0 != 0x80 { return false }
        index += count
        return true
    }

    private mutating func number() -> Bool {
        _ = consume(UInt8(ascii: "-"))
        if !consume(UInt8(ascii: "0")) {
            guard digits() else { return false }
        }
        if consume(UInt8(ascii: ".")) {
            guard digits() else { return false }
        }
        if current | 0x20 == UInt8(ascii: "e") {
            index += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { index += 1 }
            guard digits() else { return false }
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = index
        while current >= UInt8(ascii: "0"), current <= UInt8(ascii: "9") { index += 1 }
        return index > start
    }

    private mutating func word(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard index + count <= bytes.count else { return false }
        for offset in 0..<count where bytes[index + offset] != text.utf8Start[offset] { return false }
        index += count
        return true
    }
}

/// Whether a byte is a hex digit of either case.
@inline(__always)
func isHexDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6 }

/// Whether all bytes are hex digits. It checks all of them even after the first that is not:
/// without an early exit the compiler processes sixteen at a time.
func areHexDigits(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var others: UInt8 = 0
    for byte in bytes { others |= isHexDigit(byte) ? 0 : 1 }
    return others == 0
}
