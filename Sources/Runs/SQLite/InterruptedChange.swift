import Base
import GRDB
import Glibc

/// A change to a database whose process was killed in the middle of it: a journal lies beside the file, and SQLite takes the change back when
/// the file is next opened to be written. Until then it cannot be read either, so that who only wants to read must see to it.
enum InterruptedChange {
    /// Runs `body`, which only reads; a change that keeps it from doing so is taken back first. SQLite may also take a change for interrupted that
    /// another process brings to its end at just that moment: then reading once more is enough.
    static func takingBack<T>(_ path: String, _ body: () throws -> T) throws -> T {
        let attempts = 20
        var pauses = Retries(atMost: attempts, milliseconds: 2)
        for _ in 1..<attempts {
            do { return try body() } catch let error as DatabaseError where error.isOfAnInterruptedChange {
                if access(path + "-journal", F_OK) == 0 {
                    do { try reopen(path) } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                        // Another process is at work with the file, and sees to it.
                        _ = pauses.pause()
                    }
                }
            }
        }
        return try body()
    }

    private static func reopen(_ path: String) throws {
        let database = try DatabaseQueue(path: path)
        // The first reading takes it back.
        _ = try database.writeWithoutTransaction { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
        try database.close()
    }
}

extension DatabaseError {
    fileprivate var isOfAnInterruptedChange: Bool {
        resultCode == .SQLITE_READONLY || resultCode == .SQLITE_CANTOPEN
    }
}
