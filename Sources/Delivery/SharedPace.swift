public import Base
public import PushServices
import Synchronization

/// A pace that several senders of a process share: together they never push faster (`PaceArbiter`).
///
/// Each `Sender` with settings that name this pace takes part while it runs.
///
/// Several machines keep it together when each is given a part of it (`setPart`), by a coordinator
/// that adds up what they use (`used`):
/// 1. a machine takes a smaller part as soon as it is given, and tells what it uses from then on,
///    no sooner;
/// 2. no machine gets a larger part than the pace less the sum of what each of the others was given
///    or says that it uses, whichever is more.
///
/// Then no more leaves all of them than the pace within any of its intervals, for the reason that
/// `Pacer` states: seconds for `100/s`, minutes for `6000/min`, hours. Of a pace by minute or hour,
/// each machine keeps within any second to its part of that second, rounded up, and to one request
/// more where another pace held one back: together they may exceed the second's share by two for
/// each machine.
public final class SharedPace: Sendable {
    /// The limit for all members together.
    public let pace: Pace
    /// What it counts.
    public let unit: Batching.PaceUnit
    private let shares: Mutex<PaceArbiter>

    /// - Parameters:
    ///   - pace: the limit for all members together.
    ///   - unit: what it counts. Requests that have a single target each count the same either way,
    ///     and cost less as requests.
    ///   - spare: how many fewer leave in a second, so that what arrives late does not fill a
    ///     second beyond the pace.
    ///   - rampSeconds: after how many seconds the rate reaches the pace.
    public init(_ pace: Pace, counting unit: Batching.PaceUnit = .requests, spare: Int = 0, rampSeconds: Double = 0) {
        self.pace = pace
        self.unit = unit
        shares = Mutex(PaceArbiter(pace, counting: unit, spare: spare, rampSeconds: rampSeconds))
    }

    /// The part of the pace that may be used here, in each of its intervals; nil for all of it.
    public var part: Int? { shares.withLock { $0.part } }

    /// Lets only a part of the pace be used from now on. When this returns, no request leaves
    /// faster than that: those that left under a larger part are counted, and a larger part does
    /// not make up for what did not leave before. Senders that wait notice a larger part within
    /// half a second.
    /// - Parameter part: what leaves in each of the pace's intervals (of `6000/min`, 0 to 6000); 0
    ///   for nothing until another part is given, nil for all of the pace. Set one before the first
    ///   sender takes part: of what left earlier it is known only that it left.
    public func setPart(_ part: Int?) { shares.withLock { $0.setPart(part) } }

    /// What the other machines must leave to this one, in each of the pace's intervals: the larger
    /// of its part and of what has left within the last interval, as long as no larger part is
    /// given.
    public var used: Int { used(at: monotonicNanoseconds()) }

    func used(at nanoseconds: Int64) -> Int { shares.withLock { $0.used(at: nanoseconds) } }

    /// What has left here within the last of the pace's intervals, at most: all of the pace before
    /// a part was set.
    public var left: Int { shares.withLock { $0.left(at: monotonicNanoseconds()) } }

    /// The smallest part with which every request that senders had so far may leave: a request with
    /// several targets does not leave with a part that has no room for it within a second. From 1
    /// to the pace; it never falls.
    public var leastPart: Int { shares.withLock { $0.leastPart } }

    /// Adds a member.
    /// - Parameter weight: its part, in relation to those of the others.
    func join(weight: Double = 1) -> PaceParticipant {
        PaceParticipant(pace: self, member: shares.withLock { $0.join(weight: weight) })
    }

    fileprivate func withShares<Value: Sendable>(_ body: (inout PaceArbiter) -> Value) -> Value {
        shares.withLock { body(&$0) }
    }
}

/// A sender's part in a shared pace.
struct PaceParticipant: Sendable {
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
    /// - Parameters:
    ///   - count: what the request counts for: 1, or the number of its targets.
    ///   - heldNanoseconds: how long another pace has held it back.
    func take(_ count: Int = 1, at nanoseconds: Int64, heldNanoseconds: Int64 = 0) -> Bool {
        shared.withShares { $0.take(count, for: member, at: nanoseconds, heldNanoseconds: heldNanoseconds) }
    }

    /// Notes that another pace holds this sender back.
    func rest(until nanoseconds: Int64) { shared.withShares { $0.rest(member, until: nanoseconds) } }

    /// Lets the pace rise slowly again.
    func restartRamp() { shared.withShares { $0.restartRamp() } }

    /// Gives up the share: this sender has no more pushes.
    func leave() { shared.withShares { $0.leave(member) } }
}

/// A pace that a sender keeps together with others, and how much of it the sender gets.
public struct PaceAllotment: Sendable {
    /// The pace.
    public var pace: SharedPace
    /// Its part, in relation to those of the other senders.
    public var weight: Double

    /// A part; everybody's is the same unless weights differ.
    public init(of pace: SharedPace, weight: Double = 1) { (self.pace, self.weight) = (pace, weight) }
}
