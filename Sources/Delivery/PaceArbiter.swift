import Base
import PushServices

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
