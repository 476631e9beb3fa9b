import Base

/// Placeholders as people and other tools write them: several words between signs, signs next to the name, the name on its own.
extension SlipMatcher {
    /// `{First Name}`, `{0}`, `{first_name:there}`, `{#first_name}`: what other tools take between braces.
    func foreignBrace() -> TypingSlip? {
        if let other = otherScript("{", close: "}") { return other }
        guard isShown else { return nil }
        let inside = scalars[(start + 1)...].prefix(60).prefix { $0 != "{" && $0 != "}" && $0 != "\n" }
        guard inside.endIndex < scalars.count, scalars[inside.endIndex] == "}" else { return nil }
        let words = inside.split(whereSeparator: TemplateTokenizer.isSpace)
        guard let first = words.first?.first, Self.begins(first), inside.contains(where: Self.isLatin),
            inside.allSatisfy({ $0.isASCII || Self.isLatin($0) || TemplateTokenizer.isSpace($0) }),
            words.count <= 3 || inside.contains("_")
        else { return nil }
        // `{ 1 }`, `{20}` and `{20 % off}` are texts, `{0}` and `{0:d}` are places.
        let rest = inside.drop { ("0"..."9").contains($0) }
        guard
            !("0"..."9").contains(first)
                || words.count == 1 && rest.startIndex == inside.startIndex + 1 && (rest.first.map { $0 == ":" || $0 == "," } ?? true)
        else { return nil }
        let isClosedTwice = starts(with: "}}", at: inside.endIndex)
        return accident(
            "single braces are not a template: '{\(text(inside))}'", remedy: Self.remedy(for: words.map(text)) + Self.raw,
            end: inside.endIndex + (isClosedTwice ? 2 : 1))
    }

    /// `{{ first_name }}.}`: a brace after a tag that nothing opened.
    func loneBrace() -> TypingSlip? {
        guard isShown, let open = scalars[..<start].lastIndex(of: "{"), open > 0 else { return nil }
        let isTag = scalars[open - 1] == "{" || scalars[open + 1] == "%"
        // ":}" is a smiley.
        guard isTag, ![":", ";", "=", "8", "-", "^"].contains(scalars[start - 1]) else { return nil }
        return accident("this '}' has no '{'", remedy: "Remove it.", end: start + 1, isWarning: true)
    }

    /// `[[First Name]]` and the like: signs that texts use for nothing else.
    /// - Parameter message: what to say about the signs.
    func named(_ open: String, close: String, words message: String) -> TypingSlip? {
        if let other = otherScript(open, close: close) { return other }
        guard isShown, starts(with: open), let (words, end) = words(from: start + open.unicodeScalars.count, to: close) else { return nil }
        return accident(
            "\(message): '\(open)\(words.joined(separator: " "))\(close)'", remedy: Self.remedy(for: words) + Self.raw, end: end)
    }

    /// `{昵称}`, `%имя%`: the name of a column in a script other than Latin. It may also be an ornament, so it gets only a warning.
    func otherScript(_ open: String, close: String) -> TypingSlip? {
        guard starts(with: open) else { return nil }
        let from = start + open.unicodeScalars.count
        let inside = scalars[from...].prefix(25).prefix { Self.isOther($0) || Self.isWord($0) || $0 == " " }
        let words = inside.split { $0 == " " }
        guard (1...3).contains(words.count), inside.contains(where: Self.isOther), starts(with: close, at: inside.endIndex) else {
            return nil
        }
        let name = words.map(text).joined(separator: " ")
        return accident(
            "'\(open)\(name)\(close)' is shown as written",
            remedy: words.count == 1 ? "For a column write {{ \(name) }}." : PlaceName.suggestion(for: "") + ".",
            end: inside.endIndex + close.unicodeScalars.count, isWarning: true)
    }

    /// `[First Name]`, `<your name>`, `%First Name%`: only what is most likely a placeholder.
    func place(of open: String, close: String, more: String = "") -> TypingSlip? {
        guard isShown, start == 0 || scalars[start - 1] != scalars[start], let (words, end) = words(from: start + 1, to: close),
            !starts(with: "(", at: end), PlaceName.isPlace(words)
        else { return nil }
        return accident(
            "'\(open)\(words.joined(separator: " "))\(close)' is shown as written", remedy: Self.remedy(for: words) + more + ".",
            end: end,
            isWarning: true)
    }

    /// `(first name)`
    func parentheses() -> TypingSlip? {
        guard let (words, _) = words(from: start + 1, to: ")"),
            words.count == 2 && PlaceName.isColumn(words.joined(separator: " ")) || words == ["placeholder"]
        else { return nil }
        return place(of: "(", close: ")")
    }

    /// `first_name`, `FIRST_NAME`, `~first_name~`, `FNAME`: a column's name in a text, whatever is around it.
    func bareName() -> TypingSlip? {
        guard isShown, Self.isWord(scalars[start]), start == 0 || !Self.isWord(scalars[start - 1]) else { return nil }
        let word = text(scalars[start...].prefix(64).prefix(while: Self.isWord))
        let end = start + word.unicodeScalars.count
        let name = word.trimmingUnderscores
        let isName = name.contains("_") ? PlaceName.isColumn(name) : PlaceName.isOfProgram(name) || isShouted(name, end: end)
        guard isName, !isPartOfAddress(end), !isNamedOtherwise(end) else { return nil }
        return place(name, name: name, end: end)
    }

    /// `Hallo NAME`, `NAME, only today`: in capitals where a person is addressed.
    private func isShouted(_ name: String, end: Int) -> Bool {
        guard name == name.uppercased(), PlaceName.isName(name) else { return false }
        let before = text(scalars[..<start]).split { !$0.isLetter }.last
        return before.map { PlaceName.isGreeting($0) } ?? starts(with: ",", at: end)
    }

    /// Within `https://shop.example/first_name`, `user_name@example.com`.
    private func isPartOfAddress(_ end: Int) -> Bool {
        if start > 0, "/.=-".unicodeScalars.contains(scalars[start - 1]), start > 1, Self.isWord(scalars[start - 2]) { return true }
        return end + 1 < scalars.count && ".@/=".unicodeScalars.contains(scalars[end]) && Self.isWord(scalars[end + 1])
    }

    /// Between signs that `TextPlaceholder` reports.
    private func isNamedOtherwise(_ end: Int) -> Bool {
        let before = scalars[..<start].last { $0 != " " }
        if let sign = before, sign == "«" || sign == "‹" { return true }
        guard start > 0 else { return false }
        let sign = scalars[start - 1]
        let isDoubled = start > 1 && scalars[start - 2] == sign
        if sign == "@" || sign == "$" { return !isDoubled }
        return sign == "<" && isDoubled || before == "[" && scalars[end...].first { $0 != " " } == "|"
    }

    // MARK: - Words

    /// One to three words of Latin letters up to a closing sign, and where that ends.
    private func words(from place: Int, to close: String) -> (words: [String], end: Int)? {
        let inside = scalars[place...].prefix(48).prefix { Self.isWord($0) || Self.isLatin($0) || $0 == " " || $0 == "\u{A0}" || $0 == "'" }
        let words = inside.split { $0 == " " || $0 == "\u{A0}" }
        guard (1...3).contains(words.count), let first = words[0].first, Self.isLatin(first) || first == "_",
            starts(with: close, at: inside.endIndex)
        else { return nil }
        return (words.map(text), inside.endIndex + close.unicodeScalars.count)
    }

    /// Names the column if one of the words says which it is.
    private static func remedy(for words: [String]) -> String {
        let names = words.map { $0.prefix { $0.isLetter || $0.isNumber || $0 == "_" } }
        let isOne = words.count == 1 && names[0].count == words[0].count && names[0].first?.isNumber == false
        return PlaceName.suggestion(for: isOne ? String(names[0]) : "")
    }

    private func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    /// What a placeholder between braces may begin with.
    private static func begins(_ scalar: Unicode.Scalar) -> Bool {
        isLatin(scalar) || isWord(scalar) || "#=!-?$@.:/&*^~%+".unicodeScalars.contains(scalar)
    }

    private static func isLatin(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x250 && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
    }

    /// A letter of another script, or a mark above or below one.
    private static func isOther(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x250 else { return false }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark: return true
        default: return false
        }
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_")
    }
}

extension String {
    fileprivate var trimmingUnderscores: String {
        String(drop { $0 == "_" }.reversed().drop { $0 == "_" }.reversed())
    }
}
