import Base
import Glibc
import Synchronization

/// The right to be the one `volley schedule` of a folder of runs; the system releases it when the process dies.
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

    /// Creates the lock's file again when it was removed; without it another process would find the lock free. Call it
    /// every second or so.
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
                "another volley schedule\(process.isEmpty ? "" : " (process \(process))") is using this folder of runs", file: folder,
                remedy: "One `volley schedule` is enough for all campaigns: name them all there, or end the other one.")
        }
        // It was removed, and perhaps created again, between opening and locking: then it locks no one out.
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
