/// The readers of a text: the same facts are written for users of the command line and for users of the console.
public enum Face: Hashable, Sendable {
    /// The command line, and the files that it writes.
    case terminal
    /// A browser: what only a command can do is done by the operators of Volley.
    case console
}

extension Face {
    /// What the process that sends is called.
    var sender: String { self == .console ? "the sender" : "volley schedule" }
}
