/// A version within a text: digits and dots, with an optional leading `v` and an optional suffix after a hyphen (`v3.10.0-beta`).
public struct VersionText {
    /// The digits and dots.
    private let numbers: UnsafeBufferPointer<UInt8>
    /// The part after the hyphen; nil if there is none.
    private let suffix: UnsafeBufferPointer<UInt8>?

    /// nil if the text is not a version.
    public init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        var start = 0
        if let first = bytes.first, first | 0x20 == UInt8(ascii: "v") { start = 1 }
        var (end, isAfterDigit) = (start, false)
        while end < bytes.count, bytes[end] != UInt8(ascii: "-") {
            let isDigit = bytes[end] &- UInt8(ascii: "0") <= 9
            guard isDigit || isAfterDigit && bytes[end] == UInt8(ascii: ".") else { return nil }
            isAfterDigit = isDigit
            end += 1
        }
        guard isAfterDigit else { return nil }
        numbers = UnsafeBufferPointer(rebasing: bytes[start..<end])
        guard end < bytes.count else {
            suffix = nil
            return
        }
        guard end + 1 < bytes.count else { return nil }
        suffix = UnsafeBufferPointer(rebasing: bytes[(end + 1)...])
    }

    /// Whether a text can only be a version: it has three numbers or more, a leading `v`, or a word after the hyphen.
    static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let version = VersionText(bytes), let first = bytes.first else { return false }
        if first | 0x20 == UInt8(ascii: "v") || version.numbers.count(where: { $0 == UInt8(ascii: ".") }) >= 2 { return true }
        return version.suffix?.first.map { ($0 | 0x20) &- UInt8(ascii: "a") < 26 } ?? false
    }

    /// Compares number by number; missing numbers are 0. If the numbers are equal, a version with a suffix comes before one without, and
    /// suffixes compare as text.
    /// - Returns: below zero, zero, above zero.
    public func compare(_ other: VersionText) -> Int {
        var (left, right) = (0, 0)
        while left < numbers.count || right < other.numbers.count {
            let order = compareDigits(numbers.nextNumber(&left), other.numbers.nextNumber(&right))
            if order != 0 { return order }
        }
        switch (suffix, other.suffix) {
        case (nil, nil): return 0
        case (_?, nil): return -1
        case (nil, _?): return 1
        case (let left?, let right?): return compareBytes(left, right)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The digits up to the next dot, without leading zeros; moves `place` past the dot.
    fileprivate func nextNumber(_ place: inout Int) -> UnsafeBufferPointer<UInt8> {
        while place < count, self[place] == UInt8(ascii: "0") { place += 1 }
        let start = place
        while place < count, self[place] != UInt8(ascii: ".") { place += 1 }
        defer { if place < count { place += 1 } }
        return UnsafeBufferPointer(rebasing: self[start..<place])
    }
}

/// Compares numbers of any length, without leading zeros.
private func compareDigits(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
    left.count == right.count ? compareBytes(left, right) : left.count - right.count
}

/// The order of UTF-8 bytes, which is the same as that of Unicode scalars.
public func compareBytes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
    for index in 0..<min(left.count, right.count) where left[index] != right[index] { return Int(left[index]) - Int(right[index]) }
    return left.count - right.count
}
