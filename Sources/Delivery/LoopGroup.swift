import Base
import Synchronization

/// What the loops of one sender share: when one stops all do, they count their
/// answers together, and one that has more to do than its core can asks for help.
final class LoopGroup: Sendable {
    private enum TeamMessage: Sendable { case helpWanted, done }

    private struct State {
        /// Also those that are about to start.
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
    private let messages: BoundedQueue<TeamMessage>

    /// - Parameter largest: loops at most.
    init(control: SendControl, largest: Int) {
        self.control = control
        self.largest = largest
        messages = BoundedQueue(capacity: 2 * largest)
    }

    /// Waits until another loop is wanted (true: the caller starts it) or all have ended (false).
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

    /// The calling loop has no time left. Asked once by each loop.
    func askForHelp() {
        let isAllowed = state.withLock { state in
            guard state.started < largest, state.done == 0 else { return false }
            // At once, as another loop may ask before this one's helper is there.
            state.started += 1
            return true
        }
        if isAllowed { messages.put(.helpWanted) }
    }

    /// The calling loop has ended.
    func leave() { messages.put(.done) }

    /// A server answered the calling loop: it is there, and whoever does not reach it has trouble of its own.
    func noteAnswer() {
        guard !hasAnswered else { return }
        isAnswered.store(true, ordering: .releasing)
        wakeAll()
    }

    /// Whether a server answered any loop.
    var hasAnswered: Bool { isAnswered.load(ordering: .acquiring) }

    /// A place among the tallies, for a loop that begins.
    /// - Parameter wakeup: ends its sleep when there is something that all are told.
    func join(_ wakeup: Wakeup) -> Int {
        control.wakeWhenInterrupted(wakeup)
        return state.withLock { state in
            state.wakeups.append(wakeup)
            state.tallies.append(AnswerTally())
            return state.tallies.count - 1
        }
    }

    /// Says what a loop has counted; returns what all others have.
    func exchange(_ tally: AnswerTally, of loop: Int) -> AnswerTally {
        state.withLock { state in
            state.tallies[loop] = tally
            return state.tallies.indices.reduce(AnswerTally()) { $1 == loop ? $0 : $0 + state.tallies[$1] }
        }
    }

    /// The calling loop stops, and so shall the others.
    func stop(_ cause: StopCause) {
        state.withLock { $0.stopCause = $0.stopCause ?? cause }
        guard !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
        wakeAll()
    }

    private func wakeAll() {
        for wakeup in state.withLock({ $0.wakeups }) { wakeup.wake() }
    }

    /// Why another loop stopped; nil while all go on.
    var stopCause: StopCause? { isStopped.load(ordering: .acquiring) ? state.withLock { $0.stopCause } : nil }
}
