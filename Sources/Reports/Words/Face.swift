/// Who reads a text: the same facts are told to people who type commands, and to people who have pages and buttons.
public enum Face: Hashable, Sendable {
    /// The command line, and the files that it writes.
    case terminal
    /// A browser: what only a command can do is done by the people who run Volley.
    case console
}

extension Face {
    /// What the process that sends is called.
    var sender: String { self == .console ? "the sender" : "volley schedule" }
}
