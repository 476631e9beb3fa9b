public import Glibc

/// What the user that runs this process may do with a file, without trying it: opening a file for
/// writing may have effects, and SQLite's files must not be opened next to SQLite
/// (`DatabaseFile.makeDatabase`).
public enum FileAccess {
    /// What the work needs of a file or folder.
    public enum Need: Hashable, Sendable {
        case reading
        /// Reading and writing; in a folder: making and removing files.
        case writing
    }

    /// Why a file or folder cannot be used; nil if it can, or without one.
    /// - Parameters:
    ///   - purpose: what the work needs it for, as the end of a sentence:
    ///     `the record of what was sent`; nil where the file itself shows it.
    public static func problem(_ path: String, _ need: Need, purpose: String?) -> Diagnostic? {
        let purpose = purpose.map { ", \($0)" } ?? ""
        var status = stat()
        guard stat(path, &status) == 0 else { return lookupProblem(path, errno, purpose) }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        let mode = need == .reading ? R_OK : R_OK | W_OK
        // The effective user: access(2) alone uses the real one.
        guard faccessat(AT_FDCWD, path, isFolder ? mode | X_OK : mode, AT_EACCESS) != 0 else { return nil }
        let code = errno, doing = need == .reading ? "read" : "write", thing = isFolder ? "folder" : "file"
        let refusal = "\(name(ofUser: geteuid())) may not \(doing) this \(thing)\(purpose)"
        guard code == EACCES else { return FileError.system(code).diagnostic(refusal, file: path) }
        return denial(path, refusal, need, status, rights: isFolder ? "rwx" : "rw")
    }

    /// Why it cannot be found out whether a file or folder is there; nil if that can be found out.
    /// Only a path for which this is nil, and that leads nowhere, is missing.
    public static func lookupProblem(_ path: String) -> Diagnostic? {
        var status = stat()
        return stat(path, &status) == 0 ? nil : lookupProblem(path, errno, "")
    }

    private static func lookupProblem(_ path: String, _ code: Int32, _ purpose: String) -> Diagnostic? {
        let user = name(ofUser: geteuid())
        switch code {
        case ENOENT, ENOTDIR: return nil
        case EACCES:
            guard let (folder, status) = closedFolder(onTheWayTo: path) else {
                return Diagnostic(
                    "\(user) may not look up this file\(purpose)", file: path,
                    remedy:
                        "Give \(user) the right to enter the folders above it: `namei -l \(FilePaths.inShell(path))` shows them."
                )
            }
            return denial(
                folder,
                "\(user) may not enter this folder, which is on the way to \(TextFormat.inLine(path))\(purpose)",
                .reading, status,
                rights: "rx")
        default: return FileError.system(code).diagnostic("this cannot be looked up\(purpose)", file: path)
        }
    }

    /// The first folder on the way to a file that this process may not enter, with links followed;
    /// nil if none is found.
    /// - Parameter links: how many may follow one another.
    private static func closedFolder(onTheWayTo path: String, links: Int = 8) -> (path: String, status: stat)? {
        var reached = path.hasPrefix("/") ? "/" : ""
        for name in path.split(separator: "/") {
            let folder = reached.isEmpty ? "." : reached
            var status = stat()
            if faccessat(AT_FDCWD, folder, X_OK, AT_EACCESS) != 0, errno == EACCES, stat(folder, &status) == 0 {
                return (folder, status)
            }
            reached = reached.isEmpty ? String(name) : FilePaths.join(reached, name: String(name))
            // What a link leads to is looked up through folders of its own.
            if links > 0, stat(reached, &status) != 0, errno == EACCES, let target = FilePaths.target(ofLink: reached) {
                return closedFolder(onTheWayTo: target, links: links - 1)
            }
        }
        return nil
    }

    /// - Parameter rights: those of the owner that the file lacks, as chmod(1) takes them, where
    ///   the owner is this user.
    private static func denial(_ path: String, _ refusal: String, _ need: Need, _ status: stat, rights: String)
        -> Diagnostic
    {
        guard status.st_uid != geteuid() else {
            return Diagnostic(
                "\(refusal), although it is the owner", file: path,
                remedy: "Run `chmod u+\(rights) \(FilePaths.inShell(path))`.")
        }
        return Diagnostic(
            "\(refusal); it belongs to \(name(ofUser: status.st_uid))", file: path,
            remedy: remedy(path, need, owner: status.st_uid, user: geteuid(), group: getegid()))
    }

    /// What gives a file to the user that runs this process. As root volley would leave more files
    /// of root.
    static func remedy(_ path: String, _ need: Need, owner: uid_t, user: uid_t, group: gid_t) -> String {
        // chown(1) finds the group of a name, and not that of a number.
        let account = account(ofUser: user)
        let changed = need == .reading ? account ?? "\(user)" : account.map { "\($0):" } ?? "\(user):\(group)"
        let otherwise = owner == 0 ? "" : ", or run volley as \(name(ofUser: owner))"
        return "Run `chown \(changed) \(FilePaths.inShell(path))` as root\(otherwise)."
    }

    /// A user's name, or `user 12345` if it has none.
    public static func name(ofUser number: uid_t) -> String { account(ofUser: number) ?? "user \(number)" }

    private static func account(ofUser number: uid_t) -> String? {
        var entry = passwd(), found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(number, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name
        else {
            return nil
        }
        return String(cString: name)
    }
}

/// The kind of thing that has a name.
public enum FileKind: Hashable, Sendable {
    /// A file in the usual sense: its content can be read to its end.
    case regular
    /// A directory.
    case folder
    /// A FIFO: a read waits for a process that writes into it.
    case namedPipe
    /// A socket of the file system.
    case socket
    /// A terminal, a disk, `/dev/zero`: a read may wait, or never end.
    case device
    /// A database that Volley keeps open (`ProtectedFiles`): to close it would take SQLite's locks.
    case record

    /// - Parameter mode: `st_mode` of stat(2).
    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .folder
        case S_IFIFO: self = .namedPipe
        case S_IFSOCK: self = .socket
        default: self = .device
        }
    }

    /// What a path leads to, with symbolic links followed; nil if nothing is there, or this user
    /// has no access to it.
    public init?(path: String) {
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) == 0 else { return nil }
        self.init(mode: status.st_mode)
    }

    /// What an open descriptor leads to; nil if it is not open.
    public init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(mode: status.st_mode)
    }

    /// `a named pipe`
    public var text: String {
        switch self {
        case .regular: "a file"
        case .folder: "a folder"
        case .namedPipe: "a named pipe"
        case .socket: "a socket"
        case .device: "a device"
        case .record: "a record that Volley keeps"
        }
    }

    /// The error for something other than a file where a file is expected.
    /// - Parameters:
    ///   - wanted: what the file should be: `a file`, `a key file`.
    ///   - remedy: nil for the one that helps with most files. For a record there is only one.
    public func refusal(_ file: String, wanted: String = "a file", remedy: String? = nil) -> Diagnostic {
        if self == .record { return Diagnostic("this is \(text), not \(wanted)", file: file, remedy: Self.ofRecord) }
        let usual =
            self == .folder
            ? "Name a file in it." : "Volley reads only files: save its output as a file, and name that file instead."
        return Diagnostic("this is \(text), not \(wanted)", file: file, remedy: remedy ?? usual)
    }

    /// The error for something in the place of a file of Volley. A link is named as what it is:
    /// only the link may be removed, not what it leads to.
    /// - Parameter wanted: what the file should be: `a run file`.
    public func intrusion(_ file: String, wanted: String) -> Diagnostic {
        let link = Self.isLink(file)
        return Diagnostic(
            "this is \(link ? "a link to " : "")\(text), not \(wanted)", file: file,
            remedy: "Remove \(link ? "the link" : "it") or move it away: Volley did not create it.")
    }

    /// Whether a name is that of a symbolic link, wherever it leads.
    public static func isLink(_ path: String) -> Bool {
        var status = stat()
        return !path.utf8.contains(0) && lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// The error for a link that leads nowhere, or in a circle, where Volley keeps a file or
    /// folder; nil if the path leads to something, or nothing has its name. A link within the path
    /// counts too. Its target may be on a disk that is not mounted, so such a link differs from a
    /// missing file.
    public static func deadLink(_ path: String) -> Diagnostic? {
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) != 0, errno == ENOENT || errno == ELOOP else { return nil }
        let ends = path.indices.filter { path[$0] == "/" && $0 != path.startIndex } + [path.endIndex]
        guard let link = ends.map({ String(path[..<$0]) }).first(where: { isLink($0) && stat($0, &status) != 0 }) else {
            return nil
        }
        if errno == ELOOP {
            return Diagnostic(
                "this is a link that leads in a circle", file: link,
                remedy: "Make it lead to the right place, or remove it.")
        }
        // Of links to links, the last one leads nowhere.
        var target = link
        while isLink(target), let next = FilePaths.target(ofLink: target) { target = next }
        return Diagnostic(
            "this is a link to \(TextFormat.inLine(target)), where nothing is", file: link,
            remedy:
                "Mount the disk that it leads to, or put back what was there. Remove the link only if that is gone for good."
        )
    }

    /// It does not say which record, which the reader may have no right to see.
    static let ofRecord =
        "Name another file. If this should be one, its name is a link to a wrong place: put a copy of the right file there."
}
