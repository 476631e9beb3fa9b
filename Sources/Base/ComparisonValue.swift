/// The right side of a comparison, in `where` and in templates, prepared for comparison with many cells. Its kind decides of which kind the
/// cells must be: the rule is the same in both places.
public struct ComparisonValue: Sendable {
    /// The kinds of values.
    public enum Kind: String, Hashable, Sendable {
        /// `10`, `10.5`, `-3`.
        case number
        /// `3.2.0`, `v3.2`; compared number by number.
        case version
        /// `2026-11-01`, with or without a time.
        case date
        /// Anything else; compared letter by letter.
        case text
    }

    /// The kind of this value.
    public let kind: Kind
    private let bytes: [UInt8]
    /// Milliseconds since 1970.
    private let date: Int64

    /// - Parameters:
    ///   - text: without white space around it.
    ///   - column: the column that is compared with it: if its name contains "version", `3.2` is a version and not a number.
    public init(_ text: String, column: String) {
        let bytes = Array(text.utf8)
        let date = bytes.withUnsafeBufferPointer(dateMilliseconds)
        self.bytes = bytes
        self.date = date ?? 0
        let isDigits = bytes.allSatisfy { $0 &- UInt8(ascii: "0") <= 9 }
        kind = bytes.withUnsafeBufferPointer { value in
            // 2026-11-01 would be a version with a suffix; 20261101 is a number, except in a column of dates.
            if date != nil, !isDigits || Self.isDate(column: column) { return .date }
            if Self.isVersion(column: column), VersionText(value) != nil { return .version }
            if DecimalText(value) != nil { return .number }
            return VersionText.isPlain(value) ? .version : .text
        }
    }

    /// Whether a column holds versions, by its name.
    public static func isVersion(column: String) -> Bool { column.lowercased().contains("version") }

    /// Whether a column holds dates, by its standard name.
    public static func isDate(column: String) -> Bool {
        [ExportColumns.Standard.lastActive, .registeredAt].contains { $0.rawValue == column }
    }

    /// Whether cells may write the value in other ways: `3.10.0` is the version `3.10`, `1500.50` the number `1500.5`. A text has no other
    /// form. Nor has a value that begins with a zero or a plus sign, such as a post code or a telephone number.
    public var hasOtherForms: Bool { kind != .text && !(kind == .number && Self.isCode(bytes)) }

    /// Whether a cell is the value, in this spelling or another.
    /// - Parameter cell: without white space around it.
    public func isEqual(to cell: UnsafeBufferPointer<UInt8>) -> Bool {
        if cell.count == bytes.count, cell.elementsEqual(bytes) { return true }
        return hasOtherForms && order(of: cell) == 0 && !(kind == .number && Self.isCode(cell))
    }

    private static func isCode(_ text: some RandomAccessCollection<UInt8>) -> Bool {
        guard let first = text.first, let second = text.dropFirst().first else { return false }
        return first == UInt8(ascii: "+") || first == UInt8(ascii: "0") && second != UInt8(ascii: ".")
    }

    /// Compares a cell with the value.
    /// - Parameter cell: without white space around it.
    /// - Returns: the order of the cell relative to the value: below zero, zero, above zero; nil if the cell is not of the value's kind.
    public func order(of cell: UnsafeBufferPointer<UInt8>) -> Int? {
        bytes.withUnsafeBufferPointer { value in
            switch kind {
            case .number: DecimalText(value).flatMap { number in DecimalText(cell)?.compare(number) }
            case .version:
                // A date is not a version, although it looks like one with a suffix.
                cell.count > 4 && cell[4] == UInt8(ascii: "-") && dateMilliseconds(cell) != nil
                    ? nil : VersionText(value).flatMap { version in VersionText(cell)?.compare(version) }
            case .date: dateMilliseconds(cell).map { $0 < date ? -1 : $0 == date ? 0 : 1 }
            case .text: compareBytes(cell, value)
            }
        }
    }
}

/// The truth value of a cell: `true`, `yes`, `y`, `t`, `on` and `1` are true, `false`, `no`, `n`, `f`, `off` and `0` false, in any case;
/// nil for anything else.
public func truthValue(of cell: UnsafeBufferPointer<UInt8>) -> Bool? {
    func isOne(of words: [StaticString]) -> Bool {
        words.contains { word in
            word.utf8CodeUnitCount == cell.count && cell.indices.allSatisfy { cell[$0] | 0x20 == word.utf8Start[$0] }
        }
    }
    guard (1...5).contains(cell.count) else { return nil }
    if isOne(of: ["true", "1", "yes", "y", "t", "on"]) { return true }
    return isOne(of: ["false", "0", "no", "n", "f", "off"]) ? false : nil
}

extension ComparisonOperator {
    /// Whether the operator holds for two values in this order; if they have no order, only `!=` holds.
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
