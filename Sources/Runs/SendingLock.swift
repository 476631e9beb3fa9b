import Base
import Glibc

/// The right to send a run: held by at most one process at a time, and given back by the system when that process dies.
struct SendingLock: ~Copyable {
    private let path: String
    private let descriptor: Int32

    /// Others who look whether it is taken keep it from being taken for a moment.
    private static let glances = 20, glanceMicroseconds: UInt32 = 2_000

    /// - Parameter isSending: false for who only keeps others from sending.
    /// - Throws: `Diagnostic` when another process (or another store of this one) holds it.
    init(run: String, isSending: Bool = true) throws {
        path = run + ".lock"
        var attempts = 0
        while true {
            let descriptor = try RunFile.openLock(path, "cannot lock the run")
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                Glibc.close(descriptor)
                attempts += 1
                if code == EWOULDBLOCK, attempts < Self.glances {
                    usleep(Self.glanceMicroseconds)
                    continue
                }
                guard code == EWOULDBLOCK else {
                    throw RunDiagnostics.system("cannot lock the run", path: path, errno: code, activity: .sending)
                }
                throw Diagnostic(
                    "this run is being sent by another volley", file: run,
                    remedy: "Wait until it has ended, or pause it, before resuming it.")
            }
            // Whoever held it before may have removed the file between our open and our lock: then it locks nobody out.
            var ours = stat()
            var named = stat()
            if fstat(descriptor, &ours) == 0, stat(path, &named) == 0, ours.st_ino == named.st_ino, ours.st_dev == named.st_dev {
                self.descriptor = descriptor
                stamp(isSending)
                return
            }
            Glibc.close(descriptor)
        }
    }

    /// Says when it was taken. To the nanosecond, as a file system's own clock ticks too slowly to tell who came first.
    private func stamp(_ isSending: Bool) {
        var now = timespec()
        if isSending { clock_gettime(CLOCK_REALTIME, &now) }
        futimens(descriptor, [now, now])
    }

    /// Whether some process holds the right to send a run. Looks only; never takes it.
    static func isHeld(run: String) -> Bool { heldSince(run: run) != nil }

    /// Since when some process has held the right to send a run, in nanoseconds since 1970; 0 when that does not send; nil when none has it.
    static func heldSince(run: String) -> Int64? {
        let descriptor = RunFile.openLockToLook(run + ".lock")
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        var status = stat()
        // A shared lock that is had shows that nobody sends; closing the file gives it back.
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0, fstat(descriptor, &status) == 0 else { return nil }
        return Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    }

    deinit {
        unlink(path)
        Glibc.close(descriptor)
    }
}
