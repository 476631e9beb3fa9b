import Glibc

/// Attempts at what no event announces: a lock that another process holds for a moment (flock, and those that SQLite asks for without waiting), a lock file
/// that its holder is about to put back, space on a disk. The only place that sleeps to look again; whatever can wake a thread is waited for with
/// `Wakeup`, `Cancellation` or poll.
public struct Retries: ~Copyable {
    /// Pauses that are left.
    public private(set) var left: Int
    private let milliseconds: Int

    /// - Parameters:
    ///   - pauses: the most pauses; there is one more attempt than that.
    ///   - milliseconds: of each.
    public init(atMost pauses: Int, milliseconds: Int) {
        left = pauses
        self.milliseconds = milliseconds
    }

    /// Sleeps before another attempt.
    /// - Returns: false when there were enough; at once then.
    public mutating func pause() -> Bool {
        guard left > 0 else { return false }
        left -= 1
        usleep(UInt32(milliseconds) * 1000)
        return true
    }
}
