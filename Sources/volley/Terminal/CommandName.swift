import Base

/// The first word after `volley`.
public enum CommandName {
    /// The complaint about a word that is not a command; nil for a command, an option or an empty
    /// word.
    public static func complaint(about word: String, among names: [String]) -> String? {
        guard !word.isEmpty, !word.hasPrefix("-"), word != "help", !names.contains(word) else { return nil }
        let shown = String(word.prefix(60))
        if word.hasSuffix(".yaml") || word.hasSuffix(".yml") {
            return "Error: Put a command before the file, for example: volley preview \(shown)."
        }
        if let meant = meant[shown.lowercased()], names.contains(where: { meant.hasPrefix("volley \($0)") }) {
            return "Error: There is no command '\(shown)'. Did you mean \(meant)?"
        }
        let nearest = nearestName(to: shown, among: names).map { "Did you mean '\($0)'?" }
        return "Error: There is no command '\(shown)'. \(nearest ?? "`volley --help` lists them.")"
    }

    /// Words of other tools, with the commands that they mean here.
    private static let meant = [
        "stop": "volley pause RUN or volley cancel RUN", "abort": "volley cancel RUN",
        "delete": "volley cancel RUN or volley prune",
        "remove": "volley cancel RUN or volley prune", "undo": "volley cancel RUN", "continue": "volley resume RUN",
        "start": "volley send FILE",
        "run": "volley send FILE", "validate": "volley check FILE", "lint": "volley check FILE",
        "verify": "volley check FILE",
        "test": "volley push --app APP --token TOKEN", "dry-run": "volley preview FILE", "show": "volley preview FILE",
        "status": "volley runs", "list": "volley runs", "history": "volley runs",
        "unsubscribe": "volley suppression import FILE",
        "stats": "volley report RUN", "results": "volley report RUN",
    ]
}
