public import Base
import Synchronization

/// What other threads ask of a running sender, and what it shows of its progress.
public final class SendControl: Sendable {
    /// Why a stop was requested.
    public enum StopRequest: Sendable {
        case interrupted, paused, cancelled
        /// Nothing may go out at this time of day.
        case quietHours

        /// The reason recorded for what is then unsent.
        public var reason: OwnReason {
            switch self {
            case .interrupted: .interrupted
            case .paused: .paused
            case .cancelled: .cancelled
            case .quietHours: .quietHours
            }
        }
    }

    private let request = Mutex<StopRequest?>(nil)
    private let interrupted = Atomic(false)
    /// Pushes that the sender has started so far: in flight, waiting for another attempt, or settled.
    public let started = WatchedCount()
    private let settled = Atomic(0), answered = Atomic(0)
    /// What each loop is at, by the loop's place.
    private let loops = Mutex<[Int: LoopState]>([:])

    private struct LoopState {
        /// What it waits for; nil for nothing.
        var wait: SendWait?
        var connections: Int
    }
    /// What other members of the run were answered.
    private let elsewhere = Mutex(AnswerTally())
    private let isOverWithCanary = Atomic(false)
    /// Until when the gate is open, in nanoseconds of the clock that counts on while the machine sleeps.
    private let openUntil = Atomic(Int64.max)
    /// Woken by requests, and by what is told from elsewhere.
    private let listeners = Mutex<[Wakeup]>([])

    /// A control without requests.
    public init() {}

    /// Asks the sender to submit nothing more, wait a bounded time for answers, settle the rest as unsent or unknown, and end. Only the
    /// first request counts. Safe to call from any thread.
    public func interrupt(_ request: StopRequest = .interrupted) {
        self.request.withLock { $0 = $0 ?? request }
        interrupted.store(true, ordering: .releasing)
        wakeListeners()
    }

    private func wakeListeners() { for listener in listeners.withLock({ $0 }) { listener.wake() } }

    /// Wakes `wakeup` when `interrupt` is called, and at once if it already was; also when the gate opens, and when others were answered.
    func wakeForNews(_ wakeup: Wakeup) {
        listeners.withLock { $0.append(wakeup) }
        if isInterrupted { wakeup.wake() }
    }

    /// Whether `interrupt` was called.
    public var isInterrupted: Bool { interrupted.load(ordering: .acquiring) }

    /// The request; nil while there is none.
    public var requested: StopRequest? { isInterrupted ? request.withLock { $0 } : nil }

    // MARK: Other members of the run

    /// Tells what all other members of the run together have been answered so far by this service. The campaign's limits (`stop_when`) judge the
    /// sum of that and of this sender's own answers, before the next push leaves. Each call replaces what the last one told. Calls come about once a
    /// second, so a limit may be passed by what leaves in that time.
    /// - Parameter outcomes: answers by outcome; what is unknown or unsent is no answer.
    public func noteElsewhere(_ outcomes: [Outcome: Int]) {
        let tally = AnswerTally(outcomes)
        let isNew = elsewhere.withLock { known in
            defer { known = tally }
            return known != tally
        }
        if isNew { wakeListeners() }
    }

    /// What other members were answered.
    var tallyElsewhere: AnswerTally { elsewhere.withLock { $0 } }

    /// Whether the sender's first pushes, which go ahead of all others, have been answered and judged well, or there are none. It stays true
    /// until the sender ends, and beyond. A sender that has fewer pushes than that never says so.
    public var canaryIsOver: Bool { isOverWithCanary.load(ordering: .acquiring) }

    /// Notes that the canary was judged well.
    func noteCanaryOver() { if !canaryIsOver { isOverWithCanary.store(true, ordering: .releasing) } }

    // MARK: The gate

    /// Lets nothing more be submitted until the gate is opened. What is in flight goes on, and answers count. Each loop looks at the gate
    /// whenever it decides what to submit: what it has decided before, in the turn that is under way, still leaves.
    public func closeGate() { openUntil.store(.min, ordering: .releasing) }

    /// Lets pushes be submitted again: until the gate is closed, or until a moment that may be put off by the next call. Then it closes by
    /// itself, also if the thread that would close it is held up.
    /// - Parameter end: nanoseconds of CLOCK_BOOTTIME, which counts on while the machine sleeps.
    public func openGate(until end: Int64 = .max) {
        let before = openUntil.exchange(end, ordering: .acquiringAndReleasing)
        if before < .max, before <= bootNanoseconds() { wakeListeners() }
    }

    /// Whether pushes may be submitted now.
    public var isGateOpen: Bool {
        let end = openUntil.load(ordering: .acquiring)
        return end == .max || bootNanoseconds() < end
    }

    // MARK: Progress

    /// Pushes whose outcome the sender knows, whether or not it has reported it yet.
    public var pushesSettled: Int { settled.load(ordering: .acquiring) }

    /// Requests that the service has answered: what is settled because a connection was lost is no answer.
    public var requestsAnswered: Int { answered.load(ordering: .acquiring) }

    /// What holds the sender up right now, at most a second old; nil if nothing does.
    public var wait: SendWait? { SendWait.together(loops.withLock { $0.values.map(\.wait) }) }

    /// How many connections are open, at most a second old.
    public var connections: Int { loops.withLock { $0.values.reduce(0) { $0 + $1.connections } } }

    /// Notes what a loop waits for now, and how many connections it has open.
    func note(_ wait: SendWait?, connections: Int, of loop: Int) {
        loops.withLock { $0[loop] = LoopState(wait: wait, connections: connections) }
    }

    /// Notes that a loop has ended: it waits for nothing, and has no connections.
    func forget(_ loop: Int) { loops.withLock { _ = $0.removeValue(forKey: loop) } }

    /// Adds the pushes that a loop has started and settled, and the requests that were answered, since its last call.
    func add(started: Int, settled: Int, answered: Int = 0) {
        self.answered.wrappingAdd(answered, ordering: .releasing)
        // `settled` first: a thread woken by `started` must find both counts.
        self.settled.wrappingAdd(settled, ordering: .releasing)
        self.started.add(started)
    }
}
