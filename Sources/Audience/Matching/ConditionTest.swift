import Base

/// A condition of `where`, prepared for being asked of every row.
struct ConditionTest {
    private let test: ColumnTest
    /// The right side in bytes: of a comparison one, of `oneOf` any number.
    private let values: [[UInt8]]
    private let date: Int64?
    private let isDigitsOnly: Bool
    private let now: Int64
    /// Languages are the same in capitals.
    private let ignoresCase: Bool

    init(_ test: ColumnTest, now: Timestamp, ignoresCase: Bool) {
        self.test = test
        self.now = now.epochMilliseconds
        self.ignoresCase = ignoresCase
        switch test {
        case .oneOf(let texts): values = texts.map { Array(trimmedText($0).utf8) }
        case .comparison(_, let text): values = [Array(trimmedText(text).utf8)]
        case .within, .olderThan, .present, .missing: values = []
        }
        let right = values.first ?? []
        date = right.withUnsafeBufferPointer(dateMilliseconds)
        isDigitsOnly = right.allSatisfy { $0 &- UInt8(ascii: "0") <= 9 }
    }

    /// Whether a cell satisfies the condition. A blank cell satisfies nothing but `missing`.
    func holds(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        if cell.isEmpty { return test == .missing }
        switch test {
        case .present: return true
        case .missing: return false
        case .within(let seconds): return age(cell).map { $0 <= Int64(seconds) * 1000 } ?? false
        case .olderThan(let seconds): return age(cell).map { $0 > Int64(seconds) * 1000 } ?? false
        case .oneOf: return values.contains { value in value.withUnsafeBufferPointer { isSame($0, cell) } }
        case .comparison(let comparison, _):
            guard let order = values[0].withUnsafeBufferPointer({ compare(cell, $0) }) else { return comparison == .notEqual }
            switch comparison {
            case .less: return order < 0
            case .lessOrEqual: return order <= 0
            case .equal: return order == 0
            case .notEqual: return order != 0
            case .greaterOrEqual: return order >= 0
            case .greater: return order > 0
            }
        }
    }

    /// Milliseconds since the cell's moment; nil when it is no date. A date without a time counts in whole days: what is exactly 30 days
    /// back is within 30 days until midnight.
    private func age(_ cell: UnsafeBufferPointer<UInt8>) -> Int64? {
        let day: Int64 = 86_400_000
        return dateMilliseconds(cell).map { (cell.count == 10 ? now / day * day : now) - $0 }
    }

    /// Dates come first: `2026-11-01` would also be a version with a suffix. Plain digits are numbers, not moments. Only a right side that is
    /// plain text is compared as text.
    /// - Returns: below zero, zero, above zero; nil when the right side is a date or version and the cell is neither.
    private func compare(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int? {
        let areDigits = isDigitsOnly && left.allSatisfy { $0 &- UInt8(ascii: "0") <= 9 }
        if !areDigits, let date, let other = dateMilliseconds(left) { return other < date ? -1 : other == date ? 0 : 1 }
        if let other = VersionText(right) { return VersionText(left)?.compare(other) }
        if date != nil { return nil }
        return ignoresCase && isSame(left, right) ? 0 : compareBytes(left, right)
    }

    private func isSame(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        guard ignoresCase else { return left.elementsEqual(right) }
        return zip(left, right).allSatisfy { lowercased($0) == lowercased($1) }
    }
}

@inline(__always) private func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
}
