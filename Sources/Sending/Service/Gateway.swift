package import Base
public import Campaigns
import Cryptography
package import Delivery
import Glibc
import PushServices
package import Runs
public import Simulators
import Workspace

/// The server that a run talks to, and Volley's credentials for it. Opened before anything is sent,
/// so that Volley reports a missing key, a wrong passphrase or a refused account before anything
/// has happened.
package final class Gateway {
    let endpoint: Endpoint
    let credentials: Credentials
    let warnings: [Diagnostic]
    private let simulator: ServiceSimulator?
    private let authorityFile: AuthorityFile?

    /// Opens the credentials, and starts the simulator if the run goes there. Fetches a token where
    /// the service gives them out, so that this may take as long as `FetchedTokenSource.start`.
    /// - Parameters:
    ///   - settings: of one service.
    ///   - proxy: as `SenderSettings.proxy`: the way to the server that gives out tokens.
    ///   - scope: what tokens are to be good for; nil for pushes.
    ///   - failure: what becomes of a failure to get the first token.
    /// - Throws: a `Diagnostic` for a key or certificate that cannot be used, and for a token that
    ///   is not given out.
    package init(
        _ settings: RunSettings, _ context: SendingContext, proxy: String? = nil, scope: String? = nil,
        firstToken failure: FetchedTokenSource.FirstFailure = .isError, now: Timestamp
    ) throws {
        let read = try AppCredentials(settings, now: now)
        let identity = try Self.identity(read, settings)
        warnings = read.warnings
        switch settings.firstService.environment {
        case .named(let environment): (endpoint, simulator, authorityFile) = (Endpoint(environment), nil, nil)
        case .server(let host, let port, let authority):
            if let authority { try CertificateAuthorityFile.check(authority) }
            (endpoint, simulator, authorityFile) = (
                Endpoint(host: host, port: port, certificateAuthorityFile: authority), nil, nil
            )
        case .simulator:
            var configuration = SimulatorConfiguration()
            // It lives for this run alone, in which no channel can have been made.
            configuration.knowsAllChannels = true
            try identity.add(to: &configuration, topic: settings.firstService.topic)
            guard let standIn = Simulators.named(settings.firstService.accountName) else {
                throw settings.service.noSimulator
            }
            let simulator = try standIn.start(configuration)
            let file = try AuthorityFile(simulator.certificateAuthorityPEM)
            self.simulator = simulator
            authorityFile = file
            endpoint = Endpoint(host: "localhost", port: simulator.port, certificateAuthorityFile: file.path)
        }
        let endpoint = endpoint
        let isOwn = if case .named = settings.firstService.environment { true } else { false }
        func source(_ asking: TokenIdentity, _ exchange: TokenExchange) throws(Diagnostic) -> FetchedTokenSource {
            // A service may have a token server in addition to its own environments; any other
            // server gives them out itself.
            let server: Endpoint? = isOwn && exchange.host != nil ? nil : endpoint
            let form = settings.firstService.credential.flatMap { settings.service.account.credential($0.form) }
            return try FetchedTokenSource(
                exchange: exchange, identity: asking, server: server, proxy: proxy,
                file: settings.firstService.credential?[form?.files.first], clock: context.clock)
        }
        switch identity {
        case .certificate(let certificate): credentials = .certificate(certificate)
        case .key(let key, let id, let issuer):
            credentials = .token(
                SignedTokenSource(
                    key: key, keyID: id, teamID: issuer, history: context.signedTokens,
                    facts: settings.service.signedToken ?? .standard,
                    clock: context.clock))
        case .account(let key, let exchange):
            credentials = .fetched(try source(.key(key), scope.map(exchange.scoped) ?? exchange))
        case .secret(let secret, .fetchedToken(let exchange)):
            credentials = .fetched(try source(.secret(secret), exchange))
        case .secret(let secret, .signedRequest(let signature)): credentials = .signed(RequestSigner(signature, secret))
        case .secret(let secret, _): credentials = .fixed(FixedTokenSource(basic: secret))
        }
        guard case .fetched(let source) = credentials else { return }
        do { try source.start(failure, until: context.cancellation) } catch {
            simulator?.stop()
            throw error
        }
    }

    /// The credential that Volley makes for a run without one: that which the service's simulator
    /// trusts, or else the standard one's.
    package static func standIn(_ settings: RunSettings) -> StandIn {
        Simulators.named(settings.firstService.accountName) ?? Simulators.standard
    }

    /// Stops the built-in simulator.
    /// - Returns: the simulator's ledger; nil if the run went elsewhere.
    func close() -> LedgerSummary? {
        if case .fetched(let source) = credentials { source.stop() }
        return simulator?.stop()
    }

    /// Volley's identity to the service. A run to the simulator that has no credential gets one of
    /// its own.
    fileprivate static func identity(_ read: AppCredentials, _ settings: RunSettings) throws(Diagnostic) -> Identity {
        switch read.kind {
        case .certificate(let certificate): return .certificate(certificate)
        case .key(let key, let id, let issuer): return .key(key, id: id, issuer: issuer)
        case .account(let key, let exchange): return .account(key, exchange)
        case .secret(let secret, let kind): return .secret(secret, kind)
        case .none:
            let standIn = standIn(settings)
            switch (standIn.credential, settings.service.account.tokenExchange) {
            case (.serviceAccount, let exchange?):
                let made = SimulatedServiceAccount.generate(project: settings.firstService.topic)
                let key = AssertionKey(
                    issuer: made.clientEmail, keyID: made.keyID, privateKeyPEM: made.key.pem, topic: made.project)
                return .account(key, exchange)
            case (.secret(_, let names, let key), _):
                guard let form = settings.service.account.credential(key) else { throw settings.service.noSimulator }
                // A secret for this run alone: the simulator gets to know the same one.
                var random = SystemRandomNumberGenerator()
                let secret = AppSecret(
                    topic: settings.firstService.topic,
                    names: Dictionary(uniqueKeysWithValues: names.map { ($0.key, $0.value) }),
                    secret: String(UInt64.random(in: .min ... .max, using: &random), radix: 16))
                return .secret(secret, form.kind)
            default: return .key(.generate(), id: standIn.keyID, issuer: standIn.teamID)
            }
        }
    }
}

/// Volley's identity to a service.
private enum Identity {
    case certificate(ClientCertificate)
    case key(SigningKey, id: String, issuer: String)
    case account(AssertionKey, TokenExchange)
    case secret(AppSecret, CredentialForm.Kind)

    /// Makes a simulator know it.
    /// - Parameter topic: the app's, for an account whose file does not name one.
    func add(to configuration: inout SimulatorConfiguration, topic: String) throws(Diagnostic) {
        switch self {
        case .certificate: break
        case .key(let key, let id, let issuer):
            configuration.keys.append(TrustedKey(keyID: id, teamID: issuer, key: key.verificationKey))
        case .account(let key, _): configuration.trust(try TrustedServiceAccount(key, topic: topic))
        case .secret(let secret, _):
            configuration.secrets.append(TrustedSecret(app: secret.topic, names: secret.names, secret: secret.secret))
        }
    }
}

extension SimulatorConfiguration {
    /// Makes a simulator know the credential of an app.
    /// - Parameter service: the name of the service that it stands in for.
    /// - Throws: a `Diagnostic` if it cannot be used.
    public mutating func trust(_ app: App, of service: String, projectFile: String) throws {
        let all = try RunSettings(app, projectFile: projectFile, pushType: .alert)
        let settings = all.ofService(all.services.firstIndex { $0.serviceName == service } ?? 0)
        try Gateway.identity(try AppCredentials(settings, now: .now()), settings).add(
            to: &self, topic: settings.firstService.topic)
    }
}

extension TrustedServiceAccount {
    /// The account whose assertions a key signs.
    /// - Parameter topic: the app's, for an account whose file does not name one.
    fileprivate init(_ key: AssertionKey, topic: String) throws(Diagnostic) {
        self.init(
            project: key.topic ?? topic, clientEmail: key.issuer, keyID: key.keyID,
            key: try RSASigningKey(pem: key.privateKeyPEM).verificationKey)
    }
}

/// A temporary file with the simulator's certificate authority: endpoints name their authority by
/// file. It is deleted when this object is freed. Where the file system allows it, the file has no
/// name, so that a killed process leaves nothing behind.
private final class AuthorityFile {
    let path: String
    private let descriptor: Int32
    private let hasName: Bool

    package init(_ text: String) throws(Diagnostic) {
        let folders = FilePaths.temporaryFolders
        // With neither the one nor the other, the last one's error is reported.
        let folder = folders.first { access($0, W_OK | X_OK) == 0 } ?? folders[folders.count - 1]
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
            throw Diagnostic(
                "a temporary file cannot be created in this folder: \(SystemError.words(code))", file: folder,
                remedy:
                    "Set the environment variable TMPDIR to a folder that exists, has free space and may be written to."
            )
        }
    }

    deinit {
        if hasName { unlink(path) }
        if descriptor >= 0 { close(descriptor) }
    }
}

extension ServiceSettings {
    /// The service whose simulator stands in for it. An unknown name stays as it is: it has no
    /// service.
    fileprivate var accountName: String { PushServices.named(serviceName)?.accountName ?? serviceName }
}

extension ProxyRoute {
    /// The route of a run that was planned earlier, perhaps with another volley.yaml: the present
    /// file counts. If that sets no proxy, the environment variables decide.
    package init(_ present: CurrentProject, _ settings: RunSettings) throws(Diagnostic) {
        try self.init(
            present.app?.proxy ?? present.project.proxy, to: settings.firstService.environment,
            tokens: settings.service.account.tokenExchange)
    }

    /// The proxy as `SenderSettings.proxy` takes it; nil for none.
    var proxyURL: String? { proxy?.address.url }

    /// The same for the server that gives out tokens.
    var tokenProxyURL: String? { tokenProxy?.address.url }

    /// Makes a sender use this route.
    func apply(to settings: inout SenderSettings) { settings.proxy = proxyURL }
}

extension RunSettings {
    /// What all pushes of a run that begins at `start` have in common.
    /// - Parameter label: `PushOptions.label`.
    func options(startingAt start: Timestamp, label: String = "") -> PushOptions {
        var options = PushOptions(
            topic: firstService.topic, pushType: pushType, priority: priority,
            expiration: expiration(startingAt: start),
            collapseID: collapseID)
        // Another server replaces the service's own.
        if case .named(let environment) = firstService.environment { options.isProduction = environment.reachesPeople }
        (options.label, options.channel) = (label, channel)
        return options
    }

    /// When the pushes of a run that begins at `start` expire, in epoch seconds; 0 for now or
    /// never, nil for no expiry.
    func expiration(startingAt start: Timestamp) -> Int64? {
        switch expiry {
        case nil: nil
        case .immediately: 0
        case .after(let seconds): start.epochSeconds + Int64(seconds)
        case .at(let moment): moment.epochSeconds
        }
    }

    /// The moment after which a push is no longer wanted, so none is sent; nil if pushes do not
    /// expire at a moment.
    func deadline(startingAt start: Timestamp) -> Timestamp? {
        guard let expiration = expiration(startingAt: start), expiration > 0 else { return nil }
        return Timestamp(epochSeconds: expiration)
    }
}

/// A comparison of a run's report with the ledger of the simulator that it was sent to. The ledger
/// has the pushes of one process only.
public struct LedgerCheck: Sendable {
    /// Whether the simulator accepted as many pushes as the report says.
    public let agrees: Bool
    /// The comparison in one sentence.
    public let text: String

    /// Compares the figures: every accepted recipient must be in the ledger, and any other device
    /// that it accepted must be unknown in the report.
    /// - Parameters:
    ///   - ledgers: those of the simulators, by the numbers of their services.
    ///   - before: the run's figures before this process, whose simulators have a ledger of their
    ///     own.
    package init(
        _ ledgers: [Int: LedgerSummary], figures: RunFigures, acceptedBefore earlier: RunFigures = RunFigures()
    ) {
        func count(_ outcome: Outcome, of service: Int, _ figures: RunFigures) -> Int {
            figures.figures(ofService: service).outcomes[outcome] ?? 0
        }
        let before = ledgers.keys.reduce(0) { $0 + count(.accepted, of: $1, earlier) }
        let accepted = ledgers.keys.reduce(0) { $0 + count(.accepted, of: $1, figures) } - before
        agrees = ledgers.allSatisfy { number, ledger in
            let accepted = count(.accepted, of: number, figures) - count(.accepted, of: number, earlier)
            return (accepted...accepted + count(.unknown, of: number, figures)).contains(ledger.acceptedTokens)
        }
        let requests = ledgers.values.reduce(0) { $0 + $1.requests },
            devices = ledgers.values.reduce(0) { $0 + $1.acceptedTokens }
        let whose = ledgers.count > 1 ? "The simulators' ledgers" : "The simulator's ledger"
        let seen = "\(whose): \(TextFormat.count(requests)) requests, \(TextFormat.count(devices)) devices accepted"
        text =
            agrees
            ? "\(seen); the report agrees."
            : "\(seen); the report says \(TextFormat.count(accepted))\(before > 0 ? " since it was resumed" : ""). They should agree. Please report this: it is a defect in Volley."
    }
}
