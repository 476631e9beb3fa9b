public import Base
import GRDB

/// Accounts and their roles. The caller needs `Right.manageUsers` for all apps that a change
/// concerns.
extension AccountStore {
    /// All accounts that can be read, by name.
    public func accounts() throws -> [Account] { try read(AccountRecords.all).accounts }

    /// The accounts that cannot be read.
    public func damagedAccounts() throws -> [DamagedAccount] { try read(AccountRecords.all).damaged }

    /// Whether there is an account, readable or not.
    public func hasAccounts() throws -> Bool {
        try read { try AccountRow.one($0, "SELECT 1 FROM account LIMIT 1") != nil }
    }

    /// An account; nil if it was removed or never existed.
    public func account(_ id: AccountID) throws -> Account? { try read { try AccountRecords.find(id, $0) } }

    /// The account with a name; nil if no account has the name.
    public func account(named name: AccountName) throws -> Account? { try read { try AccountRecords.find(name, $0) } }

    /// Replaces the roles of an account, and ends its sessions.
    /// - Throws: `AccountError.noSuchAccount`, `.notPermitted`, `.lastAdministrator`,
    ///   `.ofProvider`.
    public func setGrants(_ grants: Set<RoleGrant>, of id: AccountID, by actor: Actor, at now: Timestamp) throws {
        try write { db in
            let account = try AccountRecords.require(id, db)
            guard try AccountRecords.administration(of: actor, db).mayChange(account.grants, to: grants) else {
                throw AccountError.notPermitted
            }
            guard account.issuer == nil else { throw AccountError.ofProvider }
            guard grants != account.grants else { return }
            try AccountRecords.setGrants(grants, of: id, db)
            try AccountRecords.checkAdministratorIsLeft(account, db)
            try AccountRecords.endSessions(of: id, db)
            if grants.subtracting(account.grants).contains(where: { $0.role.rights.contains(.approve) }) {
                try TieRecords.add(.promoted, to: account.name, by: actor, at: now, db)
            }
            try ActivityRecords.add(
                .rolesChanged(before: account.grants, after: grants), to: account.name, by: actor, at: now, db)
        }
    }

    /// Changes a displayed name: the caller's own, or that of an account that the caller
    /// administers.
    /// - Throws: `AccountError.noSuchAccount`, `.notPermitted`.
    public func setDisplayName(_ name: DisplayName, of id: AccountID, by actor: Actor, at now: Timestamp) throws {
        try write { db in
            let account = try AccountRecords.require(id, db)
            let administration = try AccountRecords.administration(of: actor, db)
            guard actor.account == id || administration.mayControl(account.grants) else {
                throw AccountError.notPermitted
            }
            guard name != account.displayName else { return }
            try db.execute(sql: "UPDATE account SET display_name = ? WHERE id = ?", arguments: [name.text, id.number])
            try ActivityRecords.add(
                .renamed(before: account.displayName.text, after: name.text), to: account.name, by: actor, at: now, db)
        }
    }

    /// Takes all rights from an account, and ends its sessions; links that reset its password stop
    /// working. Its roles are kept.
    /// - Throws: `AccountError.noSuchAccount`, `.notPermitted`, `.lastAdministrator`.
    public func disable(_ id: AccountID, by actor: Actor, at now: Timestamp) throws {
        try control(id, by: actor) { account, db in
            guard account.state == .active else { return }
            try db.execute(
                sql: "UPDATE account SET state = ? WHERE id = ?",
                arguments: [Account.State.disabled.rawValue, id.number])
            try AccountRecords.checkAdministratorIsLeft(account, db)
            try AccountRecords.endSessions(of: id, db)
            try db.execute(sql: "DELETE FROM invitation WHERE account = ?", arguments: [id.number])
            try ActivityRecords.add(.disabled, to: account.name, by: actor, at: now, db)
        }
    }

    /// Gives a disabled account its rights back.
    /// - Throws: `AccountError.noSuchAccount`, `.notPermitted`.
    public func enable(_ id: AccountID, by actor: Actor, at now: Timestamp) throws {
        try control(id, by: actor) { account, db in
            guard account.state == .disabled else { return }
            try db.execute(
                sql: "UPDATE account SET state = ? WHERE id = ?", arguments: [Account.State.active.rawValue, id.number])
            try TieRecords.add(.enabled, to: account.name, by: actor, at: now, db)
            try ActivityRecords.add(.enabled, to: account.name, by: actor, at: now, db)
        }
    }

    /// Removes an account with all that belongs to it, except its activities: they keep its name.
    /// - Throws: `AccountError.noSuchAccount`, `.notPermitted`, `.lastAdministrator`.
    public func remove(_ id: AccountID, by actor: Actor, at now: Timestamp) throws {
        try control(id, by: actor) { account, db in
            // Before the change: people that remove themselves have no name afterwards.
            try ActivityRecords.add(.removed, to: account.name, by: actor, at: now, db)
            try db.execute(sql: "DELETE FROM account WHERE id = ?", arguments: [id.number])
            try AccountRecords.checkAdministratorIsLeft(account, db)
        }
    }

    /// Removes an account that cannot be read, and with it its roles: as these may be for any app,
    /// only an administrator of all apps may do this.
    /// - Throws: `AccountError.noSuchAccount`: it is gone, or can be read; `.notPermitted`.
    public func removeDamaged(_ id: AccountID, by actor: Actor, at now: Timestamp) throws {
        try write { db in
            guard let damaged = try AccountRecords.all(db).damaged.first(where: { $0.id == id }) else {
                throw AccountError.noSuchAccount
            }
            guard try AccountRecords.administration(of: actor, db).administersEverything else {
                throw AccountError.notPermitted
            }
            try ActivityRecords.add(
                .removed, about: (nil, damaged.name?.text ?? "account \(id.number)"), by: actor, at: now, db)
            try db.execute(sql: "DELETE FROM account WHERE id = ?", arguments: [id.number])
        }
    }

    /// Changes an account that the caller fully administers.
    func control(_ id: AccountID, by actor: Actor, _ body: (Account, Database) throws -> Void) throws {
        try write { db in
            let account = try AccountRecords.require(id, db)
            guard try AccountRecords.administration(of: actor, db).mayControl(account.grants) else {
                throw AccountError.notPermitted
            }
            try body(account, db)
        }
    }
}

/// Accounts as rows, within a transaction.
enum AccountRecords {
    private static let columns = """
        SELECT id, name, display_name, state, totp_confirmed, made_at, issuer
        FROM account LEFT JOIN provider_identity ON provider_identity.account = account.id
        """

    /// All readable accounts, by name, and the damaged ones: these administer nothing and cannot be
    /// used to sign in.
    static func all(_ db: Database) throws -> (accounts: [Account], damaged: [DamagedAccount]) {
        let found = try AccountRow.readable(AccountRow.all(db, columns + " ORDER BY name")) { try account($0, db) }
        return (
            found.values,
            try found.damaged.map { DamagedAccount(id: AccountID(try $0.value(0)), name: try? $0.name(1)) }
        )
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

    /// nil for an account without one, and if the account does not exist.
    static func password(of id: AccountID, _ db: Database) throws -> PasswordHash? {
        try AccountRow.one(db, "SELECT password FROM account WHERE id = ?", [id.number]).flatMap { row in
            let text = try row.value(0, String.self)
            return text == noPassword ? nil : try AccountRow.known(PasswordHash(text: text))
        }
    }

    /// - Parameter password: nil for an account without one.
    static func insert(
        _ name: AccountName, _ displayName: DisplayName, _ password: PasswordHash?, at now: Timestamp, _ db: Database
    ) throws
        -> AccountID
    {
        guard try find(name, db) == nil else { throw AccountError.nameTaken(name) }
        try db.execute(
            sql: "INSERT INTO account (name, display_name, state, password, made_at) VALUES (?, ?, ?, ?, ?)",
            arguments: [
                name.text, displayName.text, Account.State.active.rawValue, password?.text ?? noPassword,
                now.epochMilliseconds,
            ])
        return AccountID(db.lastInsertedRowID)
    }

    /// The account that a provider means.
    static func find(issuer: String, subject: String, _ db: Database) throws -> Account? {
        try AccountRow.one(db, columns + " WHERE issuer = ? AND subject = ?", [issuer, subject]).map {
            try account($0, db)
        }
    }

    static func setPassword(_ password: PasswordHash, of id: AccountID, _ db: Database) throws {
        try db.execute(sql: "UPDATE account SET password = ? WHERE id = ?", arguments: [password.text, id.number])
    }

    static func setGrants(_ grants: Set<RoleGrant>, of id: AccountID, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM role WHERE account = ?", arguments: [id.number])
        for grant in grants {
            let app: String? = if case .app(let name) = grant.scope { name } else { nil }
            try db.execute(
                sql: "INSERT INTO role (account, role, app) VALUES (?, ?, ?)",
                arguments: [id.number, grant.role.rawValue, app])
        }
    }

    static func endSessions(of id: AccountID, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM session WHERE account = ?", arguments: [id.number])
    }

    /// What the caller may do to accounts, by the caller's roles at this moment.
    /// - Throws: `AccountError.notPermitted`: their account is disabled, or gone.
    static func administration(of actor: Actor, _ db: Database) throws -> Administration {
        guard let id = actor.account else { return Administration(rights: nil) }
        guard let account = try find(id, db), account.state == .active else { throw AccountError.notPermitted }
        return Administration(rights: account.rights)
    }

    /// - Throws: `AccountError.lastAdministrator`: the change would remove the last administrator
    ///   of all apps.
    static func checkAdministratorIsLeft(_ before: Account, _ db: Database) throws {
        guard before.administersEverything, try !Administration.isKept(by: all(db).accounts) else { return }
        throw AccountError.lastAdministrator
    }
}
