/// Blanks in a rendered text where a tag printed nothing: two in a row, or one at the end after a word that led to it.
enum RenderedBlank {
    /// What to do where a tag printed nothing.
    static let gapRemedy = "Put the words that lead to it into the condition too, as in {% if city %}in {{ city }} {% endif %}."

    /// What to do about two blanks in a row.
    /// - Parameter template: what the text was rendered from; nil for a template's constant part.
    static func remedy(_ template: String?) -> String {
        guard let template, !isWritten(in: template) else { return "Remove one of them." }
        return mayPrintNothing(template)
            ? "A tag prints nothing there. \(gapRemedy)" : "It comes from the export; check the columns of this text."
    }

    /// The word that a text ends with although something should follow: `Sale in `. Nil if the template itself ends there.
    static func danglingWord(in text: String, of template: String) -> String? {
        guard text.last?.isWhitespace ?? false, template.last == "}", mayPrintNothing(template),
            let word = text.split(whereSeparator: \.isWhitespace).last, leadingWords.contains(word.lowercased()), !endsPhrase(text)
        else { return nil }
        return String(word)
    }

    /// `Come on in`, `Log in`, `Stop by`: words that nothing has to follow.
    private static func endsPhrase(_ text: String) -> Bool {
        let words = text.lowercased().split { !$0.isLetter }.suffix(2)
        guard words.count == 2, let first = words.first, let last = words.last else { return false }
        return last == "in" && ["on", "come", "log", "sign", "check", "drop", "tune", "join", "opt", "dive"].contains(first)
            || last == "by" && ["stop", "drop", "come", "swing", "pop"].contains(first)
    }

    /// Whether a text begins with a blank that should follow something: ` points`.
    static func beginsWithBlank(_ text: String, of template: String) -> Bool {
        text.first?.isWhitespace ?? false && template.first == "{" && mayPrintNothing(template)
    }

    /// What to do about that.
    static let startRemedy = "Put the blank after it into the condition too, as in {% if city %}{{ city }} {% endif %}."

    /// Whether the blanks are next to each other in the file.
    private static func isWritten(in template: String) -> Bool {
        template.split(separator: /\{[{%].*?[%}]\}/.dotMatchesNewlines(), omittingEmptySubsequences: false).contains {
            ShownText.hasDoubleBlank("|\($0)|")
        }
    }

    private static func mayPrintNothing(_ template: String) -> Bool {
        template.contains("{%") || template.contains(/\bdefault:\s*(?:''|"")/)
    }

    /// Words that no sentence ends with, in some languages.
    private static let leadingWords: Set<String> = [
        "in", "at", "for", "from", "to", "of", "with", "by", "near", "until", "till", "dear", "the", "your",
        "bei", "für", "von", "aus", "nach", "zum", "zur", "im", "am", "mit", "bis", "ab", "um", "liebe", "lieber",
        "à", "en", "de", "pour", "chez", "avec", "du", "cher", "chère", "a", "para", "con", "per", "da", "di", "em", "com", "voor", "van",
        "met",
    ]
}
