public import Base
import GRDB
import Synchronization

/// Waits for other processes that hold a database. SQLite's own wait neither ends when the command
/// should, nor says that anything is waited for.
public enum DatabaseWait {
    struct Watch: Sendable {
        var cancellation: Cancellation
        var notice: @Sendable (String) -> Void
        /// When a wait first found that the end was requested.
        private var requestedAt: ContinuousClock.Instant?
        /// Whether a wait was shortened.
        private(set) var hasCut = false
        /// When a wait for a file was last told.
        var toldAt: [String: ContinuousClock.Instant] = [:]

        init(_ cancellation: Cancellation, notice: @escaping @Sendable (String) -> Void) {
            (self.cancellation, self.notice) = (cancellation, notice)
        }

        /// Whether a wait may continue; otherwise it is cut.
        /// - Parameter waited: for how many milliseconds it has waited.
        mutating func mayWait(after waited: Int, at now: ContinuousClock.Instant) -> Bool {
            guard cancellation.isRequested else { return true }
            let since = requestedAt ?? now
            requestedAt = since
            guard waited >= shortestMilliseconds, now - since >= longestAfterRequest else { return true }
            hasCut = true
            return false
        }
    }

    private static let watch = Mutex<Watch?>(nil)
    /// Files that another program held for too long, and until when they are waited for no more.
    private static let held = Mutex<[String: ContinuousClock.Instant]>([:])
    private static let restMilliseconds = 20
    private static let noticeMilliseconds = 8_000
    private static let betweenNotices = Duration.seconds(60)
    /// A command ends within ten seconds, and what it has under way is recorded before.
    private static let longestAfterRequest = Duration.seconds(5)
    /// What is recorded at the end may meet another process for a moment, however late that is.
    private static let shortestMilliseconds = 1_000

    /// Shortens all waits of this process once the end is requested.
    /// - Parameter notice: is told the file that is waited for after eight seconds, from any
    ///   thread.
    public static func watch(_ cancellation: Cancellation, notice: @escaping @Sendable (_ file: String) -> Void) {
        watch.withLock { $0 = Watch(cancellation, notice: notice) }
    }

    /// Whether a wait was shortened because the end was requested: then an error may say that a
    /// database is held.
    public static var isInterrupted: Bool { watch.withLock { $0?.hasCut ?? false } }

    /// How a connection to a file waits.
    static func mode(_ path: String, atMost seconds: Double) -> Database.BusyMode {
        .callback { tries in
            let waited = tries * restMilliseconds
            guard waited < Int(seconds * 1000), mayWait(after: waited) else { return false }
            if waited == noticeMilliseconds { tell(path) }
            Retries.pause(milliseconds: restMilliseconds)
            return true
        }
    }

    /// Whether a wait may continue; otherwise it is cut, because the end was requested.
    /// - Parameter waited: for how many milliseconds this one has waited.
    static func mayWait(after waited: Int) -> Bool {
        watch.withLock { $0?.mayWait(after: waited, at: .now) ?? true }
    }

    /// Opens a file that a command opens several times: a program that holds it keeps the command
    /// waiting once.
    /// - Parameter open: is told for how many seconds to wait.
    static func once<Opened>(_ path: String, _ open: (_ timeoutSeconds: Double) throws -> Opened) throws -> Opened {
        let begun = ContinuousClock.now, isHeld = held.withLock { $0[path].map { begun < $0 } ?? false }
        do { return try open(isHeld ? 0.2 : 10) } catch {
            let end = ContinuousClock.now
            if end - begun >= .seconds(9) { held.withLock { $0[path] = end + .seconds(60) } }
            throw error
        }
    }

    private static func tell(_ path: String) {
        let notice: (@Sendable (String) -> Void)? = watch.withLock { watch in
            let now = ContinuousClock.now
            guard let current = watch, current.toldAt[path].map({ now - $0 >= betweenNotices }) ?? true else {
                return nil
            }
            watch?.toldAt[path] = now
            return current.notice
        }
        notice?(path)
    }
}
