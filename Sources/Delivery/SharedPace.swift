public import Base
public import PushServices
import Synchronization

/// One pace for several senders of a process: together they never push faster. Whoever has fewer pushes out lately goes first when several wait.
///
/// Each `Sender` whose settings name it takes part while it runs.
public final class SharedPace: Sendable {
    private struct Member {
        var taken = 0
        /// When it last wanted to push.
        var askedAt: Int64
        /// It was turned away, and has had no push since.
        var isWaiting = false
        /// When it was told to come back.
        var returnsAt = Int64.min

        /// Whether it still takes part: it asked, or was to come back, only a moment ago.
        func isPresent(at nanoseconds: Int64) -> Bool { nanoseconds - max(askedAt, returnsAt) <= SharedPace.patienceNanoseconds }
    }

    private struct State {
        var pacer: Pacer
        var members: [Int: Member] = [:]
        var joined = 0
    }

    /// A loop that waits for its turn sleeps until it is told to come back; who comes later than this is passed over.
    private static let patienceNanoseconds: Int64 = 60_000_000
    /// Who gave way to another asks again after this.
    private static let yieldNanoseconds: Int64 = 1_000_000
    private static let burstSeconds = 0.02

    /// The pace that they share.
    public let pace: Pace
    private let state: Mutex<State>
    /// One may be ahead of the others by so many pushes.
    private let slack: Int

    /// - Parameters:
    ///   - pace: of all together.
    ///   - batching: of the service to which all push: what the pace counts.
    public init(_ pace: Pace, _ batching: Batching = .single) {
        self.pace = pace
        state = Mutex(State(pacer: Pacer(pace, batching)))
        slack = max(1, Int(pace.perSecond * Self.burstSeconds))
    }

    /// Takes part from now on.
    func join() -> PaceShare {
        let number = state.withLock { state in
            state.joined += 1
            return state.joined
        }
        return PaceShare(pace: self, member: number)
    }

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
                // Who comes or comes back has no claim to what the others had meanwhile.
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

    /// Whether another one waits that has had less.
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

    /// When the next push may leave, in monotonic nanoseconds; nil for at once.
    var nextTime: Int64? { shared.nextTime(for: member) }

    /// Whether a request may leave now; counts it if so.
    /// - Parameter count: what it counts: 1, or its targets.
    func take(_ count: Int = 1, at nanoseconds: Int64) -> Bool { shared.take(count, for: member, at: nanoseconds) }

    /// No more pushes will come.
    func leave() { shared.leave(member) }
}
