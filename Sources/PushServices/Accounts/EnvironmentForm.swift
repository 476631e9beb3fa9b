/// The servers of a service, and what people call them.
public struct EnvironmentForm: Sendable {
    /// The key below an app.
    public static let key = "environment"
    /// The key for the part of the world with the servers that an app uses, where a service has
    /// several.
    public static let regionKey = "region"

    /// The service's own servers. The first one is for people's devices.
    public let choices: [ServiceEnvironment]
    /// What to write instead of a word of other tools, by that word in lower-case letters: whole
    /// sentences.
    public let remedies: [String: String]
    /// The one that examples use.
    public let example: String
    /// The address of a server that replaces the service.
    public let serverExample: String
    /// The parts of the world in which the service has servers of its own, each with accounts of
    /// its own; the first one is meant where an app names none. Empty for a service that is in one
    /// place.
    public let regions: [ServiceRegion]

    /// The servers of a service.
    public init(
        choices: [ServiceEnvironment], remedies: [String: String], example: String, serverExample: String,
        regions: [ServiceRegion] = []
    ) {
        self.choices = choices
        self.remedies = remedies
        self.example = example
        self.serverExample = serverExample
        self.regions = regions
    }

    /// The region with this name; nil if no region has it.
    public func region(_ name: String) -> ServiceRegion? { regions.first { $0.name == name } }

    /// The environment with this name; nil if no environment has it.
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
    public private(set) var host: String
    /// Its port.
    public let port: Int
    /// Other names of the same server.
    public let otherHosts: [String]
    /// Servers that take the same pushes when this one does not answer, in the order in which they
    /// are tried.
    public private(set) var spareHosts: [String]
    /// The region that an app named; nil if it named none.
    public private(set) var region: String?

    /// A server.
    public init(
        name: String, reachesPeople: Bool = true, purpose: String? = nil, note: String? = nil, host: String,
        port: Int = 443,
        otherHosts: [String] = [], spareHosts: [String] = []
    ) {
        self.name = name
        self.reachesPeople = reachesPeople
        self.purpose = purpose
        self.note = note
        self.host = host
        self.port = port
        self.otherHosts = otherHosts
        self.spareHosts = spareHosts
    }

    /// Whether this server has this host name.
    public func isAt(_ host: String) -> Bool { host == self.host || otherHosts.contains(host) }

    /// The same in a region.
    public func at(_ region: ServiceRegion) -> ServiceEnvironment {
        var environment = self
        environment.region = region.name
        environment.host = region.host
        environment.spareHosts = region.spareHosts
        return environment
    }
}

/// A part of the world in which a service has servers of its own.
public struct ServiceRegion: Hashable, Sendable {
    /// The name in volley.yaml and run files.
    public let name: String
    /// The server.
    public let host: String
    /// Servers that take the same pushes when it does not answer.
    public let spareHosts: [String]

    /// A region.
    public init(name: String, host: String, spareHosts: [String] = []) {
        self.name = name
        self.host = host
        self.spareHosts = spareHosts
    }
}
