import Simulators
package import Base
import Cryptography
import Delivery
import Glibc
package import Runs
import Workspace

/// The server a run talks to, and who Volley is to it. Opened before anything is planned, so that a missing key or a wrong
/// passphrase is said while nothing has happened yet.
package final class Gateway {
    let endpoint: Endpoint
    let credentials: Credentials
    let warnings: [Diagnostic]
    private let simulator: APNsSimulator?
    private let authorityFile: AuthorityFile?

    /// The key id and team of the key that Volley makes when the simulator is used without one.
    package static let simulatorKeyID = "SIMULATOR1", simulatorTeamID = "VOLLEYTEAM"

    /// - Throws: a `Diagnostic` for a key or certificate that cannot be used.
    package init(_ settings: RunSettings, _ context: SendingContext, now: Timestamp) throws {
        let read = try AppCredentials(settings, now: now)
        let (credentials, trusted) = Self.credentials(read, context)
        (self.credentials, warnings) = (credentials, read.warnings)
        switch settings.environment {
        case .production: (endpoint, simulator, authorityFile) = (.production, nil, nil)
        case .sandbox: (endpoint, simulator, authorityFile) = (.sandbox, nil, nil)
        case .server(let host, let port, let authority):
            if let authority { try CertificateAuthorityFile.check(authority) }
            (endpoint, simulator, authorityFile) = (Endpoint(host: host, port: port, certificateAuthorityFile: authority), nil, nil)
        case .simulator:
            var configuration = SimulatorConfiguration()
            configuration.keys = trusted.map { [$0] } ?? []
            let simulator = try APNsSimulator(configuration)
            let file = try AuthorityFile(simulator.certificateAuthorityPEM)
            (self.simulator, authorityFile) = (simulator, file)
            endpoint = Endpoint(host: "localhost", port: simulator.port, certificateAuthorityFile: file.path)
        }
    }

    /// Ends the built-in simulator and says what it saw; nil when the run went elsewhere.
    func close() -> LedgerSummary? { simulator?.stop() }

    /// Who Volley is to the service, and the key that a simulator is to trust.
    private static func credentials(
        _ read: AppCredentials, _ context: SendingContext
    ) -> (credentials: Credentials, trusted: TrustedKey?) {
        switch read.kind {
        case .certificate(let certificate): (.certificate(certificate), nil)
        case .key(let key, let id, let team): signed(key, id, team, context)
        case .none: signed(.generate(), simulatorKeyID, simulatorTeamID, context)
        }
    }

    private static func signed(
        _ key: SigningKey, _ id: String, _ team: String, _ context: SendingContext
    ) -> (credentials: Credentials, trusted: TrustedKey?) {
        (
            .token(SignedTokenSource(key: key, keyID: id, teamID: team, history: context.signedTokens)),
            TrustedKey(keyID: id, teamID: team, key: key.verificationKey)
        )
    }
}

/// A file of its own for the simulator's certificate authority, as endpoints name theirs by file; gone when this is freed. It has no name
/// where the file system allows it, so that nothing is left of a process that is killed.
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
            throw Diagnostic("no temporary file can be made: \(String(cString: strerror(code)))", file: folder)
        }
    }

    deinit {
        if hasName { unlink(path) }
        if descriptor >= 0 { close(descriptor) }
    }
}
