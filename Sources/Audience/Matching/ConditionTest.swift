import Base

/// A condition of `where`, prepared for being asked of every row.
struct ConditionTest {
    private let test: ColumnTest
    /// The right sides of `oneOf`, in bytes.
    private let values: [[UInt8]]
    /// The right side of a comparison.
    private let compared: ComparisonValue?
    private let now: Int64
    /// Languages are the same in capitals.
    private let ignoresCase: Bool

    init(_ test: ColumnTest, now: Timestamp, ignoresCase: Bool) {
        self.test = test
        self.now = now.epochMilliseconds
        self.ignoresCase = ignoresCase
        values = if case .oneOf(let texts) = test { texts.map { Array(trimmedText($0).utf8) } } else { [] }
        compared = if case .comparison(_, let text) = test { ComparisonValue(trimmedText(text)) } else { nil }
    }

    /// Whether a cell satisfies the condition. A blank cell satisfies nothing but `missing`.
    func holds(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        if Blank.isCell(cell) { return test == .missing }
        switch test {
        case .present: return true
        case .missing: return false
        case .within(let seconds): return age(cell).map { $0 <= Int64(seconds) * 1000 } ?? false
        case .olderThan(let seconds): return age(cell).map { $0 > Int64(seconds) * 1000 } ?? false
        case .oneOf: return values.contains { value in value.withUnsafeBufferPointer { isSame($0, cell) } }
        case .comparison(let comparison, _):
            return comparison.holds(compared?.order(of: cell) { ignoresCase && isSame(cell, $0) })
        }
    }

    /// Milliseconds since the cell's moment; nil when it is no date. A date without a time counts in whole days: what is exactly 30 days
    /// back is within 30 days until midnight.
    private func age(_ cell: UnsafeBufferPointer<UInt8>) -> Int64? {
        let day: Int64 = 86_400_000
        return dateMilliseconds(cell).map { (isDayOnly(cell) ? now / day * day : now) - $0 }
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
