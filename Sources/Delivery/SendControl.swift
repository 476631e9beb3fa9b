public import Base
import Synchronization

/// What other threads ask of a sender that runs, and what it shows of itself.
public final class SendControl: Sendable {
    /// Who asked.
    public enum StopRequest: Sendable {
        case interrupted, paused, cancelled
        /// Nothing may go out at this time of day.
        case quietHours

        /// The reason of what is unsent then.
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
    /// Pushes that the sender has begun with so far: in flight, waiting for another attempt, or settled.
    public let started = WatchedCount()
    private let settled = Atomic(0)
    /// What each loop waits for, by its place.
    private let waits = Mutex<[Int: SendWait?]>([:])
    /// Woken by `interrupt`.
    private let listeners = Mutex<[Wakeup]>([])

    /// Nothing asked yet.
    public init() {}

    /// Submit nothing more, wait a bounded time for answers, settle the rest as unsent or unknown, and end. The first one counts. Safe to call
    /// from any thread.
    public func interrupt(_ request: StopRequest = .interrupted) {
        self.request.withLock { $0 = $0 ?? request }
        interrupted.store(true, ordering: .releasing)
        for listener in listeners.withLock({ $0 }) { listener.wake() }
    }

    /// Wakes it with `interrupt`, at once if that was called.
    func wakeWhenInterrupted(_ wakeup: Wakeup) {
        listeners.withLock { $0.append(wakeup) }
        if isInterrupted { wakeup.wake() }
    }

    /// Whether `interrupt` was called.
    public var isInterrupted: Bool { interrupted.load(ordering: .acquiring) }

    /// What was asked; nil while nothing was.
    public var requested: StopRequest? { isInterrupted ? request.withLock { $0 } : nil }

    /// Pushes of which the sender knows what became so far, whether or not anybody was told yet.
    public var pushesSettled: Int { settled.load(ordering: .acquiring) }

    /// What holds the sender up just now, not older than a second; nil when nothing does.
    public var wait: SendWait? { SendWait.together(waits.withLock { Array($0.values) }) }

    /// A loop waits for this now.
    func note(_ wait: SendWait?, of loop: Int) { waits.withLock { $0[loop] = .some(wait) } }

    /// A loop has ended, and waits for nothing any more.
    func forget(_ loop: Int) { waits.withLock { _ = $0.removeValue(forKey: loop) } }

    /// A loop has begun with, or settled, so many more pushes than when it said so last.
    func add(started: Int, settled: Int) {
        // First: who is woken by the second finds both.
        self.settled.wrappingAdd(settled, ordering: .releasing)
        self.started.add(started)
    }
}
