import Synchronization

/// The `volley serve` that started this process, if one did.
public enum Supervisor {
    private static let isKnown = Atomic(false)

    /// Says that there is one. Call it before a command begins.
    public static func note() { isKnown.store(true, ordering: .relaxed) }

    /// Whether there is one. Safe in a signal handler once `note` was called or this was asked.
    static var isThere: Bool { isKnown.load(ordering: .relaxed) }
}
