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
