public import Base

/// What keeps a service from delivering a push twice if a request must be sent again because its
/// answer was lost.
public enum RepeatProtection: Sendable {
    /// Nothing that can be relied on: whether a device has its push is then unknown.
    case none
    /// Each push has a name that follows from its id and its generation (`RequestPush`). The
    /// generation rises after a refusal, because the service may take no name twice; a lost answer
    /// keeps it.
    ///
    /// `windowSeconds`: how long the service recognizes a name at least.
    case derived(windowSeconds: Double)
    /// Each request has a name that the service gave out for it. Sent again under this name, and
    /// with the same targets, it gets the answer of the first time. The service takes such a
    /// request as a whole, or refuses it as a whole: if it took only a part, there would be no safe
    /// way to divide a request in doubt.
    case fetched(FetchedNames)
}

/// How names of requests are fetched from a service: GET, with the same credential as pushes.
public struct FetchedNames: Sendable {
    /// What the service calls a name.
    public let noun: String
    /// The path, with its query, that gives out this many names.
    public let path: @Sendable (_ count: Int) -> String
    /// The most names at a time, at least 1.
    public let mostAtATime: Int
    /// How long the service remembers a name, from when it gave it out.
    public let lifetimeSeconds: Double
    /// Reads the names from the body of an answer with status 200; nil if it holds none.
    public let read: @Sendable (_ body: JSONValue) -> [String]?

    /// How names are fetched.
    /// - Parameter mostAtATime: at least 1.
    public init(
        noun: String = "name", mostAtATime: Int, lifetimeSeconds: Double,
        path: @escaping @Sendable (_ count: Int) -> String,
        read: @escaping @Sendable (_ body: JSONValue) -> [String]?
    ) {
        precondition(mostAtATime >= 1, "a service gives out a name at a time at least")
        self.noun = noun
        self.mostAtATime = mostAtATime
        self.lifetimeSeconds = lifetimeSeconds
        self.path = path
        self.read = read
    }

    /// How long a name is used: clocks differ, and requests are sent again for a while.
    public var usableSeconds: Double { lifetimeSeconds * 23 / 24 }
}
