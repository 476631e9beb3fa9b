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
    private let settled = Atomic(0)
    /// What each loop waits for, by the loop's place.
    private let waits = Mutex<[Int: SendWait?]>([:])
    /// Woken by `interrupt`.
    private let listeners = Mutex<[Wakeup]>([])

    /// A control without requests.
    public init() {}

    /// Asks the sender to submit nothing more, wait a bounded time for answers, settle the rest as unsent or unknown, and end. Only the
    /// first request counts. Safe to call from any thread.
    public func interrupt(_ request: StopRequest = .interrupted) {
        self.request.withLock { $0 = $0 ?? request }
        interrupted.store(true, ordering: .releasing)
        for listener in listeners.withLock({ $0 }) { listener.wake() }
    }

    /// Wakes `wakeup` when `interrupt` is called; at once if it already was.
    func wakeWhenInterrupted(_ wakeup: Wakeup) {
        listeners.withLock { $0.append(wakeup) }
        if isInterrupted { wakeup.wake() }
    }

    /// Whether `interrupt` was called.
    public var isInterrupted: Bool { interrupted.load(ordering: .acquiring) }

    /// The request; nil while there is none.
    public var requested: StopRequest? { isInterrupted ? request.withLock { $0 } : nil }

    /// Pushes whose outcome the sender knows, whether or not it has reported it yet.
    public var pushesSettled: Int { settled.load(ordering: .acquiring) }

    /// What holds the sender up right now, at most a second old; nil if nothing does.
    public var wait: SendWait? { SendWait.together(waits.withLock { Array($0.values) }) }

    /// Notes what a loop waits for now.
    func note(_ wait: SendWait?, of loop: Int) { waits.withLock { $0[loop] = .some(wait) } }

    /// Notes that a loop has ended and no longer waits for anything.
    func forget(_ loop: Int) { waits.withLock { _ = $0.removeValue(forKey: loop) } }

    /// Adds the pushes that a loop has started and settled since its last call.
    func add(started: Int, settled: Int) {
        // `settled` first: a thread woken by `started` must find both counts.
        self.settled.wrappingAdd(settled, ordering: .releasing)
        self.started.add(started)
    }
}
