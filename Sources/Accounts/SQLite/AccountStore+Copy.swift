import Base
import GRDB

/// A copy of the file for a backup.
extension AccountStore {
    /// Where the accounts of a folder of runs are, or would be.
    public static func path(beside runs: String) -> String { FilePaths.join(folder(beside: runs), name: fileName) }

    /// Removes from a copy of the file what must not come back with it: sessions, which may have ended since, and invitations, which may have been
    /// used. Everyone signs in again after the copy is put back.
    /// - Parameter path: the copy; nobody else uses it.
    public static func removeSessions(fromCopy path: String) throws {
        try translating(path) {
            let copy = try DatabaseQueue(path: path)
            try copy.writeWithoutTransaction { db in
                guard try AccountSchema.check(db, path: path) else { return }
                // What is removed does not stay in free pages.
                try db.execute(sql: "PRAGMA secure_delete = ON; DELETE FROM session; DELETE FROM invitation;")
            }
            try copy.close()
        }
    }
}
