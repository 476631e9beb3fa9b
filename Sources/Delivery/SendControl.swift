import Synchronization

/// A word from another thread to a sender that runs.
public final class SendControl: Sendable {
    private let interrupted = Atomic(false)

    /// Nothing asked yet.
    public init() {}

    /// Submit nothing more, wait a bounded time for answers, settle the rest as unsent or unknown, and end. Safe to call from any thread.
    public func interrupt() { interrupted.store(true, ordering: .releasing) }

    /// Whether `interrupt` was called.
    public var isInterrupted: Bool { interrupted.load(ordering: .acquiring) }
}
