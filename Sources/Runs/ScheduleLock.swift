import Base
import Glibc

/// The right to be the one `volley schedule` of a folder of runs; given back by the system when the process dies.
public final class ScheduleLock: Sendable {
    private static let fileName = "schedule.lock"
    private let descriptor: Int32

    /// - Throws: `Diagnostic` when another process has it.
    public init(folder: String) throws {
        let path = RunFile.join(folder, Self.fileName)
        try RunFile.makeFolder(folder)
        let descriptor = try RunFile.openLock(path, "cannot lock the schedule")
        // Whoever only looks holds it for a moment.
        var tries = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            tries += 1
            if code == EINTR || code == EWOULDBLOCK && tries < 20 {
                usleep(20_000)
                continue
            }
            var bytes = [UInt8](repeating: 0, count: 32)
            let count = pread(descriptor, &bytes, bytes.count, 0)
            close(descriptor)
            guard code == EWOULDBLOCK else {
                throw RunDiagnostics.system("cannot lock the schedule", path: path, errno: code, activity: .sending)
            }
            let process = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).prefix { $0.isNumber }
            throw Diagnostic(
                "another volley schedule\(process.isEmpty ? "" : " (process \(process))") works with this folder of runs", file: folder,
                remedy: "One is enough for any number of campaigns: name them all there, or use another folder with --runs.")
        }
        // For whoever wonders; the lock is what counts, so the file stays when it is given back.
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = pwrite(descriptor, text, text.count, 0)
        self.descriptor = descriptor
    }

    /// Whether a `volley schedule` works with a folder. Looks only; never takes the lock.
    public static func isHeld(folder: String) -> Bool {
        let descriptor = RunFile.openLockToLook(RunFile.join(folder, fileName))
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    deinit { close(descriptor) }
}
