/// The servers of a service, and what people call them.
public struct EnvironmentForm: Sendable {
    /// The key below an app.
    public static let key = "environment"

    /// The service's own servers. The first one is for people's devices.
    public let choices: [ServiceEnvironment]
    /// What to write instead of a word of other tools, by that word in lower-case letters: whole sentences.
    public let remedies: [String: String]
    /// The one that examples use.
    public let example: String
    /// The address of a server that replaces the service.
    public let serverExample: String

    /// The environment with this name; nil if there is none.
    public func named(_ name: String) -> ServiceEnvironment? { choices.first { $0.name == name } }
}

/// One of a service's own servers.
public struct ServiceEnvironment: Hashable, Sendable {
    /// The name in volley.yaml and run files.
    public let name: String
    /// Whether its pushes reach the devices of people rather than those of developers.
    public let reachesPeople: Bool
    /// Which devices use it, if that needs to be said.
    public let purpose: String?
    /// The same for editors.
    public let note: String?
    /// The server.
    public let host: String
    /// Its port.
    public let port: Int
    /// Other names of the same server.
    public let otherHosts: [String]

    /// A server.
    public init(
        name: String, reachesPeople: Bool = true, purpose: String? = nil, note: String? = nil, host: String, port: Int = 443,
        otherHosts: [String] = []
    ) {
        self.name = name
        self.reachesPeople = reachesPeople
        self.purpose = purpose
        self.note = note
        self.host = host
        self.port = port
        self.otherHosts = otherHosts
    }

    /// Whether this server has this host name.
    public func isAt(_ host: String) -> Bool { host == self.host || otherHosts.contains(host) }
}
