/// A number in a cell, `-1234.50`, split without rounding: the digits before and after the point.
///
/// White space at either end and a plus sign are ignored. Grouped digits and exponents are not numbers here: `1,234` may be one or a
/// thousand.
public struct DecimalText {
    /// The text.
    public let bytes: UnsafeBufferPointer<UInt8>
    /// Whether it is below zero; never for a zero.
    public private(set) var isNegative = false
    /// Digits before the point, without zeros at the beginning; empty for 0.
    public private(set) var whole: Range<Int> = 0..<0
    /// Digits after the point, without zeros at the end.
    public private(set) var fraction: Range<Int> = 0..<0

    /// nil if the text is not a number.
    public init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        var (index, end) = (0, bytes.count)
        while index < end, Self.isSpace(bytes[index]) { index += 1 }
        while end > index, Self.isSpace(bytes[end - 1]) { end -= 1 }
        var isMinus = false
        if index < end, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") {
            isMinus = bytes[index] == UInt8(ascii: "-")
            index += 1
        }
        let first = index
        while index < end, bytes[index] == UInt8(ascii: "0") { index += 1 }
        let start = index
        while index < end, Self.isDigit(bytes[index]) { index += 1 }
        guard index > first else { return nil }
        whole = start..<index
        if index < end, bytes[index] == UInt8(ascii: ".") {
            index += 1
            let start = index
            while index < end, Self.isDigit(bytes[index]) { index += 1 }
            guard index > start else { return nil }
            fraction = start..<index
            while let last = fraction.last, bytes[last] == UInt8(ascii: "0") { fraction = start..<last }
        }
        guard index == end else { return nil }
        isNegative = isMinus && !(whole.isEmpty && fraction.isEmpty)
    }

    /// Below zero, zero, above zero.
    public func compare(_ other: DecimalText) -> Int {
        if isNegative != other.isNegative { return isNegative ? -1 : 1 }
        let order = compareMagnitude(other)
        return isNegative ? -order : order
    }

    private func compareMagnitude(_ other: DecimalText) -> Int {
        if whole.count != other.whole.count { return whole.count - other.whole.count }
        for offset in 0..<whole.count {
            let (left, right) = (bytes[whole.lowerBound + offset], other.bytes[other.whole.lowerBound + offset])
            if left != right { return Int(left) - Int(right) }
        }
        for offset in 0..<max(fraction.count, other.fraction.count) {
            let left = offset < fraction.count ? bytes[fraction.lowerBound + offset] : UInt8(ascii: "0")
            let right = offset < other.fraction.count ? other.bytes[other.fraction.lowerBound + offset] : UInt8(ascii: "0")
            if left != right { return Int(left) - Int(right) }
        }
        return 0
    }

    @inline(__always) private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") <= 9 }

    @inline(__always) private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 <= 4 }
}
