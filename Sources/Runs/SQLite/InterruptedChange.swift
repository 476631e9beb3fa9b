import Base
import GRDB
import Glibc

/// A change to a database whose process was killed in the middle of it: a journal is left beside the file, and SQLite rolls the change back
/// when the file is next opened for writing. Until then it cannot be read either, so a reader must trigger the rollback.
enum InterruptedChange {
    /// Runs `body`, which only reads; a change that prevents this is rolled back first. SQLite may also mistake for interrupted a change that
    /// another process is just finishing: then reading again is enough.
    static func takingBack<T>(_ path: String, _ body: () throws -> T) throws -> T {
        let attempts = 20
        var pauses = Retries(atMost: attempts, milliseconds: 2)
        for _ in 1..<attempts {
            do { return try body() } catch let error as DatabaseError where error.isOfAnInterruptedChange {
                if access(path + "-journal", F_OK) == 0 {
                    do { try reopen(path) } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                        // Another process is using the file, and rolls it back.
                        _ = pauses.pause()
                    }
                }
            }
        }
        return try body()
    }

    private static func reopen(_ path: String) throws {
        let database = try DatabaseQueue(path: path)
        // The first read rolls it back.
        _ = try database.writeWithoutTransaction { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
        try database.close()
    }
}

extension DatabaseError {
    fileprivate var isOfAnInterruptedChange: Bool {
        resultCode == .SQLITE_READONLY || resultCode == .SQLITE_CANTOPEN
    }
}
