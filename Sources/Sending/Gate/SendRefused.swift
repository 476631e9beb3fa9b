public import Base
public import Delivery

/// The refusal to send a run now. Nothing was sent.
public struct SendRefused: ExplainedError {
    /// The reason, for programs.
    public let why: SendGate.Refusal
    /// The reason, for people.
    public let diagnostics: [Diagnostic]
}
