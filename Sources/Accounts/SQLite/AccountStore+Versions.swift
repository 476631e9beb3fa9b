public import Base
import Cryptography
import GRDB

/// A campaign file as it was saved in the console. A change outside the console has no version
/// until it is saved here.
public struct CampaignVersion: Hashable, Sendable {
    /// Its place among all versions, from 1 on.
    public let number: Int64
    /// The file's name in the folder that the console serves.
    public let file: String
    /// The app that it names; nil if that cannot be read.
    public let app: String?
    /// SHA-256 of the text's bytes, 64 hex digits.
    public let digest: String
    /// The person that saved it.
    public let person: Activity.Person
    /// When, by the clock of the machine.
    public let at: Timestamp
}

/// A text that another campaign file was made from.
public struct VersionSource: Hashable, Sendable {
    /// The name of its file.
    public let file: String
    /// SHA-256 of its bytes, 64 hex digits.
    public let digest: String
    /// Digests of texts of its campaign that were sent before: everything written up to them was
    /// approved.
    public let agreed: Set<String>

    /// A text of a file.
    public init(file: String, digest: String, agreed: Set<String>) {
        (self.file, self.digest, self.agreed) = (file, digest, agreed)
    }
}

/// The versions of campaign files that were saved in the console, with their authors.
extension AccountStore {
    /// Keeps a version, and notes that it was saved. Call it before the file is replaced: its
    /// writer must not approve it, even if the process ends in between.
    /// - Parameters:
    ///   - file: its name in the folder that the console serves.
    ///   - sources: the sources of a new file. Their writers count as writers of this text, too:
    ///     the source versions begin the history of the file.
    ///   - app: the app that it names; nil if that cannot be read.
    public func keep(
        version text: String, of file: String, madeFrom sources: [VersionSource] = [], app: String?, by actor: Actor,
        at now: Timestamp
    ) throws {
        let digest = SHA256.hex(SHA256.digest(of: Array(text.utf8)))
        let earlier = Set(try sources.flatMap(versions)).sorted()
        try write { db in
            for number in earlier {
                try db.execute(
                    sql: """
                        INSERT INTO version (file, digest, text, app, account, name, at)
                        SELECT ?, digest, text, app, account, name, at FROM version AS source WHERE number = ? AND NOT EXISTS (
                          SELECT 1 FROM version WHERE file = ? AND digest = source.digest AND account IS source.account)
                        """, arguments: [file, number, file])
            }
            let name = try actor.account.flatMap { try AccountRecords.find($0, db)?.name }
            try db.execute(
                sql: "INSERT INTO version (file, digest, text, app, account, name, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                arguments: [file, digest, text, app, actor.account?.number, name?.text, now.epochMilliseconds])
            try ActivityRecords.add(.campaignSaved(digest: digest), about: (app, file), by: actor, at: now, db)
        }
    }

    /// Keeps the content of a file before it is replaced, unless the last version is the same: the
    /// file was changed outside the console.
    public func keep(found text: String, in file: String, app: String?, at now: Timestamp) throws {
        let digest = SHA256.hex(SHA256.digest(of: Array(text.utf8)))
        try write { db in
            let last = try AccountRow.one(
                db, "SELECT digest FROM version WHERE file = ? ORDER BY number DESC LIMIT 1", [file])
            guard try last?.value(0, String.self) != digest else { return }
            try db.execute(
                sql: "INSERT INTO version (file, digest, text, app, at) VALUES (?, ?, ?, ?, ?)",
                arguments: [file, digest, text, app, now.epochMilliseconds])
        }
    }

    /// The numbers of the versions that make up a source.
    private func versions(of source: VersionSource) throws -> [Int64] {
        let same = try read { db in
            try AccountRow.all(
                db, "SELECT number FROM version WHERE digest = ? AND account IS NOT NULL", [source.digest]
            )
            .map { try $0.value(0, Int64.self) }
        }
        return try same
            + chain(to: source.digest, in: source.file, after: source.agreed).filter { $0.person.name != nil }.map(
                \.number)
    }

    /// The newest version of each other file that holds a text of some kind, of the last two
    /// thousand. Damaged versions are left out.
    public func texts(besides file: String, where isMeant: (String) -> Bool) throws -> [(file: String, text: String)] {
        let rows = try read { db in
            try AccountRow.all(
                db, "SELECT file, text FROM version WHERE file <> ? ORDER BY number DESC LIMIT 2000", [file])
        }
        var found: [String: String] = [:]
        for row in rows {
            guard let (name, text) = try? (row.value(0, String.self), row.value(1, String.self)), found[name] == nil,
                isMeant(text)
            else { continue }
            found[name] = text
        }
        return found.sorted { $0.key < $1.key }.map { (file: $0.key, text: $0.value) }
    }

    /// The versions of a file that can be read, the newest first.
    /// - Parameter count: the highest number to return, 1 to 500.
    public func versions(of file: String, count: Int = 50) throws -> [CampaignVersion] {
        try allVersions(of: file, count: count).values
    }

    /// The numbers of the damaged versions of a file, the newest first.
    public func damagedVersions(of file: String, count: Int = 50) throws -> [Int64] {
        try allVersions(of: file, count: count).damaged.map { try $0.value(0) }
    }

    private func allVersions(of file: String, count: Int) throws -> (values: [CampaignVersion], damaged: [AccountRow]) {
        precondition((1...500).contains(count), "1 to 500 versions are read")
        return try read { db in
            let rows = try AccountRow.all(
                db,
                "SELECT number, file, app, digest, account, name, at FROM version WHERE file = ? ORDER BY number DESC LIMIT ?",
                [file, count])
            return try AccountRow.readable(rows) { row in
                let name = try row.optional(5, String.self).map { try AccountRow.known(AccountName(reading: $0)) }
                return CampaignVersion(
                    number: try row.value(0), file: try row.value(1), app: try row.optional(2),
                    digest: try row.value(3),
                    person: .init(account: try row.optional(4).map { AccountID($0) }, name: name), at: try row.moment(6)
                )
            }
        }
    }

    /// The text of a version of a file; nil if no version of this file has the number.
    /// - Throws: a `Diagnostic`, also if the text differs from the one that was saved.
    public func text(ofVersion number: Int64, of file: String) throws -> String? {
        try read { db in
            guard
                let row = try AccountRow.one(
                    db, "SELECT text, digest FROM version WHERE number = ? AND file = ?", [number, file])
            else {
                return nil
            }
            let text = try row.value(0, String.self)
            guard try row.value(1, String.self) == SHA256.hex(SHA256.digest(of: Array(text.utf8))) else {
                throw AccountDiagnostics.unreadable
            }
            return text
        }
    }

    /// Whether a person saved this text in the console, under any file name.
    /// - Parameter digest: SHA-256 of its bytes, 64 hex digits.
    public func isVersion(digest: String) throws -> Bool {
        try read { db in
            try AccountRow.one(db, "SELECT 1 FROM version WHERE digest = ? AND account IS NOT NULL LIMIT 1", [digest])
                != nil
        }
    }

    /// The names of all writers of a text: the people that saved it, under any file name, and those
    /// that saved earlier versions of the file, back to one that another person approved.
    /// - Parameters:
    ///   - digest: SHA-256 of its bytes, 64 hex digits.
    ///   - file: the name of the file that it was planned from.
    ///   - agreed: digests of texts that were sent before.
    public func writers(ofText digest: String, in file: String, after agreed: Set<String>) throws -> Set<String> {
        let own = try read { db in
            try AccountRow.all(
                db,
                """
                SELECT DISTINCT coalesce(account.name, version.name) FROM version LEFT JOIN account ON account.id = version.account
                WHERE digest = ? AND coalesce(account.name, version.name) IS NOT NULL
                """, [digest]
            ).map { try $0.value(0, String.self) }
        }
        return Set(own + (try chain(to: digest, in: file, after: agreed)).compactMap(\.person.name?.text))
    }

    /// The versions of a file up to a text, back to one that others have approved; the newest
    /// first.
    private func chain(to digest: String, in file: String, after agreed: Set<String>) throws -> [CampaignVersion] {
        let (all, damaged) = try allVersions(of: file, count: 500)
        // The approver might be its writer.
        if !damaged.isEmpty { throw AccountDiagnostics.damaged(path, what: "a version of \(file) cannot be read") }
        // A text that was later changed outside the console may still contain what was written
        // here.
        let chain = all.drop { version in version.digest != digest && all.contains { $0.digest == digest } }
        return Array(chain.prefix { $0.digest == digest || !agreed.contains($0.digest) })
    }
}
