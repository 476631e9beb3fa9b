import Testing

import Base

@Suite struct InvisibleTests {
    @Test("the shortcut for common scripts says what Unicode's properties say, of every scalar")
    func shortcut() {
        for scalar in (UInt32(0)...0xD7FF).compactMap(Unicode.Scalar.init) {
            let properties = scalar.properties
            let category = properties.generalCategory
            let isReally = properties.isWhitespace || category == .control || category == .format
            if Blank.isInvisible(scalar) != isReally { Issue.record("U+\(String(scalar.value, radix: 16))") }
        }
    }
}
