public import Base
import GRDB

/// What keeps the console from using its accounts, found without changing them. A whole file is read once, and again when another is in its place.
public struct AccountInspection: Sendable {
    private let path: String
    private var known: (stamp: FileStamp, damage: Diagnostic?)?

    /// - Parameter runs: the folder of runs.
    public init(beside runs: String) { path = AccountStore.path(beside: runs) }

    /// As a warning; nil if nothing does, or there are no accounts.
    public mutating func obstacle() -> Diagnostic? {
        var found = AccountDiagnostics.obstacle(path) ?? damage()
        found?.severity = .warning
        return found
    }

    private mutating func damage() -> Diagnostic? {
        guard let stamp = FileStamp(path: path) else { return nil }
        if let known, known.stamp == stamp || known.damage == nil && known.stamp.isSameFile(as: stamp) { return known.damage }
        let damage = AccountFile.damage(path)
        known = (stamp, damage)
        return damage
    }
}

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
