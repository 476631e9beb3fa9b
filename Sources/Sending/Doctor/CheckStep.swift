public import Base

/// One thing that `volley doctor` looked at.
public struct CheckStep: Sendable {
    /// How a step ended.
    public enum State: String, Sendable {
        /// All is well.
        case ok
        /// Pushes cannot go out, or will not for long.
        case failed
        /// It could not be looked at, or need not be.
        case skipped
    }

    /// What was checked, in one or two words: `key`, `connection`, `TLS`.
    public var name: String
    /// How the check ended.
    public var state: State
    /// What was found, without a final full stop.
    public var message: String
    /// What to do: whole sentences; also beside `ok`, where something should be done soon.
    public var remedy: String?

    static func ok(_ name: String, message: String, remedy: String? = nil) -> CheckStep {
        CheckStep(name: name, state: .ok, message: message, remedy: remedy)
    }

    static func failed(_ name: String, message: String, remedy: String?) -> CheckStep {
        CheckStep(name: name, state: .failed, message: message, remedy: remedy)
    }

    static func skipped(_ name: String, message: String) -> CheckStep { CheckStep(name: name, state: .skipped, message: message) }

    /// A step that ended in an error.
    static func failed(_ name: String, _ mistake: Diagnostic) -> CheckStep {
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
