public import Base
import Glibc

/// A file that planning is writing, or that an ended process left behind: not a run yet, but it may
/// hold device tokens.
public struct UnfinishedPlan: Hashable, Sendable {
    /// Where it is, for messages.
    public var place: String { path }
    let path: String
    /// The run that it was to become.
    public let id: String
    /// Bytes.
    public let size: Int
    /// When it was last written.
    public let changedAt: Timestamp

    /// Whether a process is writing it just now.
    public var isOwned: Bool { FileLock.isHeld(path) }

    /// All of a folder, by their names. A folder that does not exist yet holds none.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    static func all(in folder: String) throws -> [UnfinishedPlan] {
        try DatabaseFile.names(in: folder).filter { $0.hasSuffix(DatabaseFile.partialSuffix) }.compactMap { name in
            let path = FilePaths.join(folder, name: name)
            var status = stat()
            // One that was finished in between is a run.
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return UnfinishedPlan(
                path: path, id: String(name.dropLast(DatabaseFile.partialSuffix.count)), size: Int(status.st_size),
                changedAt: Timestamp(epochSeconds: Int64(status.st_mtim.tv_sec)))
        }
    }

    /// Removes it, unless a process is writing it.
    /// - Returns: whether it is gone.
    @discardableResult
    public func remove() throws -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return true }
            throw RunDiagnostics.system(
                "cannot remove an unfinished plan", path: path, errno: errno, activity: .planning)
        }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, FileLock.isNamed(path, descriptor: descriptor) else {
            return false
        }
        // Finished, and about to lose this name: the run must not be touched, and the name
        // disappears without help.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink <= 1 else { return unlink(path) == 0 }
        DatabaseFile.remove(path)
        guard DatabaseFile.kind(path) == .missing else {
            throw RunDiagnostics.system(
                "cannot remove an unfinished plan", path: path, errno: EACCES, activity: .planning)
        }
        return true
    }
}
