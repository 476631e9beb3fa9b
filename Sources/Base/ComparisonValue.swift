/// The right side of a comparison, in `where` and in templates, prepared for comparison with many
/// cells. Its kind decides which kind the cells must have: the rule is the same in both places.
///
/// ```swift
/// let limit = ComparisonValue("7.10", column: "app_version")
/// var cell = "7.9"
/// let isLower = cell.withUTF8 { limit.order(of: $0).map { $0 < 0 } }  // true
/// ```
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
    ///   - column: the column that is compared with it: if its name contains "version", `3.2` is a
    ///     version and not a number.
    public init(_ text: String, column: String) {
        let bytes = Array(text.utf8)
        let date = bytes.withUnsafeBufferPointer(dateMilliseconds)
        self.bytes = bytes
        self.date = date ?? 0
        let isDigits = bytes.allSatisfy { $0 &- UInt8(ascii: "0") <= 9 }
        kind = bytes.withUnsafeBufferPointer { value in
            // 2026-11-01 would be a version with a suffix; 20261101 is a number, except in a column
            // of dates.
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

    /// Whether cells may write the value in other ways: `3.10.0` is the version `3.10`, `1500.50`
    /// the number `1500.5`. A text has no other form. Nor has a value that begins with a zero or a
    /// plus sign, such as a post code or a telephone number.
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
    /// - Returns: the order of the cell relative to the value: below zero, zero, above zero; nil if
    ///   the cell is not of the value's kind.
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

/// The truth value of a cell: `true`, `yes`, `y`, `t`, `on` and `1` are true, `false`, `no`, `n`,
/// `f`, `off` and `0` false, in any case; nil for anything else.
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
    /// Whether the operator holds for two values in this order; if they have no order, only `!=`
    /// holds.
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

/// A number in a cell, `-1234.50`, split without rounding: the digits before and after the point.
///
/// White space at either end and a plus sign are ignored. Grouped digits and exponents are not
/// numbers here: `1,234` may be one or a thousand.
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
            let right =
                offset < other.fraction.count ? other.bytes[other.fraction.lowerBound + offset] : UInt8(ascii: "0")
            if left != right { return Int(left) - Int(right) }
        }
        return 0
    }

    @inline(__always) private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") <= 9 }

    @inline(__always) private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 <= 4 }
}

/// A version within a text: digits and dots, with an optional leading `v` and an optional suffix
/// after a hyphen (`v3.10.0-beta`).
public struct VersionText {
    /// The digits and dots.
    private let numbers: UnsafeBufferPointer<UInt8>
    /// The part after the hyphen; nil without a hyphen.
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

    /// Whether a text can only be a version: it has three numbers or more, a leading `v`, or a word
    /// after the hyphen.
    static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let version = VersionText(bytes), let first = bytes.first else { return false }
        if first | 0x20 == UInt8(ascii: "v") || version.numbers.count(where: { $0 == UInt8(ascii: ".") }) >= 2 {
            return true
        }
        return version.suffix?.first.map { ($0 | 0x20) &- UInt8(ascii: "a") < 26 } ?? false
    }

    /// Compares number by number; missing numbers are 0. If the numbers are equal, a version with a
    /// suffix comes before one without, and suffixes compare as text.
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
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
        return Int(left[index]) - Int(right[index])
    }
    return left.count - right.count
}

/// A comparison after `{% if %}`, as far as an export can show whether it makes sense: what the
/// cells of a column are compared with.
public struct TemplateComparison: Hashable, Sendable {
    /// The kind of comparison.
    public enum Kind: Hashable, Sendable {
        /// A number, version or date: compared as `ComparisonValue` does.
        case order(ComparisonOperator, String)
        /// `==` or `!=` with a text, compared exactly.
        case text(ComparisonOperator, String)
        /// `==` or `!=` with a language's tag.
        case language(ComparisonOperator, String)
        /// `==` or `!=` with `true` or `false`.
        case truth(ComparisonOperator, Bool)
        /// `contains`, compared exactly.
        case part(String)
        /// The column on its own: any text but `false` and `0` satisfies it.
        case presence
        /// Not a comparison, but a cell that is formatted as a number: `{{ points | number }}`.
        case number
    }

    /// The column, with the place of its name.
    public var column: SourceText
    /// How its cells are compared.
    public var kind: Kind
    /// Whether it is joined to others in such a way that no other spelling can be added to it:
    /// mixing `and` and `or` would reverse the condition.
    public var isEntangled: Bool

    /// A comparison of a column.
    public init(column: SourceText, kind: Kind, isEntangled: Bool = false) {
        self.column = column
        self.kind = kind
        self.isEntangled = isEntangled
    }
}

extension TemplateComparison: CustomStringConvertible {
    /// As written: `points >= 1000`, `level == 'gold'`.
    public var description: String {
        switch kind {
        case .order(let comparison, let value):
            let isNumber = ComparisonValue(value, column: column.value).kind == .number
            return "\(column.value) \(comparison.rawValue) \(isNumber ? value : "'\(value)'")"
        case .text(let comparison, let text), .language(let comparison, let text):
            return "\(column.value) \(comparison.rawValue) '\(text)'"
        case .truth(let comparison, let isTrue): return "\(column.value) \(comparison.rawValue) \(isTrue)"
        case .part(let text): return "\(column.value) contains '\(text)'"
        case .presence: return column.value
        case .number: return "\(column.value) | number"
        }
    }
}
