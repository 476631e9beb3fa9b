public import Base
public import PushServices
import Synchronization

/// A pace that several senders of a process share: together they never push faster. When several wait, one
/// that has sent less lately goes first.
///
/// Each `Sender` whose settings name this pace takes part while it runs.
public final class SharedPace: Sendable {
    private struct Member {
        var taken = 0
        /// When it last asked to push.
        var askedAt: Int64
        /// Whether its last request was turned down.
        var isWaiting = false
        /// When it may ask again.
        var returnsAt = Int64.min

        /// Whether it still takes part: it asked, or was due to ask again, only a moment ago.
        func isPresent(at nanoseconds: Int64) -> Bool { nanoseconds - max(askedAt, returnsAt) <= SharedPace.patienceNanoseconds }
    }

    private struct State {
        var pacer: Pacer
        var members: [Int: Member] = [:]
        var joined = 0
    }

    /// A loop that waits for its turn sleeps until it may ask again. One that asks later than this after that time loses its turn.
    private static let patienceNanoseconds: Int64 = 60_000_000
    /// A member that gave way to another asks again after this.
    private static let yieldNanoseconds: Int64 = 1_000_000
    private static let burstSeconds = 0.02

    /// The shared pace.
    public let pace: Pace
    private let state: Mutex<State>
    /// How many pushes one member may be ahead of the others.
    private let slack: Int

    /// - Parameters:
    ///   - pace: the limit for all members together.
    ///   - batching: how the service batches pushes; says what the pace counts.
    ///   - rampSeconds: after how many seconds the rate reaches the pace.
    public init(_ pace: Pace, _ batching: Batching = .single, rampSeconds: Double = 0) {
        self.pace = pace
        state = Mutex(State(pacer: Pacer(pace, batching, rampSeconds: rampSeconds)))
        slack = max(1, Int(pace.perSecond * Self.burstSeconds))
    }

    /// Adds a member.
    func join() -> PaceShare {
        let number = state.withLock { state in
            state.joined += 1
            return state.joined
        }
        return PaceShare(pace: self, member: number)
    }

    fileprivate func restartRamp() { state.withLock { $0.pacer.restartRamp() } }

    fileprivate func leave(_ number: Int) { state.withLock { _ = $0.members.removeValue(forKey: number) } }

    fileprivate func nextTime(for number: Int) -> Int64? {
        state.withLock { state in
            guard let next = state.pacer.nextTime else { return nil }
            guard var member = state.members[number], member.isWaiting else { return next }
            let time = yieldsTo(number, member, state) ? max(next, member.askedAt + Self.yieldNanoseconds) : next
            member.returnsAt = time
            state.members[number] = member
            return time
        }
    }

    fileprivate func take(_ count: Int, for number: Int, at nanoseconds: Int64) -> Bool {
        state.withLock { state in
            var member = state.members[number] ?? Member(askedAt: .min)
            if member.askedAt == .min || !member.isPresent(at: nanoseconds) {
                // A member that joins or returns may not catch up on what the others sent meanwhile.
                let others = state.members.filter { $0.key != number && $0.value.isPresent(at: nanoseconds) }
                member.taken = max(member.taken, others.values.map(\.taken).max() ?? 0)
            }
            member.askedAt = nanoseconds
            let isAllowed = !yieldsTo(number, member, state) && state.pacer.take(count, at: nanoseconds)
            member.isWaiting = !isAllowed
            if isAllowed { member.taken += count }
            state.members[number] = member
            return isAllowed
        }
    }

    /// Whether another member that has sent less is waiting.
    private func yieldsTo(_ number: Int, _ member: Member, _ state: State) -> Bool {
        state.members.contains { other in
            other.key != number && other.value.isWaiting && other.value.isPresent(at: member.askedAt)
                && other.value.taken + slack <= member.taken
        }
    }
}

/// A sender's part in a shared pace.
struct PaceShare: Sendable {
    private let shared: SharedPace
    private let member: Int

    fileprivate init(pace: SharedPace, member: Int) {
        shared = pace
        self.member = member
    }

    /// When the next push may leave, in monotonic nanoseconds; nil if at once.
    var nextTime: Int64? { shared.nextTime(for: member) }

    /// Returns whether a request may leave now, and counts it if so.
    /// - Parameter count: what the request counts for: 1, or the number of its targets.
    func take(_ count: Int = 1, at nanoseconds: Int64) -> Bool { shared.take(count, for: member, at: nanoseconds) }

    /// Lets the pace rise slowly again.
    func restartRamp() { shared.restartRamp() }

    /// Gives up the share: this sender has no more pushes.
    func leave() { shared.leave(member) }
}
