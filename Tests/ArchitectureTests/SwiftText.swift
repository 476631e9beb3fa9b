/// A Swift source file without its comments and the contents of its literals: only code is left.
/// Line breaks stay, so that lines keep their numbers.
struct SwiftText {
    let code: String

    /// - Parameter keepsLiterals: whether only comments are left out.
    init(_ source: String, keepsLiterals: Bool = false) {
        var reader = Reader(source: Array(source.utf8), keepsLiterals: keepsLiterals)
        reader.readCode(untilParenthesis: false)
        code = String(decoding: reader.code, as: UTF8.self)
    }
}

private struct Reader {
    let source: [UInt8]
    let keepsLiterals: Bool
    var place = 0
    var code: [UInt8] = []

    private static let lineBreak = UInt8(ascii: "\n"), quote = UInt8(ascii: "\""), hash = UInt8(ascii: "#")

    private func stands(_ text: StaticString) -> Bool {
        stands(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private func stands(_ bytes: some Collection<UInt8>) -> Bool {
        source[min(place, source.count)...].starts(with: bytes)
    }

    /// Reads to the end, or past the parenthesis that closes an interpolation.
    mutating func readCode(untilParenthesis: Bool) {
        var depth = 0
        while place < source.count {
            if stands("//") {
                while place < source.count, source[place] != Self.lineBreak { place += 1 }
            } else if stands("/*") {
                readComment()
            } else if let hashes = literalHashes {
                readLiteral(hashes)
            } else {
                let byte = source[place]
                place += 1
                if untilParenthesis, byte == UInt8(ascii: "(") { depth += 1 }
                if untilParenthesis, byte == UInt8(ascii: ")") {
                    if depth == 0 { return }
                    depth -= 1
                }
                code.append(byte)
            }
        }
    }

    /// Comments of this form may be nested.
    private mutating func readComment() {
        var depth = 0
        repeat {
            if stands("/*") {
                depth += 1
                place += 2
            } else if stands("*/") {
                depth -= 1
                place += 2
            } else {
                skip()
            }
        } while depth > 0 && place < source.count
    }

    private mutating func skip() {
        if source[place] == Self.lineBreak { code.append(Self.lineBreak) }
        place += 1
    }

    /// The number of `#` before a literal of text that begins here; nil if none begins here.
    private var literalHashes: Int? {
        guard source[place] == Self.quote || source[place] == Self.hash else { return nil }
        let end = source[place...].firstIndex { $0 != Self.hash }
        return end.flatMap { source[$0] == Self.quote ? $0 - place : nil }
    }

    private mutating func readLiteral(_ hashes: Int) {
        let marks = [UInt8](repeating: Self.hash, count: hashes), escape = Array("\\".utf8) + marks
        place += hashes
        // A text of several lines begins on the next one: `#""""#` is a text of two quotes.
        let quotes = [UInt8](repeating: Self.quote, count: stands("\"\"\"\n") ? 3 : 1)
        place += quotes.count
        code.append(contentsOf: [Self.quote, Self.quote])
        // A quote in a regular expression does not open a text: one of a single line ends with that
        // at the latest.
        while place < source.count, !stands(quotes + marks), quotes.count == 3 || source[place] != Self.lineBreak {
            if stands(escape + Array("(".utf8)) {
                place += escape.count + 1
                code.append(UInt8(ascii: "("))
                readCode(untilParenthesis: true)
                code.append(UInt8(ascii: ")"))
            } else if stands(escape) {
                place += escape.count
                skip()
            } else if keepsLiterals {
                code.append(source[place])
                place += 1
            } else {
                skip()
            }
        }
        if stands(quotes + marks) { place += quotes.count + hashes }
    }
}
