import Base

/// The first word behind `volley`.
public enum CommandName {
    /// What to say about a word that is no command; nil for commands, options and nothing at all.
    public static func complaint(about word: String, among names: [String]) -> String? {
        guard !word.isEmpty, !word.hasPrefix("-"), word != "help", !names.contains(word) else { return nil }
        let shown = String(word.prefix(60))
        if word.hasSuffix(".yaml") || word.hasSuffix(".yml") {
            return "Error: A command stands before the file, for example: volley preview \(shown)."
        }
        let nearest = nearestName(to: shown, among: names).map { "Did you mean '\($0)'?" }
        return "Error: There is no command '\(shown)'. \(nearest ?? "`volley --help` lists them.")"
    }
}
