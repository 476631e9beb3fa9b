import Base
import Cryptography
import Glibc
import Synchronization

/// A running simulator: a server with the rules of a service on a loopback port, with its own
/// thread (`StandIn.start`).
public final class ServiceSimulator: Sendable {
    /// The port it listens on.
    public let port: Int
    /// The certificate that clients must trust, as PEM: the authority's, or the server's own if the
    /// configuration has one.
    public let certificateAuthorityPEM: String
    private let shared: SharedSummary
    private let wakeSocket: Int32
    private let thread: Mutex<pthread_t?>

    /// As `StandIn.start`, which is the way to one.
    /// - Parameter rules: makes the rules of the service for a server at a port. They belong to the
    ///   server's thread.
    init(_ configuration: SimulatorConfiguration, rules: (_ port: Int) -> sending any ServiceRules) throws(Diagnostic) {
        let (certificate, trusted) = Self.certificate(configuration)
        let listener = try Listener(port: configuration.port)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Diagnostic("no more files can be opened", remedy: "Raise the limit with ulimit -n")
        }
        for end in ends { Listener.makeNonBlocking(end) }
        port = listener.port
        certificateAuthorityPEM = trusted
        wakeSocket = ends[1]
        let service = rules(port)
        let context = try TLSServerContext(
            certificate: certificate, clients: Self.clientPolicy(configuration),
            applicationProtocols: service.applicationProtocols(configuration))
        let server = try Server(
            configuration, rules: service, listener: listener, context: context, wakeSocket: ends[0])
        shared = server.shared
        thread = Mutex(try Self.start(server))
    }

    deinit {
        _ = stop()
        close(wakeSocket)
    }

    /// What the simulator saw so far. A push is counted before its answer is sent.
    public var summary: LedgerSummary { shared.read() }

    /// Closes all connections, finishes the ledger, and waits for the thread.
    @discardableResult
    public func stop() -> LedgerSummary {
        let running = thread.withLock { thread -> pthread_t? in
            defer { thread = nil }
            return thread
        }
        if let running {
            var byte: UInt8 = 0
            write(wakeSocket, &byte, 1)
            pthread_join(running, nil)
        }
        return shared.read()
    }

    /// The server's certificate, and the PEM that clients must trust.
    private static func certificate(_ configuration: SimulatorConfiguration) -> (IssuedCertificate, trusted: String) {
        if let own = configuration.certificate { return (own, own.certificatePEM) }
        let authority = CertificateAuthority(commonName: "Volley simulator")
        return (
            authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1", "::1"]),
            authority.certificatePEM
        )
    }

    private static func clientPolicy(_ configuration: SimulatorConfiguration) -> ClientCertificatePolicy {
        guard configuration.acceptsClientCertificates else { return .notAsked }
        return configuration.clientAuthorityFile.map { .authority(file: $0) } ?? .anyAuthority
    }

    /// Hands the server over to a new thread, which is its only owner from then on.
    private static func start(_ server: Server) throws(Diagnostic) -> pthread_t {
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(server)
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                // SIGPIPE: a client that hangs up must not end the process. Only this thread writes
                // to sockets.
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGPIPE)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                let server = Unmanaged<Server>.fromOpaque(argument).takeRetainedValue()
                server.run()
                return nil
            }, argument.toOpaque())
        guard result == 0 else {
            argument.release()
            throw .noThread(result)
        }
        return thread
    }
}
