import Base
import Glibc

/// A folder that appears under its name only when it is complete. Until then it lies beside, under another name; what a killed process left there is
/// removed by the next one that makes a folder of that kind.
final class StagedFolder {
    /// Where it is until it is complete.
    let path: String
    private let name: String
    /// Holds the lock: the folder itself.
    private let owner: Int32
    private var isFinished = false

    /// - Parameters:
    ///   - name: the folder's path; the folder above it is made if it is missing.
    ///   - kind: abandoned folders of this kind beside it are removed: `backup`.
    init(_ name: String, kind: String) throws(Diagnostic) {
        self.name = name
        let above = FilePaths.folder(of: name)
        try FilePaths.makeFolder(above, mode: 0o700)
        let prefix = ".volley-\(kind)-", suffix = ".unfinished"
        for other in (try? Folder.names(in: above)) ?? [] where other.hasPrefix(prefix) && other.hasSuffix(suffix) {
            Self.removeAbandoned(FilePaths.join(above, name: other))
        }
        path = FilePaths.join(above, name: prefix + String(UInt64.random(in: 0 ... .max), radix: 16) + suffix)
        guard mkdir(path, 0o700) == 0 else { throw Self.failure(path, errno) }
        owner = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard owner >= 0, flock(owner, LOCK_EX | LOCK_NB) == 0 else { throw Self.failure(path, errno) }
    }

    deinit {
        if !isFinished { FolderTree.remove(path) }
        if owner >= 0 { close(owner) }
    }

    private static func removeAbandoned(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { FolderTree.remove(path) }
        close(descriptor)
    }

    /// Gives the folder its name; all of it is on the disk then, and only its owner may enter it. An empty folder may have the name.
    /// - Throws: a `Diagnostic` if something else has the name.
    func finish() throws(Diagnostic) {
        for folder in FolderTree.folders(below: path) {
            guard chmod(folder, 0o700) == 0 else { throw Self.failure(folder, errno) }
            try Self.synchronize(folder)
        }
        guard rename(path, name) == 0 else { throw Self.failure(name, errno) }
        isFinished = true
        try Self.synchronize(FilePaths.folder(of: name))
    }

    private static func synchronize(_ folder: String) throws(Diagnostic) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(folder, errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(folder, errno) }
    }

    private static func failure(_ path: String, _ code: Int32) -> Diagnostic {
        switch code {
        case ENOTEMPTY, EEXIST:
            Diagnostic("there is something under this name already", file: path, remedy: "Move it away, then try again.")
        default: Diagnostic("the folder cannot be written: \(String(cString: strerror(code)))", file: path)
        }
    }
}

/// Folders with everything below them.
enum FolderTree {
    /// Removes a folder; follows no links.
    static func remove(_ path: String) {
        for name in (try? Folder.names(in: path)) ?? [] {
            let entry = FilePaths.join(path, name: name)
            var status = stat()
            if lstat(entry, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { remove(entry) } else { unlink(entry) }
        }
        rmdir(path)
    }

    /// The folder and all below it, the deepest first.
    static func folders(below path: String) -> [String] {
        let names = (try? Folder.names(in: path)) ?? []
        let below = names.map { FilePaths.join(path, name: $0) }.filter { entry in
            var status = stat()
            return lstat(entry, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
        return below.flatMap { folders(below: $0) } + [path]
    }
}
