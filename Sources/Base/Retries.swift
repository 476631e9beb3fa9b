import Glibc

/// Repeated attempts at something that no event announces: a lock that another process holds for a
/// moment (flock, and locks that SQLite takes without waiting), a lock file that its holder is
/// about to put back, space on a disk. The only place that sleeps and tries again; for everything
/// that can wake a thread, wait with `Wakeup`, `Cancellation` or poll.
///
/// ```swift
/// var retries = Retries(atMost: 20, milliseconds: 50)
/// while !FilePaths.exists("ready"), retries.pause() {}
/// ```
public struct Retries: ~Copyable {
    /// Pauses left.
    public private(set) var left: Int
    private let milliseconds: Int

    /// - Parameters:
    ///   - pauses: the most pauses; there is one more attempt than that.
    ///   - milliseconds: the length of each pause.
    public init(atMost pauses: Int, milliseconds: Int) {
        left = pauses
        self.milliseconds = milliseconds
    }

    /// Sleeps before another attempt, for a caller that counts its attempts itself: SQLite counts
    /// those of a connection.
    public static func pause(milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }

    /// Sleeps before another attempt.
    /// - Returns: false, without sleeping, if no pauses are left.
    public mutating func pause() -> Bool {
        guard left > 0 else { return false }
        left -= 1
        Self.pause(milliseconds: milliseconds)
        return true
    }
}
