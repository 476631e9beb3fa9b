import Base

/// A text of a column of tags, cut into words, so that a tag of the query is found in it whatever
/// separates or surrounds it.
///
/// The rule: what a program wrote out (`&#59;`, `%3B`, `=3B`, `\u003b`, `\n`) is decoded; the text
/// is cut at every character that is not a letter, a digit, `_` or `-`; and a tag is in it if one
/// or more words in a row are the tag, apart from details that people overlook (`Spelling`).
struct TagText {
    struct Letter {
        var scalar: Unicode.Scalar
        /// Where the text has it.
        var written: Range<Int>
    }

    private let scalars: [Unicode.Scalar]
    let letters: [Letter]
    /// Places of the words among the letters.
    let words: [Range<Int>]

    /// - Parameters:
    ///   - codes: the signs that begin what a program wrote out; blank for a text as it is.
    ///   - others: characters that are part of words, as a tag consists of them.
    init(_ text: String, codes: String = "", others: Set<Unicode.Scalar> = []) {
        scalars = Array(text.unicodeScalars)
        var letters = scalars.enumerated().map { Letter(scalar: $1, written: $0..<$0 + 1) }
        // What was written out twice: `&amp;#59;`.
        for _ in 0..<(codes.isEmpty ? 0 : 3) {
            guard let decoded = EscapedCharacters.decoded(letters, codes: codes) else { break }
            letters = decoded
        }
        self.letters = letters
        var words: [Range<Int>] = []
        var start: Int?
        for place in letters.indices {
            if Self.isWord(letters, place) || others.contains(letters[place].scalar) {
                start = start ?? place
            } else if let first = start {
                words.append(first..<place)
                start = nil
            }
        }
        if let start { words.append(start..<letters.count) }
        self.words = words
    }

    var isDecoded: Bool { letters.count != scalars.count }

    func string(_ range: Range<Int>) -> String {
        String(String.UnicodeScalarView(letters[range].map(\.scalar)))
    }

    /// How the text writes a letter, where that is not the letter itself.
    func written(_ letter: Letter) -> String? {
        guard letter.written.count > 1 else { return nil }
        let text = String(String.UnicodeScalarView(scalars[letter.written]))
        // The semicolon of a reference may be taken for a separator.
        return text.first == "&" && text.last != ";" ? text + ";" : text
    }

    /// What is between a part and the word before it or the text's beginning, and between it and
    /// the word after it or the text's end.
    func gaps(around part: Range<Int>) -> (before: Range<Int>, after: Range<Int>) {
        let start = words.last { $0.upperBound <= part.lowerBound }?.upperBound ?? 0
        let end = words.first { $0.lowerBound >= part.upperBound }?.lowerBound ?? letters.count
        return (start..<part.lowerBound, part.upperBound..<end)
    }

    /// A letter of any script with its accents, a digit, a hyphen; a dot between two digits.
    private static func isWord(_ letters: [Letter], _ place: Int) -> Bool {
        let scalar = letters[place].scalar
        if scalar.isASCII {
            if scalar == "." { return isDigit(letters, place - 1) && isDigit(letters, place + 1) }
            return scalar == "_" || scalar == "-" || scalar.properties.isAlphabetic || isDigit(letters, place)
        }
        return switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: !scalar.properties.isVariationSelector
        // Persian words have joiners; a blank without width separates.
        case .format: scalar != "\u{200B}" && scalar != "\u{FEFF}"
        default:
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || Spelling.styled[scalar.value] != nil
        }
    }

    private static func isDigit(_ letters: [Letter], _ place: Int) -> Bool {
        letters.indices.contains(place) && letters[place].scalar.value &- 0x30 <= 9
    }
}

/// Characters that programs write out: references of HTML, escapes of JSON and C, bytes of
/// addresses and of mail.
private enum EscapedCharacters {
    /// nil where nothing is written out.
    static func decoded(_ letters: [TagText.Letter], codes: String) -> [TagText.Letter]? {
        var (kept, place, isFound): ([TagText.Letter], Int, Bool) = ([], 0, false)
        while place < letters.count {
            if codes.unicodeScalars.contains(letters[place].scalar), let (scalar, count) = character(letters[place...])
            {
                let written = letters[place].written.lowerBound..<letters[place + count - 1].written.upperBound
                kept.append(TagText.Letter(scalar: scalar, written: written))
                (place, isFound) = (place + count, true)
            } else {
                kept.append(letters[place])
                place += 1
            }
        }
        return isFound ? kept : nil
    }

    /// The character that is written out at the beginning of some letters, and with how many of
    /// them.
    private static func character(_ letters: ArraySlice<TagText.Letter>) -> (scalar: Unicode.Scalar, count: Int)? {
        switch letters.first?.scalar {
        case "&": reference(letters.dropFirst())
        case "\\": escape(letters.dropFirst()) ?? coded(letters)
        case "%", "=": coded(letters)
        default: nil
        }
    }

    /// The number that this many digits make.
    private static func number(_ letters: ArraySlice<TagText.Letter>, digits count: Int, radix: Int = 16) -> UInt32? {
        let digits = letters.prefix(count).map(\.scalar)
        guard digits.count == count, digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
        return UInt32(String(String.UnicodeScalarView(digits)), radix: radix)
    }

    private static let names: [String: Unicode.Scalar] = [
        "amp": "&", "quot": "\"", "apos": "'", "lt": "<", "gt": ">", "nbsp": "\u{A0}",
    ]

    /// `&#59;`, `&#x3b;`, `&quot;`; at the end of a text without the semicolon, which may have
    /// separated it from the next one.
    private static func reference(_ letters: ArraySlice<TagText.Letter>) -> (scalar: Unicode.Scalar, count: Int)? {
        let inside = letters.prefix(10).prefix { $0.scalar != ";" }
        let hasEnd = inside.endIndex < letters.endIndex
        guard !inside.isEmpty, !hasEnd || letters[inside.endIndex].scalar == ";" else { return nil }
        let text = String(String.UnicodeScalarView(inside.map(\.scalar)))
        let number =
            text.first != "#"
            ? nil : text.dropFirst().first == "x" ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text.dropFirst())
        guard let scalar = number.flatMap(Unicode.Scalar.init) ?? names[text] else { return nil }
        return (scalar, inside.count + (hasEnd ? 2 : 1))
    }

    /// `\n`
    private static func escape(_ letters: ArraySlice<TagText.Letter>) -> (scalar: Unicode.Scalar, count: Int)? {
        switch letters.first?.scalar {
        case "n", "r": ("\n", 2)
        case "t": ("\t", 2)
        default: nil
        }
    }

    /// A character by numbers that follow the same sign each, as JSON, C, addresses and mail write
    /// them: one or two after `u`, of four hex digits (`\u003b`, `%u003b`), or the bytes of its
    /// UTF-8 (`%3B`, `=3B`, `\x3b`, `\073`, `%E2%80%93`).
    private static func coded(_ letters: ArraySlice<TagText.Letter>) -> (scalar: Unicode.Scalar, count: Int)? {
        guard let sign = letters.first?.scalar else { return nil }
        if let code = unit(letters, sign) {
            if let scalar = Unicode.Scalar(code) { return (scalar, 6) }
            // Half of a pair.
            guard let low = unit(letters.dropFirst(6), sign), code & 0xFC00 == 0xD800, low & 0xFC00 == 0xDC00 else {
                return nil
            }
            return Unicode.Scalar(0x10000 + (code & 0x3FF) << 10 + low & 0x3FF).map { ($0, 12) }
        }
        var (bytes, count) = ([UInt8](), 0)
        while bytes.count < 4, let next = byte(letters.dropFirst(count), sign) {
            bytes.append(next.byte)
            count += next.count
            if let scalar = String(validating: bytes, as: UTF8.self)?.unicodeScalars.first { return (scalar, count) }
        }
        return nil
    }

    private static func unit(_ letters: ArraySlice<TagText.Letter>, _ sign: Unicode.Scalar) -> UInt32? {
        guard letters.first?.scalar == sign, letters.dropFirst().first?.scalar == "u" else { return nil }
        return number(letters.dropFirst(2), digits: 4)
    }

    private static func byte(_ letters: ArraySlice<TagText.Letter>, _ sign: Unicode.Scalar) -> (
        byte: UInt8, count: Int
    )? {
        guard letters.first?.scalar == sign else { return nil }
        let rest = letters.dropFirst()
        if rest.first?.scalar == "x" { return number(rest.dropFirst(), digits: 2).map { (UInt8($0), 4) } }
        // C has three octal digits.
        if sign == "\\" { return number(rest, digits: 3, radix: 8).flatMap { UInt8(exactly: $0) }.map { ($0, 4) } }
        return number(rest, digits: 2).map { (UInt8($0), 3) }
    }
}

/// A list written as text in a cell of tags: JSON (`["a", "b"]`), what Python prints (`['a', 'b']`)
/// or PostgreSQL (`{a,"b c"}`).
///
/// One for each thread: what a cell holds stays valid until the next one is read.
final class TagListText {
    private var texts: [UInt8] = []
    private var parts: [Range<Int>] = []
    private let separator: [UInt8]

    /// - Parameter separator: of tags in other cells. A list that has it within elements, without
    ///   quotes, may not be a list.
    init(separator: [UInt8]) { self.separator = separator }

    /// Whether a cell may be a list.
    @inline(__always) static func mayBe(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        // [ and { differ in this bit only, and ; with it is a different character.
        guard let first = cell.first else { return false }
        return first | 0x20 == UInt8(ascii: "{")
    }

    /// Reads a cell.
    /// - Returns: false when it is not, or may not be, a list.
    func read(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        texts.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        guard cell.count >= 2, cell.last == (cell[0] == UInt8(ascii: "[") ? UInt8(ascii: "]") : UInt8(ascii: "}"))
        else { return false }
        let inside = trimmed(UnsafeBufferPointer(rebasing: cell[1..<cell.count - 1]))
        if inside.isEmpty { return true }
        var place = 0
        while true {
            while place < inside.count, isSpace(inside[place]) { place += 1 }
            guard place < inside.count, let end = element(inside, from: place) else { return false }
            place = end
            while place < inside.count, isSpace(inside[place]) { place += 1 }
            if place == inside.count { break }
            guard inside[place] == UInt8(ascii: ",") else { return false }
            place += 1
        }
        texts.append(contentsOf: repeatElement(0, count: 64))
        return true
    }

    /// Calls `body` with each element; bytes after it are readable as after a cell.
    func forEach(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        texts.withUnsafeBufferPointer { texts in
            for part in parts { body(trimmed(UnsafeBufferPointer(rebasing: texts[part]))) }
        }
    }

    /// Takes the element that begins at a place.
    /// - Returns: the place after it; nil when it is not an element.
    private func element(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        let quote = text[start]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return plainElement(text, from: start) }
        var end = start + 1
        while end < text.count, text[end] != quote { end += text[end] == UInt8(ascii: "\\") ? 2 : 1 }
        guard end < text.count, let base = text.baseAddress else { return nil }
        let first = texts.count
        texts.append(contentsOf: text[(start + 1)..<end])
        if texts[first...].contains(UInt8(ascii: "\\")) {
            guard Self.hasKnownEscapes(text[(start + 1)..<end]) else { return nil }
            let count = texts.withUnsafeMutableBufferPointer { target in
                target.baseAddress.map { unescapeJSON(base + start + 1, count: end - start - 1, into: $0 + first) } ?? 0
            }
            texts.removeSubrange((first + count)...)
        }
        parts.append(first..<texts.count)
        return end + 1
    }

    /// Without quotes: it must not contain anything that another notation might use.
    private func plainElement(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        let end = text[start...].firstIndex(of: UInt8(ascii: ",")) ?? text.count
        let plain = trimmed(UnsafeBufferPointer(rebasing: text[start..<end]))
        guard !plain.isEmpty, !plain.contains(where: { "[]{}\"'\\".utf8.contains($0) }), !holdsSeparator(plain) else {
            return nil
        }
        // The null values of both notations.
        guard !plain.elementsEqual("null".utf8), !plain.elementsEqual("NULL".utf8), !plain.elementsEqual("None".utf8)
        else { return end }
        parts.append(texts.count..<texts.count + plain.count)
        texts.append(contentsOf: plain)
        return end
    }

    private func holdsSeparator(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = separator.first, text.count >= separator.count else { return false }
        return text.indices.contains { text[$0] == first && text[$0...].starts(with: separator) }
    }

    private static func hasKnownEscapes(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var rest = text
        while let backslash = rest.firstIndex(of: UInt8(ascii: "\\")) {
            guard backslash + 1 < rest.endIndex else { return false }
            let letter = rest[backslash + 1]
            guard "\"'\\/bfnrtu".utf8.contains(letter) else { return false }
            var next = backslash + 2
            if letter == UInt8(ascii: "u") {
                let digits = rest[next...].prefix(4)
                // Half of a surrogate pair needs its other half; no tag is written that way.
                guard digits.count == 4, let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
                    code != 0,
                    code & 0xF800 != 0xD800
                else { return false }
                next += 4
            }
            rest = rest[next...]
        }
        return true
    }
}
