public import Glibc

/// What the user that runs this process may do with a file, without trying it: opening a file for writing may have effects, and SQLite's files must not be
/// opened next to SQLite (`DatabaseFile.makeDatabase`).
public enum FileAccess {
    /// What the work needs of a file or folder.
    public enum Need: Hashable, Sendable {
        case reading
        /// Reading and writing; in a folder: making and removing files.
        case writing
    }

    /// Why a file or folder cannot be used; nil if it can, or without one.
    /// - Parameters:
    ///   - purpose: what the work needs it for, as the end of a sentence: `the record of what was sent`; nil where the file itself shows it.
    public static func problem(_ path: String, _ need: Need, purpose: String?) -> Diagnostic? {
        let purpose = purpose.map { ", \($0)" } ?? ""
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            return code == ENOENT || code == ENOTDIR ? nil : refusal(path, need, purpose, code, nil)
        }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        let mode = need == .reading ? R_OK : R_OK | W_OK
        // The effective user: access(2) alone uses the real one.
        guard faccessat(AT_FDCWD, path, isFolder ? mode | X_OK : mode, AT_EACCESS) != 0 else { return nil }
        return refusal(path, need, purpose, errno, status)
    }

    private static func refusal(_ path: String, _ need: Need, _ purpose: String, _ code: Int32, _ status: stat?) -> Diagnostic {
        let owner = status.map { name(ofUser: $0.st_uid) } ?? "another user"
        let user = name(ofUser: geteuid()), isFolder = (status?.st_mode ?? 0) & S_IFMT == S_IFDIR
        let thing = isFolder ? "folder" : "file", doing = need == .reading ? "read" : "write"
        let file = FilePaths.inShell(path)
        switch code {
        case EACCES where status?.st_uid == geteuid():
            return Diagnostic(
                "\(user) may not \(doing) this \(thing)\(purpose), although it is the owner", file: path,
                remedy: "Run `chmod u+rw\(isFolder ? "x" : "") \(file)`.")
        case EACCES where status != nil:
            return Diagnostic(
                "\(user) may not \(doing) this \(thing)\(purpose); it belongs to \(owner)", file: path,
                remedy: remedy(path, need, owner: status?.st_uid ?? 0, user: geteuid(), group: getegid()))
        case EACCES:
            return Diagnostic(
                "\(user) may not look up this file\(purpose)", file: path,
                remedy: "Give \(user) the right to enter the folders above it: `namei -l \(file)` shows them.")
        default: return FileError.system(code).diagnostic("\(user) may not \(doing) this \(thing)\(purpose)", file: path)
        }
    }

    /// What gives a file to the user that runs this process. As root volley would leave more files of root.
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
        guard getpwuid_r(number, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name else {
            return nil
        }
        return String(cString: name)
    }
}
