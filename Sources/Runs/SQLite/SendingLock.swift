import Base
import Glibc
import Synchronization

/// The right to send a run: held by at most one process at a time, and released by the system when
/// that process dies.
struct SendingLock: ~Copyable {
    private let path: String
    private var descriptor: Int32
    private let isSending: Bool

    /// Processes that check whether it is taken block it for a moment.
    private static var attempts: Retries { Retries(atMost: 19, milliseconds: 2) }

    /// How long a holder may take to recreate a lock file that was removed (`keep`), before the
    /// lock counts as free.
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
            // The previous holder may have removed the file between our open and our lock: then it
            // locks no one out.
            if FileLock.isNamed(path, descriptor: descriptor) {
                stamp(descriptor, isSending: isSending)
                return descriptor
            }
            Glibc.close(descriptor)
        }
    }

    /// A lock file that has its lock and its stamp before others can see it: of two processes that
    /// look at one another's locks, each would otherwise take the other's for the earlier one, and
    /// both would yield.
    /// - Returns: nil if there is a lock file already, perhaps of a process that is gone, or the
    ///   file system has no unnamed files.
    private static func begun(_ path: String, isSending: Bool) -> Int32? {
        let descriptor = AtomicFile.openWithoutName(inFolder: FilePaths.folder(of: path), mode: 0o600)
        guard descriptor >= 0 else { return nil }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
            stamp(descriptor, isSending: isSending)
            // Source: open(2) about O_TMPFILE.
            if linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 {
                return descriptor
            }
        }
        Glibc.close(descriptor)
        return nil
    }

    /// Recreates the lock file when it was removed; without it others would find the lock free.
    /// Call it several times a second.
    /// - Throws: `Diagnostic` when another process has taken the lock in between.
    mutating func keep(run: String) throws {
        guard !FileLock.isNamed(path, descriptor: descriptor) else { return }
        let descriptor = try Self.take(path, run: run, isSending: isSending)
        Glibc.close(self.descriptor)
        self.descriptor = descriptor
    }

    /// Records when it was taken. To the nanosecond, as a file system's own clock ticks too slowly
    /// to tell which process came first.
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
    static func isSending(run: String) -> Bool {
        if case .held(let since) = inspect(run: run) { since > 0 } else { false }
    }

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
    /// Whether some process has the right to send this run, or may have, as that cannot be seen;
    /// also while it is paused.
    public var isBeingSent: Bool { if case .free = SendingLock.inspect(run: path) { false } else { true } }

    /// Since when a process has been sending it, in nanoseconds since 1970; nil when none is, or
    /// none can be seen.
    public var sendingSince: Int64? {
        if case .held(let since) = SendingLock.inspect(run: path), since > 0 { since } else { nil }
    }
}

/// The right to be the one `volley schedule` of a folder of runs; the system releases it when the
/// process dies.
public final class ScheduleLock: Sendable {
    private static let fileName = "schedule.lock"
    private let folder: String
    private let descriptor: Mutex<Int32>

    /// - Throws: `Diagnostic` when another process has it.
    public init(folder: String) throws {
        self.folder = folder
        try DatabaseFile.makeFolder(folder)
        descriptor = Mutex(try Self.take(folder))
    }

    /// Creates the lock's file again when it was removed; without it another process would find the
    /// lock free. Call it every second or so.
    /// - Throws: `Diagnostic` when another process has taken it.
    public func keep() throws {
        try descriptor.withLock { descriptor in
            guard !FileLock.isNamed(Self.path(folder), descriptor: descriptor) else { return }
            let taken = try Self.take(folder)
            close(descriptor)
            descriptor = taken
        }
    }

    private static func path(_ folder: String) -> String { FilePaths.join(folder, name: fileName) }

    private static func take(_ folder: String) throws -> Int32 {
        let path = path(folder)
        let descriptor = try DatabaseFile.openLock(path, doing: "cannot lock the schedule")
        // A process that only checks it holds it for a moment.
        var attempts = Retries(atMost: 19, milliseconds: 20)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR || code == EWOULDBLOCK && attempts.pause() { continue }
            var bytes = [UInt8](repeating: 0, count: 32)
            let count = pread(descriptor, &bytes, bytes.count, 0)
            close(descriptor)
            guard code == EWOULDBLOCK else {
                throw RunDiagnostics.system("cannot lock the schedule", path: path, errno: code, activity: .sending)
            }
            let process = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).prefix { $0.isNumber }
            throw Diagnostic(
                "another volley schedule\(process.isEmpty ? "" : " (process \(process))") is using this folder of runs",
                file: folder,
                remedy: "One `volley schedule` is enough for all campaigns: name them all there, or end the other one.")
        }
        // It was removed, and perhaps created again, between opening and locking: then it locks no
        // one out.
        guard FileLock.isNamed(path, descriptor: descriptor) else {
            close(descriptor)
            return try take(folder)
        }
        // For people; the lock is what counts, so the file stays when it is given back.
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = pwrite(descriptor, text, text.count, 0)
        return descriptor
    }

    /// Whether a `volley schedule` is using a folder. Never takes the lock.
    public static func isHeld(folder: String) -> Bool { FileLock.isHeld(path(folder)) }

    deinit { descriptor.withLock { _ = close($0) } }
}

/// What locks on files have in common (flock): the system releases them when their process dies.
enum FileLock {
    /// Whether some process holds a file's lock. Never takes it.
    static func isHeld(_ path: String) -> Bool {
        guard let descriptor = DatabaseFile.openLockToLook(path).descriptor else { return false }
        defer { close(descriptor) }
        // Getting a shared lock shows that no process holds the exclusive one; closing the file
        // releases it.
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    /// Whether a file that was opened still has its name.
    static func isNamed(_ path: String, descriptor: Int32) -> Bool {
        var ours = stat()
        var named = stat()
        return fstat(descriptor, &ours) == 0 && stat(path, &named) == 0 && ours.st_ino == named.st_ino
            && ours.st_dev == named.st_dev
    }
}
