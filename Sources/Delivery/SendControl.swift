import Synchronization

/// A word from another thread to a sender that runs.
public final class SendControl: Sendable {
    /// Who asked, as the reason of what is then unsent says.
    public enum Word: String, Sendable { case interrupted = "Interrupted", paused = "Paused", cancelled = "Cancelled" }

    private let word = Mutex<Word?>(nil)
    private let interrupted = Atomic(false)
    private let begun = Atomic(0)

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

    /// Pushes that the sender has begun with and not settled: in flight, or waiting for another attempt.
    public var pushesBegun: Int { begun.load(ordering: .relaxed) }

    /// A loop has so many more pushes begun than when it said so last.
    func addBegun(_ count: Int) { begun.wrappingAdd(count, ordering: .relaxed) }
}
