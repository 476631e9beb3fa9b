/// The strings of a JSON array in their escaped form: the range of each between its quotes. Nothing
/// is decoded or copied.
///
/// Made for cells that come from a run file and go into payloads. Both are JSON, so a cell can be
/// copied unchanged if it is escaped the way `JSONWriter` escapes. Only that form is accepted: no
/// white space between the strings, valid UTF-8, and no escape but `\"`, `\\`, `\n`, `\r`, `\t`,
/// and `\u00` with two lower-case hex digits for the other control characters.
public struct EscapedCells {
    private var bytes = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// Those beyond `count` are of earlier arrays.
    private var ranges: [Range<Int>] = []

    /// No cells.
    public init() {}

    /// The number of cells.
    public private(set) var count = 0

    /// The bytes of a cell, escaped. Valid as long as the bytes that were passed to `locate`.
    public subscript(cell: Int) -> UnsafeBufferPointer<UInt8> {
        precondition(cell < count, "no such cell")
        return UnsafeBufferPointer(rebasing: bytes[ranges[cell]])
    }

    /// Finds the cells of a JSON array. Allocates nothing after an array with as many cells.
    /// - Parameter bytes: must stay in place while this value is used.
    /// - Returns: false, and no cells, if this is not an array of strings or not in the form
    ///   described above.
    public mutating func locate(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        self.bytes = bytes
        count = 0
        if scan(bytes) { return true }
        count = 0
        return false
    }

    private mutating func append(_ range: Range<Int>) {
        if count < ranges.count { ranges[count] = range } else { ranges.append(range) }
        count += 1
    }

    private mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let last = bytes.count - 1
        guard last > 0, bytes[0] == UInt8(ascii: "["), bytes[last] == UInt8(ascii: "]") else { return false }
        if last == 1 { return true }
        var index = 1
        var allBits: UInt8 = 0
        while true {
            guard bytes[index] == UInt8(ascii: "\"") else { return false }
            index += 1
            let start = index
            // Stops at the closing bracket at the latest: every step below stays before `last`.
            while index < last, bytes[index] != UInt8(ascii: "\"") {
                let byte = bytes[index]
                guard byte >= 0x20 else { return false }
                allBits |= byte
                index += 1
                if byte == UInt8(ascii: "\\") {
                    guard let length = Self.escapeLength(in: bytes[index..<last]) else { return false }
                    index += length
                }
            }
            guard index < last else { return false }
            append(start..<index)
            index += 1
            if index == last { return allBits < 0x80 || Self.isUTF8(bytes) }
            guard bytes[index] == UInt8(ascii: ","), index + 1 < last else { return false }
            index += 1
        }
    }

    /// The length of an escape without its backslash; nil if `JSONWriter` would not write it.
    private static func escapeLength(in bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        switch bytes.first {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return 1
        case UInt8(ascii: "u"): return JSONWriter.controlCharacter(ofEscape: bytes.dropFirst()) == nil ? nil : 5
        default: return nil
        }
    }

    private static func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        do {
            _ = try UTF8Span(validating: bytes.span)
            return true
        } catch { return false }
    }
}
