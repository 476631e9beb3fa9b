import Base
import GRDB
import Glibc

/// The databases in a folder of runs, and the files next to them: their names and kinds, and how
/// they are created and locked.
enum DatabaseFile {
    static let suffix = ".sqlite"
    /// A plan that is still being written: no command takes such a file for a run.
    static let partialSuffix = ".sqlite.partial"

    /// Whether a file of the folder is a run, by its name.
    static func isRun(_ name: String) -> Bool {
        name.hasSuffix(suffix) && !name.hasPrefix(SuppressionList.prefix) && name != ScheduleStore.fileName
            && name != OrderStore.fileName
    }

    /// The last part of a path.
    static func name(_ path: String) -> Substring {
        path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    }

    static func path(_ id: String, in folder: String) -> String { FilePaths.join(folder, name: id + suffix) }

    /// Removes a database and the files that SQLite may have created next to it.
    static func remove(_ path: String) {
        for ending in ["", "-journal", "-wal", "-shm"] { unlink(path + ending) }
    }

    /// Creates a folder and its parents. Run files hold device tokens, so new folders are for their
    /// owner only.
    static func makeFolder(_ folder: String) throws {
        if kind(folder) == .folder { return }
        if let dead = FileKind.deadLink(folder) { throw dead }
        let parent = RunDiagnostics.folder(of: folder)
        if folder.contains("/"), parent != "/", parent != folder { try makeFolder(parent) }
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw RunDiagnostics.system(
                "cannot make the folder of runs", path: folder, errno: errno, activity: .planning)
        }
        guard kind(folder) == .folder else { throw Diagnostic("the folder of runs is a file", file: folder) }
    }

    /// Creates an empty database that only its owner may read, unless the file exists: SQLite takes
    /// an empty file as a new database, and gives its companions the same permissions. No
    /// descriptor is opened, because closing any descriptor of a file takes SQLite's locks on it
    /// from the whole process (fcntl(2)): another process would believe that no one has it open,
    /// and change its journal mode.
    static func makeDatabase(_ path: String, doing: String, _ activity: RunDiagnostics.Activity) throws {
        try makeFolder(RunDiagnostics.folder(of: path))
        guard mknod(path, S_IFREG | 0o600, 0) != 0 else { return }
        if let obstacle = obstacle(toMaking: path, code: errno, doing: doing, activity) { throw obstacle }
    }

    /// Why a database could not be created; nil when the file exists.
    static func obstacle(
        toMaking path: String, code: Int32, doing: String, _ activity: RunDiagnostics.Activity
    ) -> Diagnostic? {
        switch kind(path) {
        case .file where code == EEXIST: nil
        case .folder where code == EEXIST: RunDiagnostics.system(doing, path: path, errno: EISDIR, activity: activity)
        // SQLite would follow it.
        case .deadLink(let mistake): mistake
        default: RunDiagnostics.system(doing, path: path, errno: code, activity: activity)
        }
    }

    /// Opens or creates a lock file. A link under its name may lead to any file, and a pipe cannot
    /// be locked: neither is opened.
    static func openLock(_ path: String, doing: String) throws(Diagnostic) -> Int32 {
        let descriptor = open(path, O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        var status = stat()
        if descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return descriptor }
        let code = errno
        if descriptor >= 0 { close(descriptor) }
        if code == ELOOP {
            throw Diagnostic(
                "\(doing): this is a link, not a file of Volley", file: path,
                remedy: "Remove the link or move it away: Volley did not create it.")
        }
        if let kind = FileKind(path: path), kind != .regular { throw kind.intrusion(path, wanted: "a lock file") }
        throw RunDiagnostics.system(doing, path: path, errno: code, activity: .sending)
    }

    /// Lets writers of the databases in a folder take turns, both threads and processes. SQLite
    /// would have them try again and again, and one of many may never get its turn. Where the
    /// folder cannot be locked (on NFS) SQLite's own locking has to do.
    ///
    /// `body` must be short, and must not wait for its own turn.
    static func inTurn<Value>(_ path: String, _ body: () throws -> Value) rethrows -> Value {
        // Not the file itself: closing any descriptor of it would take SQLite's own locks from the
        // whole process (POSIX, fcntl).
        let descriptor = open(RunDiagnostics.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0 { while flock(descriptor, LOCK_EX) != 0, errno == EINTR {} }
        defer { if descriptor >= 0 { close(descriptor) } }
        return try body()
    }

    /// Writes a file's or a folder's changes through to the disk. Not of a database that this
    /// process has open: SQLite does that itself, and would lose its locks (`makeDatabase`).
    static func synchronize(_ path: String) throws {
        do throws(FileError) { try FilePaths.synchronize(path) } catch {
            throw RunDiagnostics.system(
                "cannot write the run to disk", path: path, errno: error.errorNumber, activity: .planning)
        }
    }

    enum Kind: Equatable {
        case file, folder, missing, forbidden
        /// A link that leads nowhere, which is not the same as nothing: the file may be on a disk
        /// that is not mounted.
        case deadLink(Diagnostic)
        /// A named pipe, a socket, a device: SQLite would wait for it, perhaps forever.
        case other(FileKind)
    }

    static func kind(_ path: String) -> Kind {
        guard let kind = FileKind(path: path) else {
            return errno == EACCES ? .forbidden : FileKind.deadLink(path).map(Kind.deadLink) ?? .missing
        }
        switch kind {
        // Volley itself opens its records.
        case .regular, .record: return .file
        case .folder: return .folder
        case .namedPipe, .socket, .device: return .other(kind)
        }
    }

    /// Checks a database and SQLite's files next to it before SQLite opens any of them.
    /// - Parameter wanted: what the database should be: `a run file`.
    /// - Throws: `Diagnostic` when one of them is a link that leads nowhere, or neither a file nor
    ///   a folder.
    static func checkKind(ofDatabase path: String, wanted: String) throws(Diagnostic) {
        for file in [path, path + "-journal", path + "-wal", path + "-shm"] {
            switch kind(file) {
            case .other(let kind): throw kind.intrusion(file, wanted: wanted)
            case .deadLink(let mistake): throw mistake
            case .file, .folder, .missing, .forbidden: break
            }
        }
    }

    /// Opens a lock file to check whether it is held; no descriptor when it is missing, or
    /// `isHidden` because this user may not read it.
    static func openLockToLook(_ path: String) -> (descriptor: Int32?, isHidden: Bool) {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return (nil, errno == EACCES) }
        guard FileKind(descriptor: descriptor) == .regular else {
            close(descriptor)
            return (nil, false)
        }
        return (descriptor, false)
    }

    /// The path that a symbolic link leads to; the path itself when it is not a link.
    static func withoutLink(_ path: String) -> String {
        FileKind.isLink(path) ? FilePaths.absolute(path) : path
    }

    /// Distinguishes a file from another one of the same name.
    struct Identity: Hashable, Sendable { var device: UInt, file: UInt }

    static func identity(_ path: String) -> Identity? {
        var status = stat()
        return stat(path, &status) == 0 ? Identity(device: UInt(status.st_dev), file: UInt(status.st_ino)) : nil
    }

    /// How many names a file has. The name of the unfinished plan, which a killed process may have
    /// left next to the run's own, is removed first.
    static func names(of path: String) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { return 0 }
        let unfinished = path + ".partial"
        guard status.st_nlink > 1, identity(unfinished) == identity(path), unlink(unfinished) == 0 else {
            return Int(status.st_nlink)
        }
        return Int(status.st_nlink) - 1
    }

    /// A command that lists all names of a file, in whatever folder it is run: they may be anywhere
    /// on the same file system.
    static func searchForNames(of path: String) -> String {
        var whole = path
        if let resolved = realpath(path, nil) {
            whole = String(cString: resolved)
            free(resolved)
        }
        var root = RunDiagnostics.folder(of: whole)
        while root != "/", let above = identity(RunDiagnostics.folder(of: root)), above.device == identity(root)?.device
        {
            root = RunDiagnostics.folder(of: root)
        }
        return "find '\(root)' -xdev -samefile '\(whole.replacing(scalar: "'", with: "'\\''"))'"
    }

    /// Bytes; 0 when there is no such file.
    static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The names in a folder, sorted; none when there is no such folder yet.
    static func names(in folder: String) throws -> [String] {
        do throws(FileError) { return try Folder.names(in: folder) } catch {
            if let dead = FileKind.deadLink(folder) { throw dead }
            if error == .system(ENOENT) { return [] }
            throw RunDiagnostics.system(
                "cannot list the folder of runs", path: folder, errno: error.errorNumber, activity: .reading)
        }
    }
}

/// A change to a database whose process was killed in the middle of it: a journal is left next to
/// the file, and SQLite rolls the change back when the file is next opened for writing. Until then
/// it cannot be read either, so a reader must trigger the rollback.
enum InterruptedChange {
    /// Runs `body`, which only reads; a change that prevents this is rolled back first. SQLite may
    /// also mistake for interrupted, or for missing, what another process is just beginning or
    /// finishing (its journal, its WAL and their index): then reading again is enough, for as long
    /// as a process that the machine does not let run may take.
    static func takingBack<T>(_ path: String, _ body: () throws -> T) throws -> T {
        var pauses = isWithinReach(path) ? Retries(atMost: 300, milliseconds: 10) : Retries(atMost: 20, milliseconds: 2)
        while true {
            do { return try body() } catch let error as DatabaseError where error.isOfAnInterruptedChange {
                if access(path + "-journal", F_OK) == 0 {
                    // If it is busy, another process is using the file, and rolls it back.
                    do { try reopen(path) } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {}
                }
                guard pauses.pause() else { throw error }
            }
        }
    }

    /// Whether this user may read and write the file, and create files next to it: then whatever
    /// prevents reading it is temporary.
    static func isWithinReach(_ path: String) -> Bool {
        access(path, R_OK | W_OK) == 0 && access(RunDiagnostics.folder(of: path), R_OK | W_OK | X_OK) == 0
    }

    private static func reopen(_ path: String) throws {
        let database = try DatabaseQueue(path: path)
        // The first read rolls it back.
        _ = try database.writeWithoutTransaction { try $0.isBlank() }
        try database.close()
    }
}

extension DatabaseError {
    fileprivate var isOfAnInterruptedChange: Bool {
        resultCode == .SQLITE_READONLY || resultCode == .SQLITE_CANTOPEN
    }
}
