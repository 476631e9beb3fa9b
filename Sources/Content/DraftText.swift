/// What drafts hold in place of the real text: `XXX`, `____`, `TODO: …`, `Lorem ipsum`, `[TEST]`, `INSERT NAME`, `Your text here`.
enum DraftText {
    /// All such marks in a text.
    static func found(in text: String) -> [Substring] {
        if isWhole(text) { return [text[...]] }
        let marks: [Substring?] = [
            text.firstMatch(of: /(?i)\blorem ipsum\b/)?.output, text.firstMatch(of: /_{3,}/)?.output, blank(text),
            text.firstMatch(of: /\b(?:TBD|TBC|FIXME)\b/)?.output,
            // Without one of these, "todo" is Spanish for "all".
            text.firstMatch(of: /\bTODO(?=:|\s+(?:text|title|body|check|write|add)\b)/)?.output,
            text.firstMatch(of: /\[(?:TEST|Test|DRAFT|Draft|ENTWURF|Entwurf)\]|\bTEST TEST\b/)?.output,
            text.firstMatch(of: /^(?:DRAFT|E(?:NTWURF|ntwurf)|B(?:ROUILLON|rouillon)|B(?:ORRADOR|orrador))\s?:/)?.output,
            text.firstMatch(of: /(?i)\bfinal[ _]?v[0-9]+\b/)?.output,
            text.firstMatch(of: /(?i)\b(?:please ignore(?: this(?: message| push)?)?|bitte ignorieren)(?=\s*[.!)\]]*\s*$)/)?.output,
            text.firstMatch(of: /\bINSERT (?:[A-Z]+ )?(?:NAME|TEXT|TITLE|DATE|CITY|STORE|LINK|CODE|PRICE|AMOUNT|HERE)\b/)?.output,
        ]
        return marks.compactMap(\.self)
    }

    /// `XXX`, `Save XX %`, `Only €__`, `Hi XX`. `XXX-Lutz` is a name, and `Hugs XXX` are kisses.
    private static func blank(_ text: String) -> Substring? {
        let amount =
            text.firstMatch(of: /(?:^|[^\p{L}\p{N}_-])((?:X{2,}|_{2,})\s?[%€$£¥])/)?.output.1
            ?? text.firstMatch(of: /([€$£¥]\s?(?:X{2,}|_{2,}))(?![\p{L}\p{N}])/)?.output.1
        if let amount { return amount }
        for match in text.matches(of: /(?:^|[^\p{L}\p{N}_-])(XX+)(?![\p{L}\p{N}_-])/) {
            let word = text[..<match.output.1.startIndex].split { !$0.isLetter }.last ?? ""
            let isKiss = ["love", "hugs", "kisses", "xoxo"].contains(word.lowercased())
            // Two on their own are a Roman numeral.
            if !isKiss, match.output.1.count > 2 || PlaceName.isGreeting(word) { return match.output.1 }
        }
        return nil
    }

    private static func isWhole(_ text: String) -> Bool {
        func isEdge(_ character: Character) -> Bool { character.isWhitespace || ".!?…:,;-–".contains(character) }
        let plain = text.drop(while: isEdge).reversed().drop(while: isEdge).reversed()
        return text == "TODO" || whole.contains(String(plain).lowercased())
    }

    /// Texts that say nothing else.
    private static let whole: Set<String> = [
        "test", "test test", "testing", "asdf", "asdfasdf", "foo", "foo bar", "foobar", "xx", "xxx", "text here", "your text here",
        "text goes here", "your title here", "title here", "title goes here", "your message here", "message here", "body text",
        "dummy text",
        "sample text", "placeholder", "placeholder text", "headline", "bla bla", "blah blah", "hier text einfügen", "text einfügen",
    ]
}
