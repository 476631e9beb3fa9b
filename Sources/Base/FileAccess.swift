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
