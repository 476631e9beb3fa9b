public import Base

/// A sentence that terminals also show: text between backticks is something to type, or a name in a
/// file.
public enum Prose {
    /// The sentence with its commands as code; a backtick without a partner stays one. As on a
    /// terminal, characters that change the direction of text are escapes: the rest of the sentence
    /// stays as it is.
    public static func html(_ text: String) -> HTML {
        let text = TextFormat.printable(text)
        let parts = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, parts.count % 2 == 1 else { return "\(text)" }
        return HTML(joined: parts.enumerated().map { $0 % 2 == 0 ? "\($1)" : "<code>\($1)</code>" })
    }
}
