import Synchronization

/// A word from another thread to a sender that runs.
public final class SendControl: Sendable {
    /// Who asked, as the reason of what is then unsent says.
    public enum Word: String, Sendable {
        case interrupted = "Interrupted", paused = "Paused", cancelled = "Cancelled"
        /// Nothing may go out at this time of day.
        case quietHours = "QuietHours"
    }

    private let word = Mutex<Word?>(nil)
    private let interrupted = Atomic(false)
    private let started = Atomic(0)
    private let settled = Atomic(0)

    /// Nothing asked yet.
    public init() {}

    /// Submit nothing more, wait a bounded time for answers, settle the rest as unsent or unknown, and end. The first word counts. Safe to call
    /// from any thread.
    public func interrupt(_ word: Word = .interrupted) {
        self.word.withLock { $0 = $0 ?? word }
        interrupted.store(true, ordering: .releasing)
    }

    /// Whether `interrupt` was called.
    public var isInterrupted: Bool { interrupted.load(ordering: .acquiring) }

    /// What was asked; nil while nothing was.
    public var asked: Word? { isInterrupted ? word.withLock { $0 } : nil }

    /// Pushes that the sender has begun with so far: in flight, waiting for another attempt, or settled.
    public var pushesStarted: Int { started.load(ordering: .relaxed) }

    /// Pushes of which the sender knows what became so far, whether or not anybody was told yet.
    public var pushesSettled: Int { settled.load(ordering: .relaxed) }

    /// A loop has begun with, or settled, so many more pushes than when it said so last.
    func add(started: Int, settled: Int) {
        self.started.wrappingAdd(started, ordering: .relaxed)
        self.settled.wrappingAdd(settled, ordering: .relaxed)
    }
}
