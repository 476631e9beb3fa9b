import Base
import GRDB

/// Sessions as rows, within a transaction.
enum SessionRecords {
    /// An account keeps at most so many; the one that was used longest ago ends for a new one.
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
            id: SessionID(try row.value(0)), account: AccountID(try row.value(1)), stage: try row.word(2), startedAt: try row.moment(3),
            usedAt: try row.moment(4), provedAt: try row.moment(5), address: try row.address(6), agent: try row.value(7))
    }

    /// The session of a token, dead or alive. One that cannot be read has ended: its owner signs in again.
    static func find(_ token: SecretToken, _ db: Database) throws -> Session? {
        try AccountRow.readable(AccountRow.all(db, columns + " WHERE hash = ?", [SecretToken.stored(token)]), session).values.first
    }

    /// Those of an account that are signed in, the last used first. One that cannot be read has ended.
    static func all(of id: AccountID, _ db: Database) throws -> [Session] {
        let rows = try AccountRow.all(
            db, columns + " WHERE account = ? AND stage = ? ORDER BY used_at DESC, id DESC", [id.number, Session.Stage.signedIn.rawValue])
        return try AccountRow.readable(rows, session).values
    }

    /// - Parameter provedAt: when the person showed who they are; nil for now.
    static func start(
        _ id: AccountID, _ stage: Session.Stage, from origin: Origin, provedAt: Timestamp? = nil, at now: Timestamp, _ db: Database
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
                SecretToken.stored(token), id.number, stage.rawValue, codeTries, now.epochMilliseconds, now.epochMilliseconds,
                (provedAt ?? now).epochMilliseconds, origin.address?.description,
                TextFormat.foreign(origin.agent, maximumBytes: mostAgentBytes),
            ])
        return token
    }

    /// Gives a session that showed who it is another token: the one before it is worth nothing any more. The twelve hours go on.
    /// Source: OWASP ASVS 4.0.3, 3.2.1.
    static func prove(_ session: SessionID, at now: Timestamp, _ db: Database) throws -> SecretToken {
        let token = SecretToken()
        try db.execute(
            sql: "UPDATE session SET hash = ?, stage = ?, proved_at = ?, used_at = max(used_at, ?) WHERE id = ?",
            arguments: [
                SecretToken.stored(token), Session.Stage.signedIn.rawValue, now.epochMilliseconds, now.epochMilliseconds, session.number,
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

    /// Removes those that have ended, so that a clock that is set back revives none of them.
    private static func clear(at now: Timestamp, _ db: Database) throws {
        for row in try AccountRow.all(db, columns) {
            // One that cannot be read has ended: it must not keep others from signing in.
            guard let session = try? session(row) else {
                try end(SessionID(row.value(0)), db)
                continue
            }
            if !session.isAlive(at: now) { try end(session.id, db) }
        }
    }
}
