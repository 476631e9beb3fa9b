import Glibc

/// What a name of an output leads to, with links followed. Every output with a name that a person
/// gave goes through here (`OutputFile`): a file is replaced when it is whole, a pipe or a terminal
/// is written through, and anything else is refused before work begins.
///
/// A link in a folder that other users may write to may have been planted there: a process that
/// runs as root would write wherever it leads. A link therefore counts only if this user or root
/// made it, or if its folder belongs to the link's owner alone (and this user is not root).
public enum OutputPlace: Hashable, Sendable {
    /// A regular file, or a name that is free, behind all links.
    case file(String)
    /// A named pipe, or a device of characters such as a terminal.
    case stream(String)
    /// What this process has open: `/dev/stdout`, `/dev/fd/3`.
    case descriptor(Int32)

    /// - Throws: a `Diagnostic` for a folder, a socket, a disk, a link that leads nowhere or
    ///   belongs to another user, and what cannot be looked up.
    public init(_ name: String) throws(Diagnostic) {
        guard !name.utf8.contains(0), !name.isEmpty else {
            throw Diagnostic("a file's name may not be blank", remedy: "Name a file.")
        }
        var path = name
        for _ in 0..<Self.mostLinks {
            if let number = Self.ownDescriptor(path) {
                self = try Self.checked(number, name)
                return
            }
            var status = stat()
            guard lstat(path, &status) == 0 else {
                guard errno == ENOENT, path == name || FileKind(path: FilePaths.folder(of: path)) == .folder else {
                    throw Self.unknown(name, leadsTo: path, errno)
                }
                try Self.refuseKernel(path, name)
                self = .file(path)
                return
            }
            guard status.st_mode & S_IFMT == S_IFLNK, !Self.isOfAnotherProcess(path) else {
                self = try Self.kind(of: path, name)
                return
            }
            guard let target = FilePaths.target(ofLink: path) else { throw Self.unknown(name, leadsTo: path, errno) }
            guard Self.counts(status, path) else { throw Self.planted(name, leadsTo: target, owner: status.st_uid) }
            path = target
        }
        throw FileError.system(ELOOP).diagnostic("this name cannot be written to", file: name)
    }

    /// As many as the kernel follows: path_resolution(7).
    private static let mostLinks = 40

    /// Whether no regular file is written here, so that nothing is replaced.
    public var isStream: Bool { if case .file = self { false } else { true } }

    private static func kind(of path: String, _ name: String) throws(Diagnostic) -> OutputPlace {
        var status = stat()
        guard stat(path, &status) == 0 else { throw unknown(name, leadsTo: path, errno) }
        return try accepted(status, path, name)
    }

    private static func accepted(_ status: stat, _ path: String, _ name: String) throws(Diagnostic) -> OutputPlace {
        let remedy = "Name a file, a named pipe or a terminal."
        let leads = path == name ? "this is" : "this leads to"
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            if isOfAnotherProcess(path) { return .stream(path) }
            try refuseKernel(path, name)
            return .file(path)
        case S_IFIFO, S_IFCHR: return .stream(path)
        case S_IFBLK:
            throw Diagnostic("\(leads) a disk, and writing to it would destroy its content", file: name, remedy: remedy)
        default:
            throw Diagnostic("\(leads) \(FileKind(mode: status.st_mode).text), not a file", file: name, remedy: remedy)
        }
    }

    /// Refuses what proc(5) and sysfs(5) show: no file can be made or replaced there.
    private static func refuseKernel(_ path: String, _ name: String) throws(Diagnostic) {
        let folder = FilePaths.absolute(FilePaths.folder(of: path)) + "/"
        guard let system = ["/proc/", "/sys/"].first(where: folder.hasPrefix) else { return }
        throw Diagnostic(
            "\(path == name ? "this is" : "this leads to") a place below \(system.dropLast()), where the kernel lets no file be made or replaced",
            file: name, remedy: "Name a file in another folder.")
    }

    // MARK: - Links

    /// Source: /proc/sys/fs/protected_symlinks of proc_sys_fs(5), which covers only folders with
    /// the sticky bit, and root like any other user.
    private static func counts(_ link: stat, _ path: String) -> Bool {
        let user = geteuid(), folder = FilePaths.absolute(FilePaths.folder(of: path))
        if link.st_uid == user || link.st_uid == 0 || folder == "/dev" { return true }
        var status = stat()
        guard user != 0, stat(folder, &status) == 0 else { return false }
        return status.st_uid == link.st_uid && status.st_mode & 0o022 == 0
    }

    private static func planted(_ name: String, leadsTo target: String, owner: uid_t) -> Diagnostic {
        Diagnostic(
            "this is a link to \(TextFormat.inLine(target)) that belongs to \(FileAccess.name(ofUser: owner)), and Volley does not write through links of other users",
            file: name, remedy: "Name the file itself, or make the link as the user that runs volley.")
    }

    private static func unknown(_ name: String, leadsTo path: String, _ code: Int32) -> Diagnostic {
        guard path != name, code == ENOENT else {
            return FileError.system(code).diagnostic("this name cannot be written to", file: name)
        }
        return Diagnostic(
            "this is a link to \(TextFormat.inLine(path)), whose folder does not exist", file: name,
            remedy: "Make that folder, or remove the link.")
    }

    // MARK: - Descriptors

    /// The number that a name such as `/dev/fd/3` or `/proc/self/fd/3` has for this process; nil
    /// for other names.
    private static func ownDescriptor(_ path: String) -> Int32? {
        if let standard = ["/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2][path] { return Int32(standard) }
        guard let number = path.split(separator: "/").last.flatMap({ Int32($0) }), number >= 0 else { return nil }
        let folder = FilePaths.absolute(FilePaths.folder(of: path)), own = FilePaths.absolute("/proc/self")
        return folder == own + "/fd" || folder.hasPrefix(own + "/task/") && folder.hasSuffix("/fd") ? number : nil
    }

    /// Whether a name is that of a file that another process has open: its link is no path.
    private static func isOfAnotherProcess(_ path: String) -> Bool {
        let folder = FilePaths.absolute(FilePaths.folder(of: path))
        return folder.hasPrefix("/proc/") && folder.hasSuffix("/fd")
    }

    private static func checked(_ number: Int32, _ name: String) throws(Diagnostic) -> OutputPlace {
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0 else {
            throw Diagnostic(
                "descriptor \(number) is not open", file: name,
                remedy: "Open it where you start volley: `\(number)>FILE`.")
        }
        // Those that this process opened itself lead to databases and servers, and are closed in
        // programs that it starts.
        guard number <= 2 || fcntl(number, F_GETFD) & FD_CLOEXEC == 0, flags & O_ACCMODE != O_RDONLY else {
            throw Diagnostic(
                "descriptor \(number) is not open for writing", file: name,
                remedy: "Open it where you start volley: `\(number)>FILE`.")
        }
        var status = stat()
        guard fstat(number, &status) == 0 else { throw unknown(name, leadsTo: name, errno) }
        if status.st_mode & S_IFMT != S_IFSOCK { _ = try accepted(status, name, name) }
        return .descriptor(number)
    }
}
