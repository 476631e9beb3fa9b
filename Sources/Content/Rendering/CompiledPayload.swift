import Base

/// JSON in UTF-8 with holes. Everything constant is escaped already and lies in one buffer, so that rendering copies runs of bytes and
/// escapes only cells.
struct CompiledPayload: Sendable {
    /// Where a cell goes.
    struct Hole: Sendable {
        /// How far `constants` reaches before the hole.
        let constantEnd: Int
        /// An index into the columns.
        let column: Int
        /// Where in `defaults` the text for a blank cell lies; nil when a blank cell is a failure.
        let fallback: Range<Int>?
    }

    var constants: [UInt8] = []
    /// Escaped texts for blank cells.
    var defaults: [UInt8] = []
    var holes: [Hole] = []

    /// Appends a payload. Answers the column whose cell is blank without default; `bytes` is as before then.
    func append(_ fields: [String], to bytes: inout [UInt8]) -> Int? {
        append(to: &bytes) { column, bytes in
            // Native strings, the only ones on Linux, lend their bytes: nothing is copied, and the answer is never nil.
            let isFilled: Bool? = fields[column].utf8.withContiguousStorageIfAvailable { text in
                if isBlank(text) { return false }
                JSONWriter.appendEscaped(text, to: &bytes)
                return true
            }
            return isFilled ?? false
        }
    }

    /// The same from cells that are escaped already.
    func append(_ cells: EscapedCells, to bytes: inout [UInt8]) -> Int? {
        append(to: &bytes) { column, bytes in
            let cell = cells[column]
            if isBlank(escaped: cell) { return false }
            bytes.append(contentsOf: cell)
            return true
        }
    }

    /// - Parameter appendCell: appends the cell of a column, escaped, or answers false when it is blank.
    @inline(__always)
    private func append(to bytes: inout [UInt8], _ appendCell: (_ column: Int, _ bytes: inout [UInt8]) -> Bool) -> Int? {
        let old = bytes.count
        // Slices of the array itself would be retained and released with every piece: 460 ns a push where this takes 390.
        return constants.withUnsafeBufferPointer { constants in
            var start = 0
            for hole in holes {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: constants[start..<hole.constantEnd]))
                start = hole.constantEnd
                if appendCell(hole.column, &bytes) { continue }
                guard let fallback = hole.fallback else {
                    bytes.removeSubrange(old...)
                    return hole.column
                }
                bytes.append(contentsOf: defaults[fallback])
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: constants[start...]))
            return nil
        }
    }
}

/// Whether a person would see nothing in this cell: it is empty, or holds only white space, control characters and characters
/// without a shape of their own (zero-width spaces, marks of direction).
func isBlank(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = text.first else { return true }
    if first > 0x20, first < 0x7F { return false }
    var bytes = text.makeIterator()
    var decoder = UTF8()
    while true {
        switch decoder.decode(&bytes) {
        case .emptyInput: return true
        // It would be shown as U+FFFD.
        case .error: return false
        case .scalarValue(let scalar): guard isInvisible(scalar) else { return false }
        }
    }
}

/// The same for a cell that `JSONWriter` escaped.
func isBlank(escaped cell: UnsafeBufferPointer<UInt8>) -> Bool {
    let backslash = UInt8(ascii: "\\")
    var index = 0
    while index < cell.count {
        switch cell[index] {
        case backslash:
            // A quote or a backslash can be seen; every other escape stands for a control character.
            let escaped = cell[index + 1]
            if escaped == UInt8(ascii: "\"") || escaped == backslash { return false }
            index += escaped == UInt8(ascii: "u") ? 6 : 2
        case 0x21..<0x7F: return false
        default:
            let end = cell[index...].firstIndex(of: backslash) ?? cell.count
            guard isBlank(UnsafeBufferPointer(rebasing: cell[index..<end])) else { return false }
            index = end
        }
    }
    return true
}

func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Latin to Hebrew, and Kana, Han, Hangul: none is invisible, and looking up properties takes longer than anything else here.
    case 0xC0...0x5FF, 0x3001...0xD7FF: return false
    default: break
    }
    let properties = scalar.properties
    return properties.isWhitespace || properties.generalCategory == .control || properties.generalCategory == .format
}
