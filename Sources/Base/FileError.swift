import Glibc

/// Why a file or folder cannot be opened, read or written.
public enum FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An error number of the system: errno.
    case system(Int32)
    /// Something other than a regular file, from which reading might never end.
    case notAFile(FileKind)

    /// errno, or the number that the system would give for a file of the wrong kind.
    public var errorNumber: Int32 {
        switch self {
        case .system(let code): code
        case .notAFile(let kind): kind == .folder ? EISDIR : EINVAL
        }
    }

    /// Why, as the end of a sentence that says what cannot be done.
    public var description: String {
        switch self {
        case .system(let code): SystemError.words(code)
        case .notAFile(let kind): "this is \(kind.text), not a file"
        }
    }

    /// What to do, in whole sentences.
    public var remedy: String {
        switch self {
        case .system(let code): SystemError.remedy(code)
        case .notAFile(.record): FileKind.ofRecord
        case .notAFile: "Name a file."
        }
    }

    /// The error as people read it.
    /// - Parameters:
    ///   - what: what cannot be done: `the report cannot be written`.
    ///   - remedy: what to do; nil for what the system's error suggests.
    public func diagnostic(_ what: String, file: String?, remedy: String? = nil) -> Diagnostic {
        if self == .system(ENOENT), let file, let misencoded = FilePaths.misencoded(file) { return misencoded }
        if let shortage = file.flatMap({ MissingResource($0, after: self) }) {
            return Diagnostic(
                "\(what): \(shortage.words)", file: file, remedy: remedy ?? shortage.remedy + ", then try again.")
        }
        // Of another user's file, the command that gives it to this one.
        let access = self == .system(EACCES) ? file.flatMap { FileAccess.problem($0, .reading, purpose: nil) } : nil
        return Diagnostic("\(what): \(self)", file: file, remedy: remedy ?? access?.remedy ?? self.remedy)
    }
}

/// What is missing where a file cannot be made, opened or made larger, if the error number does not
/// tell: the system says of a file system that has no more files to give that it has no space, and
/// of all paths in a folder that was removed that they do not exist.
public enum MissingResource: Hashable, Sendable {
    /// Less than a megabyte is free.
    case space
    /// All inodes are in use.
    case files
    /// The current folder was removed, and the path is relative to it.
    case currentFolder

    /// What is missing for a file; nil if nothing is, or that cannot be found out.
    public init?(at path: String) {
        if Self.isRemoved(above: path) {
            self = .currentFolder
            return
        }
        var folder = FilePaths.folder(of: path), status = statvfs()
        while statvfs(folder, &status) != 0 {
            guard errno == ENOENT, folder != "/", folder != "." else { return nil }
            folder = FilePaths.folder(of: folder)
        }
        // First: a file system that makes inodes from free space has none without it.
        if status.f_bavail * status.f_frsize < 1 << 20 {
            self = .space
        } else if status.f_files > 0, status.f_favail == 0 {
            self = .files
        } else {
            return nil
        }
    }

    /// What is missing where SQLite fails; nil if its error means something else.
    /// - Parameter code: SQLite's result code, without its extension.
    package init?(at path: String, sqliteCode code: Int32) {
        // Source: "Result and Error Codes" of SQLite.
        let isFull = code == 13, cannotOpen = code == 14
        guard isFull || cannotOpen || code == 10, let found = Self(at: path) ?? (isFull ? .space : nil),
            found != .space || !cannotOpen
        else { return nil }
        self = found
    }

    /// What an error means if its own words would be wrong; nil if they are right.
    fileprivate init?(_ path: String, after error: FileError) {
        guard error == .system(ENOSPC) || error == .system(ENOENT) && Self.isRemoved(above: path),
            let found = Self(at: path),
            found != .space
        else { return nil }
        self = found
    }

    private static func isRemoved(above path: String) -> Bool {
        guard !path.hasPrefix("/") else { return false }
        guard let folder = getcwd(nil, 0) else { return errno == ENOENT }
        defer { free(folder) }
        // Source: getcwd(2), of a folder that cannot be reached from the root.
        return strncmp(folder, "(unreachable)", 13) == 0
    }

    /// Why, as the end of a sentence.
    public var words: String {
        switch self {
        case .space: "the disk is full"
        case .files: "all inodes of the file system are in use, so no more files can be made"
        case .currentFolder: "the current folder was removed"
        }
    }

    /// What to do, as the beginning of a sentence.
    public var remedy: String {
        switch self {
        case .space: "Free space"
        case .files: "Remove files that are not needed (`df -i` counts them)"
        case .currentFolder: "Change into a folder that exists"
        }
    }
}

/// What error numbers of the system mean to people. strerror(3) names a number; it says neither
/// what it means here nor what to do, so no message uses it without this table.
public enum SystemError {
    /// Why, as the end of a sentence. A number that is rare is quoted in the system's words.
    public static func words(_ code: Int32) -> String {
        if let words = table[code]?.words { return words }
        return "the system refuses it (error \(code)\(strerror(code).map { ", \(String(cString: $0))" } ?? ""))"
    }

    /// What to do, in whole sentences.
    public static func remedy(_ code: Int32) -> String {
        table[code]?.remedy ?? "Check the path and its disk. The system's log may say more: `journalctl -k`."
    }

    private static let openFiles = "Raise the limit: `ulimit -n`, or LimitNOFILE= of a systemd unit."
    private static let memory = "Close other programs, or allow more memory: `ulimit -v`, MemoryMax= of a systemd unit."
    private static let network = "Check host and port, and firewalls between here and there."

    /// Source: errno(3).
    private static let table: [Int32: (words: String, remedy: String)] = [
        ENOENT: ("there is no such file or folder", "Check the path; folders above it must exist."),
        ENOTDIR: ("a part of the path is not a folder", "Check the path."),
        EACCES: (
            "permission denied", "Check the permissions of the file and of its folder, and which user runs volley."
        ),
        EPERM: (
            "the system does not permit it",
            "Check which user runs volley, and whether the file is immutable: `lsattr` shows it, `chattr -i` changes it."
        ),
        EROFS: ("its file system is read-only", "Mount it with write access, or name a place elsewhere."),
        ENOSPC: ("the disk is full", "Free space, then try again."),
        EDQUOT: ("this user's disk quota is used up", "Free space, or raise the quota, then try again."),
        EFBIG: (
            "the file would grow beyond the size that this process may give to a file",
            "Raise the limit: `ulimit -f unlimited`, or LimitFSIZE= of a systemd unit."
        ),
        EMFILE: ("the process has too many files open", openFiles),
        ENFILE: ("the machine has too many files open", "Close other programs, or raise fs.file-max."),
        EEXIST: ("something already has this name", "Move it away, or choose another name."),
        ENOTEMPTY: ("the folder is not empty", "Move its content away, or choose another name."),
        EISDIR: ("this is a folder", "Name a file in it."),
        ELOOP: ("links lead in a circle", "Make the link lead to the right place, or remove it."),
        ENAMETOOLONG: ("the name is too long", "Choose a shorter one."),
        ETXTBSY: ("a program is being written, or is running", "Try again once that has ended."),
        EIO: ("its disk or device reports an error", "Check the disk and its file system."),
        ENODEV: (
            "this name has no terminal or other device behind it",
            "Name a file; processes without a terminal, such as services, have no /dev/tty."
        ),
        ENXIO: ("nothing is at its other end", "Start the program that reads it first."),
        EPIPE: ("the program at the other end has closed it", "Start that program again."),
        EAGAIN: ("the other end does not take it in time", "Check the program at the other end, then try again."),
        EBUSY: (
            "the system is using it, for example as a mount point",
            "Name a file in a folder instead of a file that is mounted."
        ),
        EXDEV: ("it lies on another file system", "Choose a place on the same file system."),
        ENOMEM: ("there is not enough memory", memory),
        ESTALE: ("the network file system no longer has it", "Mount the file system again."),
        EBADF: ("it is not open", "Check the number."),
        ENOSYS: ("this kernel or file system cannot do it", "Choose a place on another file system."),
        EOPNOTSUPP: ("this file system cannot do it", "Choose a place on another file system."),
        ENOEXEC: ("it is not a program that this machine can run", "Check its first line."),
        EADDRINUSE: ("another program uses this address", "Choose another port, or end that program."),
        EADDRNOTAVAIL: ("this machine does not have this address", "Name an address of this machine."),
        ECONNREFUSED: ("the connection was refused: no program listens there", network),
        ECONNRESET: (
            "the other end cut the connection", "Try again; if it happens each time, check that server's log."
        ),
        ECONNABORTED: ("the connection was cut", "Try again."),
        ETIMEDOUT: ("the other end did not answer in time", network),
        EHOSTUNREACH: ("the host cannot be reached", network),
        ENETUNREACH: ("the network cannot be reached from this machine", "Check this machine's network and routes."),
        ENOTCONN: ("there is no connection", network),
    ]
}
