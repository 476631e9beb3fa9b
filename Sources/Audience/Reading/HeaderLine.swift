/// The first line of a delimited file that is not blank, examined to find the separator of its
/// columns.
struct HeaderLine {
    /// The separator.
    let separator: UInt8
    /// Whether the line's end was seen.
    let isComplete: Bool

    /// Of a longer line only the beginning is used.
    static let mostBytes = 1 << 16
    private static let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09, UInt8(ascii: "|")]

    /// - Parameters:
    ///   - bytes: of the file, as far as they are in memory.
    ///   - expected: used when it appears at all, or when no other separator does.
    init(_ bytes: UnsafeBufferPointer<UInt8>, expecting expected: UInt8) {
        var counts = Array(repeating: 0, count: Self.separators.count)
        var (isQuoted, isFieldStart, isBlank, isComplete) = (false, true, true, false)
        var hasJustClosed = false
        for byte in bytes.prefix(Self.mostBytes) {
            if isQuoted {
                if byte == UInt8(ascii: "\"") { (isQuoted, hasJustClosed) = (false, true) }
                continue
            }
            // A doubled quote is text: the field continues after it.
            if hasJustClosed, byte == UInt8(ascii: "\"") {
                isQuoted = true
                hasJustClosed = false
                continue
            }
            hasJustClosed = false
            if byte == 0x0A || byte == 0x0D {
                guard isBlank else {
                    isComplete = true
                    break
                }
            } else if byte == UInt8(ascii: "\"") {
                isQuoted = isFieldStart
                isBlank = false
            } else if let place = Self.separators.firstIndex(of: byte) {
                counts[place] += 1
                isFieldStart = true
                isBlank = false
                continue
            } else {
                isBlank = false
            }
            // A quote may open a cell after blanks.
            isFieldStart = isFieldStart && byte == 0x20
        }
        self.isComplete = isComplete
        let most = counts.max() ?? 0
        let isExpectedThere = Self.separators.firstIndex(of: expected).map { counts[$0] > 0 } ?? true
        separator =
            isExpectedThere || most == 0
            ? expected : counts.firstIndex(of: most).map { Self.separators[$0] } ?? expected
    }
}
