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
            return "`volley preview \(campaign) --html FILE` writes a page, and so does `volley report RUN --format html`."
        case ("report", "--html"), ("report", "--csv"), ("report", "--text"):
            return "Write `volley report \(run) --format \(option.dropFirst(2))`."
        case ("preview", "--csv"), ("preview", "--dry-run"):
            return "`volley preview \(campaign)` writes and sends nothing, whatever it shows."
        case ("check", "--dry-run"): return "`volley check \(campaign)` sends nothing."
        default: return nil
        }
    }
}
