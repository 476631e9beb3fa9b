public import Base

/// How many pushes a request to a service carries, and what a pace counts there.
public struct Batching: Hashable, Sendable {
    /// What a pace limits.
    public enum PaceUnit: Hashable, Sendable {
        /// Requests, however many targets each has (JPush: 600 a minute).
        case requests
        /// Targets, however many requests carry them (RongCloud: 100 a second).
        case targets
    }

    /// The most targets that a request may have, at least 1.
    public var largestTargets: Int
    /// The most targets that a request may have if their texts differ: `largestTargets` where each
    /// may have its own text, and otherwise 1, unless the service has two kinds of requests
    /// (`KeptTexts`).
    public var largestWithOwnTexts: Int
    /// Whether each target of a request may have its own text; otherwise all have the same.
    public var hasOwnTexts: Bool
    /// What the service's own pace counts. Other paces count targets.
    public var paceUnit: PaceUnit

    /// - Parameters:
    ///   - largestTargets: at least 1.
    ///   - largestWithOwnTexts: where requests with one text may have more targets: the most of
    ///     those with several, at least 1.
    public init(largestTargets: Int, hasOwnTexts: Bool, paceUnit: PaceUnit, largestWithOwnTexts: Int? = nil) {
        precondition(largestTargets >= 1 && largestWithOwnTexts ?? 1 >= 1, "a request has a target")
        self.largestTargets = largestTargets
        self.largestWithOwnTexts = largestWithOwnTexts ?? (hasOwnTexts ? largestTargets : 1)
        self.hasOwnTexts = hasOwnTexts
        self.paceUnit = paceUnit
    }

    /// Each request carries one push.
    public static let single = Batching(largestTargets: 1, hasOwnTexts: true, paceUnit: .requests)

    /// Whether the service's own pace counts requests for several targets, so that it does not say
    /// how many targets are reached.
    public var isPacedByCalls: Bool { paceUnit == .requests && largestTargets > 1 }

    /// Whether the service has two kinds of requests: those that name a text that it keeps, and
    /// those that hold the texts of their targets.
    public var keepsTexts: Bool { !hasOwnTexts && largestWithOwnTexts > 1 }

    /// Whether a request with this many targets names a text that the service keeps.
    public func namesText(targets: Int) -> Bool { keepsTexts && targets > largestWithOwnTexts }
}

/// A push as the body of a request carries it.
public struct RequestPush: Sendable {
    /// The push's own id, derived from run and recipient.
    public var id: PushID
    /// The target's bytes.
    public var target: ArraySlice<UInt8>
    /// The rendered payload; the same for all pushes of a request where the service takes one text.
    public var payload: ArraySlice<UInt8>
    /// How often the service refused it under another name, where the service recognizes it by a
    /// name that follows from this and its id (`RepeatProtection.derived`); otherwise 0.
    public var generation: Int

    /// A push of a request.
    public init(id: PushID, target: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, generation: Int = 0) {
        self.id = id
        self.target = target
        self.payload = payload
        self.generation = generation
    }
}

/// The pushes that a request carries, in their order.
public struct RequestCall: RandomAccessCollection, Sendable {
    /// The pushes.
    public var pushes: [RequestPush]
    /// The name that the service gave out for the request (`RepeatProtection.fetched`), or for its
    /// text (`KeptTexts`); nil for none.
    public var name: String?

    /// A request.
    public init(_ pushes: [RequestPush], name: String? = nil) {
        self.pushes = pushes
        self.name = name
    }

    /// The first place.
    public var startIndex: Int { 0 }
    /// The place after the last push.
    public var endIndex: Int { pushes.count }
    /// The push at a place.
    public subscript(position: Int) -> RequestPush { pushes[position] }
}

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
