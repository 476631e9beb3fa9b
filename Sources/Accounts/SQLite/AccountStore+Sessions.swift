public import Base
import GRDB

/// Sessions of signed-in people. They begin in `Authenticator`.
extension AccountStore {
    /// Returns the person that sent a request, and notes that the session was used; nil if it has
    /// ended. An ended session stays ended, whatever the clock says later. Failing to write the use
    /// or the end is no error: on a full disk people still see their pages, and are signed out
    /// earlier.
    public func signedIn(_ token: SecretToken, at now: Timestamp) throws -> SignedIn? {
        let found = try read { db -> SignedIn? in
            guard let session = try SessionRecords.find(token, db),
                let account = try AccountRecords.find(session.account, db)
            else {
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

    /// Signs out. A session that has ended already is no error. If the end cannot be written, the
    /// session has still ended in this process.
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

    /// Ends one of a person's own sessions. A session that has already ended, or belongs to another
    /// person, is left alone.
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
            guard let account = try AccountRecords.find(name, db),
                let password = try AccountRecords.password(of: account.id, db)
            else {
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
        _ id: AccountID, _ password: PasswordHash, stronger: PasswordHash?, from origin: SessionRecords.Origin,
        at now: Timestamp
    ) throws -> (token: SecretToken, stage: Session.Stage)? {
        try write { db in
            guard let account = try AccountRecords.find(id, db), account.state == .active,
                try AccountRecords.password(of: id, db) == password
            else { return nil }
            if let stronger { try AccountRecords.setPassword(stronger, of: id, db) }
            let stage = account.hasSecondFactor ? Session.Stage.awaitingCode : .signedIn
            let token = try SessionRecords.start(id, stage, from: origin, at: now, db)
            if stage == .signedIn {
                try ActivityRecords.add(.signedIn, to: nil, by: Actor(id, address: origin.address), at: now, db)
            }
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

    /// Replaces a password that was right a moment ago, ends all sessions of the account and links
    /// that reset its password, and begins a new one for the caller.
    /// - Parameter before: the hash that it was checked against.
    /// - Returns: nil if the session ended or the password changed since.
    func changePassword(
        _ token: SecretToken, from before: PasswordHash, to after: PasswordHash, by actor: Actor, at now: Timestamp
    ) throws
        -> SecretToken?
    {
        try write { db in
            guard let session = try SessionRecords.find(token, db), session.isAlive(at: now),
                session.stage == .signedIn,
                try AccountRecords.password(of: session.account, db) == before
            else { return nil }
            try AccountRecords.setPassword(after, of: session.account, db)
            try AccountRecords.endSessions(of: session.account, db)
            // Otherwise, an old link in a mailbox could undo the change.
            try db.execute(sql: "DELETE FROM invitation WHERE account = ?", arguments: [session.account.number])
            try ActivityRecords.add(.passwordChanged, to: nil, by: actor, at: now, db)
            return try SessionRecords.start(
                session.account, .signedIn, from: .init(address: actor.address, agent: session.agent), at: now, db)
        }
    }

    /// Notes a failure to sign in to an account that exists; names that do not exist are not noted,
    /// so that guesses cannot fill the disk.
    func noteFailure(
        _ failure: ActivityKind.SignInFailure, of id: AccountID, from address: IPAddress?, at now: Timestamp
    ) throws {
        try write { db in
            guard try AccountRecords.find(id, db) != nil else { return }
            try ActivityRecords.add(.signInFailed(failure), to: nil, by: Actor(id, address: address), at: now, db)
        }
    }
}

/// Sessions as rows, within a transaction.
enum SessionRecords {
    /// An account keeps at most this number; the least recently used one ends for a new one.
    static let mostOfAccount = 50
    /// Wrong codes of the second factor before the password must be shown again.
    static let codeTries = 5
    private static let mostAgentBytes = 200
    private static let columns =
        "SELECT id, account, stage, started_at, used_at, proved_at, address, agent FROM session"

    /// Where a session begins.
    struct Origin {
        let address: IPAddress?
        let agent: String

        init(address: IPAddress?, agent: String) {
            self.address = address
            self.agent = agent
        }
    }

    static func session(_ row: AccountRow) throws -> Session {
        Session(
            id: SessionID(try row.value(0)), account: AccountID(try row.value(1)), stage: try row.word(2),
            startedAt: try row.moment(3),
            usedAt: try row.moment(4), provedAt: try row.moment(5), address: try row.address(6), agent: try row.value(7)
        )
    }

    /// The session of a token, ended or not. A damaged one counts as ended: its owner signs in
    /// again.
    static func find(_ token: SecretToken, _ db: Database) throws -> Session? {
        try AccountRow.readable(AccountRow.all(db, columns + " WHERE hash = ?", [SecretToken.stored(token)]), session)
            .values.first
    }

    /// The active sessions of an account, the last used first. A damaged one counts as ended.
    static func all(of id: AccountID, _ db: Database) throws -> [Session] {
        let rows = try AccountRow.all(
            db, columns + " WHERE account = ? AND stage = ? ORDER BY used_at DESC, id DESC",
            [id.number, Session.Stage.signedIn.rawValue])
        return try AccountRow.readable(rows, session).values
    }

    /// - Parameter provedAt: when the person proved their identity; nil for now.
    static func start(
        _ id: AccountID, _ stage: Session.Stage, from origin: Origin, provedAt: Timestamp? = nil, at now: Timestamp,
        _ db: Database
    ) throws -> SecretToken {
        try clear(at: now, db)
        try db.execute(
            sql: """
                DELETE FROM session WHERE account = ?1 AND id NOT IN
                    (SELECT id FROM session WHERE account = ?1 ORDER BY used_at DESC, id DESC LIMIT ?2)
                """, arguments: [id.number, mostOfAccount - 1])
        let token = SecretToken()
        try db.execute(
            sql: """
                INSERT INTO session (hash, account, stage, tries_left, started_at, used_at, proved_at, address, agent)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                SecretToken.stored(token), id.number, stage.rawValue, codeTries, now.epochMilliseconds,
                now.epochMilliseconds,
                (provedAt ?? now).epochMilliseconds, origin.address?.description,
                TextFormat.foreign(origin.agent, maximumBytes: mostAgentBytes),
            ])
        return token
    }

    /// Gives a session another token after a fresh sign-in. The old token no longer works. The
    /// twelve hours continue.
    /// Source: OWASP ASVS 4.0.3, 3.2.1.
    static func prove(_ session: SessionID, at now: Timestamp, _ db: Database) throws -> SecretToken {
        let token = SecretToken()
        try db.execute(
            sql: "UPDATE session SET hash = ?, stage = ?, proved_at = ?, used_at = max(used_at, ?) WHERE id = ?",
            arguments: [
                SecretToken.stored(token), Session.Stage.signedIn.rawValue, now.epochMilliseconds,
                now.epochMilliseconds, session.number,
            ])
        return token
    }

    static func end(_ hashes: Set<String>, _ db: Database) throws {
        for hash in hashes { try db.execute(sql: "DELETE FROM session WHERE hash = ?", arguments: [hash]) }
    }

    static func end(_ session: SessionID, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM session WHERE id = ?", arguments: [session.number])
    }

    /// A wrong code: a session that waits for one ends after some.
    static func countWrongCode(_ session: SessionID, _ db: Database) throws {
        try db.execute(sql: "UPDATE session SET tries_left = tries_left - 1 WHERE id = ?", arguments: [session.number])
        try db.execute(
            sql: "DELETE FROM session WHERE id = ? AND tries_left <= 0 AND stage = ?",
            arguments: [session.number, Session.Stage.awaitingCode.rawValue])
    }

    /// Removes ended sessions, so that setting the clock back cannot revive them.
    private static func clear(at now: Timestamp, _ db: Database) throws {
        for row in try AccountRow.all(db, columns) {
            // A damaged one counts as ended: it must not keep others from signing in.
            guard let session = try? session(row) else {
                try end(SessionID(row.value(0)), db)
                continue
            }
            if !session.isAlive(at: now) { try end(session.id, db) }
        }
    }
}
