/// How the messages of a process are written where programs read them: one event a line.
public enum LogFormat: String, CaseIterable, Sendable {
    /// `2026-12-01T09:00:00.250Z warning [app=shop campaign=spring-sale run=…] message`
    case text
    /// An object with `time`, `level`, `message`, and what the message is about.
    case json
    /// For the journal of systemd, which knows the time: a priority, what the message is about, and the message. Source: sd-daemon(3).
    case journal
}
