public import Base
import GRDB

/// A link with which a person chooses a password, once: for a new account, or for one whose
/// password is forgotten. Holds no secret.
public struct Invitation: Hashable, Sendable {
    /// What the link is for.
    public enum Purpose: Hashable, Sendable {
        /// A new account.
        case newAccount(AccountName, DisplayName, Set<RoleGrant>)
        /// Another password for an account that exists.
        case newPassword(AccountID)
    }

    /// Its number, from 1 on.
    public let id: Int64
    /// What it is for.
    public let purpose: Purpose
    /// When it was made.
    public let madeAt: Timestamp
    /// The moment from which it no longer works.
    public let lapsesAt: Timestamp

    /// How long a link works. Source: the issue of the console.
    public static let daysOfUse: Int64 = 7
    /// How long the link of the first administrator works: the person that gets it owns the
    /// console.
    public static let hoursOfFirst: Int64 = 24

    /// Whether it works, as far as time is concerned. It does not work while the clock is set to a
    /// time before it was made.
    func isOpen(at now: Timestamp) -> Bool {
        now < lapsesAt && now >= madeAt.adding(seconds: -Double(Session.clockToleranceSeconds))
    }
}

/// An invitation with its secret, which exists only here: send the link to the person, and do not
/// store it.
public struct InvitationLink: Hashable, Sendable {
    /// What the link ends with.
    public let token: SecretToken
    /// What it is for, and for how long.
    public let invitation: Invitation
}

/// Links with which people choose a password.
extension AccountStore {
    /// Invites the first administrator of all apps, for a day. Earlier links for this name stop
    /// working.
    /// - Throws: `AccountError.alreadyAdministered`; `.nameTaken`, if an account of another kind
    ///   has the name.
    public func inviteFirstAdministrator(_ name: AccountName, _ displayName: DisplayName, at now: Timestamp) throws
        -> InvitationLink
    {
        try write { db in
            if try Administration.isKept(by: AccountRecords.all(db).accounts) { throw AccountError.alreadyAdministered }
            let purpose = Invitation.Purpose.newAccount(name, displayName, [RoleGrant(.administrator, .allApps)])
            return try Self.invite(purpose, by: .terminal, at: now, seconds: Invitation.hoursOfFirst * 3600, db)
        }
    }

    /// Invites a person, for a week. Earlier links for this name stop working.
    /// - Throws: `AccountError.nameTaken`, `.notPermitted`.
    public func invite(
        _ name: AccountName, _ displayName: DisplayName, _ grants: Set<RoleGrant>, by actor: Actor, at now: Timestamp
    ) throws -> InvitationLink {
        try write { db in
            guard try AccountRecords.administration(of: actor, db).mayChange([], to: grants) else {
                throw AccountError.notPermitted
            }
            // A person that may not give roles for an app may not revoke a link that gives them,
            // either.
            for earlier in try Self.open(named: name, at: now, db) where try !Self.mayWithdraw(earlier, actor, db) {
                throw AccountError.notPermitted
            }
            let purpose = Invitation.Purpose.newAccount(name, displayName, grants)
            return try Self.invite(purpose, by: actor, at: now, seconds: Invitation.daysOfUse * 24 * 3600, db)
        }
    }

    /// Offers another password for an account, for a week. The old one works until then; the second
    /// factor stays. Earlier links for it stop working.
    /// - Throws: `AccountError.noSuchAccount`, `.disabled`, `.notPermitted`, `.ofProvider`.
    public func offerNewPassword(of id: AccountID, by actor: Actor, at now: Timestamp) throws -> InvitationLink {
        try write { db in
            let account = try AccountRecords.require(id, db)
            guard try AccountRecords.administration(of: actor, db).mayControl(account.grants) else {
                throw AccountError.notPermitted
            }
            guard account.issuer == nil else { throw AccountError.ofProvider }
            guard account.state == .active else { throw AccountError.disabled(account.name) }
            return try Self.invite(.newPassword(id), by: actor, at: now, seconds: Invitation.daysOfUse * 24 * 3600, db)
        }
    }

    /// The invitations that can still be used, the oldest first.
    public func openInvitations(at now: Timestamp) throws -> [Invitation] {
        try invitations().values.filter { $0.isOpen(at: now) }
    }

    /// The invitations that cannot be read: their links do not work.
    public func damagedInvitations() throws -> [Int64] { try invitations().damaged.map { try $0.value(0) } }

    private func invitations() throws -> (values: [Invitation], damaged: [AccountRow]) {
        try read { try AccountRow.readable(AccountRow.all($0, Self.columns + " ORDER BY id"), Self.invitation) }
    }

    /// What a link is for, before the person chooses a password; nil if it does not work.
    public func invitation(_ token: SecretToken, at now: Timestamp) throws -> (
        invitation: Invitation, name: AccountName
    )? {
        try read { db in
            guard let (invitation, _) = try Self.usable(token, at: now, db),
                let name = try Self.name(of: invitation, db)
            else {
                return nil
            }
            return (invitation, name)
        }
    }

    /// Makes an invitation useless.
    /// - Throws: `AccountError.invitationNotValid`: it does not exist; `.notPermitted`: the caller
    ///   could not have made it.
    public func withdrawInvitation(_ id: Int64, by actor: Actor, at now: Timestamp) throws {
        try write { db in
            guard let row = try AccountRow.one(db, Self.columns + " WHERE id = ?", [id]) else {
                throw AccountError.invitationNotValid
            }
            // The apps of a damaged invitation are not known.
            let invitation = try AccountRow.readable([row], Self.invitation).values.first
            let isPermitted =
                try invitation.map { try Self.mayWithdraw($0, actor, db) }
                ?? AccountRecords.administration(of: actor, db).administersEverything
            guard isPermitted else { throw AccountError.notPermitted }
            try db.execute(sql: "DELETE FROM invitation WHERE id = ?", arguments: [id])
            let name = try invitation.flatMap { try Self.name(of: $0, db) } ?? (try? row.name(2))
            try ActivityRecords.add(.invitationWithdrawn, to: name, by: actor, at: now, db)
        }
    }

    /// Uses up an invitation: makes the account, or replaces its password and ends its sessions.
    /// - Throws: `AccountError.invitationNotValid`, also if its author may no longer invite;
    ///   `.nameTaken`.
    func accept(_ token: SecretToken, _ password: PasswordHash, from address: IPAddress?, at now: Timestamp) throws
        -> AccountID
    {
        try write { db in
            guard let (invitation, inviter) = try Self.usable(token, at: now, db) else {
                throw AccountError.invitationNotValid
            }
            try db.execute(sql: "DELETE FROM invitation WHERE id = ?", arguments: [invitation.id])
            let id: AccountID
            switch invitation.purpose {
            case .newAccount(let name, let displayName, let grants):
                id = try AccountRecords.insert(name, displayName, password, at: now, db)
                try AccountRecords.setGrants(grants, of: id, db)
                try TieRecords.add(.invited, to: name, by: inviter, at: now, db)
            case .newPassword(let account):
                id = account
                try TieRecords.add(.passwordReset, to: AccountRecords.require(id, db).name, by: inviter, at: now, db)
                try AccountRecords.setPassword(password, of: id, db)
                try AccountRecords.endSessions(of: id, db)
            }
            try ActivityRecords.add(.invitationAccepted, to: nil, by: Actor(id, address: address), at: now, db)
            return id
        }
    }

    private static let columns = """
        SELECT id, account, name, display_name, roles, made_at, lapses_at, invited_by FROM invitation
        """

    private static func invitation(_ row: AccountRow) throws -> Invitation {
        let purpose: Invitation.Purpose =
            if let account = try row.optional(1, Int64.self) {
                .newPassword(AccountID(account))
            } else {
                .newAccount(
                    try row.name(2), try row.displayName(3), try AccountRow.known(RoleGrant.grants(row.json(4))))
            }
        return Invitation(
            id: try row.value(0), purpose: purpose, madeAt: try row.moment(5), lapsesAt: try row.moment(6))
    }

    /// The invitation of a link, and its author, if it works now: the author may still invite, and
    /// the author's account is active.
    private static func usable(_ token: SecretToken, at now: Timestamp, _ db: Database) throws -> (Invitation, Actor)? {
        guard let row = try AccountRow.one(db, columns + " WHERE hash = ?", [SecretToken.stored(token)]) else {
            return nil
        }
        let invitation = try invitation(row)
        guard invitation.isOpen(at: now) else { return nil }
        let inviter = try row.optional(7, Int64.self).map { Actor(AccountID($0), address: nil) } ?? .terminal
        guard try mayWithdraw(invitation, inviter, db) else { return nil }
        if case .newPassword(let account) = invitation.purpose {
            guard try AccountRecords.find(account, db)?.state == .active else { return nil }
        }
        return (invitation, inviter)
    }

    /// Whether a person could make an invitation now.
    private static func mayWithdraw(_ invitation: Invitation, _ actor: Actor, _ db: Database) throws -> Bool {
        do {
            let administration = try AccountRecords.administration(of: actor, db)
            switch invitation.purpose {
            case .newAccount(_, _, let grants): return administration.mayChange([], to: grants)
            case .newPassword(let account):
                return try AccountRecords.find(account, db).map { administration.mayControl($0.grants) } ?? false
            }
        } catch AccountError.notPermitted { return false }
    }

    private static func name(of invitation: Invitation, _ db: Database) throws -> AccountName? {
        switch invitation.purpose {
        case .newAccount(let name, _, _): name
        case .newPassword(let account): try AccountRecords.find(account, db)?.name
        }
    }

    static func open(named name: AccountName, at now: Timestamp, _ db: Database) throws -> [Invitation] {
        try AccountRow.all(db, columns + " WHERE name = ?", [name.text]).map { try invitation($0) }.filter {
            $0.isOpen(at: now)
        }
    }

    private static func invite(
        _ purpose: Invitation.Purpose, by actor: Actor, at now: Timestamp, seconds: Int64, _ db: Database
    ) throws -> InvitationLink {
        let token = SecretToken()
        let lapsesAt = now.adding(seconds: Double(seconds))
        try db.execute(sql: "DELETE FROM invitation WHERE lapses_at <= ?", arguments: [now.epochMilliseconds])
        var columns: (account: Int64?, name: String?, displayName: String?, roles: String?) = (nil, nil, nil, nil)
        let kind: ActivityKind
        switch purpose {
        case .newAccount(let name, let displayName, let grants):
            guard try AccountRecords.find(name, db) == nil else { throw AccountError.nameTaken(name) }
            try db.execute(sql: "DELETE FROM invitation WHERE name = ?", arguments: [name.text])
            columns = (nil, name.text, displayName.text, RoleGrant.json(grants).text)
            kind = .invited(grants)
        case .newPassword(let id):
            try db.execute(sql: "DELETE FROM invitation WHERE account = ?", arguments: [id.number])
            columns.account = id.number
            kind = .passwordResetOffered
        }
        try db.execute(
            sql: """
                INSERT INTO invitation (hash, account, name, display_name, roles, invited_by, made_at, lapses_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                SecretToken.stored(token), columns.account, columns.name, columns.displayName, columns.roles,
                actor.account?.number,
                now.epochMilliseconds, lapsesAt.epochMilliseconds,
            ])
        let invitation = Invitation(id: db.lastInsertedRowID, purpose: purpose, madeAt: now, lapsesAt: lapsesAt)
        try ActivityRecords.add(kind, to: Self.name(of: invitation, db), by: actor, at: now, db)
        return InvitationLink(token: token, invitation: invitation)
    }
}
