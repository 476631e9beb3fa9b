public import Base

/// The stand-ins for push services. They do not use `PushServices`: the judge must not share tables
/// with the code that it judges.
public enum Simulators {
    /// All stand-ins. This is the only place that lists them.
    public static let all = [StandIn.apns, .fcm, .getui, .jpush, .rongcloud]

    /// The stand-in for the service of apps when their project does not name one.
    public static let standard = all[0]

    /// The stand-in for the service with this name; nil if no service has it.
    public static func named(_ service: String) -> StandIn? { all.first { $0.service == service } }
}

/// What a sender without a credential of its own shows a stand-in.
public enum StandInCredential: Sendable {
    /// A key that signs provider tokens, with its key ID and team ID.
    case signingKey(keyID: String, teamID: String)
    /// A service account for a project.
    case serviceAccount(project: String)
    /// A secret text for an app, with the public names that belong to it: all by their keys in
    /// volley.yaml, in the order of the account.
    case secret(app: StandInName, names: [StandInName], key: String)
}

/// A public name of an app that exists at a stand-in.
public struct StandInName: Hashable, Sendable {
    /// Its key in volley.yaml.
    public let key: String
    /// The name.
    public let value: String

    /// A name.
    public init(_ key: String, _ value: String) {
        self.key = key
        self.value = value
    }
}

/// A kind of simulator, with its description for people.
public struct StandIn: Sendable {
    /// The name of the service that it stands in for.
    public let service: String
    /// The service's name in sentences.
    public let displayName: String
    /// How it treats credentials and targets, in whole sentences.
    public let rules: String
    /// The credential that it trusts when the project has none.
    public let credential: StandInCredential
    /// The file that this credential is written to.
    public let keyFile: String
    /// Whether targets that differ only in upper and lower case are the same.
    public let ignoresCase: Bool
    /// Its answers for targets that no longer exist, and for targets that never existed; nil for a
    /// service that never says so.
    public let gone: SimulatedAnswer?, unknown: SimulatedAnswer?
    /// Whether it counts what it takes in a minute, and may be told how much
    /// (`IssuerSettings.messagesPerMinute`).
    public var isLimited = false
    /// Whether its refusals have details that may be missing (`IssuerSettings.errorDetails`).
    public var mayLackDetails = false
    /// Whether it keeps audiences: tags, and everyone (`SimulatorConfiguration.takesTags`,
    /// `broadcastsPerDay`).
    public var hasOwnAudiences = false
    /// Whether it limits pushes to everyone and to tags in a minute
    /// (`SimulatorConfiguration.broadcastsPerMinute`).
    public var limitsBroadcastsPerMinute = false
    /// Whether it gives out tokens for a time.
    public var givesOutTokens = false
    /// Whether it keeps texts of lists, and may be told when to forget them
    /// (`IssuerSettings.listsPerTask`).
    public var keepsTasks = false
    /// Whether its limit of streams rises with the first accepted push, a connection ends after
    /// many refusals, and clients may show certificates, as at APNs alone.
    var guardsConnections = false
    /// Makes the rules for a server at a port. They belong to the server's thread.
    let makeRules: @Sendable (_ configuration: SimulatorConfiguration, _ port: Int) -> sending any ServiceRules

    /// Makes a certificate authority and a server certificate unless the configuration has one,
    /// binds the port and starts serving.
    /// - Throws: a `Diagnostic` if the port is in use, the ledger cannot be written, or no thread
    ///   can be started.
    public func start(_ configuration: SimulatorConfiguration) throws(Diagnostic) -> ServiceSimulator {
        var configuration = configuration
        if !guardsConnections {
            configuration.faults.firstStreamLimit = configuration.faults.streamLimit
            configuration.faults.rejectionsBeforeGoAway = 0
            configuration.acceptsClientCertificates = false
        }
        let settled = configuration
        return try ServiceSimulator(settled) { makeRules(settled, $0) }
    }

    /// The key ID and team ID of the signing key that it trusts; empty if it trusts another kind of
    /// credential.
    public var keyID: String { signingKeyNames.keyID }
    /// See `keyID`.
    public var teamID: String { signingKeyNames.teamID }

    private var signingKeyNames: (keyID: String, teamID: String) {
        if case .signingKey(let keyID, let teamID) = credential { (keyID, teamID) } else { ("", "") }
    }
}
