public import Base

/// How fast a service may be sent to where neither the app nor the campaign says it, and how slowly
/// that begins.
///
/// The rate rises in a straight line from `rampStart` of the pace to all of it. So it begins with
/// what takes no service by surprise, and with enough that a small campaign does not wait: at
/// 600,000 a minute the first second has about 250 pushes, and the first ten seconds have about
/// 10,000.
public struct ServicePace: Hashable, Sendable {
    /// The share of the pace with which a ramp begins.
    public static let rampStart = 1.0 / 60

    /// The pace.
    public let pace: Pace
    /// After how many seconds the rate reaches the pace; 0 for at once.
    public let rampSeconds: Double
    /// Whether the service refuses what comes faster, unless the app bought more. Then only a pace
    /// next to the service's own keys may be faster.
    public let isLimit: Bool

    /// A pace that is reached after a while.
    public init(_ pace: Pace, rampSeconds: Double, isLimit: Bool = false) {
        self.pace = pace
        self.rampSeconds = rampSeconds
        self.isLimit = isLimit
    }
}

/// The paces that the requests to a service keep at the same time, and what follows from them
/// together.
public struct RequestPaces: Hashable, Sendable {
    /// How many pushes a request carries.
    public let batching: Batching
    /// The slowest pace of those that count targets; nil for none.
    public private(set) var targets: Pace?
    /// The slowest pace of those that count requests for several targets; nil for none.
    public private(set) var calls: Pace?

    /// No pace.
    public init(_ batching: Batching) { self.batching = batching }

    /// Adds a pace; nil adds nothing. Where a request has one target, a pace of requests is one of
    /// targets.
    public mutating func keep(_ pace: Pace?, counting unit: Batching.PaceUnit) {
        guard unit == .requests, batching.largestTargets > 1 else { return targets = Pace.slower(targets, pace) }
        calls = Pace.slower(calls, pace)
    }

    /// Whether requests leave as fast as the service takes them.
    public var isEmpty: Bool { targets == nil && calls == nil }

    /// The most pushes that a request may carry, at least 1. They leave at one moment, so they are
    /// never more than may leave in a second. With a pace of requests, as many as let both paces be
    /// reached; otherwise a twentieth of a second's pushes.
    public var largestRequest: Int {
        guard let targets else { return batching.largestTargets }
        guard let calls else { return min(batching.largestTargets, targets.pushesAhead) }
        return max(1, min(batching.largestTargets, Int(targets.perSecond), targets.times(calls)))
    }

    /// The requests that a run holds ahead where a few must be filled in time, also if devices get
    /// several texts in turn.
    private static let callsAhead = 4

    /// How many pushes a run may claim or hold ahead (`Pace.pushesAhead`), so that its requests can
    /// be full; nil without a pace.
    public var pushesAhead: Int? {
        guard let calls else { return targets?.pushesAhead }
        guard let targets else { return calls.pushesAhead * batching.largestTargets }
        return largestRequest == 1 ? targets.pushesAhead : max(targets.pushesAhead, Self.callsAhead * largestRequest)
    }

    /// The pushes of a second, if requests are full; nil without a pace.
    public var pushesPerSecond: Double? {
        let byCalls = calls.map { $0.perSecond * Double(largestRequest) }
        return targets.map { min($0.perSecond, byCalls ?? .infinity) } ?? byCalls
    }

    /// How long requests take at the paces, in seconds; nil without a pace.
    /// - Parameters:
    ///   - pushes: all of them.
    ///   - requests: how many requests carry them.
    public func seconds(pushes: Int, requests: Int) -> Double? {
        guard !isEmpty else { return nil }
        return max(secondsOfTargets(pushes, requests), secondsOfCalls(requests))
    }

    /// Whether it is the number of requests that makes them take as long as they do. That a request
    /// has a whole number of pushes costs a little more calls than there would have to be, which is
    /// no reason.
    public func isBoundByCalls(pushes: Int, requests: Int) -> Bool {
        calls != nil && secondsOfCalls(requests) > 1.15 * secondsOfTargets(pushes, requests)
    }

    private func secondsOfCalls(_ requests: Int) -> Double { calls.map { Double(requests) / $0.perSecond } ?? 0 }

    /// Requests are not divided to fill a second.
    private func secondsOfTargets(_ pushes: Int, _ requests: Int) -> Double {
        guard let targets else { return 0 }
        let size = min(largestRequest, (pushes + max(1, requests) - 1) / max(1, requests))
        guard size > 1 else { return Double(pushes) / targets.perSecond }
        return Double(pushes) / Double(Int(targets.perSecond) / size * size)
    }
}
