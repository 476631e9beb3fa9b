public import Base

/// A strict stand-in for JPush's Push API v3 on a loopback port, with its own thread.
///
/// `JPushKeys` and `JPushChecker` document what it demands of pushes, `CidPool` of their cids, `JPushTargets` the registration ids with
/// fixed answers, and `SimulatorFaults` the faults that you can configure.
public final class JPushSimulator: ServiceSimulator {
    private let server: RunningServer

    /// Makes a certificate authority and a server certificate unless the configuration has one, binds the port and starts serving.
    /// - Throws: a `Diagnostic` if the port is in use, the ledger cannot be written, or no thread can be started.
    public init(_ configuration: SimulatorConfiguration) throws(Diagnostic) {
        var configuration = configuration
        // APNs alone has these: a limit that rises with the first accepted push, and an end after many refusals.
        configuration.faults.firstStreamLimit = configuration.faults.streamLimit
        configuration.faults.rejectionsBeforeGoAway = 0
        configuration.acceptsClientCertificates = false
        let settled = configuration
        server = try RunningServer(settled) { _ in JPushRules(settled) }
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
