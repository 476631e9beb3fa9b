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

/// Decides which of several senders may push next when they keep one pace together: a value without
/// a clock.
///
/// All of them take from one `Pacer`, so that together they are never faster, whichever of them
/// come and go: what a sender used up stays used up until its second is over, and only then do the
/// others get it. While several wait, one that has had less of its part goes first. So each gets
/// its part, and what one does not use, because it is slower or has nothing left, goes to the
/// others by their parts.
struct PaceArbiter {
    private struct Member {
        /// Its part, in relation to those of the others.
        var weight: Double
        /// What it has taken, divided by its weight.
        var taken = 0.0
        /// When it last asked to push.
        var askedAt = Int64.min
        /// What its last request counts for if that was turned down; otherwise 0.
        var waitsFor = 0
        /// When it may ask again.
        var returnsAt = Int64.min

        /// Whether it still takes part: it asked, or was due to ask again, only a moment ago.
        func isPresent(at nanoseconds: Int64) -> Bool {
            askedAt > .min && nanoseconds - max(askedAt, returnsAt) <= PaceArbiter.timeoutNanoseconds
        }
    }

    /// A loop that waits for its turn sleeps until it may try again. One that is later than this
    /// loses its turn.
    private static let timeoutNanoseconds: Int64 = 60_000_000
    /// A member that waits for a larger part of the pace tries again after this
    /// (`SenderLoop.longestSleep`).
    private static let longestRestNanoseconds: Int64 = 500_000_000
    /// A member that gave way to another tries again after this.
    private static let yieldNanoseconds: Int64 = 1_000_000
    private static let burstSeconds = 0.02

    private var pacer: Pacer
    private var members: [Int: Member] = [:]
    private var joined = 0
    /// What the largest request so far counted for.
    private var largestAsked = 1
    /// How many pushes one member may be ahead of the others.
    private let slack: Double

    /// - Parameter spare: as for `Pacer`.
    init(_ pace: Pace, counting unit: Batching.PaceUnit, spare: Int = 0, rampSeconds: Double = 0) {
        pacer = Pacer(pace, counting: unit, spare: spare, rampSeconds: rampSeconds)
        slack = max(1, pace.perSecond * Self.burstSeconds)
    }

    /// Adds a member, and returns its number.
    mutating func join(weight: Double) -> Int {
        joined += 1
        members[joined] = Member(weight: max(weight, 1e-9))
        return joined
    }

    /// Removes a member.
    mutating func leave(_ number: Int) { members[number] = nil }

    mutating func restartRamp() { pacer.restartRamp() }

    /// The part of the pace that all members together may use (`Pacer.setPart`).
    var part: Int? { pacer.part }

    /// Lets members use only a part of the pace. A member that waits tries again within
    /// `longestRestNanoseconds`, and does not keep its turn for longer.
    mutating func setPart(_ part: Int?) {
        pacer.setPart(part)
        for number in members.keys {
            guard let member = members[number], member.askedAt > .min else { continue }
            members[number]?.returnsAt = min(member.returnsAt, member.askedAt + Self.longestRestNanoseconds)
        }
    }

    /// The most that may leave within one of the pace's intervals that ends later than now, as long
    /// as no larger part is given.
    func used(at nanoseconds: Int64) -> Int { pacer.used(at: nanoseconds) }

    /// What has left within the last of the pace's intervals, at most.
    func left(at nanoseconds: Int64) -> Int { pacer.left(at: nanoseconds) }

    /// The smallest part with which every request so far may leave.
    var leastPart: Int { pacer.leastPart(for: largestAsked) }

    /// When a member may ask again, in monotonic nanoseconds; nil if at once.
    mutating func nextTime(for number: Int) -> Int64? {
        guard var member = members[number] else { return nil }
        guard let next = pacer.nextTime(for: max(1, member.waitsFor)) else { return nil }
        guard member.waitsFor > 0 else { return next }
        guard next < Pacer.never else {
            members[number]?.returnsAt = member.askedAt + Self.longestRestNanoseconds
            return next
        }
        member.returnsAt = yieldsTo(number, member) ? max(next, member.askedAt + Self.yieldNanoseconds) : next
        members[number] = member
        return member.returnsAt
    }

    /// Returns whether a member may take something now. If not, it waits for it.
    mutating func mayTake(_ count: Int, for number: Int, at nanoseconds: Int64) -> Bool {
        guard var member = members[number] else { return false }
        if !member.isPresent(at: nanoseconds) {
            // A member that joins or returns may not catch up on what the others sent without it.
            let others = members.filter { $0.key != number && $0.value.isPresent(at: nanoseconds) }
            member.taken = max(member.taken, others.values.map(\.taken).max() ?? 0)
        }
        member.askedAt = nanoseconds
        largestAsked = max(largestAsked, count)
        let isAllowed = !yieldsTo(number, member) && pacer.mayTake(count, at: nanoseconds)
        member.waitsFor = isAllowed ? 0 : count
        members[number] = member
        return isAllowed
    }

    /// Takes something for a member. Returns false, and takes nothing, if it must wait.
    /// - Parameter heldNanoseconds: how long another pace of the member has held it back.
    mutating func take(_ count: Int, for number: Int, at nanoseconds: Int64, heldNanoseconds: Int64 = 0) -> Bool {
        guard mayTake(count, for: number, at: nanoseconds),
            pacer.take(count, at: nanoseconds, heldNanoseconds: heldNanoseconds)
        else {
            return false
        }
        if var member = members[number] {
            member.taken += Double(count) / member.weight
            members[number] = member
        }
        return true
    }

    /// Notes that another pace holds a member back: until then it stays a member that has had less
    /// of its part, and does not hold up others.
    mutating func rest(_ number: Int, until nanoseconds: Int64) { members[number]?.returnsAt = nanoseconds }

    /// Whether another member that has had less of its part is waiting. A member with a request
    /// that needs a larger part of the pace does not hold up others.
    private func yieldsTo(_ number: Int, _ member: Member) -> Bool {
        members.contains { other in
            other.key != number && other.value.waitsFor > 0 && pacer.fits(other.value.waitsFor)
                && other.value.isPresent(at: member.askedAt)
                && other.value.taken + slack / max(other.value.weight, member.weight) <= member.taken
        }
    }
}
