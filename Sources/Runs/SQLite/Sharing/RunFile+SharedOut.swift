public import Base
import GRDB

/// A run that other machines send, too: a store knows more of it than this file, until what they recorded has been fetched.
extension RunFile {
    private static let table = """
        CREATE TABLE IF NOT EXISTS shared_out (   -- a row while a store may know of pushes that this file does not know
            since INTEGER NOT NULL                -- epoch milliseconds
        )
        """

    /// Since when a store may know of pushes that this file does not know; nil if this file knows all. Notes are in the table `shared_out`.
    public func sharedSince() throws -> Timestamp? {
        try read { db in
            guard try db.tableExists("shared_out") else { return nil }
            return try db.first("SELECT since FROM shared_out") { try $0.moment(0) }
        }
    }

    /// Notes that others may send it from now on: before any of them can.
    package func noteShared(at now: Timestamp) throws {
        guard try sharedSince() == nil else { return }
        try write { db in
            try db.execute(sql: Self.table)
            try db.execute(sql: "INSERT INTO shared_out VALUES (?)", arguments: [now.epochMilliseconds])
        }
    }

    /// Notes that nobody sends it any more, and this file knows all that they recorded.
    package func noteFetched() throws {
        guard try sharedSince() != nil else { return }
        try write { try $0.execute(sql: "DELETE FROM shared_out") }
    }
}
