public import Base
import GRDB
import Glibc
import Synchronization

/// Waits for other processes that hold a database. SQLite's own wait neither ends when the command should, nor says
/// that anything is waited for.
public enum DatabaseWait {
    private struct Watch: Sendable {
        var cancellation: Cancellation
        var notice: @Sendable (String) -> Void
        /// When a wait first found that the end was requested.
        var requestedAt: ContinuousClock.Instant?
        /// When a wait for a file was last told.
        var toldAt: [String: ContinuousClock.Instant] = [:]
    }

    private static let watch = Mutex<Watch?>(nil)
    private static let restMilliseconds = 20
    private static let noticeMilliseconds = 8_000
    private static let betweenNotices = Duration.seconds(60)
    /// A command ends within ten seconds, and what it has under way is recorded before.
    private static let longestAfterRequest = Duration.seconds(5)

    /// Shortens all waits of this process once the end is requested.
    /// - Parameter notice: is told the file that is waited for after eight seconds, from any thread.
    public static func watch(_ cancellation: Cancellation, notice: @escaping @Sendable (_ file: String) -> Void) {
        watch.withLock { $0 = Watch(cancellation: cancellation, notice: notice) }
    }

    /// Whether a wait was shortened, or would be, because the end was requested.
    public static var isInterrupted: Bool { watch.withLock { $0?.requestedAt != nil } }

    /// How a connection to a file waits.
    static func mode(_ path: String, atMost seconds: Double) -> Database.BusyMode {
        .callback { tries in
            let waited = tries * restMilliseconds
            guard waited < Int(seconds * 1000), !isOver() else { return false }
            if waited == noticeMilliseconds { tell(path) }
            usleep(UInt32(restMilliseconds) * 1000)
            return true
        }
    }

    /// Whether it is too late to wait for anything.
    static func isOver() -> Bool {
        watch.withLock { watch in
            guard let current = watch, current.cancellation.isRequested else { return false }
            let now = ContinuousClock.now, since = current.requestedAt ?? now
            watch?.requestedAt = since
            return now - since >= longestAfterRequest
        }
    }

    private static func tell(_ path: String) {
        let notice: (@Sendable (String) -> Void)? = watch.withLock { watch in
            let now = ContinuousClock.now
            guard let current = watch, current.toldAt[path].map({ now - $0 >= betweenNotices }) ?? true else { return nil }
            watch?.toldAt[path] = now
            return current.notice
        }
        notice?(path)
    }
}
