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

    /// Replaces `bytes`. Answers the column whose cell is blank without default, and leaves `bytes` empty then.
    func render(_ fields: [String], into bytes: inout [UInt8]) -> Int? {
        bytes.removeAll(keepingCapacity: true)
        // Slices of the array itself would be retained and released with every piece: 460 ns a push where this takes 390.
        return constants.withUnsafeBufferPointer { constants in
            var start = 0
            for hole in holes {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: constants[start..<hole.constantEnd]))
                start = hole.constantEnd
                // Native strings, the only ones on Linux, lend their bytes: nothing is copied, and the answer is never nil.
                let isFilled: Bool? = fields[hole.column].utf8.withContiguousStorageIfAvailable { text in
                    if isBlank(text) { return false }
                    JSONWriter.appendEscaped(text, to: &bytes)
                    return true
                }
                if isFilled == true { continue }
                guard let fallback = hole.fallback else {
                    bytes.removeAll(keepingCapacity: true)
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
    return String(decoding: text, as: UTF8.self).unicodeScalars.allSatisfy { scalar in
        let properties = scalar.properties
        return properties.isWhitespace || properties.generalCategory == .control || properties.generalCategory == .format
    }
}
