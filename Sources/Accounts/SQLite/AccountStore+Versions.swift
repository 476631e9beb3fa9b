public import Base
import Cryptography
import GRDB

/// The versions of campaign files that were saved in the console, and by whom.
extension AccountStore {
    /// Keeps a version, and notes that it was saved. Call it before the file is replaced: whoever approves it must not be its writer, even if the
    /// process ends in between.
    /// - Parameters:
    ///   - file: its name in the folder that the console serves.
    ///   - app: the app that it names; nil where it cannot be read.
    public func keep(version text: String, of file: String, app: String?, by actor: Actor, at now: Timestamp) throws {
        let digest = SHA256.hex(SHA256.digest(of: Array(text.utf8)))
        try write { db in
            let name = try actor.account.flatMap { try AccountRecords.find($0, db)?.name }
            try db.execute(
                sql: "INSERT INTO version (file, digest, text, account, name, at) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [file, digest, text, actor.account?.number, name?.text, now.epochMilliseconds])
            try ActivityRecords.add(.campaignSaved(digest: digest), about: (app, file), by: actor, at: now, db)
        }
    }

    /// Keeps what a file held before it is replaced, unless the last version is that: somebody changed it beside the console.
    public func keep(found text: String, in file: String, at now: Timestamp) throws {
        let digest = SHA256.hex(SHA256.digest(of: Array(text.utf8)))
        try write { db in
            let last = try AccountRow.one(db, "SELECT digest FROM version WHERE file = ? ORDER BY number DESC LIMIT 1", [file])
            guard try last?.value(0, String.self) != digest else { return }
            try db.execute(
                sql: "INSERT INTO version (file, digest, text, account, name, at) VALUES (?, ?, ?, NULL, NULL, ?)",
                arguments: [file, digest, text, now.epochMilliseconds])
        }
    }

    /// The versions of a file, the newest first.
    /// - Parameter count: at most so many, 1 to 500.
    public func versions(of file: String, count: Int = 50) throws -> [CampaignVersion] {
        precondition((1...500).contains(count), "1 to 500 versions are read")
        return try read { db in
            try AccountRow.all(
                db, "SELECT number, file, digest, account, name, at FROM version WHERE file = ? ORDER BY number DESC LIMIT ?",
                [file, count]
            ).map { row in
                let name = try row.optional(4, String.self).map { try AccountRow.known(AccountName(reading: $0)) }
                return CampaignVersion(
                    number: try row.value(0), file: try row.value(1), digest: try row.value(2),
                    person: .init(account: try row.optional(3).map { AccountID($0) }, name: name), at: try row.moment(5))
            }
        }
    }

    /// The text of a version of a file; nil for a number that no version of this file has.
    public func text(ofVersion number: Int64, of file: String) throws -> String? {
        try read { db in
            try AccountRow.one(db, "SELECT text FROM version WHERE number = ? AND file = ?", [number, file])?.value(0)
        }
    }

    /// The names of all who saved a text, under whatever file name: those who wrote a plan that was made from it.
    /// - Parameter digest: SHA-256 of its bytes, 64 hex digits.
    public func writers(ofText digest: String) throws -> Set<String> {
        try read { db in
            Set(
                try AccountRow.all(
                    db,
                    """
                    SELECT DISTINCT coalesce(account.name, version.name) FROM version LEFT JOIN account ON account.id = version.account
                    WHERE digest = ? AND coalesce(account.name, version.name) IS NOT NULL
                    """, [digest]
                ).map { try $0.value(0) })
        }
    }
}
