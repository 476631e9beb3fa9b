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

    @Test(
        "a cell of a single character, or beginning with one, is blank exactly when people see nothing or a sign for nothing"
    )
    func cells() {
        let signs: Set<String> = ["-", "\u{2013}", "\u{2014}"]
        for scalar in (UInt32(1)...0x10FFFF).compactMap(Unicode.Scalar.init) {
            let text = String(Character(scalar))
            let expected = Blank.isInvisible(scalar) || signs.contains(text)
            if Blank.isCell(text) != expected { Issue.record("U+\(String(scalar.value, radix: 16))") }
            // Also after a space, which signs for nothing may have in front.
            if Blank.isCell(" " + text) != expected { Issue.record("a space and U+\(String(scalar.value, radix: 16))") }
        }
    }
}
