import Base
import Glibc

/// The right to send a run: held by at most one process at a time, and released by the system when that process dies.
struct SendingLock: ~Copyable {
    private let path: String
    private var descriptor: Int32
    private let isSending: Bool

    /// Processes that check whether it is taken block it for a moment.
    private static var attempts: Retries { Retries(atMost: 19, milliseconds: 2) }

    /// How long a holder may take to recreate a lock file that was removed (`keep`), before the lock counts as free.
    static let graceMilliseconds = 1_000

    /// - Parameter isSending: false to only keep others from sending.
    /// - Throws: `Diagnostic` when another process (or another store of this one) holds it.
    init(run: String, isSending: Bool = true) throws {
        path = run + ".lock"
        self.isSending = isSending
        descriptor = try Self.take(path, run: run, isSending: isSending)
    }

    private static func take(_ path: String, run: String, isSending: Bool) throws -> Int32 {
        if let descriptor = begun(path, isSending: isSending) { return descriptor }
        var attempts = attempts
        while true {
            let descriptor = try DatabaseFile.openLock(path, doing: "cannot lock the run")
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                Glibc.close(descriptor)
                if code == EWOULDBLOCK, attempts.pause() { continue }
                guard code == EWOULDBLOCK else {
                    throw RunDiagnostics.system("cannot lock the run", path: path, errno: code, activity: .sending)
                }
                throw RunDiagnostics.isBusy(run)
            }
            // The previous holder may have removed the file between our open and our lock: then it locks no one out.
            if FileLock.isNamed(path, descriptor: descriptor) {
                stamp(descriptor, isSending: isSending)
                return descriptor
            }
            Glibc.close(descriptor)
        }
    }

    /// A lock file that has its lock and its stamp before others can see it: of two processes that look at one
    /// another's locks, each would otherwise take the other's for the earlier one, and both would yield.
    /// - Returns: nil if there is a lock file already, perhaps of a process that is gone, or the file system has no
    ///   unnamed files.
    private static func begun(_ path: String, isSending: Bool) -> Int32? {
        let descriptor = AtomicFile.openWithoutName(inFolder: FilePaths.folder(of: path), mode: 0o600)
        guard descriptor >= 0 else { return nil }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
            stamp(descriptor, isSending: isSending)
            // Source: open(2) about O_TMPFILE.
            if linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 { return descriptor }
        }
        Glibc.close(descriptor)
        return nil
    }

    /// Recreates the lock file when it was removed; without it others would find the lock free. Call it several times a
    /// second.
    /// - Throws: `Diagnostic` when another process has taken the lock in between.
    mutating func keep(run: String) throws {
        guard !FileLock.isNamed(path, descriptor: descriptor) else { return }
        let descriptor = try Self.take(path, run: run, isSending: isSending)
        Glibc.close(self.descriptor)
        self.descriptor = descriptor
    }

    /// Records when it was taken. To the nanosecond, as a file system's own clock ticks too slowly to tell which
    /// process came first.
    private static func stamp(_ descriptor: Int32, isSending: Bool) {
        var now = timespec()
        if isSending { clock_gettime(CLOCK_REALTIME, &now) }
        futimens(descriptor, [now, now])
    }

    /// What can be seen of a lock.
    enum Observation {
        case free
        /// Since a moment, in nanoseconds since 1970; 0 when its holder does not send.
        case held(since: Int64)
        /// This user may not read its file.
        case hidden
    }

    /// Whether some process can be seen to send a run, or to have it paused.
    static func isSending(run: String) -> Bool { if case .held(let since) = inspect(run: run) { since > 0 } else { false } }

    /// Checks whether some process holds the right to send a run; never takes it.
    static func inspect(run: String) -> Observation {
        // A run that is sent through a link is locked where its file is.
        let file = DatabaseFile.openLockToLook(DatabaseFile.withoutLink(run) + ".lock")
        guard let descriptor = file.descriptor else { return file.isHidden ? .hidden : .free }
        defer { Glibc.close(descriptor) }
        var status = stat()
        // Getting a shared lock shows that no process sends; closing the file releases it.
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0, fstat(descriptor, &status) == 0 else { return .free }
        return .held(since: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec))
    }

    deinit {
        // Another process may have put its own there.
        if FileLock.isNamed(path, descriptor: descriptor) { unlink(path) }
        Glibc.close(descriptor)
    }
}

extension RunFile {
    /// Whether some process has the right to send this run, or may have, as that cannot be seen; also while it is
    /// paused.
    public var isBeingSent: Bool { if case .free = SendingLock.inspect(run: path) { false } else { true } }

    /// Since when a process has been sending it, in nanoseconds since 1970; nil when none is, or none can be seen.
    public var sendingSince: Int64? {
        if case .held(let since) = SendingLock.inspect(run: path), since > 0 { since } else { nil }
    }
}
