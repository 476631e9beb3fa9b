public import Base
import GRDB

/// A person as a provider of identities describes them, with the roles that follow from the claims.
public struct ProviderPerson: Hashable, Sendable {
    /// The provider.
    public var issuer: String
    /// The permanent identifier of the person.
    public var subject: String
    /// The person's name there, as the desired name of the account; nil without one.
    public var name: String?
    /// The person's full name; nil without one.
    public var displayName: String?
    /// What the person may do.
    public var grants: Set<RoleGrant>
    /// When the person last signed in at the provider; nil if the provider does not say.
    public var provedAt: Timestamp?

    /// Creates a person.
    public init(
        issuer: String, subject: String, name: String?, displayName: String?, grants: Set<RoleGrant>,
        provedAt: Timestamp?
    ) {
        self.issuer = issuer
        self.subject = subject
        self.name = name
        self.displayName = displayName
        self.grants = grants
        self.provedAt = provedAt
    }
}

/// The result of a sign-in through a provider.
public enum ProviderSignInOutcome: Hashable, Sendable {
    /// - Parameter token: of a new session.
    case signedIn(SecretToken)
    /// The provider gives the person no role. An account from an earlier sign-in has lost its roles
    /// and its sessions.
    case noRole
    /// The account is disabled here.
    case disabled
}

/// Accounts of people that sign in through a provider: one for each identifier, never one with a
/// password.
extension AccountStore {
    /// Signs in the person that the provider names. Makes the account on the first sign-in, and
    /// takes over name and roles on each. When the roles changed, all earlier sessions end.
    public func enter(_ person: ProviderPerson, from address: IPAddress?, agent: String, at now: Timestamp) throws
        -> ProviderSignInOutcome
    {
        let origin = SessionRecords.Origin(address: address, agent: agent)
        return try write { db in
            guard let account = try AccountRecords.find(issuer: person.issuer, subject: person.subject, db) else {
                guard !person.grants.isEmpty else { return .noRole }
                return .signedIn(
                    try Self.begin(Self.make(person, from: address, at: now, db), origin, person.provedAt, at: now, db))
            }
            let actor = Actor(account.id, address: address)
            guard account.state == .active else {
                try ActivityRecords.add(.signInFailed(.disabled), to: nil, by: actor, at: now, db)
                return .disabled
            }
            if person.grants != account.grants {
                try AccountRecords.setGrants(person.grants, of: account.id, db)
                try AccountRecords.endSessions(of: account.id, db)
                try ActivityRecords.add(
                    .rolesClaimed(before: account.grants, after: person.grants), to: nil, by: actor, at: now, db)
            }
            guard !person.grants.isEmpty else {
                try ActivityRecords.add(.signInFailed(.noRole), to: nil, by: actor, at: now, db)
                return .noRole
            }
            if let name = person.displayName.flatMap({ try? DisplayName($0) }), name != account.displayName {
                try db.execute(
                    sql: "UPDATE account SET display_name = ? WHERE id = ?", arguments: [name.text, account.id.number])
                try ActivityRecords.add(
                    .renamed(before: account.displayName.text, after: name.text), to: account.name, by: actor, at: now,
                    db)
            }
            return .signedIn(try Self.begin(account.id, origin, person.provedAt, at: now, db))
        }
    }

    /// Gives a session another token once its person has signed in at the provider again.
    /// - Returns: nil if it has ended, or belongs to another person than the provider names.
    public func prove(_ token: SecretToken, issuer: String, subject: String, at now: Timestamp) throws -> SecretToken? {
        try write { db in
            guard let session = try SessionRecords.find(token, db), session.isAlive(at: now),
                session.stage == .signedIn,
                let account = try AccountRecords.find(issuer: issuer, subject: subject, db),
                account.id == session.account,
                account.state == .active
            else { return nil }
            return try SessionRecords.prove(session.id, at: now, db)
        }
    }

    private static func begin(
        _ id: AccountID, _ origin: SessionRecords.Origin, _ provedAt: Timestamp?, at now: Timestamp, _ db: Database
    ) throws -> SecretToken {
        // A person that signed in there hours ago has not just proved their identity.
        let provedAt = min(provedAt ?? now.adding(seconds: -Double(Session.freshSeconds)), now)
        let token = try SessionRecords.start(id, .signedIn, from: origin, provedAt: provedAt, at: now, db)
        try ActivityRecords.add(.signedIn, to: nil, by: Actor(id, address: origin.address), at: now, db)
        return token
    }

    private static func make(_ person: ProviderPerson, from address: IPAddress?, at now: Timestamp, _ db: Database)
        throws -> AccountID
    {
        let name = try freeName(like: person.name ?? "", at: now, db)
        let displayName = try person.displayName.flatMap { try? DisplayName($0) } ?? DisplayName(name.text)
        let id = try AccountRecords.insert(name, displayName, nil, at: now, db)
        try db.execute(
            sql: "INSERT INTO provider_identity (account, issuer, subject) VALUES (?, ?, ?)",
            arguments: [id.number, person.issuer, person.subject])
        try AccountRecords.setGrants(person.grants, of: id, db)
        try ActivityRecords.add(
            .rolesClaimed(before: [], after: person.grants), to: nil, by: Actor(id, address: address), at: now, db)
        return id
    }

    /// A name that neither an account nor an invitation has: the desired one, or that name with a
    /// number. The name of an account gives no rights.
    private static func freeName(like wish: String, at now: Timestamp, _ db: Database) throws -> AccountName {
        let first = AccountName(reading: wish)?.text ?? "person"
        var number = 1
        while true {
            let ending = number == 1 ? "" : "-\(number)"
            let name = try AccountName(String(first.prefix(AccountName.longest - ending.utf8.count)) + ending)
            if try AccountRecords.find(name, db) == nil, try open(named: name, at: now, db).isEmpty { return name }
            number += 1
        }
    }
}
