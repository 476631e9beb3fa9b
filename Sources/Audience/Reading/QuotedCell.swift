import PushServices

/// Distinguishes a cell of many lines from rows hidden by an open quote.
struct QuotedCell {
    /// The text between the quotes.
    let text: UnsafeBufferPointer<UInt8>
    /// How many line ends are in it.
    let lineBreaks: Int
    let targets: TargetForm

    /// The most line breaks in a cell; more mean that a quote was left open. This is the limit of a
    /// spreadsheet cell. Source: Microsoft, "Excel specifications and limits", line feeds per cell.
    static let mostLineBreaks = 253

    /// Why the cell cannot be one; nil when it can.
    /// - Parameter columnCount: fields of a row.
    func flaw(separator: UInt8, columnCount: Int) -> String? {
        if lineBreaks > Self.mostLineBreaks {
            return "a quote is closed only after more than \(Self.mostLineBreaks) line breaks"
        }
        guard let length = targets.tellingLength else { return nil }
        return mayHoldTarget(of: length) && holdsRow(separator, columnCount: columnCount, targetLength: length)
            ? "a quoted cell holds rows of other devices: its quote was left open" : nil
    }

    /// Whether a run of this many of a target's characters may exist. Mostly, only one of every
    /// `length` places is looked at.
    private func mayHoldTarget(of length: Int) -> Bool {
        var place = length - 1
        while place < text.count {
            var (start, end) = (place, place)
            while end < text.count, targets.isCharacter(text[end]) { end += 1 }
            while end > place, start > 0, targets.isCharacter(text[start - 1]) { start -= 1 }
            if end - start >= length { return true }
            place += length
        }
        return false
    }

    /// Whether one of its lines but the first is a row with a target. The last one ends with the
    /// cell, so that fields may be missing.
    private func holdsRow(_ separator: UInt8, columnCount: Int, targetLength: Int) -> Bool {
        var lines = text.split(maxSplits: Int.max, omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x0D }
            .dropFirst()
        guard let last = lines.popLast() else { return false }
        func fieldCount(_ line: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
            let fields = line.split(separator: separator, omittingEmptySubsequences: false)
            return fields.contains { $0.count >= targetLength && targets.isTarget($0) } ? fields.count : nil
        }
        if let count = fieldCount(last), count <= columnCount, count >= min(2, columnCount) { return true }
        return lines.contains { fieldCount($0) == columnCount }
    }
}
