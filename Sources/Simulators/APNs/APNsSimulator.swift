public import Base

/// A strict stand-in for APNs on a loopback port, with its own thread.
///
/// It checks every request as APNs would, and more strictly where Apple's documentation forbids something that APNs is known to accept.
/// `RequestChecker` documents its answers, `SimulatorFaults` the faults that you can configure, and `TokenRules` the device tokens with
/// fixed answers.
public final class APNsSimulator: ServiceSimulator {
    private let server: RunningServer

    /// Makes a certificate authority and a server certificate unless the configuration has one, binds the port and starts serving.
    /// - Throws: a `Diagnostic` if the port is in use, the ledger cannot be written, or no thread can be started.
    public init(_ configuration: SimulatorConfiguration) throws(Diagnostic) {
        server = try RunningServer(configuration) { _ in APNsRules(configuration) }
    }

    /// The port it listens on.
    public var port: Int { server.port }
    /// The certificate that clients must trust, as PEM: the authority's, or the server's own if the configuration has one.
    public var certificateAuthorityPEM: String { server.certificateAuthorityPEM }

    /// What the simulator saw so far. A push is counted before its answer is sent.
    public var summary: LedgerSummary { server.summary }

    /// Closes all connections, finishes the ledger, and waits for the thread.
    @discardableResult
    public func stop() -> LedgerSummary { server.stop() }
}
