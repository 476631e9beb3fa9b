/// The figures of what a simulator saw.
public struct LedgerSummary: Hashable, Sendable {
    /// Requests that were answered, or processed without an answer. With some services a request carries several pushes.
    public var requests = 0
    /// Pushes accepted, answered or not.
    public var accepted = 0
    /// Distinct tokens among the accepted.
    public var acceptedTokens = 0
    /// Tokens accepted more than once under different apns-ids, and under the same apns-id. Each push is compared with the first of its
    /// token.
    public var repeatedTokens = 0, repeatedIDs = 0
    /// Refused pushes by reason.
    public var reasons: [String: Int] = [:]
    /// The most pushes accepted in one second of the clock.
    public var peakPerSecond = 0
    /// Streams reset with REFUSED_STREAM: beyond a stream limit that the client had not acknowledged yet, or by
    /// `SimulatorFaults.refusedStreamEvery`. Not among `requests`.
    public var refusedStreams = 0
    /// Streams reset with another code, by `SimulatorFaults.resetEvery` and `resetAcceptedEvery`. Only the latter are among `requests`.
    public var resetStreams = 0
    /// Streams opened beyond a stream limit that the client had acknowledged. That is a client error, and ends the connection. Not among
    /// `requests`.
    public var streamLimitViolations = 0
    /// PINGs from clients, without their answers to the simulator's PINGs.
    public var pings = 0
    /// Connections that completed the TLS handshake.
    public var connections = 0
    /// Distinct provider tokens (compared by their bytes) that were accepted.
    public var providerTokens = 0

    /// A summary without any requests.
    public init() {}
}
