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
    /// Whether each target of a request may have its own text; otherwise all have the same.
    public var hasOwnTexts: Bool
    /// What the service's own pace counts. Other paces count targets.
    public var paceUnit: PaceUnit

    /// - Parameter largestTargets: at least 1.
    public init(largestTargets: Int, hasOwnTexts: Bool, paceUnit: PaceUnit) {
        precondition(largestTargets >= 1, "a request has a target")
        self.largestTargets = largestTargets
        self.hasOwnTexts = hasOwnTexts
        self.paceUnit = paceUnit
    }

    /// Each request carries one push.
    public static let single = Batching(largestTargets: 1, hasOwnTexts: true, paceUnit: .requests)

    /// Whether the service's own pace counts requests for several targets, so that it does not say how many targets are reached.
    public var isPacedByCalls: Bool { paceUnit == .requests && largestTargets > 1 }
}

/// A push as the body of a request carries it.
public struct RequestPush: Sendable {
    /// The push's own id, derived from run and recipient.
    public var id: PushID
    /// The target's bytes.
    public var target: ArraySlice<UInt8>
    /// The rendered payload; the same for all pushes of a request where the service takes one text.
    public var payload: ArraySlice<UInt8>
    /// How often the service refused it under another name, where the service recognizes it by a name that follows from this and its id
    /// (`RepeatProtection.derived`); otherwise 0.
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
    /// The name that the service gave out for the request (`RepeatProtection.fetched`); nil for none.
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
