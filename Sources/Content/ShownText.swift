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
