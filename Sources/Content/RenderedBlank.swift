/// Blanks in a rendered text where a tag printed nothing: two in a row, or one at the end behind a word that led to it.
enum RenderedBlank {
    /// What to do where a tag printed nothing.
    static let gapRemedy = "Put what leads to it into the condition too, as in {% if city %}in {{ city }} {% endif %}."

    /// What to do about two blanks in a row.
    /// - Parameter template: what the text was rendered from; nil for a template's constant part.
    static func remedy(_ template: String?) -> String {
        guard let template, !isWritten(in: template) else { return "Remove one of them." }
        return mayPrintNothing(template)
            ? "A tag prints nothing there. \(gapRemedy)" : "It comes from the export; check the columns of this text."
    }

    /// The word that a text ends with although something was to follow: `Sale in `. Nil where it is the template's own end.
    static func danglingWord(in text: String, of template: String) -> String? {
        guard text.last?.isWhitespace ?? false, template.last == "}", mayPrintNothing(template),
            let word = text.split(whereSeparator: \.isWhitespace).last, leadingWords.contains(word.lowercased())
        else { return nil }
        return String(word)
    }

    /// Whether the blanks stand side by side in the file.
    private static func isWritten(in template: String) -> Bool {
        template.split(separator: /\{[{%].*?[%}]\}/.dotMatchesNewlines(), omittingEmptySubsequences: false).contains {
            ShownText.hasDoubleBlank("|\($0)|")
        }
    }

    private static func mayPrintNothing(_ template: String) -> Bool {
        template.contains("{%") || template.contains(/\bdefault:\s*(?:''|"")/)
    }

    /// Words that nothing ends with, in some languages.
    private static let leadingWords: Set<String> = [
        "in", "at", "for", "from", "to", "of", "with", "by", "near", "dear", "the", "your",
        "bei", "für", "von", "aus", "nach", "zum", "zur", "im", "am", "mit", "liebe", "lieber",
        "à", "en", "de", "pour", "chez", "avec", "du", "cher", "chère", "a", "para", "con", "per", "da", "di", "em", "com", "voor", "van",
        "met",
    ]
}
