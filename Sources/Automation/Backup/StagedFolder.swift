import Base
import Glibc

/// A folder that appears under its name only when it is complete. Until then it has another name in
/// the same place; the next process that makes a folder of that kind removes what a killed process
/// left there.
final class StagedFolder {
    /// Where it is until it is complete: in a folder of its own, which is locked. Its writers may
    /// lock the folder itself.
    let path: String
    /// Its path once it is complete.
    private(set) var name: String
    private let container: String
    /// Holds the lock of `container`.
    private let owner: Int32
    /// Folders above it that were made for it.
    private let above: [String]
    private var isFinished = false

    /// Another process that looks for abandoned folders may find this one before it is locked.
    private static let mostTries = 5

    /// - Parameters:
    ///   - name: the folder's path; the folder above it is made if it is missing.
    ///   - kind: abandoned folders of this kind next to it are removed: `backup`.
    init(_ name: String, kind: String) throws(Diagnostic) {
        self.name = name
        let above = FilePaths.folder(of: name)
        self.above = try FilePaths.makeFolder(above, mode: 0o700)
        Self.removeAbandoned(in: above, kind: kind)
        for _ in 1..<Self.mostTries {
            if let (container, owner) = try? Self.make(in: above, kind: kind) {
                (self.container, path, self.owner) = (container, Self.content(of: container), owner)
                return
            }
        }
        do throws(Diagnostic) {
            (container, owner) = try Self.make(in: above, kind: kind)
            path = Self.content(of: container)
        } catch {
            FilePaths.removeFolders(self.above)
            throw error
        }
    }

    private static func content(of container: String) -> String { FilePaths.join(container, name: "content") }

    /// Makes a folder that is locked, and still there, with the staged one in it.
    private static func make(in above: String, kind: String) throws(Diagnostic) -> (container: String, owner: Int32) {
        let path = FilePaths.join(above, name: prefix(kind) + String(UInt64.random(in: 0 ... .max), radix: 16) + suffix)
        guard mkdir(path, 0o700) == 0 else { throw failure(path, errno) }
        let owner = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if owner >= 0, flock(owner, LOCK_EX | LOCK_NB) == 0, mkdir(content(of: path), 0o700) == 0 {
            return (path, owner)
        }
        let code = owner >= 0 ? ENOENT : errno
        if owner >= 0 { close(owner) }
        rmdir(path)
        throw failure(path, code)
    }

    deinit {
        FolderTree.remove(container)
        if !isFinished { FilePaths.removeFolders(above) }
        if owner >= 0 { close(owner) }
    }

    private static let suffix = ".unfinished"
    private static func prefix(_ kind: String) -> String { ".volley-\(kind)-" }

    /// Removes what killed processes left in a folder.
    static func removeAbandoned(in folder: String, kind: String) {
        for other in (try? Folder.names(in: folder)) ?? []
        where other.hasPrefix(prefix(kind)) && other.hasSuffix(suffix) {
            removeAbandoned(FilePaths.join(folder, name: other))
        }
    }

    private static func removeAbandoned(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { FolderTree.remove(path) }
        close(descriptor)
    }

    /// Gives the folder its name; all of it is on the disk then, and only its owner may enter it.
    /// An empty folder may have the name.
    /// - Parameter others: further names; the first free one counts.
    /// - Throws: a `Diagnostic` if something else has the name.
    func finish(or others: some Sequence<String> = []) throws(Diagnostic) {
        for folder in FolderTree.folders(below: path) {
            guard chmod(folder, 0o700) == 0 else { throw Self.failure(folder, errno) }
            try Self.synchronize(folder)
        }
        var free = others.makeIterator()
        while rename(path, name) != 0 {
            let code = errno
            guard [ENOTEMPTY, EEXIST, ENOTDIR].contains(code), let other = free.next() else {
                throw Self.failure(name, code)
            }
            name = other
        }
        do { try Self.synchronize(FilePaths.folder(of: name)) } catch {
            // It is reported only once it would survive a power cut.
            if rename(name, path) == 0 { throw error }
            throw Diagnostic(
                "all of it is there, but nothing says that it is on the disk: \(error.message)", file: name)
        }
        isFinished = true
    }

    /// Flushes a file's or a folder's changes to the disk.
    static func synchronize(_ path: String) throws(Diagnostic) {
        do throws(FileError) { try FilePaths.synchronize(path) } catch {
            throw error.diagnostic("it cannot be written to the disk", file: path)
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> Diagnostic {
        switch code {
        case ENOTEMPTY, EEXIST:
            Diagnostic(
                "there is something under this name already", file: path, remedy: "Move it away, then try again.")
        default: FileError.system(code).diagnostic("the folder cannot be written", file: path)
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

    /// All files below a folder, by their paths below it, in order.
    static func files(below folder: String, in part: String = "") -> [String] {
        let here = part.isEmpty ? folder : FilePaths.join(folder, name: part)
        return ((try? Folder.names(in: here)) ?? []).flatMap { name -> [String] in
            let relative = part.isEmpty ? name : "\(part)/\(name)"
            var status = stat()
            guard lstat(FilePaths.join(folder, name: relative), &status) == 0 else { return [] }
            return status.st_mode & S_IFMT == S_IFDIR ? files(below: folder, in: relative) : [relative]
        }
    }
}
