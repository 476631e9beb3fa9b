/// The servers of a service, and what people call them.
public struct EnvironmentForm: Sendable {
    /// The key below an app.
    public static let key = "environment"

    /// The service's own servers, the one that people's devices are at first.
    public let choices: [ServiceEnvironment]
    /// What to write for a word of other tools, in small letters: whole sentences.
    public let remedies: [String: String]
    /// The one in examples.
    public let example: String
    /// The address of a server that stands in for the service.
    public let serverExample: String

    /// The one with this name; nil when there is none.
    public func named(_ name: String) -> ServiceEnvironment? { choices.first { $0.name == name } }
}

/// One of a service's own servers.
public struct ServiceEnvironment: Hashable, Sendable {
    /// As volley.yaml and run files have it.
    public let name: String
    /// Which devices are there, where that is worth a word.
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
    public init(name: String, purpose: String? = nil, note: String? = nil, host: String, port: Int = 443, otherHosts: [String] = []) {
        self.name = name
        self.purpose = purpose
        self.note = note
        self.host = host
        self.port = port
        self.otherHosts = otherHosts
    }

    /// Whether a host is this server.
    public func isAt(_ host: String) -> Bool { host == self.host || otherHosts.contains(host) }
}
