import Base
import GRDB

/// Accounts as rows, within a transaction.
enum AccountRecords {
    private static let columns = """
        SELECT id, name, display_name, state, totp_confirmed, made_at, issuer
        FROM account LEFT JOIN provider_identity ON provider_identity.account = account.id
        """

    /// All that can be read, by name, and those that cannot: these are nobody's administrators, and sign in nobody.
    static func all(_ db: Database) throws -> (accounts: [Account], damaged: [DamagedAccount]) {
        let found = try AccountRow.readable(AccountRow.all(db, columns + " ORDER BY name")) { try account($0, db) }
        return (found.values, try found.damaged.map { DamagedAccount(id: AccountID(try $0.value(0)), name: try? $0.name(1)) })
    }

    static func find(_ id: AccountID, _ db: Database) throws -> Account? {
        try AccountRow.one(db, columns + " WHERE id = ?", [id.number]).map { try account($0, db) }
    }

    static func find(_ name: AccountName, _ db: Database) throws -> Account? {
        try AccountRow.one(db, columns + " WHERE name = ?", [name.text]).map { try account($0, db) }
    }

    /// - Throws: `AccountError.noSuchAccount`.
    static func require(_ id: AccountID, _ db: Database) throws -> Account {
        guard let account = try find(id, db) else { throw AccountError.noSuchAccount }
        return account
    }

    private static func account(_ row: AccountRow, _ db: Database) throws -> Account {
        let id = AccountID(try row.value(0))
        let roles = try AccountRow.all(db, "SELECT role, app FROM role WHERE account = ?", [id.number])
        return Account(
            id: id, name: try row.name(1), displayName: try row.displayName(2), state: try row.word(3),
            grants: Set(try roles.map { RoleGrant(try $0.word(0), try $0.optional(1).map { .app($0) } ?? .allApps) }),
            hasSecondFactor: try row.value(4, Int.self) != 0, issuer: try row.optional(6), madeAt: try row.moment(5))
    }

    /// Accounts with this have no password.
    private static let noPassword = ""

    /// nil for an account without one, and where there is none.
    static func password(of id: AccountID, _ db: Database) throws -> PasswordHash? {
        try AccountRow.one(db, "SELECT password FROM account WHERE id = ?", [id.number]).flatMap { row in
            let text = try row.value(0, String.self)
            return text == noPassword ? nil : try AccountRow.known(PasswordHash(text: text))
        }
    }

    /// - Parameter password: nil for an account without one.
    static func insert(_ name: AccountName, _ displayName: DisplayName, _ password: PasswordHash?, at now: Timestamp, _ db: Database) throws
        -> AccountID
    {
        guard try find(name, db) == nil else { throw AccountError.nameTaken(name) }
        try db.execute(
            sql: "INSERT INTO account (name, display_name, state, password, made_at) VALUES (?, ?, ?, ?, ?)",
            arguments: [name.text, displayName.text, Account.State.active.rawValue, password?.text ?? noPassword, now.epochMilliseconds])
        return AccountID(db.lastInsertedRowID)
    }

    /// The account that a provider means.
    static func find(issuer: String, subject: String, _ db: Database) throws -> Account? {
        try AccountRow.one(db, columns + " WHERE issuer = ? AND subject = ?", [issuer, subject]).map { try account($0, db) }
    }

    static func setPassword(_ password: PasswordHash, of id: AccountID, _ db: Database) throws {
        try db.execute(sql: "UPDATE account SET password = ? WHERE id = ?", arguments: [password.text, id.number])
    }

    static func setGrants(_ grants: Set<RoleGrant>, of id: AccountID, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM role WHERE account = ?", arguments: [id.number])
        for grant in grants {
            let app: String? = if case .app(let name) = grant.scope { name } else { nil }
            try db.execute(
                sql: "INSERT INTO role (account, role, app) VALUES (?, ?, ?)", arguments: [id.number, grant.role.rawValue, app])
        }
    }

    static func endSessions(of id: AccountID, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM session WHERE account = ?", arguments: [id.number])
    }

    /// What whoever asks may do to accounts, by their roles at this moment.
    /// - Throws: `AccountError.notPermitted`: their account is disabled, or gone.
    static func administration(of actor: Actor, _ db: Database) throws -> Administration {
        guard let id = actor.account else { return Administration(rights: nil) }
        guard let account = try find(id, db), account.state == .active else { throw AccountError.notPermitted }
        return Administration(rights: account.rights)
    }

    /// - Throws: `AccountError.lastAdministrator`: nobody administers all apps any more, though somebody did.
    static func checkAdministratorIsLeft(_ before: Account, _ db: Database) throws {
        guard before.administersEverything, try !Administration.isKept(by: all(db).accounts) else { return }
        throw AccountError.lastAdministrator
    }
}
