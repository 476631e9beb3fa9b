import ArgumentParser
import Base
import Commands
import Simulators

struct Push: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send one push and show the service's answer: the test tool.",
        discussion: """
            Example: volley push --app shop --token 7276… --title Hello --body 'Is this thing on?'

            Without volley.yaml: volley push --topic com.example.shop --key \(ServiceWords.keyFile) --team DEF123GHIJ --environment sandbox --token 7276… \
            --title Hello
            """)

    @OptionGroup(title: "Where to") var target: PushTargetOptions
    @OptionGroup(title: "What") var message: PushMessageOptions

    @Option(name: .long, help: "The \(ServiceWords.target).")
    var token: String

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try PushCommand.run(
                target.target, token: token, message: message.message, options: shared.common(json: json),
                console: console)
        }
    }
}

/// The options for the destination and the credentials of a single push.
struct PushTargetOptions: ParsableArguments {
    @Option(name: .long, help: "The app's name in volley.yaml; may be omitted if there is only one.")
    var app: String?

    @Option(name: .long, help: "One of the app's services; may be omitted if the target shows which.")
    var service: String?

    @Option(name: .long, help: "\(ServiceWords.environments), instead of the app's.")
    var environment: String?

    @Option(name: .long, help: "The bundle id, instead of the app's.")
    var topic: String?

    @Option(
        name: .long, help: "A .p8 key, instead of the app's.", completion: .file(extensions: ["p8"]),
        transform: FilePaths.given)
    var key: String?

    @Option(name: .long, help: "The key's id; otherwise the one in the name \(ServiceWords.keyFileForm).")
    var keyID: String?

    @Option(name: .long, help: "The team that the key belongs to.")
    var team: String?

    @Option(
        name: .long, help: "A .p12, or a PEM with certificate and key, instead of the app's.",
        completion: .file(extensions: ["p12", "pem"]), transform: FilePaths.given)
    var certificate: String?

    @Option(name: .long, help: "The environment variable that holds the certificate's passphrase.")
    var passphraseEnv: String?

    var target: PushCommand.Target {
        var target = PushCommand.Target()
        (target.app, target.service, target.environment, target.topic) = (app, service, environment, topic)
        (target.keyFile, target.keyID, target.teamID) = (key, keyID, team)
        (target.certificateFile, target.passphraseVariable) = (certificate, passphraseEnv)
        return target
    }
}

/// The options for the content of a single push.
struct PushMessageOptions: ParsableArguments {
    @Option(name: .long, help: "The alert's title.")
    var title: String?

    @Option(name: .long, help: "The alert's subtitle.")
    var subtitle: String?

    @Option(name: .long, help: "The alert's text.")
    var body: String?

    @Option(name: .long, help: "A sound, for example `default`.")
    var sound: String?

    @Option(name: .long, help: "The number on the app's icon; 0 clears it.")
    var badge: String?

    @Flag(name: .long, help: "A background push that shows nothing.")
    var silent = false

    @Option(
        name: .long, help: "The whole payload, from a JSON or YAML file.",
        completion: .file(extensions: ["json", "yaml", "yml"]),
        transform: FilePaths.given)
    var payload: String?

    @Option(
        name: .long, help: "\(ServiceWords.pushType), when the payload is for another one than alert or background.")
    var pushType: PushTypeName?

    @Option(name: .long, help: "high (10), normal (5) or low (1); otherwise high, and normal for a background push.")
    var priority: PriorityName?

    @Option(name: .long, help: "\(ServiceWords.collapseID).")
    var collapse: String?

    @Option(name: .long, help: "When it expires: 4h, a date and time, or 0 for now or never.")
    var expires: String?

    var message: PushCommand.Message {
        var message = PushCommand.Message()
        (message.title, message.subtitle, message.body) = (title, subtitle, body)
        (message.sound, message.badge, message.isSilent) = (sound, badge, silent)
        (message.payloadFile, message.collapseID, message.expires) = (payload, collapse, expires)
        (message.pushTypeName, message.priorityName) = (pushType?.rawValue, priority?.rawValue)
        return message
    }
}

/// The push types that exist.
enum PushTypeName: String, CaseIterable, ExpressibleByArgument {
    case alert, background, voip, complication, fileprovider, location, liveactivity, pushtotalk, mdm, widgets, controls
}

enum PriorityName: String, CaseIterable, ExpressibleByArgument { case high, normal, low }

struct Notify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Test whether notices arrive at every webhook and command that volley.yaml names.",
        discussion: """
            Sends the event `test` once to each webhook and each command of `notices`, whatever other events it is for, and shows each \
            result. Nothing is sent to any device. Exit code 2 if a notice did not arrive.
            """)

    @Argument(help: "Only webhooks and commands that get notices about this app's runs.")
    var app: String?

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try NotifyCommand.run(app: app, options: shared.common(json: json), console: console)
        }
    }
}

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find out what is wrong on the way to the push service, without sending to any device.",
        discussion: """
            Looks at key or certificate, proxy, name, connection, TLS, HTTP/2 and clock, and asks the service with a token that no device has whether it takes \
            the credentials and the topic. Each step is ok, failed or skipped, with what to do.
            """)

    @Argument(help: "The app's name in volley.yaml; all apps if omitted.")
    var app: String?

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try DoctorCommand.run(app: app, options: shared.common(json: json), console: console)
        }
    }
}

struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the JSON Schema of a campaign file, for editors.",
        discussion: """
            Editors with a YAML language server complete keys and mark mistakes in files that begin with \
            `# yaml-language-server: $schema=.volley/campaign.schema.json`. `volley init` writes that line, and the schemas into the folder .volley; \
            `volley schema > .volley/campaign.schema.json` renews them.
            """)

    @Flag(name: .long, help: "Print the schema of volley.yaml instead.")
    var project = false

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try SchemaCommand.run(project ? .project : .campaign, console: console) }
    }
}

struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the simulator of a push service: as strict as the service, on this machine only.",
        discussion: Simulators.all.map { "\($0.displayName): \($0.rules)" }.joined(separator: "\n\n"))

    @Option(name: .long, help: "The service: \(ServiceWords.standIns).")
    var service = ServiceWords.standIn.service

    @Option(name: .long, help: "The port; 0 picks a free one.")
    var port = 2197

    @Option(
        name: .long, help: "A file that gets a line of JSON per request.", completion: .file(),
        transform: FilePaths.given)
    var ledger: String?

    @Option(
        name: .long, help: "Where to write the certificate that clients must trust. (default: simulator-ca.pem)",
        completion: .file(),
        transform: FilePaths.given)
    var ca = "simulator-ca.pem"

    @Option(
        name: .long,
        help: "The server's certificate with its key, PEM. Without it, a new one is made for localhost at every start.",
        completion: .file(), transform: FilePaths.given)
    var certificate: String?

    @Option(
        name: .long,
        help:
            "Where to write a key or service account if volley.yaml names none. (default: \(ServiceWords.standInFiles))",
        completion: .file(), transform: FilePaths.given)
    var key: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("Exit after this many seconds.", valueName: "seconds"))
    var seconds: Double?

    @Option(
        name: .long, help: "A file of tokens that are answered \(ServiceWords.standInAnswers(\.gone)).",
        completion: .file(),
        transform: FilePaths.given)
    var unregistered: String?

    @Option(
        name: .long, help: "A file of tokens that are answered \(ServiceWords.standInAnswers(\.unknown)).",
        completion: .file(),
        transform: FilePaths.given)
    var badTokens: String?

    @Option(name: .long, help: "Streams that a connection may have, after its first accepted push.")
    var streamLimit = 1000

    @Option(name: .long, help: "Hold back every answer for this many milliseconds.")
    var latency = 0

    @Option(name: .long, help: "Answer every n-th push 429.")
    var tooManyRequestsEvery = 0

    @Option(name: .long, help: "Answer every n-th push 503.")
    var unavailableEvery = 0

    @Option(name: .long, help: "Answer every n-th push 500.")
    var internalErrorEvery = 0

    @Option(name: .long, help: "Accept every n-th push and never answer it.")
    var silentEvery = 0

    @Option(name: .long, help: "Reset the stream of every n-th push with INTERNAL_ERROR.")
    var resetEvery = 0

    @Option(name: .long, help: "Answer every n-th push 502, 503 or 504 as a gateway does; half of these are accepted.")
    var gatewayEvery = 0

    @Option(name: .long, help: "Answer every n-th push before reading its payload.")
    var earlyAnswerEvery = 0

    @Option(name: .long, help: "End a connection with GOAWAY after n pushes.")
    var goAwayEvery = 0

    @Option(name: .long, help: "Cut a connection after n pushes.")
    var disconnectEvery = 0

    @Option(name: .long, help: "Leave a connection open but dead after n pushes.")
    var silentAfter = 0

    @Option(name: .long, help: "Send retry-after with 429 and 503.")
    var retryAfter: Int?

    @Option(
        name: .long, parsing: .unconditional,
        help:
            "How far the simulator's clock, which judges signatures, is ahead of this machine's; below 0 if it is behind."
    )
    var clockAhead: Int?

    @Option(
        name: .long,
        help: "The seconds for which an access token is valid, of services that give them out. (default: 3600)")
    var tokenSeconds: Int?

    @Option(
        name: .long,
        help:
            "The details of refusals by \(ServiceWords.vagueStandIns), which may be missing: both, one or none. (default: both)"
    )
    var errorDetails: String?

    @Option(
        name: .long,
        help: "What \(ServiceWords.limitedStandIns) takes in a minute before it answers 429; 0 for as much as usual.")
    var limitPerMinute = 0

    @Option(name: .long, help: "The messages after which an access token is revoked; 0 for never.")
    var messagesPerToken = 0

    @Option(
        name: .long,
        help:
            "The pushes to everyone that \(ServiceWords.audienceStandIns) takes in a day, with those to tags where the service counts them together. (default: what the service takes)"
    )
    var broadcastsPerDay: Int?

    @Option(
        name: .long,
        help:
            "The pushes to everyone and to tags that \(ServiceWords.hastyStandIns) takes in a minute; 0 for any number. (default: 5)"
    )
    var broadcastsPerMinute: Int?

    @Flag(
        name: .long,
        help: "Refuse pushes to tags, as \(ServiceWords.audienceStandIns) does for apps that have not paid.")
    var noTags = false

    @Option(name: .long, help: "The lists after which \(ServiceWords.listingStandIns) forgets their text; 0 for never.")
    var listsPerTask = 0

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes a number from 0 to 65535.") }
        guard Simulators.named(service) != nil else {
            throw ValidationError("There is no simulator for '\(service)'. --service takes \(ServiceWords.standIns).")
        }
        guard tokenSeconds ?? 1 >= 1 else { throw ValidationError("--token-seconds takes 1 or more.") }
        guard errorDetails.map({ RefusalDetails(rawValue: $0) != nil }) ?? true else {
            throw ValidationError("--error-details takes both, one or none.")
        }
        guard Simulators.named(service)?.givesOutTokens == true || !hasIssuerOptions else {
            let services = Simulators.all.filter(\.givesOutTokens).map { "--service \($0.service)" }.joined(
                separator: " and ")
            throw ValidationError("--token-seconds and --messages-per-token are for \(services).")
        }
        guard Simulators.named(service)?.mayLackDetails == true || errorDetails == nil else {
            throw ValidationError("--error-details is for \(ServiceWords.vagueStandIns).")
        }
        guard Simulators.named(service)?.isLimited == true || limitPerMinute == 0 else {
            throw ValidationError("--limit-per-minute is for \(ServiceWords.limitedStandIns).")
        }
        guard Simulators.named(service)?.hasOwnAudiences == true || broadcastsPerDay == nil && !noTags else {
            throw ValidationError("--broadcasts-per-day and --no-tags are for \(ServiceWords.audienceStandIns).")
        }
        guard broadcastsPerDay ?? 0 >= 0 else { throw ValidationError("--broadcasts-per-day takes 0 or more.") }
        guard Simulators.named(service)?.limitsBroadcastsPerMinute == true || broadcastsPerMinute == nil else {
            throw ValidationError("--broadcasts-per-minute is for \(ServiceWords.hastyStandIns).")
        }
        guard broadcastsPerMinute ?? 0 >= 0 else { throw ValidationError("--broadcasts-per-minute takes 0 or more.") }
        guard Simulators.named(service)?.keepsTasks == true || listsPerTask == 0 else {
            throw ValidationError("--lists-per-task is for \(ServiceWords.listingStandIns).")
        }
        // More than a century is a slip, and may be more than a timestamp holds.
        guard abs(clockAhead.map(Double.init) ?? 0) <= 4e9 else {
            throw ValidationError("--clock-ahead takes seconds, up to 4000000000.")
        }
        // A clock never reaches more, or a value that is not a number.
        guard (0...4e9).contains(seconds ?? 0) else { throw ValidationError("--for takes seconds, up to 4000000000.") }
        guard streamLimit >= 1 else { throw ValidationError("--stream-limit takes 1 or more.") }
        let counts = [
            latency, tooManyRequestsEvery, unavailableEvery, internalErrorEvery, silentEvery, resetEvery, goAwayEvery,
            disconnectEvery,
            silentAfter, gatewayEvery, earlyAnswerEvery, limitPerMinute, messagesPerToken, listsPerTask,
        ]
        guard counts.allSatisfy({ $0 >= 0 }) else { throw ValidationError("Counts and times must be 0 or more.") }
    }

    /// Whether an option is given that only services with access tokens have.
    private var hasIssuerOptions: Bool { tokenSeconds != nil || messagesPerToken != 0 }

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            try SimulateCommand.run(settings, options: shared.common(json: json), console: console)
        }
    }

    private var settings: SimulateCommand.Settings {
        var settings = SimulateCommand.Settings()
        settings.service = Simulators.named(service) ?? settings.service
        settings.clockAheadSeconds = clockAhead
        (settings.tokenSeconds, settings.errorDetails) = (tokenSeconds, errorDetails.flatMap(RefusalDetails.init))
        (settings.messagesPerMinute, settings.messagesPerToken) = (limitPerMinute, messagesPerToken)
        (settings.broadcastsPerDay, settings.broadcastsPerMinute, settings.takesTags) = (
            broadcastsPerDay, broadcastsPerMinute, !noTags
        )
        settings.listsPerTask = listsPerTask
        (settings.port, settings.ledgerFile, settings.authorityFile, settings.keyFile) = (port, ledger, ca, key)
        (settings.certificateFile, settings.seconds) = (certificate, seconds)
        (settings.unregisteredFile, settings.badTokenFile) = (unregistered, badTokens)
        (settings.streamLimit, settings.latencyMilliseconds, settings.retryAfterSeconds) = (
            streamLimit, latency, retryAfter
        )
        (settings.tooManyRequestsEvery, settings.unavailableEvery) = (tooManyRequestsEvery, unavailableEvery)
        (settings.internalErrorEvery, settings.silentEvery) = (internalErrorEvery, silentEvery)
        (settings.resetEvery, settings.goAwayEvery) = (resetEvery, goAwayEvery)
        (settings.gatewayEvery, settings.earlyAnswerEvery) = (gatewayEvery, earlyAnswerEvery)
        (settings.disconnectEvery, settings.silentAfter) = (disconnectEvery, silentAfter)
        return settings
    }
}
