import Base
import Glibc

/// A folder next to the runs for files that last as long as one command. It is locked while it is
/// in use; what a killed process left is removed by the next one that makes such a folder.
public final class ScratchFolder: Sendable {
    /// Where it is.
    public let path: String
    private let above: String
    /// Holds the lock: the folder itself.
    private let owner: Int32

    private static let name = ".queries"

    /// - Parameter runs: the folder of runs; made when missing.
    /// - Throws: `Diagnostic`: nothing can be made there.
    package init(besideRuns runs: String) throws {
        above = FilePaths.join(runs, name: Self.name)
        Self.removeAbandoned(in: above)
        try DatabaseFile.makeFolder(runs)
        (path, owner) = try Self.make(in: above)
    }

    private static func make(in above: String) throws -> (path: String, owner: Int32) {
        for _ in 0..<10 {
            let path = FilePaths.join(above, name: "\(getpid())-\(String(UInt32.random(in: 0 ... .max), radix: 16))")
            _ = mkdir(above, 0o700)
            guard mkdir(path, 0o700) == 0 else {
                // Another process may just have removed the folder above, because it was empty.
                if errno == ENOENT || errno == EEXIST { continue }
                throw failure(path, errno)
            }
            let owner = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard owner >= 0 else { continue }
            // A process that cleans up may have been quicker, before the lock was there.
            if flock(owner, LOCK_EX | LOCK_NB) == 0, FileLock.isNamed(path, descriptor: owner) { return (path, owner) }
            close(owner)
        }
        throw failure(above, ENOENT)
    }

    private static func failure(_ path: String, _ code: Int32) -> Diagnostic {
        RunDiagnostics.system("cannot make a folder for temporary files", path: path, errno: code, activity: .planning)
    }

    deinit {
        Self.remove(path)
        close(owner)
        rmdir(above)
    }

    private static func removeAbandoned(in above: String) {
        for name in (try? Folder.names(in: above)) ?? [] {
            let path = FilePaths.join(above, name: name)
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { remove(path) }
            close(descriptor)
        }
    }

    private static func remove(_ path: String) {
        for name in (try? Folder.names(in: path)) ?? [] { unlink(FilePaths.join(path, name: name)) }
        rmdir(path)
    }
}
