import Workspace
import Audience
import Base
import Campaigns
import Cryptography
import PushServices
import Reports
import Runs
import Sending
import Simulators

/// `volley simulate`: runs the simulator by itself, until Ctrl-C.
public enum SimulateCommand {
    /// The simulator's behaviour.
    public struct Settings: Sendable {
        /// A loopback port; 0 for a free one.
        public var port = 0
        /// A file that gets a line per request; nil for none.
        public var ledgerFile: String?
        /// The file for the certificate that clients must trust, for `environment: {url: …, ca: …}`.
        public var authorityFile = "simulator-ca.pem"
        /// A PEM file with the server's certificate and key; nil to make one for localhost at every start.
        public var certificateFile: String?
        /// The file for a key if volley.yaml names none.
        public var keyFile = Simulators.standard.keyFile
        /// After how many seconds to end; nil to wait for Ctrl-C.
        public var seconds: Double?
        /// Files that list tokens, one per line: tokens that are no longer registered, and tokens that never existed.
        public var unregisteredFile: String?, badTokenFile: String?
        /// The most streams that a connection may have.
        public var streamLimit = 1000
        /// How long every answer is held back.
        public var latencyMilliseconds = 0
        /// Every n-th push gets this answer or fault; 0 for never.
        public var tooManyRequestsEvery = 0, unavailableEvery = 0, internalErrorEvery = 0, silentEvery = 0, resetEvery = 0
        /// Every n-th push is answered as by a gateway, or before its payload was read; 0 for never.
        public var gatewayEvery = 0, earlyAnswerEvery = 0
        /// After this many pushes a connection is ended cleanly, cut, or falls silent; 0 for never.
        public var goAwayEvery = 0, disconnectEvery = 0, silentAfter = 0
        /// The header retry-after of 429 and 503, in seconds; nil for none.
        public var retryAfterSeconds: Int?

        /// Creates the settings of a well-behaved simulator.
        public init() {}
    }

    /// Prints the address (with `--json` as one document), serves until Ctrl-C, then prints what the simulator saw.
    public static func run(_ settings: Settings, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let standIn = Simulators.standard
        try ResultFileCheck.check(
            settings.ledgerFile, option: "--ledger", what: "ledger", runsFolder: Project.catalog(options.project).place)
        var configuration = SimulatorConfiguration()
        configuration.port = settings.port
        configuration.ledgerFile = settings.ledgerFile
        configuration.faults = try faults(settings)
        configuration.certificate = try settings.certificateFile.map { try IssuedCertificate(file: $0) }
        var madeKey: SigningKey?
        configuration.keys = try trustedKeys(options, console)
        if configuration.keys.isEmpty {
            // Trust a key that exists, and never overwrite it: a service hands out a key only once.
            let key =
                FilePaths.exists(settings.keyFile)
                ? try SigningKey(file: settings.keyFile, KeyFileWords(of: PushServices.standard)) : SigningKey.generate()
            madeKey = key
            configuration.keys = [TrustedKey(keyID: standIn.keyID, teamID: standIn.teamID, key: key.verificationKey)]
        }
        let simulator = try standIn.start(configuration)
        try writeAuthority(simulator.certificateAuthorityPEM, to: settings.authorityFile)
        if let madeKey, !FilePaths.exists(settings.keyFile) {
            try FilePaths.create(settings.keyFile, bytes: Array(madeKey.pem.utf8), mode: 0o600)
        }
        let url = "https://\(configuration.certificate?.hostName ?? "localhost"):\(simulator.port)"
        let announcement = announcement(of: simulator, at: url, settings, hasOwnKey: madeKey != nil)
        options.isJSON ? try console.out(announcement.json) : try console.out(announcement.text)
        Interruption.process.waitForRequest(atMost: settings.seconds)
        let summary = simulator.stop()
        console.say(
            "Simulator: \(TextFormat.count(summary.requests)) requests, \(TextFormat.count(summary.acceptedTokens)) devices accepted.")
        for (reason, number) in summary.reasons.sorted(by: { $0.value > $1.value }) {
            console.say("  \(reason): \(TextFormat.count(number))")
        }
        return .done
    }

    /// Replaces the certificate of an earlier simulator, and nothing else.
    private static func writeAuthority(_ pem: String, to file: String) throws {
        if FilePaths.exists(file), !String(decoding: try FilePaths.read(file), as: UTF8.self).hasPrefix("-----BEGIN CERTIFICATE-----") {
            throw Diagnostic("the file exists and does not hold a certificate", file: file, remedy: "Name another one with --ca.")
        }
        try FilePaths.replace(file, bytes: Array(pem.utf8))
    }

    /// How to reach a simulator.
    private static func announcement(
        of simulator: any ServiceSimulator, at url: String, _ settings: Settings, hasOwnKey: Bool
    ) -> (json: JSONValue, text: String) {
        let authority = FilePaths.absolute(settings.authorityFile)
        let json = JSONValue.object(pairs: [
            ("url", .string(url)), ("port", .integer(Int64(simulator.port))), ("ca", .string(authority)),
            ("key", hasOwnKey ? .string(FilePaths.absolute(settings.keyFile)) : .null),
            ("ledger", settings.ledgerFile.map { .string(FilePaths.absolute($0)) } ?? .null),
        ])
        var lines = ["The simulator listens at \(url). In volley.yaml:", "", "    environment: {url: \"\(url)\", ca: \(authority)}"]
        if hasOwnKey {
            let key = FilePaths.absolute(settings.keyFile)
            lines.append("    key: {file: \(key), id: \(Simulators.standard.keyID), team: \(Simulators.standard.teamID)}")
        }
        return (json, (lines + ["", "Ctrl-C ends it."]).joined(separator: "\n"))
    }

    /// The keys of all apps in volley.yaml, so that the simulator recognises their pushes.
    private static func trustedKeys(_ options: CommonOptions, _ console: Console) throws -> [TrustedKey] {
        guard let project = try Project.find(with: options.project) else { return [] }
        return project.apps.compactMap { app in
            guard let reference = app.credential, let form = app.credentialForm, case .signingKey = form.kind,
                let file = reference[form.files.first], let keyID = reference[form.keyID], let issuer = reference[form.issuer]
            else { return nil }
            do {
                let key = try SigningKey(
                    file: FilePaths.resolve(file.value, besideFile: project.file), KeyFileWords(of: app.service))
                return TrustedKey(keyID: keyID.value, teamID: issuer.value, key: key.verificationKey)
            } catch {
                console.say("Pushes of '\(app.name.value)' will be refused: \(error)")
                return nil
            }
        }
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
        for (file, answer) in [
            (settings.unregisteredFile, Simulators.standard.gone),
            (settings.badTokenFile, Simulators.standard.unknown),
        ] {
            for token in try file.map({ try NameFile.read($0) }) ?? [] { faults.answers[token.lowercased()] = answer }
        }
        return faults
    }
}
