/// The stand-ins for push services. They know nothing of `PushServices`: who judges must not share the tables of who is judged.
public enum Simulators {
    /// Each of them: the one place that names them all.
    public static let all = [StandIn.apns]

    /// The one for the service that an app uses whose project names none.
    public static let standard = all[0]

    /// The one for the service of that name; nil when there is none.
    public static func named(_ service: String) -> StandIn? { all.first { $0.service == service } }
}

/// A simulator that runs. A protocol, as each service has one of its own.
public protocol ServiceSimulator: Sendable {
    /// The port it listens on.
    var port: Int { get }
    /// What clients are to trust, PEM: the authority's certificate, or the server's own when the configuration brought one.
    var certificateAuthorityPEM: String { get }
    /// Closes all connections, writes the ledger to its end, and says what it saw.
    @discardableResult func stop() -> LedgerSummary
}

/// A kind of simulator, and what people are told of it.
public struct StandIn: Sendable {
    /// The name of the service that it stands in for.
    public let service: String
    /// The service's name in sentences.
    public let displayName: String
    /// What it makes of credentials and targets: whole sentences.
    public let rules: String
    /// Which key it trusts when it is given none.
    public let keyID: String, teamID: String
    /// Where that key is written.
    public let keyFile: String
    /// What it says of targets that are gone, and of those that never were.
    public let gone: SimulatedAnswer, unknown: SimulatedAnswer
    /// Starts one.
    /// - Throws: a `Diagnostic`: the port is taken, the ledger cannot be written, there is no thread for it.
    public let start: @Sendable (SimulatorConfiguration) throws -> any ServiceSimulator
}
