import Base
public import Delivery

/// The refusal to send a run now. Nothing was sent.
public struct SendRefused: Error {
    /// The reason, for programs.
    public let why: SendGate.Refusal
    /// The reason, for people: a `Diagnostic` or `Diagnostics`.
    public let diagnostic: any Error
}
