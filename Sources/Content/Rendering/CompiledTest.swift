import Base

/// A comparison of a column, ready to be evaluated.
struct CompiledTest: BitwiseCopyable {
    enum Kind: UInt8 {
        case truthy, present, blank
        /// With the text in `literal`, byte by byte.
        case text
        /// With the language tag in `literal`, in lower-case letters with hyphens: equal to it, or
        /// beginning with it.
        case language
        /// By order, with `values[value]`.
        case order
        /// With `values[value]`, in the same spelling or another.
        case value
        /// With the number in `literal`.
        case number
        /// With `true` or `false` in `literal`, as `truthValue` reads cells.
        case truth
        case contains
    }

    var kind: Kind
    var column: Int32
    var comparison = ComparisonOperator.equal
    var literal = TextRange.empty
    var value: Int32 = 0
    /// How it is joined to the next one.
    var isAnd = false
}

extension CompiledPayload {
    /// Whether a condition holds: evaluated from its right end, as in Liquid.
    func holds(_ range: TextRange, _ cells: EscapedCells, bytes: inout [UInt8]) -> Bool {
        var index = Int(range.end) - 1
        var result = holds(tests[index], cells, bytes: &bytes)
        while index > Int(range.start) {
            index -= 1
            let test = tests[index]
            // The left side is evaluated only if it decides.
            if test.isAnd == result { result = holds(test, cells, bytes: &bytes) }
        }
        return result
    }

    private func holds(_ test: CompiledTest, _ cells: EscapedCells, bytes: inout [UInt8]) -> Bool {
        let cell = cells[Int(test.column)]
        if Blank.isCell(escaped: cell) {
            // A blank cell is equal to nothing, so it is unequal to everything.
            return test.kind == .blank
                || ![.truthy, .present, .contains].contains(test.kind) && test.comparison == .notEqual
        }
        switch test.kind {
        case .present: return true
        case .blank: return false
        case .truthy: return withText(of: cell, bytes: &bytes) { !isFalse(trimmed($0)) }
        default: return withText(of: cell, bytes: &bytes) { compare(test, trimmed($0)) }
        }
    }

    private func compare(_ test: CompiledTest, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if test.kind == .order { return test.comparison.holds(values[Int(test.value)].order(of: text)) }
        if test.kind == .value { return values[Int(test.value)].isEqual(to: text) == (test.comparison == .equal) }
        return literals.withUnsafeBufferPointer { literals in
            let literal = literals[test.literal]
            switch test.kind {
            case .number:
                guard let number = DecimalText(literal) else {
                    preconditionFailure("a text that is not a number was compiled as one")
                }
                return test.comparison.holds(DecimalText(text).map { $0.compare(number) })
            case .truth:
                return (truthValue(of: text) == truthValue(of: literal)) == (test.comparison == .equal)
            case .contains: return contains(text, literal)
            case .language: return isOfLanguage(text, literal) == (test.comparison == .equal)
            default: return text.elementsEqual(literal) == (test.comparison == .equal)
            }
        }
    }

    /// Calls `body` with a cell's text. If nothing is escaped, that is the cell; otherwise the end
    /// of `bytes` is used as scratch space.
    private func withText(
        of cell: UnsafeBufferPointer<UInt8>, bytes: inout [UInt8], _ body: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool {
        guard cell.contains(UInt8(ascii: "\\")) else { return body(cell) }
        let start = bytes.count
        appendUnescaped(cell, to: &bytes)
        let result = bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[start...])) }
        bytes.removeSubrange(start...)
        return result
    }
}

/// Whether a cell means false, as databases and spreadsheets write it.
private func isFalse(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    // 0, and 0.0 as spreadsheets write it.
    if let first = text.first, first == UInt8(ascii: "0") {
        return text.allSatisfy { $0 == first || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
    }
    return text.count == 5 && zip(text, "false".utf8).allSatisfy { $0 | 0x20 == $1 }
}

/// Whether a device's tag is this language, or one of its regions or scripts: `de-AT` and `DE` are
/// `de`.
private func isOfLanguage(_ tag: UnsafeBufferPointer<UInt8>, _ language: UnsafeBufferPointer<UInt8>) -> Bool {
    func normal(_ byte: UInt8) -> UInt8 {
        byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }
    guard tag.count >= language.count, zip(tag, language).allSatisfy({ normal($0) == $1 }) else { return false }
    return tag.count == language.count
        || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "@")].contains(normal(tag[language.count]))
}

/// Without spaces, tabs and line ends at either end.
private func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var (start, end) = (0, text.count)
    while start < end, text[start] <= 0x20 { start += 1 }
    while end > start, text[end - 1] <= 0x20 { end -= 1 }
    return UnsafeBufferPointer(rebasing: text[start..<end])
}

private func contains(_ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = part.first, text.count >= part.count else { return part.isEmpty }
    for start in 0...(text.count - part.count) where text[start] == first {
        if UnsafeBufferPointer(rebasing: text[start..<start + part.count]).elementsEqual(part) { return true }
    }
    return false
}
