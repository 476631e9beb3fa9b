import Base
import GRDB
import Glibc

/// Turns errors of SQLite and the system into messages that people can act on.
enum RunDiagnostics {
    /// What the file was being used for, which decides the advice.
    enum Activity { case planning, sending, reading }

    /// Runs `body`; a database error comes out as a `Diagnostic`, everything else as it is.
    static func translating<T>(_ path: String, _ activity: Activity, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError {
            throw diagnostic(for: error, path: path, activity: activity)
        }
    }

    static func diagnostic(for error: DatabaseError, path: String, activity: Activity) -> Diagnostic {
        let shortage = MissingResource(at: path, sqliteCode: error.resultCode.rawValue)
        switch error.resultCode {
        case .SQLITE_FULL: return missing(shortage ?? .space, path, activity)
        case .SQLITE_IOERR:
            if let shortage { return missing(shortage, path, activity) }
            if isAtSizeLimit(path) { return tooLarge(path, activity) }
            return Diagnostic(
                "the disk failed while the run file was in use (SQLite error \(error.extendedResultCode.rawValue))",
                file: path,
                remedy: "Check the disk and its file system before sending.")
        case .SQLITE_NOTADB: return notARun(path)
        case .SQLITE_CORRUPT: return damaged(path, what: "its pages do not fit together")
        case .SQLITE_MISMATCH: return damaged(path, what: error.ofValue)
        case .SQLITE_CANTOPEN where !canOpenFiles():
            return Diagnostic(
                "the run file cannot be opened: the process has too many files open", file: path,
                remedy: "Raise the limit of open files (`ulimit -n`), then try again.")
        case .SQLITE_CANTOPEN where shortage == .currentFolder: return missing(.currentFolder, path, activity)
        case .SQLITE_CANTOPEN where activity == .reading && DatabaseFile.kind(path) == .missing: return missing(path)
        case .SQLITE_CANTOPEN where shortage == .files: return missing(.files, path, activity)
        case .SQLITE_CANTOPEN where DatabaseFile.kind(path) == .missing: return missing(path)
        case .SQLITE_CANTOPEN where InterruptedChange.isWithinReach(path):
            return Diagnostic(
                "the run file cannot be opened (SQLite error \(error.extendedResultCode.rawValue))", file: path,
                remedy:
                    "If another process is using it, wait until it is done. Otherwise check the disk and its file system."
            )
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY:
            return notPermitted(path, toWrite: activity != .reading)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return Diagnostic(
                "another process is using the run file", file: path, remedy: "Wait until it is done, then try again.")
        default:
            // A database without Volley's tables or columns although it has Volley's application
            // id.
            if error.resultCode == .SQLITE_ERROR { return damaged(path, what: "a table or a column is missing") }
            return Diagnostic(
                "the run file cannot be used (SQLite error \(error.extendedResultCode.rawValue))", file: path,
                remedy: "Check the disk and its file system, and restore the file from a backup if it is damaged.")
        }
    }

    static func isBusy(_ run: String) -> Diagnostic {
        Diagnostic(
            "another volley process is sending this run", file: run,
            remedy: "Wait until it has ended, or pause it, before you resume it.")
    }

    static func diskFull(_ path: String, _ activity: Activity) -> Diagnostic {
        missing(MissingResource(at: path) ?? .space, path, activity)
    }

    private static func missing(_ shortage: MissingResource, _ path: String, _ activity: Activity) -> Diagnostic {
        let place = shortage == .currentFolder ? "" : " under \(folder(of: path))"
        return Diagnostic("\(shortage.words)\(place)", remedy: advice(shortage.remedy, activity))
    }

    private static func tooLarge(_ path: String, _ activity: Activity) -> Diagnostic {
        Diagnostic(
            "the run file would grow beyond the size that this process may give to a file", file: path,
            remedy: advice("Raise the limit (`ulimit -f unlimited`)", activity))
    }

    private static func advice(_ what: String, _ activity: Activity) -> String {
        switch activity {
        case .planning: "\(what); nothing was sent."
        case .sending: "\(what); what is recorded so far is safe."
        case .reading: "\(what), then try again."
        }
    }

    /// Whether a file of the run is as large as files of this process may be. SQLite says only that
    /// writing failed; it writes a page at a time.
    private static func isAtSizeLimit(_ path: String) -> Bool {
        var limit = rlimit()
        // RLIMIT_FSIZE of sys/resource.h, an enumeration that Swift imports as a separate type.
        guard getrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit) == 0,
            limit.rlim_cur < rlim_t(Int.max)
        else {
            return false
        }
        let largest = ["", "-wal", "-journal"].map { DatabaseFile.size(path + $0) }.max() ?? 0
        return largest + (64 << 10) >= Int(limit.rlim_cur)
    }

    static func missing(_ path: String) -> Diagnostic {
        Diagnostic("there is no such run file", file: path, remedy: "`volley runs` lists the runs.", [.seeRuns])
    }

    static func isFolder(_ path: String) -> Diagnostic {
        Diagnostic("this is a folder, not a run file", file: path, remedy: "Give a run's id, its file, or `last`.")
    }

    /// Checks what a name leads to before SQLite opens it, with the files that SQLite keeps next to
    /// it.
    static func checkKind(ofRun path: String) throws(Diagnostic) {
        let real = DatabaseFile.withoutLink(path)
        if real.hasSuffix(DatabaseFile.partialSuffix) { throw unfinishedPlan(path) }
        switch DatabaseFile.kind(path) {
        case .file:
            do throws(Diagnostic) { try DatabaseFile.checkKind(ofDatabase: real, wanted: "a run file") } catch {
                guard real != path, let file = error.file else { throw error }
                throw Diagnostic(
                    "this is a link to a run file that cannot be opened: \(file) next to it is not a file", file: path,
                    remedy: "Remove the link, or see what \(file) is.")
            }
        case .other(let kind): throw kind.intrusion(path, wanted: "a run file")
        case .folder where real != path: throw FileKind.folder.intrusion(path, wanted: "a run file")
        case .folder: throw isFolder(path)
        case .deadLink(let mistake): throw mistake
        case .missing: throw missing(path)
        case .forbidden: throw notPermitted(path, toWrite: false)
        }
    }

    static func unfinishedPlan(_ path: String) -> Diagnostic {
        Diagnostic(
            "this plan is still being made, or was interrupted; it is not a run", file: path,
            remedy: "Plan the campaign again. `volley prune --keep 90d` removes what was left behind.",
            [.planAgain, .ask(.tidyRuns)])
    }

    static func notARun(_ path: String) -> Diagnostic {
        if SuppressionList.isNamed(path) {
            return Diagnostic(
                "this is a list of suppressed devices, not a run", file: path,
                remedy: "`volley suppression list` shows it.",
                [.seeSuppressed])
        }
        return Diagnostic(
            "this is not a run file", file: path, remedy: "Run files are made by `volley plan` and `volley send`.",
            [.seeRuns])
    }

    static func damaged(_ path: String, what: String) -> Diagnostic {
        let name = DatabaseFile.name(path),
            id = name.hasSuffix(DatabaseFile.suffix) ? name.dropLast(DatabaseFile.suffix.count) : name
        return Diagnostic(
            "the run file is damaged: \(what)", file: path, remedy: "Restore it from a backup. Do not send from it.",
            [.ask(.restoreRun(String(id)))])
    }

    /// Of what SQLite finds when it reads all pages. Its own words may name values.
    static func damagedPages(_ path: String) -> Diagnostic {
        damaged(path, what: "its pages or rows do not fit together")
    }

    static func newer(_ path: String, version: Int) -> Diagnostic {
        Diagnostic(
            "the run file was written by a newer Volley (format \(version); this one reads \(RunSchema.versionWithSegments))",
            file: path,
            remedy: "Use the newer Volley for this run.")
    }

    static func notPermitted(_ path: String, toWrite: Bool) -> Diagnostic {
        Diagnostic(
            "you may not \(toWrite ? "write" : "read") the run file", file: path,
            remedy: "Check the permissions of the file and of its folder, and who runs volley.")
    }

    /// A failed system call.
    static func system(_ doing: String, path: String, errno code: Int32, activity: Activity) -> Diagnostic {
        switch code {
        case ENOSPC, EDQUOT: diskFull(path, activity)
        case EACCES:
            Diagnostic(
                "\(doing): permission denied", file: path,
                remedy: "Check the folder's permissions, and which user runs volley.")
        default: FileError.system(code).diagnostic(doing, file: path)
        }
    }

    /// The folder that a path lies in.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func canOpenFiles() -> Bool {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0 || (errno != EMFILE && errno != ENFILE)
    }
}

extension DatabaseError {
    /// What is wrong with a value, of an error of `StoredValue`. SQLite's own words for this code
    /// are not shown.
    var ofValue: String { message.flatMap { $0.contains(" is not ") ? $0 : nil } ?? "a value in it cannot be read" }
}
