import Base
import GRDB
import Glibc

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
