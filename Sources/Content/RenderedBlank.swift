/// Blanks in a rendered text where a tag printed nothing: two in a row, or one at an edge.
enum RenderedBlank {
    private static let gapRemedy = "Put the words that lead to it into the condition too, as in {% if city %}in {{ city }} {% endif %}."

    /// What to do about two blanks in a row.
    /// - Parameter template: what the text was rendered from; nil for a template's constant part.
    static func remedy(_ template: String?) -> String {
        guard let template, !isWritten(in: template) else { return "Remove one of them." }
        return mayPrintNothing(template)
            ? "A tag prints nothing there. \(gapRemedy)" : "It comes from the export; check the columns of this text."
    }

    /// `Sale in `, ` points`: an edge at which a tag should have printed something; nil if the template itself has nothing there.
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
