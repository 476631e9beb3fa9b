import Base
import Glibc

/// Where run files lie and how their names end.
enum RunFile {
    static let suffix = ".sqlite"
    /// A plan that is still being written: no command takes such a file for a run.
    static let partialSuffix = ".sqlite.partial"

    /// Whether a file of the folder is a run, by its name.
    static func isRun(_ name: String) -> Bool {
        name.hasSuffix(suffix) && !name.hasPrefix(SuppressionList.prefix) && name != ScheduleStore.fileName
    }

    /// The last part of a path.
    static func name(_ path: String) -> Substring { path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...] }

    static func path(_ id: String, in folder: String) -> String { join(folder, id + suffix) }

    static func join(_ folder: String, _ name: String) -> String { folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)" }

    /// Removes a database and what SQLite may have laid beside it.
    static func remove(_ path: String) {
        for ending in ["", "-journal", "-wal", "-shm"] { unlink(path + ending) }
    }

    /// Makes a folder and those above it. Run files hold device tokens, so new folders are for their owner alone.
    static func makeFolder(_ folder: String) throws {
        if kind(folder) == .folder { return }
        let parent = RunDiagnostics.folder(of: folder)
        if folder.contains("/"), parent != "/", parent != folder { try makeFolder(parent) }
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw RunDiagnostics.system("cannot make the folder of runs", path: folder, errno: errno, activity: .planning)
        }
        guard kind(folder) == .folder else { throw Diagnostic("the folder of runs is a file", file: folder) }
    }

    /// Opens a file that is locked, or makes it. A link under its name may lead to any file, and a pipe is none that locks: neither is opened.
    static func openLock(_ path: String, _ doing: String) throws(Diagnostic) -> Int32 {
        let descriptor = open(path, O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        var status = stat()
        if descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return descriptor }
        let code = errno
        if descriptor >= 0 { close(descriptor) }
        guard descriptor < 0, code != ELOOP, code != EISDIR, code != ENXIO else {
            throw Diagnostic(
                "\(doing): this is a link, a folder or a pipe, and no file of Volley's", file: path,
                remedy: "Find out who put it there, and remove it.")
        }
        throw RunDiagnostics.system(doing, path: path, errno: code, activity: .sending)
    }

    /// Opens a lock's file, to look at it; -1 where there is none.
    static func openLockToLook(_ path: String) -> Int32 { open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }

    /// Writes a file's or a folder's changes through to the disk.
    static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw RunDiagnostics.system("cannot make the run durable", path: path, errno: errno, activity: .planning)
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw RunDiagnostics.system("cannot make the run durable", path: path, errno: errno, activity: .planning)
        }
    }

    enum Kind { case file, folder, missing, forbidden }

    static func kind(_ path: String) -> Kind {
        var status = stat()
        guard stat(path, &status) == 0 else { return errno == EACCES ? .forbidden : .missing }
        return status.st_mode & S_IFMT == S_IFDIR ? .folder : .file
    }

    /// What tells a file from another one of the same name.
    struct Identity: Hashable, Sendable { var device: UInt, file: UInt }

    static func identity(_ path: String) -> Identity? {
        var status = stat()
        return stat(path, &status) == 0 ? Identity(device: UInt(status.st_dev), file: UInt(status.st_ino)) : nil
    }

    /// Bytes; 0 when there is no such file.
    static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The names in a folder, sorted; none when there is no such folder yet.
    static func names(in folder: String) throws -> [String] {
        guard let stream = opendir(folder) else {
            if errno == ENOENT { return [] }
            throw RunDiagnostics.system("cannot list the folder of runs", path: folder, errno: errno, activity: .reading)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
