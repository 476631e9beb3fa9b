public import Base

/// One check of `volley doctor`.
public struct CheckStep: Sendable {
    /// The result of a check.
    public enum State: String, Sendable {
        /// The check passed.
        case ok
        /// Pushes cannot be sent, or soon cannot.
        case failed
        /// The check was impossible or unnecessary.
        case skipped
    }

    /// What was checked, in one or two words: `key`, `connection`, `TLS`.
    public var name: String
    /// The result of the check.
    public var state: State
    /// What the check found, without a final full stop.
    public var message: String
    /// What to do, in whole sentences; nil if nothing. An `ok` check has a remedy if you should do something soon.
    public var remedy: String?

    static func ok(_ name: String, message: String, remedy: String? = nil) -> CheckStep {
        CheckStep(name: name, state: .ok, message: message, remedy: remedy)
    }

    static func failed(_ name: String, message: String, remedy: String?) -> CheckStep {
        CheckStep(name: name, state: .failed, message: message, remedy: remedy)
    }

    /// A check that was impossible or unnecessary, with the reason.
    public static func skipped(_ name: String, message: String) -> CheckStep { CheckStep(name: name, state: .skipped, message: message) }

    /// Makes a failed step from an error.
    public static func failed(_ name: String, _ mistake: Diagnostic) -> CheckStep {
        let place = mistake.position.map { "\($0): " } ?? mistake.file.map { "\($0): " } ?? ""
        return .failed(name, message: place + mistake.message, remedy: mistake.remedy)
    }

    /// The step in `doctor --json`.
    public var json: JSONValue {
        .object(pairs: [
            ("step", .string(name)), ("state", .string(state.rawValue)), ("message", .string(message)),
            ("remedy", remedy.map { .string($0) } ?? .null),
        ])
    }
}
