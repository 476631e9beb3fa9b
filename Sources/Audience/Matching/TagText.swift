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
