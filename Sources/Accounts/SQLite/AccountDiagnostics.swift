import Base
import GRDB

/// Turns errors of SQLite and the system into messages that people can act on. None repeats a value of the file.
enum AccountDiagnostics {
    static func diagnostic(for error: DatabaseError, path: String) -> Diagnostic {
        let found = Shortage(at: path)
        let shortage: Shortage? =
            switch error.resultCode {
            case .SQLITE_FULL: found ?? .space
            case .SQLITE_IOERR: found
            case .SQLITE_CANTOPEN: found == .space ? nil : found
            default: nil
            }
        if let shortage {
            let place = shortage == .currentFolder ? "" : " under \(FilePaths.folder(of: path))"
            return Diagnostic(
                "\(shortage.words)\(place)", file: path, remedy: "\(shortage.remedy), then try again. The accounts were not changed.")
        }
        return switch error.resultCode {
        case .SQLITE_IOERR:
            Diagnostic(
                "the disk failed while the accounts were in use (SQLite error \(error.extendedResultCode.rawValue))", file: path,
                remedy: "Check the disk, whether it is full, and its file system.")
        case .SQLITE_NOTADB: notAccounts(path)
        case .SQLITE_CORRUPT: damaged(path, what: "its pages do not fit together")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY: notPermitted(path)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            Diagnostic("another process is using the accounts", file: path, remedy: "Wait until it is done, then try again.")
        // A file without its tables although it has the application id.
        case .SQLITE_ERROR: damaged(path, what: "a table or a column is missing")
        default: Diagnostic("the accounts cannot be used (SQLite error \(error.extendedResultCode.rawValue))", file: path)
        }
    }

    static func notAccounts(_ path: String) -> Diagnostic {
        Diagnostic(
            "this is not a file of accounts, but is in its place", file: path,
            remedy: "Restore it from a backup, or move it away: then there are no accounts, and `volley serve --invite NAME` begins anew.")
    }

    static func damaged(_ path: String?, what: String) -> Diagnostic {
        Diagnostic("the file of accounts is damaged: \(what)", file: path, remedy: "Restore it from a backup.")
    }

    /// A value is not what it should be. `AccountStore` adds the file.
    static let unreadable = damaged(nil, what: "a value in it cannot be read")

    /// Why this user may not use the file or its folder, with the owner and the command that helps; nil if both can be used, or are not there.
    static func obstacle(_ path: String) -> Diagnostic? {
        FileAccess.problem(FilePaths.folder(of: path), .writing, purpose: "the folder of the console's accounts")
            ?? ["", "-wal", "-shm", "-journal"].lazy.compactMap {
                FileAccess.problem(path + $0, .writing, purpose: "the accounts of the console")
            }.first
    }

    static func notPermitted(_ path: String) -> Diagnostic {
        obstacle(path)
            ?? Diagnostic(
                "you may not write the accounts", file: path,
                remedy: "Check the permissions of the file and of its folder, and which user runs volley.")
    }
}
