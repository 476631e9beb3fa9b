package import Base
import Cryptography
import Delivery
import Glibc
import PushServices
package import Runs
package import Simulators

/// The server a run talks to, and who Volley is to it. Opened before anything is planned, so that a missing key or a wrong
/// passphrase is said while nothing has happened yet.
package final class Gateway {
    let endpoint: Endpoint
    let credentials: Credentials
    let warnings: [Diagnostic]
    private let simulator: (any ServiceSimulator)?
    private let authorityFile: AuthorityFile?

    /// - Throws: a `Diagnostic` for a key or certificate that cannot be used.
    package init(_ settings: RunSettings, _ context: SendingContext, now: Timestamp) throws {
        var warnings: [Diagnostic] = []
        var trusted: [TrustedKey] = []
        credentials = try Self.credentials(settings, context, now: now, warnings: &warnings, trusted: &trusted)
        self.warnings = warnings
        switch settings.environment {
        case .named(let environment): (endpoint, simulator, authorityFile) = (Endpoint(environment), nil, nil)
        case .server(let host, let port, let authority):
            if let authority { try Endpoint.checkAuthority(file: authority) }
            (endpoint, simulator, authorityFile) = (Endpoint(host: host, port: port, certificateAuthorityFile: authority), nil, nil)
        case .simulator:
            var configuration = SimulatorConfiguration()
            configuration.keys = trusted
            let simulator = try Self.standIn(settings).start(configuration)
            let file = try AuthorityFile(simulator.certificateAuthorityPEM)
            (self.simulator, authorityFile) = (simulator, file)
            endpoint = Endpoint(host: "localhost", port: simulator.port, certificateAuthorityFile: file.path)
        }
    }

    /// What stands in for the service of a run, and which key it trusts when an app has none.
    package static func standIn(_ settings: RunSettings) -> StandIn { Simulators.named(settings.serviceName) ?? Simulators.standard }

    /// Ends the built-in simulator and says what it saw; nil when the run went elsewhere.
    func close() -> LedgerSummary? { simulator?.stop() }

    /// Reads key or certificate without opening anything.
    /// - Returns: warnings about them.
    static func check(_ settings: RunSettings, now: Timestamp) throws -> [Diagnostic] {
        var warnings: [Diagnostic] = []
        var trusted: [TrustedKey] = []
        _ = try credentials(settings, SendingContext(), now: now, warnings: &warnings, trusted: &trusted)
        if case .server(_, _, let authority?) = settings.environment { try Endpoint.checkAuthority(file: authority) }
        return warnings
    }

    private static func credentials(
        _ settings: RunSettings, _ context: SendingContext, now: Timestamp, warnings: inout [Diagnostic], trusted: inout [TrustedKey]
    ) throws -> Credentials {
        if let reference = settings.certificate {
            if let warning = SigningKey.permissionWarning(file: reference.file) { warnings.append(warning) }
            let certificate = try ClientCertificate(file: reference.file, passphrase: reference.passphrase(), now: now)
            if let warning = certificate.expiryWarning(now: now) { warnings.append(warning) }
            return .certificate(certificate)
        }
        var key: SigningKey
        let standIn = standIn(settings)
        var (keyID, teamID) = (standIn.keyID, standIn.teamID)
        if let reference = settings.key {
            key = try SigningKey(file: reference.file, KeyFileWords(of: settings.service))
            (keyID, teamID) = (reference.keyID, reference.teamID)
            if let warning = SigningKey.permissionWarning(file: reference.file) { warnings.append(warning) }
        } else {
            guard settings.environment == .simulator else {
                throw Diagnostic("the app has neither key nor certificate", remedy: "Add `key:` to the app in volley.yaml.")
            }
            key = SigningKey.generate()
        }
        trusted.append(TrustedKey(keyID: keyID, teamID: teamID, key: key.verificationKey))
        return .token(
            SignedTokenSource(
                key: key, keyID: keyID, teamID: teamID, history: context.signedTokens,
                facts: settings.service.signedToken ?? .standard))
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

extension FrozenCertificate {
    /// Out of the environment, now; nil when the certificate needs none.
    /// - Throws: `Diagnostic` when the variable is not set.
    func passphrase() throws(Diagnostic) -> String? {
        guard let name = passphraseVariable else { return nil }
        guard let value = getenv(name) else {
            throw Diagnostic(
                "the environment variable \(name), which should hold the passphrase, is not set", file: file,
                remedy: "Set it, for example with `read -s \(name); export \(name)`.")
        }
        return String(cString: value)
    }
}
