public import Base

/// Rules for texts that people see.
///
/// Apple does not document how much of a push a lock screen shows; it depends on the phone, the
/// text size and what else is there. These limits are roughly what an iPhone shows at its usual
/// text size: a line of 50 characters, and four lines of body.
public enum ShownText {
    /// Approximate characters of a title or subtitle; wide ones (Chinese, emoji) count twice.
    public static let lineCharacters = 50
    /// Approximate characters of a body; wide ones count twice.
    public static let bodyCharacters = 178

    /// What is odd about a text of a push.
    /// - Parameters:
    ///   - key: `title`, `subtitle`, `body`, or `alert` for a body by hand.
    ///   - text: as rendered, or the constant part of a template.
    ///   - isWhole: whether people will see nothing else.
    ///   - template: the source of a rendered text; nil if it is not known.
    ///   - note: what else to say about where it was found.
    public static func warnings(
        _ key: String, text: String, isWhole: Bool, template: String? = nil, at place: SourcePosition, note: String = ""
    ) -> [Diagnostic] {
        var warnings: [Diagnostic] = []
        let limit = key == "title" || key == "subtitle" ? lineCharacters : bodyCharacters
        let length = TextWidth.columns(text)
        if length > limit {
            warnings.append(
                .warning(
                    .textCutOff,
                    message:
                        "the \(key) has \(isWhole ? "" : "at least ")\(length) characters\(note), and a lock screen shows about \(limit)",
                    at: place, remedy: "Shorten it, or let the part that matters come first."))
        }
        if hasDoubleBlank(text) {
            warnings.append(
                .warning(
                    .doubleBlank, message: "the \(key) has two blanks in a row\(note)", at: place,
                    remedy: RenderedBlank.remedy(template)))
        }
        guard isWhole else { return warnings }
        if let template, let flaw = RenderedBlank.flaw(atEdgeOf: text, from: template) {
            warnings.append(
                .warning(
                    .doubleBlank, message: "the \(key) \(flaw.words)\(note), as the tag \(flaw.tag) it prints nothing",
                    at: place,
                    remedy: flaw.remedy))
        }
        warnings += TextReadiness.flaws(in: text, renderedFrom: template).map {
            .warning(
                .textNotReady, message: "the \(key) holds \($0.words)\(note)", at: place,
                remedy: "It comes from the export; check the columns of this text.")
        }
        return warnings
    }

    /// What is odd about the part of a template that no cell changes.
    static func warnings(_ key: String, template: SourceText) -> [Diagnostic] {
        warnings(key, text: constant(template.value), isWhole: false, at: template.position)
            + TextReadiness.flaws(in: words(template.value)).map {
                .warning(
                    .textNotReady, message: "the \(key) holds \($0.words)", at: template.position, remedy: $0.remedy)
            }
    }

    static func hasDoubleBlank(_ text: String) -> Bool {
        text.split(whereSeparator: \.isNewline).contains {
            $0.drop { $0 == " " }.contains("  ") && !$0.allSatisfy { $0 == " " }
        }
    }

    /// The text outside tags, with all branches, and with … for cells; without what `raw` and
    /// `comment` enclose.
    static func words(_ template: String) -> String {
        // Most texts have no tag, and regular expressions are slow.
        guard template.utf8.contains(UInt8(ascii: "{")) else { return template }
        return template.replacing(
            /\{%-?\s*(?:raw|comment)\s*-?%\}.*?\{%-?\s*end(?:raw|comment)\s*-?%\}/.dotMatchesNewlines(), with: "…"
        )
        .replacing(/\{%.*?%\}/.dotMatchesNewlines(), with: "").replacing(/\{\{.*?\}\}/.dotMatchesNewlines(), with: "…")
    }

    /// The part of a template that is the same for every device: the text outside tags. Empty if
    /// conditions choose between parts.
    static func constant(_ template: String) -> String {
        guard !template.contains("{%") else { return "" }
        var constant = ""
        var rest = template[...]
        while let start = rest.firstRange(of: "{{") {
            constant += rest[..<start.lowerBound]
            guard let end = rest[start.upperBound...].firstRange(of: "}}") else { return constant }
            // Keeps the blanks on both sides apart.
            constant += "\u{200B}"
            rest = rest[end.upperBound...]
        }
        return constant + rest
    }
}

/// Blanks in a rendered text where a tag printed nothing: two in a row, or one at an edge.
enum RenderedBlank {
    private static let gapRemedy =
        "Put the words that lead to it into the condition too, as in {% if city %}in {{ city }} {% endif %}."

    /// What to do about two blanks in a row.
    /// - Parameter template: what the text was rendered from; nil for a template's constant part.
    static func remedy(_ template: String?) -> String {
        guard let template, !isWritten(in: template) else { return "Remove one of them." }
        return mayPrintNothing(template)
            ? "A tag prints nothing there. \(gapRemedy)" : "It comes from the export; check the columns of this text."
    }

    /// `Sale in `, ` points`: an edge at which a tag should have printed something; nil if the
    /// template itself has nothing there.
    static func flaw(atEdgeOf text: String, from template: String) -> (words: String, tag: String, remedy: String)? {
        guard mayPrintNothing(template) else { return nil }
        if text.last?.isWhitespace ?? false, template.last == "}" {
            let word = text.split(whereSeparator: \.isWhitespace).last ?? ""
            return ("ends with '\(word)'", "after", gapRemedy)
        }
        guard text.first?.isWhitespace ?? false, template.first == "{" else { return nil }
        return (
            "begins with a blank", "before",
            "Put the blank after it into the condition too, as in {% if city %}{{ city }} {% endif %}."
        )
    }

    /// Whether the blanks are next to each other in the file.
    private static func isWritten(in template: String) -> Bool {
        template.split(separator: /\{[{%].*?[%}]\}/.dotMatchesNewlines(), omittingEmptySubsequences: false).contains {
            ShownText.hasDoubleBlank("|\($0)|")
        }
    }

    private static func mayPrintNothing(_ template: String) -> Bool {
        template.contains("{%") || template.contains(/\bdefault:\s*(?:''|"")/)
    }
}

/// The rule behind `text-not-ready`: a text holds only what people should read.
/// docs/reference/templates.md states it, and `flaws(in:)` is all of it: syntax decides, not words,
/// but for the five marks of drafts. What `{% raw %}` encloses is meant as it is.
public enum TextReadiness {
    /// What a text holds instead, and what to do about it.
    struct Flaw {
        /// `'<b>', which people would read as written`
        var words: String
        var remedy: String
    }

    /// At most one each of signs, invisible characters and letters in the wrong encoding.
    /// - Parameter template: what the text was rendered from; what it holds itself is not said
    ///   again.
    static func flaws(in text: String, renderedFrom template: String? = nil) -> [Flaw] {
        func isNew(_ found: some StringProtocol) -> Bool { !(template?.contains(found) ?? false) }
        var flaws: [Flaw] = []
        let signs = signs(in: text).filter(isNew)
        if let first = signs.first {
            let list = signs.map { "'\($0.count > 40 ? $0.prefix(39) + "…" : $0)'" }.joined(separator: ", ")
            flaws.append(Flaw(words: "\(list), which people would read as written", remedy: remedy(for: first)))
        }
        if let scalar = invisible(text), isNew(String(scalar)) {
            flaws.append(
                Flaw(
                    words: "an invisible character (\(TextFormat.codePoint(scalar)))",
                    remedy: "Type the text around it again; it often comes with text copied from a chat or a web page.")
            )
        }
        if !text.utf8.allSatisfy({ $0 < 0x80 }), let letters = text.firstMatch(of: garbled)?.output, isNew(letters) {
            flaws.append(
                Flaw(
                    words: "'\(letters)', letters that were read in the wrong encoding",
                    remedy: "Type the letters again, or save the text again as UTF-8."))
        }
        return flaws
    }

    private static func remedy(for sign: Substring) -> String {
        sign.hasPrefix("\\")
            ? "Put the text in double quotes, where \\n is a line break; a backslash is written \\\\ there."
            : "Write what people should read, a column as {{ first_name }}; what is meant as it is goes between {% raw %} and {% endraw %}."
    }

    /// A text without its signs, which have a warning of their own.
    static func withoutSigns(_ text: String) -> String {
        syntax(in: text).reduce(text) { text, sign in
            text.replacing(sign) { "\($0.output.0[..<$0.output.1.startIndex])…" }
        }
    }

    // MARK: - Signs

    /// Signs of templates, markup, escapes and drafts, in the order of the text.
    private static func signs(in text: String) -> [Substring] {
        var found: [Substring] = []
        for sign in syntax(in: text) {
            guard let match = text.firstMatch(of: sign)?.output.1,
                !found.contains(where: { $0.startIndex < match.endIndex && match.startIndex < $0.endIndex })
            else { continue }
            found.append(match)
        }
        return found.sorted { $0.startIndex < $1.startIndex }
    }

    /// A sign, and the characters one of which it holds: most texts hold none of them.
    private typealias Sign = (characters: String, regex: () -> Regex<(Substring, Substring)>)

    private static func syntax(in text: String) -> [Regex<(Substring, Substring)>] {
        let held = Set(text.unicodeScalars)
        return syntax.filter { $0.characters.unicodeScalars.contains(where: held.contains) }.map { $0.regex() }
    }

    private static var syntax: [Sign] {
        [
            // {name}, ${name}, {{ name }}, ｛名前｝, and a brace that nothing opens.
            ("{｛", { /(\$?[{｛]+[^{}｛｝\n\p{L}_]*[\p{L}_][^{}｛｝\n]*[}｝]+)/ }), ("}｝", { /^[^{｛]*?([}｝])/ }),
            // [[name]], <<First Name>>; <first_name>, <b>, <!-- note -->; &nbsp;
            ("[<", { /(\[\[[^\[\]\n]+\]\]|<<[^<>\n\p{L}]*\p{L}[^<>\n]*>>)/ }),
            ("<", { /(<(?:!--|\/?[\p{L}_])[^<>]*>)/ }),
            ("&", { /(&#?[A-Za-z0-9]{2,30};)/ }),
            // %name%, *|NAME|*; %d, %1$s, %@, but not 20 %d'achat; #name#, $name
            ("%|", { /(?:^|[^\p{L}\p{N}%])(%{1,2}[\p{L}_][\p{L}\p{N}_.\-]*%{1,2}|\*\|[^|\n]+\|\*)/ }),
            ("%", { /(?:^|[^0-9\s%]|[^0-9]\s)(%(?:[0-9]\$)?[dsi@])(?![\p{L}\p{N}'’])/ }),
            ("#", { /(#[A-Za-z_][A-Za-z0-9_]*#)/ }),
            ("$", { /(?:^|[^\p{L}\p{N}$])(\$[a-z_][A-Za-z0-9_]*)/ }),
            // [Name], unless a text begins with it, as with a label: [New] Sale; [name] also there.
            ("[", { /[^\[\]\s]\s*(\[\s*[A-Za-zÀ-ÿ_][^\[\]\n]{0,40}\](?:\([^()\s]+\))?)/ }),
            ("[", { /^\s*(\[\s*[a-z_][^\[\]\n]{0,40}\])/ }),
            // **bold**, __bold__, ____, ~~old~~, [text](https://…), /* note */
            (
                "*_~[",
                { /(\*\*[^\s*][^*\n]*\*\*|__+|~~[^\s~][^~\n]*~~|\[[^\[\]\n]+\]\([a-z]+:[^()\s]+\)|\/\*[^*\n]*\*\/)/ }
            ),
            // \n, \u00e9; :tada:
            ("\\", { /(\\(?:[ntr\u{22}]|[uUx][0-9A-Fa-f{]))/ }),
            (":", { /(?:^|[\s(.!?])(:[a-z][a-z0-9_+\-]*[a-z0-9]:)(?=$|[\s.,!?):])/ }),
            // XXX; TODO: at the beginning or alone, [TODO]
            ("X", { /(?:^|[^\p{L}\p{N}_\-])(X{3,})(?![\p{L}\p{N}_\-])/ }),
            ("TFD", { /^\s*(TODO|TBD|FIXME|DRAFT|TEST)(?=:|\s*$)/ }), ("[", { /(\[(?:TODO|TBD|FIXME|DRAFT|TEST)\])/ }),
        ]
    }

    // MARK: - Characters

    /// U+FFFD, and what Windows-1252 makes of UTF-8: Ã or Â before what it has for the bytes from
    /// 0x80 to 0xBF, the beginnings of quotes and emoji, and two pairs of Cyrillic, Arabic or
    /// Hebrew, as one may end a word in quotes. `AMANHÃ…` is a word and its punctuation.
    private static var garbled: Regex<Substring> {
        /\u{FFFD}|[ÃÂ](?![…’”](?:\P{L}|$))[\u{80}-\u{BF}€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â[€\u{80}]|ð[Ÿ\u{9F}]|ï[»¿]|(?:[ÐÑØÙ×][\u{80}-\u{BF}€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]){2}/
            .matchingSemantics(.unicodeScalar)
    }

    /// The first character that has no width, or controls the direction of a text that does not
    /// need it.
    private static func invisible(_ text: String) -> Unicode.Scalar? {
        let scalars = Array(text.unicodeScalars)
        let hasRightToLeft = scalars.contains {
            (0x590...0x8FF).contains($0.value) && $0.value != 0x61C || (0xFB1D...0xFEFC).contains($0.value)
        }
        return scalars.indices.first { index in
            let scalar = scalars[index]
            guard [.control, .format].contains(scalar.properties.generalCategory) else { return false }
            switch scalar.value {
            // Tab and line feed; signs of Arabic numbers, which have a width; flags.
            case 0x09, 0x0A, 0x600...0x605, 0x6DD, 0x70F, 0x890...0x8E2, 0xE0020...0xE007F: return false
            // Between letters of other scripts, and within emoji, joiners are useful.
            case 0x200B...0x200D:
                return index == 0 || index + 1 == scalars.count || scalars[index - 1].isASCII
                    || scalars[index + 1].isASCII
            case 0x200E, 0x200F, 0x61C, 0x202A...0x202C, 0x2066...0x2069: return !hasRightToLeft
            default: return true
            }
        }.map { scalars[$0] }
    }

    // MARK: - Days

    /// Days written with their year that do not exist, or that are over everywhere, or when the
    /// texts go out: one for each text.
    /// - Parameters:
    ///   - texts: with their places.
    ///   - sending: the time for which the campaign is planned, on its clock; nil without one.
    public static func days(in texts: [SourceText], now: Timestamp, sending: LocalTime? = nil) -> [Diagnostic] {
        // The last clocks of the earth are 12 hours behind UTC.
        let today = (now.epochMilliseconds - 12 * 3_600_000) / 86_400_000
        return texts.compactMap { text -> Diagnostic? in
            for match in text.value.matches(
                of: /\b(?:(20[0-9]{2})-([0-9]{2})-([0-9]{2})|([0-9]{1,2})\.([0-9]{1,2})\.(20[0-9]{2}))\b/)
            {
                let (_, year, month, day, firstDay, secondMonth, lastYear) = match.output
                let parts = [year ?? lastYear, month ?? secondMonth, day ?? firstDay].map { $0 ?? "" }
                let date = parts.map { $0.count == 1 ? "0\($0)" : String($0) }.joined(separator: "-")
                let moment = Array(date.utf8).withUnsafeBufferPointer(dateMilliseconds)
                if let moment, moment / 86_400_000 >= max(today, Int64(sending?.dayNumber ?? 0)) { continue }
                let flaw =
                    moment.map {
                        $0 / 86_400_000 < today ? "a day in the past" : "a day that is over when the campaign goes out"
                    }
                    ?? "a day that no calendar has"
                return .warning(
                    .textNotReady, message: "'\(match.output.0)' is \(flaw)", at: text.position,
                    remedy: "Write the day that you mean; around one that is meant put {% raw %} and {% endraw %}.")
            }
            return nil
        }
    }

    // MARK: - Texts for blank cells

    /// What is wrong with a text that people would read instead of a blank cell: a tag, a sign, the
    /// column's name, or what programs write for an empty value.
    /// - Parameters:
    ///   - column: for the remedy.
    ///   - index: where the text is.
    static func mistake(inFallback text: String, of column: String, at index: Int) -> TemplateMistake? {
        guard !text.isEmpty else { return nil }
        let (pieces, accidents) = TemplateScanner.scan(Array(text.unicodeScalars), isShown: true)
        guard pieces.allSatisfy({ $0.kind == .text }) else {
            return TemplateMistake(
                message: "a default cannot hold tags: people would read '\(text)' for a blank cell", index: index,
                remedy: "Write {% if \(column) != blank %}{{ \(column) }}{% else %}\(text){% endif %}.")
        }
        func letters(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != " " } }
        let isColumn = column.contains("_") && letters(text) == letters(column)
        // Something may come before it, so that `[Name]` is no label.
        let isPlace = isColumn || !accidents.isEmpty || !signs(in: "… \(text)").isEmpty || !signs(in: text).isEmpty
        let flaw: String
        if Blank.isSign(text) {
            flaw = "which programs write for an empty value"
        } else if isPlace {
            flaw = "which looks like a place to fill in"
        } else if let found = flaws(in: text).first {
            flaw = "which holds \(found.words)"
        } else {
            return nil
        }
        return TemplateMistake(
            message: "people would read '\(text)' for a blank cell, \(flaw)", index: index,
            remedy: "Write what they should read, for example default: 'there'; default: '' prints nothing.",
            warning: .textNotReady)
    }
}
