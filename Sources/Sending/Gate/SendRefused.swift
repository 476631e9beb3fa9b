import Base
public import Delivery

/// A run may not be sent now. Nothing was sent.
public struct SendRefused: Error {
    /// What is in the way, for programs.
    public let why: SendGate.Refusal
    /// The same for people: a `Diagnostic` or `Diagnostics`.
    public let diagnostic: any Error
}
