import Glibc
import Synchronization

/// The databases that Volley keeps in folders of runs. Such a file must never be opened for another purpose: when a process closes any
/// descriptor of a file, it loses all its locks on that file (fcntl(2)), and SQLite would believe that it still has them. Another process
/// could then remove what this one has just recorded. Locks belong to the process, and so does this list.
public enum KeptFiles {
    private static let folders = Mutex<Set<String>>([])
    /// The names of the links in a folder to databases elsewhere, by the folder, as long as nothing is added to it or removed.
    private static let links = Mutex<[String: (stamp: FileStamp, names: [String])]>([:])

    /// Notes a folder with such files; it need not exist yet.
    public static func keep(in folder: String) {
        let folder = FilePaths.anchored(folder)
        _ = folders.withLock { $0.insert(folder) }
    }

    /// Whether a path leads to such a file, by whatever name or link. Opens no file.
    public static func holds(_ path: String) -> Bool {
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let folders = folders.withLock { $0 }, real = FilePaths.absolute(path)
        if folders.contains(where: { links(in: $0, leadTo: real) }) { return true }
        // Without another name, it is where its path leads, and no folder needs to be looked through.
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

    /// Whether a link in a folder leads to a file, or to the database that the file lies next to.
    private static func links(in folder: String, leadTo path: String) -> Bool {
        let names = linkNames(in: folder)
        guard !names.isEmpty else { return false }
        let files = Set([path, database(of: path)]).compactMap { FileStamp(path: $0) }
        return names.contains { name in
            guard let target = FileStamp(path: FilePaths.join(folder, name: name)) else { return false }
            return files.contains { $0.isSameFile(as: target) }
        }
    }

    private static func linkNames(in folder: String) -> [String] {
        guard let stamp = FileStamp(path: folder) else { return [] }
        if let known = links.withLock({ $0[folder] }), known.stamp == stamp { return known.names }
        let names = (try? Folder.names(in: folder) { isKept($0) && FileKind.isLink(FilePaths.join(folder, name: $0)) }) ?? []
        // Within a tick of its clock a file system does not tell two changes apart.
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if abs(now.tv_sec - stamp.modified.seconds) > 1 { links.withLock { $0[folder] = (stamp, names) } }
        return names
    }

    /// Whether a name is that of a database, of one that is being made, or of a file that SQLite puts next to it. Lists and results may lie in
    /// these folders, too.
    private static func isKept(_ name: String) -> Bool {
        [".sqlite", ".sqlite.partial", ".db"].contains(where: database(of: name).hasSuffix)
    }

    /// The database that SQLite puts a file next to; any other name as it is.
    private static func database(of name: String) -> String {
        ["-wal", "-shm", "-journal"].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) } ?? name
    }
}
