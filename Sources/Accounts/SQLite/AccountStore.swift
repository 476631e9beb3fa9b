public import Base
import GRDB
import Synchronization

/// Everything about accounts: `accounts.sqlite`, with people, roles, passwords, sessions,
/// invitations and activities. The console and the sender use it at the same time; each process
/// needs one store, which any number of threads may share. Every change is on the disk when its
/// call returns, with its activity, in one transaction; whether it is allowed is decided in the
/// same transaction.
///
/// Calls throw `AccountError`, and a `Diagnostic` when the file is damaged, of a newer version, not
/// a file of accounts, or not permitted, when the disk is full, or another process holds it for
/// more than ten seconds. No error holds a secret.
public final class AccountStore: Sendable {
    /// The name of the file in its folder.
    public static let fileName = "accounts.sqlite"

    /// Where the file is, for messages.
    public let path: String
    private let database: DatabasePool
    /// Hashes of sessions that were ended while nothing could be written, as they are stored: the
    /// next change removes them.
    private let ended = Mutex<Set<String>>([])

    /// Opens the file, and creates it if it is missing.
    /// - Parameter folder: exists.
    public init(folder: String) throws {
        let path = FilePaths.join(folder, name: Self.fileName)
        self.path = path
        database = try Self.translating(path) {
            try AccountFile.prepare(path)
            return try AccountFile.open(path)
        }
    }

    /// The accounts of a folder of runs, in a folder below it that only its owner may enter.
    /// - Parameter runs: the folder of runs; it need not exist yet.
    public convenience init(beside runs: String) throws {
        let folder = Self.folder(beside: runs)
        try FilePaths.makeFolder(folder, mode: 0o700)
        try self.init(folder: folder)
    }

    /// Whether a folder of runs has accounts, or a link in their place.
    public static func isThere(beside runs: String) -> Bool { FilePaths.isTaken(path(beside: runs)) }

    static func folder(beside runs: String) -> String { FilePaths.join(runs, name: "console") }

    /// Closes the file; unless another process has it open, everything is in it alone. The store
    /// cannot be used afterwards.
    public func close() {
        // GRDB leaves SQLite's files next to it. Their content is not lost: the next process that
        // opens the file finds it.
        try? database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try? database.close()
    }

    /// Reads, all at one moment.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try Self.translating(path) { try database.read(body) }
    }

    /// Makes a change as a whole or not at all.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let value = try Self.translating(path) { try database.write(body) }
        if case let hashes = ended.withLock({ $0 }), !hashes.isEmpty,
            (try? database.write { try SessionRecords.end(hashes, $0) }) != nil
        {
            ended.withLock { $0.subtract(hashes) }
        }
        return value
    }

    /// Ends a session in this process, and in the file as soon as it can be written.
    func end(unwritten token: SecretToken) { _ = ended.withLock { $0.insert(SecretToken.stored(token)) } }

    /// Whether a session was ended and may still be in the file.
    func isEnded(_ token: SecretToken) -> Bool {
        ended.withLock { !$0.isEmpty && $0.contains(SecretToken.stored(token)) }
    }

    static func translating<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError {
            throw AccountDiagnostics.diagnostic(for: error, path: path)
        } catch let mistake as Diagnostic where mistake == AccountDiagnostics.unreadable {
            throw AccountDiagnostics.damaged(path, what: "a value in it cannot be read")
        }
    }
}

/// The list of activities. Calls that change accounts note theirs themselves.
extension AccountStore {
    /// Notes what a person did to a campaign or a run.
    /// - Parameters:
    ///   - app: the app of volley.yaml that it concerns; nil for none.
    ///   - subject: the file of the campaign, or the id of the run; of long ones the first 1,000
    ///     bytes are kept.
    public func note(_ kind: ActivityKind, app: String?, subject: String?, by actor: Actor, at now: Timestamp) throws {
        try write { try ActivityRecords.add(kind, about: (app, subject), by: actor, at: now, $0) }
    }

    /// Reads a page, the newest first.
    /// - Parameters:
    ///   - before: `next` of the page before; nil for the first one.
    ///   - count: 1 to 500.
    public func activities(_ filter: ActivityFilter = ActivityFilter(), before: Int64? = nil, count: Int = 50) throws
        -> ActivityPage
    {
        precondition((1...500).contains(count), "a page has 1 to 500 activities")
        return try read { try ActivityRecords.page(filter, before: before, count: count, $0) }
    }
}

/// The problem that keeps the console from using its accounts, found without changing them. An
/// intact file is read once, and again when it is replaced.
public struct AccountInspection: Sendable {
    private let path: String
    private var known = KnownDamage()

    /// - Parameter runs: the folder of runs.
    public init(beside runs: String) { path = AccountStore.path(beside: runs) }

    /// As a warning; nil without a problem or without accounts.
    public mutating func obstacle() -> Diagnostic? {
        var found = AccountDiagnostics.obstacle(path) ?? known.damage(of: path) { AccountFile.damage(path) }
        found?.severity = .warning
        return found
    }
}

/// A copy of the file for a backup.
extension AccountStore {
    /// Where the accounts of a folder of runs are, or would be.
    public static func path(beside runs: String) -> String { FilePaths.join(folder(beside: runs), name: fileName) }

    /// Removes from a copy of the file what must not come back with it: sessions, which may have
    /// ended since, and invitations, which may have been used. Everyone signs in again after the
    /// copy is put back.
    /// - Parameters:
    ///   - copy: no other process uses it.
    ///   - path: the original, for messages.
    /// - Throws: `Diagnostic`: the original is damaged.
    public static func removeSessions(fromCopy copy: String, of path: String) throws {
        try translating(path) {
            let database = try DatabaseQueue(path: copy)
            try database.writeWithoutTransaction { db in
                try AccountSchema.check(db, path: path)
                try AccountFile.checkWhole(db, copy, named: path)
                // What is removed does not stay in free pages.
                try db.execute(
                    sql:
                        "PRAGMA secure_delete = ON; DELETE FROM session; DELETE FROM ended_session; DELETE FROM invitation;"
                )
            }
            try database.close()
        }
    }
}

/// Accounts that one person may hold, and how that ends.
extension AccountStore {
    /// The ties that count now and that were not confirmed to be harmless.
    public func ties(at now: Timestamp) throws -> AccountTies { try read { try TieRecords.ties(at: now, $0) } }

    /// Confirms that the person of an account is the only one that holds it: ties to it do not
    /// count any more. Later ones do.
    /// - Throws: `AccountError.noSuchAccount`, `.notPermitted`; `.tied`: one person may hold both
    ///   accounts.
    public func confirm(_ id: AccountID, by actor: Actor, at now: Timestamp) throws {
        try control(id, by: actor) { account, db in
            let ties = try TieRecords.ties(at: now, db)
            guard ties.concern(account.name) else { return }
            let person = try actor.account.flatMap { try AccountRecords.find($0, db) }
            if let person, ties.haveOneHand(person.name, account.name) { throw AccountError.tied }
            try db.execute(
                // Also those whose end is damaged.
                sql: """
                    UPDATE tie SET confirmed_by = ?, confirmed_at = ?
                    WHERE account = ? AND NOT coalesce(confirmed_at IN (SELECT at FROM activity WHERE kind = 'confirmed'), 0)
                    """,
                arguments: [person?.name.text, now.epochMilliseconds, account.name.text])
            try ActivityRecords.add(.confirmed, to: account.name, by: actor, at: now, db)
        }
    }
}

/// Ties as rows, within the transaction of what makes them.
enum TieRecords {
    /// Notes a tie. Actions at the terminal, and of a person on their own account, make no tie.
    static func add(
        _ deed: AccountTie.Action, to account: AccountName, by actor: Actor, at now: Timestamp, _ db: Database
    ) throws {
        guard let holder = try actor.account.flatMap({ try AccountRecords.find($0, db)?.name }), holder != account
        else { return }
        // While the clock was set back, a tie would otherwise end before its week is over.
        let latest =
            try AccountRow.one(db, "SELECT max(at) FROM activity").flatMap { try $0.optional(0, Int64.self) } ?? .min
        try db.execute(
            sql: "INSERT INTO tie (holder, account, deed, at) VALUES (?, ?, ?, ?)",
            arguments: [holder.text, account.text, deed.rawValue, max(now.epochMilliseconds, latest)])
    }

    /// Each value is checked against the activities: one that they do not confirm is damaged, and
    /// is then read strictly. An impossible moment counts as now, a damaged name as that of any
    /// account, and a damaged end as no end.
    static func ties(at now: Timestamp, _ db: Database) throws -> AccountTies {
        let rows = try AccountRow.all(
            db,
            """
            SELECT holder, account, deed, at, coalesce(at IN (SELECT at FROM activity), 0),
                coalesce(confirmed_at IN (SELECT at FROM activity WHERE kind = 'confirmed'), 0),
                coalesce(holder IN (SELECT name FROM activity WHERE name IS NOT NULL UNION SELECT name FROM account), 0),
                coalesce(account IN (SELECT subject FROM activity WHERE subject IS NOT NULL UNION SELECT name FROM account), 0)
            FROM tie ORDER BY id
            """)
        var ties: [AccountTie] = [], partial: [AccountTie.Partial] = []
        for row in rows where try row.value(5) == 0 {
            let holder = try row.value(6) == 1 ? try? row.name(0) : nil,
                account = try row.value(7) == 1 ? try? row.name(1) : nil
            let deed = (try? row.word(2, AccountTie.Action.self)) ?? .invited,
                at = try row.value(4) == 1 ? (try? row.moment(3)) ?? now : now
            if let holder, let account {
                ties.append(AccountTie(holder: holder, account: account, deed: deed, at: at))
            } else {
                partial.append(AccountTie.Partial(holder: holder, account: account, deed: deed, at: at))
            }
        }
        return AccountTies(ties, partial: partial, at: now)
    }
}
