public import Base
import GRDB

/// Sessions: who is signed in. They begin in `SignInDesk`.
extension AccountStore {
    /// Who a request comes from, and notes that the session was used; nil if it has ended. One that has ended stays so, whatever the clock
    /// says later. That it was used, or has ended, need not be written: on a full disk people see their pages, and are signed out the sooner.
    public func signedIn(_ token: SecretToken, at now: Timestamp) throws -> SignedIn? {
        let found = try read { db -> SignedIn? in
            guard let session = try SessionRecords.find(token, db), let account = try AccountRecords.find(session.account, db) else {
                return nil
            }
            return SignedIn(session: session, account: account)
        }
        guard let found, !isEnded(token) else { return nil }
        var session = found.session
        guard session.isAlive(at: now), found.account.state == .active else {
            if (try? write({ try SessionRecords.end(session.id, $0) })) == nil { end(unwritten: token) }
            return nil
        }
        guard session.stage == .signedIn else { return nil }
        if session.use(at: now) {
            // Another process may have noted a later use.
            try? write { db in
                try db.execute(
                    sql: "UPDATE session SET used_at = max(used_at, ?) WHERE id = ?",
                    arguments: [session.usedAt.epochMilliseconds, session.id.number])
            }
        }
        return SignedIn(session: session, account: found.account)
    }

    /// Signs out. A session that has ended already is no error. Where it cannot be written, the session has ended in this process all the same.
    public func signOut(_ token: SecretToken, from address: IPAddress?, at now: Timestamp) throws {
        do {
            try write { db in
                guard let session = try SessionRecords.find(token, db) else { return }
                try SessionRecords.end(session.id, db)
                try ActivityRecords.add(.signedOut, to: nil, by: Actor(session.account, address: address), at: now, db)
            }
        } catch {
            end(unwritten: token)
            throw error
        }
    }

    /// The sessions in which an account is signed in now, the last used first.
    public func sessions(of id: AccountID, at now: Timestamp) throws -> [Session] {
        try read { try SessionRecords.all(of: id, $0) }.filter { $0.isAlive(at: now) }
    }

    /// Ends one of a person's own sessions. One that has ended already, or is another's, is left alone.
    public func endSession(_ session: SessionID, of id: AccountID, from address: IPAddress?, at now: Timestamp) throws {
        try write { db in
            guard try SessionRecords.all(of: id, db).contains(where: { $0.id == session }) else { return }
            try SessionRecords.end(session, db)
            try ActivityRecords.add(.sessionEnded, to: nil, by: Actor(id, address: address), at: now, db)
        }
    }

    /// The account that a name belongs to, with the hash to check a password against.
    func credential(_ name: AccountName) throws -> (account: Account, password: PasswordHash)? {
        try read { db in
            guard let account = try AccountRecords.find(name, db), let password = try AccountRecords.password(of: account.id, db) else {
                return nil
            }
            return (account, password)
        }
    }

    /// Begins a session for a password that was right a moment ago.
    /// - Parameters:
    ///   - password: the hash that it was checked against.
    ///   - stronger: the hash to store instead; nil to leave it.
    /// - Returns: nil if the account was disabled or removed, or its password changed, since.
    func startSession(
        _ id: AccountID, _ password: PasswordHash, stronger: PasswordHash?, from origin: SessionRecords.Origin, at now: Timestamp
    ) throws -> (token: SecretToken, stage: Session.Stage)? {
        try write { db in
            guard let account = try AccountRecords.find(id, db), account.state == .active,
                try AccountRecords.password(of: id, db) == password
            else { return nil }
            if let stronger { try AccountRecords.setPassword(stronger, of: id, db) }
            let stage = account.hasSecondFactor ? Session.Stage.awaitingCode : .signedIn
            let token = try SessionRecords.start(id, stage, from: origin, at: now, db)
            if stage == .signedIn { try ActivityRecords.add(.signedIn, to: nil, by: Actor(id, address: origin.address), at: now, db) }
            return (token, stage)
        }
    }

    /// A session that waits for a code, or is signed in, with its account; nil if it has ended.
    func anySession(_ token: SecretToken, at now: Timestamp) throws -> SignedIn? {
        try read { db in
            guard !isEnded(token), let session = try SessionRecords.find(token, db), session.isAlive(at: now),
                let account = try AccountRecords.find(session.account, db), account.state == .active
            else { return nil }
            return SignedIn(session: session, account: account)
        }
    }

    /// Replaces a password that was right a moment ago, ends all sessions of the account and links that reset its password, and begins one for whoever did it.
    /// - Parameter before: the hash that it was checked against.
    /// - Returns: nil if the session ended or the password changed since.
    func changePassword(_ token: SecretToken, from before: PasswordHash, to after: PasswordHash, by actor: Actor, at now: Timestamp) throws
        -> SecretToken?
    {
        try write { db in
            guard let session = try SessionRecords.find(token, db), session.isAlive(at: now), session.stage == .signedIn,
                try AccountRecords.password(of: session.account, db) == before
            else { return nil }
            try AccountRecords.setPassword(after, of: session.account, db)
            try AccountRecords.endSessions(of: session.account, db)
            // A link in a mailbox would undo the change.
            try db.execute(sql: "DELETE FROM invitation WHERE account = ?", arguments: [session.account.number])
            try ActivityRecords.add(.passwordChanged, to: nil, by: actor, at: now, db)
            return try SessionRecords.start(
                session.account, .signedIn, from: .init(address: actor.address, agent: session.agent), at: now, db)
        }
    }

    /// Notes a failure to sign in to an account that exists; names that do not exist are noted nowhere, so that nobody can fill the disk.
    func noteFailure(_ failure: ActivityKind.SignInFailure, of id: AccountID, from address: IPAddress?, at now: Timestamp) throws {
        try write { db in
            guard try AccountRecords.find(id, db) != nil else { return }
            try ActivityRecords.add(.signInFailed(failure), to: nil, by: Actor(id, address: address), at: now, db)
        }
    }
}
