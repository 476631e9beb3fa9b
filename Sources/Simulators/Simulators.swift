/// The stand-ins for push services. They do not use `PushServices`: the judge must not share tables with the code that it judges.
public enum Simulators {
    /// All stand-ins. This is the only place that lists them.
    public static let all = [StandIn.apns]

    /// The stand-in for the service of apps whose project does not name one.
    public static let standard = all[0]

    /// The stand-in for the service of a name; nil if there is none.
    public static func named(_ service: String) -> StandIn? { all.first { $0.service == service } }
}

/// A running simulator. Each service has its own type of simulator.
public protocol ServiceSimulator: Sendable {
    /// The port it listens on.
    var port: Int { get }
    /// The certificate that clients must trust, as PEM: the authority's, or the server's own if the configuration has one.
    var certificateAuthorityPEM: String { get }
    /// Closes all connections, finishes the ledger, and returns what the simulator saw.
    @discardableResult func stop() -> LedgerSummary
}

/// A kind of simulator, with its description for people.
public struct StandIn: Sendable {
    /// The name of the service that it stands in for.
    public let service: String
    /// The service's name in sentences.
    public let displayName: String
    /// How it treats credentials and targets, in whole sentences.
    public let rules: String
    /// The key ID and team ID of the key that it trusts when the project has no key.
    public let keyID: String, teamID: String
    /// The file that this key is written to.
    public let keyFile: String
    /// Its answers for targets that no longer exist, and for targets that never existed.
    public let gone: SimulatedAnswer, unknown: SimulatedAnswer
    /// Starts a simulator.
    /// - Throws: a `Diagnostic` if the port is in use, the ledger cannot be written, or no thread can be started.
    public let start: @Sendable (SimulatorConfiguration) throws -> any ServiceSimulator
}
