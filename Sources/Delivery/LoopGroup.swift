import Base
import Synchronization

/// What the loops of one sender share. When one stops, all do. They count their answers together,
/// and a loop that saturates its core requests help.
final class LoopGroup: Sendable {
    private enum LoopMessage: Sendable { case helpWanted, done }

    private struct State {
        /// Includes loops that are about to start.
        var started = 1
        var done = 0
        var stopCause: StopCause?
        /// By loop.
        var tallies: [AnswerTally] = []
        var wakeups: [Wakeup] = []
    }

    let control: SendControl
    private let largest: Int
    private let state = Mutex(State())
    private let isStopped = Atomic(false)
    private let isAnswered = Atomic(false)
    private let acceptedCount = Atomic(0)
    private let heldUntil = Atomic(Int64.min)
    private let messages: BoundedQueue<LoopMessage>

    /// - Parameter largest: the most loops that may run.
    init(control: SendControl, largest: Int) {
        self.control = control
        self.largest = largest
        messages = BoundedQueue(capacity: 2 * largest)
    }

    /// Waits until another loop is needed (true: the caller must start it) or all loops have ended
    /// (false).
    func waitForHelpWanted() -> Bool {
        while let word = messages.take() {
            if word == .helpWanted { return true }
            let isDone = state.withLock { state in
                state.done += 1
                return state.done == state.started
            }
            if isDone { return false }
        }
        return false
    }

    /// Requests another loop, because the calling one has no time left. Each loop calls this once.
    func askForHelp() {
        let isAllowed = state.withLock { state in
            guard state.started < largest, state.done == 0 else { return false }
            // Counted at once: another loop may ask before this one's helper has started.
            state.started += 1
            return true
        }
        if isAllowed { messages.put(.helpWanted) }
    }

    /// Notes that the calling loop has ended.
    func leave() { messages.put(.done) }

    /// Notes that a server answered the calling loop. The server is up, so a loop that does not
    /// reach it has trouble of its own.
    func noteAnswer() {
        guard !hasAnswered else { return }
        isAnswered.store(true, ordering: .releasing)
        wakeAll()
    }

    /// Whether a server has answered any loop.
    var hasAnswered: Bool { isAnswered.load(ordering: .acquiring) }

    /// Notes that the service has accepted this number of further pushes of the calling loop, and
    /// returns the number of all loops and of all other workers of the run.
    func count(accepted: Int) -> Int {
        let elsewhere = control.tallyElsewhere.accepted
        guard accepted > 0 else { return acceptedCount.load(ordering: .acquiring) + elsewhere }
        return acceptedCount.add(accepted, ordering: .acquiringAndReleasing).newValue + elsewhere
    }

    /// Notes that the service gave the calling loop a time before which no push may leave, and
    /// returns the latest one that any loop was given: monotonic nanoseconds.
    func hold(until end: Int64?) -> Int64 {
        guard let end else { return heldUntil.load(ordering: .acquiring) }
        return heldUntil.max(end, ordering: .acquiringAndReleasing).newValue
    }

    /// Adds a loop and returns its place among the tallies.
    /// - Parameter wakeup: ends the loop's sleep when there is news for all loops.
    func join(_ wakeup: Wakeup) -> Int {
        control.wakeForNews(wakeup)
        return state.withLock { state in
            state.wakeups.append(wakeup)
            state.tallies.append(AnswerTally())
            return state.tallies.count - 1
        }
    }

    /// Stores what a loop has counted and returns what all others have counted: other loops, and
    /// other workers of the run.
    func exchange(_ tally: AnswerTally, of loop: Int) -> AnswerTally {
        let elsewhere = control.tallyElsewhere
        return state.withLock { state in
            state.tallies[loop] = tally
            return state.tallies.indices.reduce(elsewhere) { $1 == loop ? $0 : $0 + state.tallies[$1] }
        }
    }

    /// Makes all loops stop, because the calling one does.
    func stop(_ cause: StopCause) {
        state.withLock { $0.stopCause = $0.stopCause ?? cause }
        guard !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
        wakeAll()
    }

    private func wakeAll() {
        for wakeup in state.withLock({ $0.wakeups }) { wakeup.wake() }
    }

    /// Why a loop stopped; nil while all go on.
    var stopCause: StopCause? { isStopped.load(ordering: .acquiring) ? state.withLock { $0.stopCause } : nil }
}
