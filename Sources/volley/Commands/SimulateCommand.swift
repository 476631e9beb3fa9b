import Audience
import Base
import Campaigns
import Cryptography
import Planning
import PushServices
import Reports
import Runs
import Sending
public import Simulators
import Workspace

/// `volley simulate`: runs the simulator by itself, until Ctrl-C.
public enum SimulateCommand {
    /// The simulator's behaviour.
    public struct Settings: Sendable {
        /// The service that the simulator simulates.
        public var service = Simulators.standard
        /// A loopback port; 0 for a free one.
        public var port = 0
        /// A file that gets a line per request; nil for none.
        public var ledgerFile: String?
        /// The file for the certificate that clients must trust, for
        /// `environment: {url: …, ca: …}`.
        public var authorityFile = "simulator-ca.pem"
        /// A PEM file with the server's certificate and key; nil to make one for localhost at every
        /// start.
        public var certificateFile: String?
        /// The file for a key if volley.yaml names none; nil for the file that the service's
        /// simulator usually has.
        public var keyFile: String?
        /// How long an access token is valid, and which details refusals have; nil for what the
        /// service's simulator usually does.
        public var tokenSeconds: Int?, errorDetails: RefusalDetails?
        /// How many messages are taken in a minute, and after how many an access token is revoked;
        /// 0 for any number, and for never.
        public var messagesPerMinute = 0, messagesPerToken = 0
        /// How many pushes to everyone are taken in a day, and in a minute; nil for as many as the
        /// service takes.
        public var broadcastsPerDay: Int?, broadcastsPerMinute: Int?
        /// Whether an app that has not paid may send to tags.
        public var takesTags = true
        /// After how many lists their text is dropped; 0 for never.
        public var listsPerTask = 0
        /// After how many seconds to end; nil to wait for Ctrl-C.
        public var seconds: Double?
        /// Files that list tokens, one per line: tokens that are no longer registered, and tokens
        /// that never existed.
        public var unregisteredFile: String?, badTokenFile: String?
        /// The most streams that a connection may have.
        public var streamLimit = 1000
        /// How long every answer is held back.
        public var latencyMilliseconds = 0
        /// Every n-th push gets this answer or fault; 0 for never.
        public var tooManyRequestsEvery = 0, unavailableEvery = 0, internalErrorEvery = 0, silentEvery = 0,
            resetEvery = 0
        /// Every n-th push is answered as by a gateway, or before its payload was read; 0 for
        /// never.
        public var gatewayEvery = 0, earlyAnswerEvery = 0
        /// After this many pushes a connection is ended cleanly, cut, or falls silent; 0 for never.
        public var goAwayEvery = 0, disconnectEvery = 0, silentAfter = 0
        /// The header retry-after of 429 and 503, in seconds; nil for none.
        public var retryAfterSeconds: Int?
        /// How far the simulator's clock is ahead of this machine's, in seconds; nil for no
        /// difference.
        public var clockAheadSeconds: Int?

        /// Creates the settings of a well-behaved simulator.
        public init() {}
    }

    /// Prints the address (with `--json` as one document), serves until Ctrl-C, then prints what
    /// the simulator saw.
    public static func run(_ settings: Settings, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        try ResultFileCheck.check(
            settings.ledgerFile, option: "--ledger", what: "ledger", runsFolder: Project.catalog(options.project).place)
        if let ledger = settings.ledgerFile, try OutputPlace(ledger).isStream {
            console.say("The ledger is written through into \(ledger); lines that nothing reads at once are dropped.")
        }
        var configuration = SimulatorConfiguration()
        configuration.port = settings.port
        configuration.ledgerFile = settings.ledgerFile
        configuration.faults = try faults(settings)
        configuration.certificate = try settings.certificateFile.map { try IssuedCertificate(file: $0) }
        if let seconds = settings.tokenSeconds { configuration.issuer.tokenSeconds = seconds }
        if let details = settings.errorDetails { configuration.issuer.errorDetails = details }
        configuration.issuer.messagesPerMinute = settings.messagesPerMinute
        configuration.issuer.messagesPerToken = settings.messagesPerToken
        (configuration.broadcastsPerDay, configuration.broadcastsPerMinute) = (
            settings.broadcastsPerDay, settings.broadcastsPerMinute
        )
        configuration.takesTags = settings.takesTags
        configuration.issuer.listsPerTask = settings.listsPerTask
        let credential = try SimulatedCredential(settings, options: options, console: console)
        credential.trust(in: &configuration)
        let simulator = try settings.service.start(configuration)
        try writeAuthority(simulator.certificateAuthorityPEM, to: settings.authorityFile)
        let url = "https://\(configuration.certificate?.hostName ?? "localhost"):\(simulator.port)"
        if let file = credential.file, !FilePaths.exists(file) {
            try FilePaths.create(file, bytes: Array(credential.text(url: url).utf8), mode: 0o600)
        }
        let announcement = announcement(of: simulator, at: url, settings, credential: credential)
        options.isJSON ? try console.out(announcement.json) : try console.out(announcement.text)
        Interruption.process.waitForRequest(atMost: settings.seconds)
        let summary = simulator.stop()
        console.say(
            "Simulator: \(TextFormat.count(summary.requests)) requests, \(TextFormat.count(summary.acceptedTokens)) devices accepted."
        )
        if settings.service.givesOutTokens {
            console.say("  \(TextFormat.counted(summary.providerTokens, one: "access token")) used")
        }
        for (reason, number) in summary.reasons.sorted(by: { $0.value > $1.value }) {
            console.say("  \(reason): \(TextFormat.count(number))")
        }
        return .done
    }

    /// Replaces only the certificate of an earlier simulator.
    private static func writeAuthority(_ pem: String, to file: String) throws {
        if case .file(let place) = try OutputPlace(file), FilePaths.exists(place),
            !String(decoding: try FilePaths.read(place), as: UTF8.self).hasPrefix("-----BEGIN CERTIFICATE-----")
        {
            throw Diagnostic(
                "the file exists and does not hold a certificate", file: file, remedy: "Name another one with --ca.")
        }
        try FilePaths.replace(file, bytes: Array(pem.utf8), .command)
    }

    /// How to reach a simulator.
    private static func announcement(
        of simulator: ServiceSimulator, at url: String, _ settings: Settings, credential: SimulatedCredential
    ) -> (json: JSONValue, text: String) {
        let authority = FilePaths.absolute(settings.authorityFile)
        let json = JSONValue.object(pairs: [
            ("url", .string(url)), ("port", .integer(Int64(simulator.port))), ("ca", .string(authority)),
            ("key", credential.file.map { .string(FilePaths.absolute($0)) } ?? .null),
            ("ledger", settings.ledgerFile.map { .string(FilePaths.absolute($0)) } ?? .null),
        ])
        var lines = [
            "The simulator listens at \(url). In volley.yaml:", "",
            "    environment: {url: \"\(url)\", ca: \(authority)}",
        ]
        if let file = credential.file {
            lines += credential.settings(file: FilePaths.absolute(file)).map { "    \($0)" }
        }
        return (json, (lines + ["", "Ctrl-C ends it."]).joined(separator: "\n"))
    }

    private static func faults(_ settings: Settings) throws -> SimulatorFaults {
        var faults = SimulatorFaults()
        faults.streamLimit = settings.streamLimit
        faults.latencyMilliseconds = settings.latencyMilliseconds
        faults.tooManyRequestsEvery = settings.tooManyRequestsEvery
        faults.unavailableEvery = settings.unavailableEvery
        faults.internalErrorEvery = settings.internalErrorEvery
        faults.silentEvery = settings.silentEvery
        faults.resetEvery = settings.resetEvery
        (faults.gatewayEvery, faults.earlyAnswerEvery) = (settings.gatewayEvery, settings.earlyAnswerEvery)
        faults.goAwayEvery = settings.goAwayEvery
        faults.disconnectEvery = settings.disconnectEvery
        faults.silentAfter = settings.silentAfter
        faults.retryAfterSeconds = settings.retryAfterSeconds
        faults.clockAheadSeconds = settings.clockAheadSeconds.map(Double.init)
        for (file, answer) in [
            (settings.unregisteredFile, settings.service.gone),
            (settings.badTokenFile, settings.service.unknown),
        ] {
            guard let file else { continue }
            guard let answer else {
                throw Diagnostic(
                    "\(settings.service.displayName) answers alike for all targets, so its simulator has none that are gone or unknown",
                    remedy: "Leave --unregistered and --bad-tokens out.")
            }
            for token in try NameFile.read(file) {
                faults.answers[settings.service.ignoresCase ? token.lowercased() : token] = answer
            }
        }
        return faults
    }
}

/// The credentials that a simulator trusts: those of volley.yaml, or one in a file that
/// `volley simulate` makes.
struct SimulatedCredential {
    private enum Kind {
        case keys([TrustedKey])
        case madeKey(SigningKey, keyID: String, teamID: String)
        case accounts([TrustedServiceAccount])
        case madeAccount(SimulatedServiceAccount)
        case secrets([TrustedSecret])
        /// With the keys of its parts in volley.yaml.
        case madeSecret(TrustedSecret, names: [StandInName], key: String)
    }

    /// The file with the credential; nil if volley.yaml names credentials.
    let file: String?
    private let kind: Kind
    /// The service that the simulator simulates.
    private let service: String

    /// Reads the credentials, or makes one. A credential that exists is trusted and never
    /// overwritten: a service hands it out only once.
    init(_ settings: SimulateCommand.Settings, options: CommonOptions, console: Console) throws {
        let name = settings.keyFile ?? settings.service.keyFile
        let awaiting = FilePaths.exists(name) ? nil : try Self.account(at: settings.service, awaiting: name, options)
        service = settings.service.service
        switch settings.service.credential {
        case .signingKey(let keyID, let teamID):
            // Then it is trusted under the names that volley.yaml gives it.
            if awaiting != nil { try Self.make(name, SigningKey.generate().pem, console) }
            let keys = try Self.trusted(settings.service, options, console).keys
            guard keys.isEmpty else {
                (file, kind) = (nil, .keys(keys))
                return
            }
            let key =
                FilePaths.exists(name)
                ? try SigningKey(file: name, KeyFileWords(of: PushServices.standard)) : .generate()
            (file, kind) = (name, .madeKey(key, keyID: keyID, teamID: teamID))
        case .serviceAccount(let project):
            let accounts = try Self.trusted(settings.service, options, console, besides: awaiting).issuer.accounts
            guard accounts.isEmpty else {
                // A file that it makes can only hold a separate account.
                if awaiting != nil { _ = try Self.trusted(settings.service, options, console) }
                (file, kind) = (nil, .accounts(accounts))
                return
            }
            file = name
            guard FilePaths.exists(name) else {
                kind = .madeAccount(.generate(project: awaiting?.topic.value ?? project))
                return
            }
            let text = String(decoding: try FilePaths.read(name), as: UTF8.self)
            do throws(Mistake) { kind = .madeAccount(try SimulatedServiceAccount(json: text)) } catch {
                var diagnostic = Diagnostic(error, file: name)
                diagnostic.remedy =
                    diagnostic.remedy ?? "Name another one with --key, which is made if it does not exist."
                throw diagnostic
            }
        case .secret(let app, let names, let key):
            if awaiting != nil { try Self.make(name, Self.madeSecret() + "\n", console) }
            let secrets = try Self.trusted(settings.service, options, console).secrets
            guard secrets.isEmpty else {
                (file, kind) = (nil, .secrets(secrets))
                return
            }
            file = name
            let secret =
                FilePaths.exists(name) ? try PlainSecret(at: .file(name), noun: "secret").text() : Self.madeSecret()
            let trusted = TrustedSecret(
                app: app.value, names: Dictionary(uniqueKeysWithValues: names.map { ($0.key, $0.value) }),
                secret: secret)
            kind = .madeSecret(trusted, names: [app] + names, key: key)
        }
    }

    /// The account in volley.yaml whose credential will be in a file that does not exist yet.
    private static func account(at standIn: StandIn, awaiting file: String, _ options: CommonOptions) throws
        -> AppService?
    {
        guard let project = try Project.find(with: options.project) else { return nil }
        for app in project.apps {
            guard let account = app.service(named: standIn.service), let form = account.credentialForm else { continue }
            let settings = try? RunSettings(app, projectFile: project.file, pushType: .alert)
            let frozen = settings?.services.first { $0.serviceName == standIn.service }?.credential
            if frozen?[form.files.first].map(FilePaths.anchored) == FilePaths.anchored(file) { return account }
        }
        return nil
    }

    private static func make(_ file: String, _ text: String, _ console: Console) throws {
        try FilePaths.create(file, bytes: Array(text.utf8), mode: 0o600)
        console.say("Made \(file), which volley.yaml names.")
    }

    private static func madeSecret() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<24).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }.joined()
    }

    /// Makes a simulator trust the credentials.
    func trust(in configuration: inout SimulatorConfiguration) {
        switch kind {
        case .keys(let keys): configuration.keys = keys
        case .madeKey(let key, let keyID, let teamID):
            configuration.keys = [TrustedKey(keyID: keyID, teamID: teamID, key: key.verificationKey)]
        case .accounts(let accounts): for account in accounts { configuration.trust(account) }
        case .madeAccount(let account): configuration.trust(account.trusted)
        case .secrets(let secrets): configuration.secrets = secrets
        case .madeSecret(let secret, _, _): configuration.secrets = [secret]
        }
    }

    /// The text of the file.
    func text(url: String) -> String {
        switch kind {
        case .keys, .accounts, .secrets: ""
        case .madeSecret(let secret, _, _): secret.secret + "\n"
        case .madeKey(let key, _, _): key.pem
        case .madeAccount(let account): account.json(tokenURI: "\(url)/token")
        }
    }

    /// The lines of volley.yaml that name the file.
    func settings(file: String) -> [String] {
        switch kind {
        case .keys, .accounts, .secrets: []
        case .madeSecret(_, let names, let key):
            ["service: \(service)"] + names.map { "\($0.key): \($0.value)" } + ["\(key): {file: \(file)}"]
        case .madeKey(_, let keyID, let teamID): ["key: {file: \(file), id: \(keyID), team: \(teamID)}"]
        case .madeAccount(let account):
            ["service: \(service)", "project: \(account.project)", "service_account: {file: \(file)}"]
        }
    }

    /// The credentials of all apps in volley.yaml that go to the simulator's service.
    /// - Parameter awaiting: one whose credential is about to be made.
    private static func trusted(
        _ standIn: StandIn, _ options: CommonOptions, _ console: Console, besides awaiting: AppService? = nil
    ) throws -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration()
        guard let project = try Project.find(with: options.project) else { return configuration }
        for app in project.apps {
            guard let account = app.service(named: standIn.service), account.credential != nil,
                account.position != awaiting?.position
            else { continue }
            do { try configuration.trust(app, of: standIn.service, projectFile: project.file) } catch {
                console.say("Pushes of '\(app.name.value)' will be refused: \(error)")
            }
        }
        return configuration
    }
}
