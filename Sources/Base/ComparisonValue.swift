/// The right side of a comparison, in `where` and in templates, prepared for being compared with many cells.
public struct ComparisonValue: Sendable {
    private let bytes: [UInt8]
    private let date: Int64?
    private let isDigitsOnly: Bool

    /// A date, a version, or any text, without white space around it.
    public init(_ text: String) {
        bytes = Array(text.utf8)
        date = bytes.withUnsafeBufferPointer(dateMilliseconds)
        isDigitsOnly = bytes.allSatisfy { $0 &- UInt8(ascii: "0") <= 9 }
    }

    /// Compares a cell with the value. Dates come first: `2026-11-01` would also be a version with a suffix. Plain digits are numbers, not
    /// moments. Versions compare number by number. Only a value that is plain text is compared as text.
    /// - Parameter isSame: whether texts are the same although their bytes differ.
    /// - Returns: how the cell stands to the value: below zero, zero, above zero; nil when the value is a date or version and the cell is neither.
    public func order(
        of cell: UnsafeBufferPointer<UInt8>, isSame: (_ value: UnsafeBufferPointer<UInt8>) -> Bool = { _ in false }
    ) -> Int? {
        bytes.withUnsafeBufferPointer { value in
            let areDigits = isDigitsOnly && cell.allSatisfy { $0 &- UInt8(ascii: "0") <= 9 }
            if !areDigits, let date, let other = dateMilliseconds(cell) { return other < date ? -1 : other == date ? 0 : 1 }
            if let version = VersionText(value) { return VersionText(cell)?.compare(version) }
            if date != nil { return nil }
            return isSame(value) ? 0 : compareBytes(cell, value)
        }
    }
}

extension ComparisonOperator {
    /// Whether the operator holds for two values in this order; without an order only `!=` does.
    @inlinable public func holds(_ order: Int?) -> Bool {
        guard let order else { return self == .notEqual }
        switch self {
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .greaterOrEqual: return order >= 0
        case .greater: return order > 0
        }
    }
}
