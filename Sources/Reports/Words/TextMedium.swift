/// The readers of a text: the same facts are written for users of the command line and for users of
/// the console.
public enum TextMedium: Hashable, Sendable {
    /// The command line, and the files that it writes.
    case terminal
    /// A browser: the operators of Volley do what only a command can do.
    case console
}

extension TextMedium {
    /// The name of the process that sends.
    var sender: String { self == .console ? "the sender" : "volley schedule" }
}
