import Base

/// Options of other tools that are a command or have another name in Volley.
public enum ForeignOption {
    /// The complaint if wrong arguments contain such an option; nil otherwise.
    /// - Parameter arguments: the arguments after `volley`.
    public static func complaint(about arguments: [String]) -> String? {
        guard let command = arguments.first else { return nil }
        let file = arguments.dropFirst().first { !$0.hasPrefix("-") }
        for argument in arguments.dropFirst() {
            let option = String(argument.prefix { $0 != "=" })
            guard let remedy = remedy(for: option, of: command, file: file) else { continue }
            return "Error: `volley \(command)` has no option \(option). \(remedy)"
        }
        return nil
    }

    private static func remedy(for option: String, of command: String, file: String?) -> String? {
        let (campaign, run) = (file ?? "FILE", file ?? "RUN")
        switch (command, option) {
        case ("send", "--dry-run"), ("send", "--preview"), ("send", "--simulate"), ("send", "-n"):
            return "`volley preview \(campaign)` shows who would get it, and what, and sends nothing."
        case ("send", "--force"), ("send", "-y"), ("send", "-f"): return "`volley send \(campaign) --yes` does not ask."
        case ("send", "--at"), ("send", "--schedule"), ("send", "--later"):
            return "Write the time below 'schedule' in the campaign; `volley schedule` sends it then."
        case ("send", "--to"), ("send", "--token"), ("send", "--device"), ("send", "--only"):
            return
                "`volley send \(campaign) --test` sends only to the app's test devices; `volley push --token TOKEN` sends one push to one device."
        case ("push", "--image"), ("push", "--link"), ("push", "--data"), ("push", "--category"), ("push", "--thread"):
            return "Put anything else into a payload file: `volley push --payload FILE`."
        case ("send", "--html"):
            return
                "`volley preview \(campaign) --html FILE` writes a page, and so does `volley report RUN --format html`."
        case ("report", "--html"), ("report", "--csv"), ("report", "--text"):
            return "Write `volley report \(run) --format \(option.dropFirst(2))`."
        case ("preview", "--csv"), ("preview", "--dry-run"):
            return "`volley preview \(campaign)` writes and sends nothing, whatever it shows."
        case ("check", "--dry-run"): return "`volley check \(campaign)` sends nothing."
        default: return nil
        }
    }
}

/// The help and complaints of the parser of arguments, as a terminal of 80 columns shows them.
public enum UsageText {
    private static let columns = 80

    /// The same text; a line of usage that is too long goes on below its first option.
    public static func wrapped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.uppercased().hasPrefix("USAGE: volley".uppercased()), line.count > columns else {
                return String(line)
            }
            return wrapped(usage: line)
        }.joined(separator: "\n")
    }

    /// - Parameter line: `USAGE: volley init [<folder>] [--json] …`
    private static func wrapped(usage line: Substring) -> String {
        // An option and its value stay together.
        var parts: [Substring] = []
        var start = line.startIndex
        for blank in line.indices where line[blank] == " " {
            let part = line[start..<blank]
            if part.count(where: { $0 == "[" }) == part.count(where: { $0 == "]" }) {
                (start, parts) = (line.index(after: blank), parts + [part])
            }
        }
        parts.append(line[start...])
        let command = parts.prefix { !$0.hasPrefix("[") && !$0.hasPrefix("<") && !$0.hasPrefix("-") }.joined(
            separator: " ")
        let indent = String(repeating: " ", count: command.count + 1)
        var lines = [command]
        for part in parts.dropFirst(command.split(separator: " ").count) {
            if lines[lines.count - 1].count + 1 + part.count > columns {
                lines.append(indent + part)
            } else {
                lines[lines.count - 1] += " " + part
            }
        }
        return lines.joined(separator: "\n")
    }
}

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
