import Workspace
import Audience
import Base
import Campaigns
import Cryptography
import PushServices
import Reports
import Runs
import Sending
public import Simulators

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
