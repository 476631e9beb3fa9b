import Glibc
import Synchronization

/// The databases that Volley keeps in folders of runs. Such a file must never be opened for another
/// purpose: when a process closes any descriptor of a file, it loses all its locks on that file
/// (fcntl(2)), and SQLite would believe that it still has them. Another process could then remove
/// what this one has just recorded. Locks belong to the process, and so does this list.
public enum ProtectedFiles {
    /// The names of the links in a folder to databases elsewhere, as long as nothing is added to it
    /// or removed.
    private struct Links { var stamp: FileStamp, names: [String] }

    /// The folders, each with its links once they are known.
    private static let folders = Mutex<[String: Links?]>([:])

    /// Notes a folder with such files; it need not exist yet.
    public static func keep(in folder: String) {
        let folder = FilePaths.anchored(folder)
        folders.withLock { folders in
            if folders[folder] == nil { folders[folder] = .some(nil) }
        }
    }

    /// Whether a path leads to such a file, by whatever name or link. Opens no file.
    public static func holds(_ path: String) -> Bool {
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        // Every file that is opened comes by here: the lock is taken once, not for each folder.
        let known = folders.withLock { $0 }, real = FilePaths.absolute(path)
        for (folder, links) in known where Self.links(linkNames(in: folder, links), in: folder, leadTo: real) {
            return true
        }
        let folders = known.keys
        // Without another name, it is where its path leads, and no folder needs to be looked
        // through.
        guard status.st_nlink > 1 else {
            guard let folder = FileStamp(path: FilePaths.folder(of: real)), let name = real.split(separator: "/").last,
                isKept(String(name))
            else { return false }
            return folders.contains { FileStamp(path: $0)?.isSameFile(as: folder) ?? false }
        }
        let own = FileStamp(status)
        return folders.contains { folder in
            let names = (try? Folder.names(in: folder) { isKept($0) }) ?? []
            return names.contains { FileStamp(path: FilePaths.join(folder, name: $0))?.isSameFile(as: own) ?? false }
        }
    }

    /// Whether one of the links in a folder leads to a file, or to the database that the file lies
    /// next to.
    private static func links(_ names: [String], in folder: String, leadTo path: String) -> Bool {
        guard !names.isEmpty else { return false }
        let files = Set([path, database(of: path)]).compactMap { FileStamp(path: $0) }
        return names.contains { name in
            guard let target = FileStamp(path: FilePaths.join(folder, name: name)) else { return false }
            return files.contains { $0.isSameFile(as: target) }
        }
    }

    private static func linkNames(in folder: String, _ known: Links?) -> [String] {
        var status = stat()
        guard stat(folder, &status) == 0 else { return [] }
        let stamp = FileStamp(status)
        if let known, known.stamp == stamp { return known.names }
        let names =
            (try? Folder.names(in: folder) { isKept($0) && FileKind.isLink(FilePaths.join(folder, name: $0)) }) ?? []
        // Within a tick of its clock a file system does not tell two changes apart.
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if abs(now.tv_sec - stamp.modified.seconds) > 1 {
            folders.withLock { $0[folder] = Links(stamp: stamp, names: names) }
        }
        return names
    }

    /// Whether a name is that of a database, of one that is being made, or of a file that SQLite
    /// puts next to it. Lists and results may lie in these folders, too.
    private static func isKept(_ name: String) -> Bool {
        [".sqlite", ".sqlite.partial", ".db"].contains(where: database(of: name).hasSuffix)
    }

    /// The database that SQLite puts a file next to; any other name as it is.
    private static func database(of name: String) -> String {
        ["-wal", "-shm", "-journal"].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) } ?? name
    }
}
