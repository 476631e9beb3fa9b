public import Base
public import PushServices
import Synchronization

/// A pace that several senders of a process share: together they never push faster (`PaceShares`).
///
/// Each `Sender` whose settings name this pace takes part while it runs.
public final class SharedPace: Sendable {
    /// The limit for all members together.
    public let pace: Pace
    /// What it counts.
    public let unit: Batching.PaceUnit
    private let shares: Mutex<PaceShares>

    /// - Parameters:
    ///   - pace: the limit for all members together.
    ///   - unit: what it counts. Requests that have a single target each count the same either way, and cost less as requests.
    ///   - spare: how many fewer leave in a second, so that what arrives late does not fill a second beyond the pace.
    ///   - rampSeconds: after how many seconds the rate reaches the pace.
    public init(_ pace: Pace, counting unit: Batching.PaceUnit = .requests, spare: Int = 0, rampSeconds: Double = 0) {
        self.pace = pace
        self.unit = unit
        shares = Mutex(PaceShares(pace, counting: unit, spare: spare, rampSeconds: rampSeconds))
    }

    /// Adds a member.
    /// - Parameter weight: its part, in relation to those of the others.
    func join(weight: Double = 1) -> PaceShare { PaceShare(pace: self, member: shares.withLock { $0.join(weight: weight) }) }

    fileprivate func withShares<Value: Sendable>(_ body: (inout PaceShares) -> Value) -> Value { shares.withLock { body(&$0) } }
}

/// A sender's part in a shared pace.
struct PaceShare: Sendable {
    private let shared: SharedPace
    private let member: Int

    fileprivate init(pace: SharedPace, member: Int) {
        shared = pace
        self.member = member
    }

    /// What the pace counts.
    var unit: Batching.PaceUnit { shared.unit }

    /// When the next request may leave, in monotonic nanoseconds; nil if at once.
    var nextTime: Int64? { shared.withShares { $0.nextTime(for: member) } }

    /// Returns whether a request may leave now. If not, this sender waits for it.
    /// - Parameter count: what the request counts for: 1, or the number of its targets.
    func mayTake(_ count: Int, at nanoseconds: Int64) -> Bool {
        shared.withShares { $0.mayTake(count, for: member, at: nanoseconds) }
    }

    /// Returns whether a request may leave now, and counts it if so.
    /// - Parameter count: what the request counts for: 1, or the number of its targets.
    func take(_ count: Int = 1, at nanoseconds: Int64) -> Bool { shared.withShares { $0.take(count, for: member, at: nanoseconds) } }

    /// Lets the pace rise slowly again.
    func restartRamp() { shared.withShares { $0.restartRamp() } }

    /// Gives up the share: this sender has no more pushes.
    func leave() { shared.withShares { $0.leave(member) } }
}

/// A pace that a sender keeps together with others, and how much of it the sender gets.
public struct SharedPart: Sendable {
    /// The pace.
    public var pace: SharedPace
    /// Its part, in relation to those of the other senders.
    public var weight: Double

    /// A part; everybody's is the same unless weights differ.
    public init(of pace: SharedPace, weight: Double = 1) { (self.pace, self.weight) = (pace, weight) }
}
