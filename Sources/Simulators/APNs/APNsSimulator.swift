public import Base
import Cryptography
import Glibc
import Synchronization

/// A strict stand-in for APNs on a loopback port, on a thread of its own.
///
/// It checks every request as APNs would, and more strictly where Apple's documentation forbids something that APNs is known to let pass.
/// What it answers, and why, is told in `RequestChecker`; what can be made to go wrong, in `SimulatorFaults`; tokens with a fate of their
/// own, in `TokenRules`.
public final class APNsSimulator: ServiceSimulator {
    /// The port it listens on.
    public let port: Int
    /// What clients are to trust, PEM: the authority's certificate, or the server's own when the configuration brought one.
    public let certificateAuthorityPEM: String
    private let shared = SharedSummary()
    private let wakeSocket: Int32
    private let thread: Mutex<pthread_t?>

    /// Makes a certificate authority and a server certificate unless the configuration brings one, binds the port and starts serving.
    /// - Throws: a `Diagnostic`: the port is taken, the ledger cannot be written, there is no thread for it.
    public init(_ configuration: SimulatorConfiguration) throws(Diagnostic) {
        let (certificate, trusted) = Self.certificate(configuration)
        let context = try TLSServerContext(certificate: certificate, clients: Self.clientPolicy(configuration))
        let listener = try Listener(port: configuration.port)
        var ledgerFile: LedgerFile?
        if let path = configuration.ledgerFile { ledgerFile = try LedgerFile(path: path, recordsPayloads: configuration.recordsPayloads) }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Diagnostic("no more files can be opened", remedy: "Raise the limit with ulimit -n") }
        for end in ends { Listener.makeNonBlocking(end) }
        port = listener.port
        certificateAuthorityPEM = trusted
        wakeSocket = ends[1]
        let server = try Server(
            configuration, listener: listener, context: context, ledgerFile: ledgerFile, wakeSocket: ends[0], shared: shared)
        thread = Mutex(try Self.start(server))
    }

    deinit {
        _ = stop()
        close(wakeSocket)
    }

    /// What it saw so far. A push is in it before its answer is on the wire.
    public var summary: LedgerSummary { shared.read() }

    /// Closes all connections, writes the ledger to its end, and waits for the thread.
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

    /// The server's certificate, and what clients are to trust.
    private static func certificate(_ configuration: SimulatorConfiguration) -> (IssuedCertificate, trusted: String) {
        if let own = configuration.certificate { return (own, own.certificatePEM) }
        let authority = CertificateAuthority(commonName: "Volley simulator")
        return (authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1", "::1"]), authority.certificatePEM)
    }

    private static func clientPolicy(_ configuration: SimulatorConfiguration) -> ClientCertificatePolicy {
        guard configuration.acceptsClientCertificates else { return .notAsked }
        return configuration.clientAuthorityFile.map { .authority(file: $0) } ?? .anyAuthority
    }

    /// Hands the server over to a new thread, which alone holds it from then on.
    private static func start(_ server: Server) throws(Diagnostic) -> pthread_t {
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(server)
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                // A client that hangs up must not end the process; only this thread writes to sockets.
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
