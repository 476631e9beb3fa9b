package import Base
import Cryptography
import Delivery
import Glibc
import PushServices
package import Runs
package import Simulators
import Workspace

/// The server that a run talks to, and Volley's credentials for it. Opened before anything is planned, so that Volley reports a missing key
/// or a wrong passphrase before anything has happened.
package final class Gateway {
    let endpoint: Endpoint
    let credentials: Credentials
    let warnings: [Diagnostic]
    private let simulator: (any ServiceSimulator)?
    private let authorityFile: AuthorityFile?

    /// Opens the credentials, and starts the simulator if the run goes there.
    /// - Throws: a `Diagnostic` for a key or certificate that cannot be used.
    package init(_ settings: RunSettings, _ context: SendingContext, now: Timestamp) throws {
        let read = try AppCredentials(settings, now: now)
        let (credentials, trusted) = try Self.credentials(read, settings, context)
        self.credentials = credentials
        warnings = read.warnings
        switch settings.environment {
        case .named(let environment): (endpoint, simulator, authorityFile) = (Endpoint(environment), nil, nil)
        case .server(let host, let port, let authority):
            if let authority { try CertificateAuthorityFile.check(authority) }
            (endpoint, simulator, authorityFile) = (Endpoint(host: host, port: port, certificateAuthorityFile: authority), nil, nil)
        case .simulator:
            var configuration = SimulatorConfiguration()
            configuration.keys = trusted.map { [$0] } ?? []
            guard let standIn = Simulators.named(settings.serviceName) else { throw settings.service.noSimulator }
            let simulator = try standIn.start(configuration)
            let file = try AuthorityFile(simulator.certificateAuthorityPEM)
            self.simulator = simulator
            authorityFile = file
            endpoint = Endpoint(host: "localhost", port: simulator.port, certificateAuthorityFile: file.path)
        }
    }

    /// The names of a key that Volley makes for a run: those that the service's simulator trusts, or else the standard one's.
    package static func standIn(_ settings: RunSettings) -> StandIn { Simulators.named(settings.serviceName) ?? Simulators.standard }

    /// Stops the built-in simulator.
    /// - Returns: the simulator's ledger; nil if the run went elsewhere.
    func close() -> LedgerSummary? { simulator?.stop() }

    /// The credentials that Volley shows the service, and the key that a simulator trusts; nil with a certificate.
    private static func credentials(
        _ read: AppCredentials, _ settings: RunSettings, _ context: SendingContext
    ) throws(Diagnostic) -> (credentials: Credentials, trusted: TrustedKey?) {
        let (key, keyID, teamID): (SigningKey, String, String)
        switch read.kind {
        case .certificate(let certificate): return (.certificate(certificate), nil)
        case .key(let own, let id, let issuer): (key, keyID, teamID) = (own, id, issuer)
        case .account(_, let exchange):
            throw Diagnostic(
                "this version of Volley cannot fetch \(TextFormat.withArticle(exchange.noun))",
                remedy: "It can check, preview and plan campaigns for \(settings.service.displayName); send them with a newer one.")
        case .none:
            let standIn = standIn(settings)
            (key, keyID, teamID) = (.generate(), standIn.keyID, standIn.teamID)
        }
        let source = SignedTokenSource(
            key: key, keyID: keyID, teamID: teamID, history: context.signedTokens, facts: settings.service.signedToken ?? .standard)
        return (.token(source), TrustedKey(keyID: keyID, teamID: teamID, key: key.verificationKey))
    }
}

/// A temporary file with the simulator's certificate authority: endpoints name their authority by file. It is deleted when this object is
/// freed. Where the file system allows it, the file has no name, so that a killed process leaves nothing behind.
private final class AuthorityFile {
    let path: String
    private let descriptor: Int32
    private let hasName: Bool

    package init(_ text: String) throws(Diagnostic) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let unnamed = AtomicFile.openWithoutName(inFolder: folder, mode: 0o600)
        hasName = unnamed < 0
        if unnamed >= 0 {
            (descriptor, path) = (unnamed, "/proc/self/fd/\(unnamed)")
        } else {
            var name = Array("\(folder)/volley-ca-XXXXXX".utf8CString)
            descriptor = mkstemp(&name)
            path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        let code = descriptor < 0 ? errno : WriteAll.write(Array(text.utf8), to: descriptor)
        guard code == 0 else {
            throw Diagnostic("a temporary file cannot be created: \(String(cString: strerror(code)))", file: folder)
        }
    }

    deinit {
        if hasName { unlink(path) }
        if descriptor >= 0 { close(descriptor) }
    }
}
