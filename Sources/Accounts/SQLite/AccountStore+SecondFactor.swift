public import Base
import Cryptography
import GRDB

/// The second factor of an account: a secret that an authenticator app also has, and ten codes on
/// paper.
extension AccountStore {
    /// Begins to set it up: makes a new secret, which replaces one that was not confirmed. It is
    /// not required before `confirmSecondFactor`.
    /// - Throws: `AccountError.noSuchAccount`, `.ofProvider`; `.secondFactor(isOn: true)`.
    public func beginSecondFactor(of id: AccountID) throws -> TOTPSecret {
        try write { db in
            let account = try AccountRecords.require(id, db)
            guard account.issuer == nil else { throw AccountError.ofProvider }
            guard !account.hasSecondFactor else { throw AccountError.secondFactor(isOn: true) }
            let secret = TOTPSecret.random()
            try db.execute(
                sql: "UPDATE account SET totp_secret = ? WHERE id = ?",
                arguments: [SecondFactorRecords.stored(secret), id.number])
            return secret
        }
    }

    /// Sets it up once the person's app shows the right code. Other sessions of the account end.
    /// - Parameters:
    ///   - code: six digits.
    ///   - session: the one that continues.
    /// - Returns: the recovery codes for a lost app. They are given out only here.
    /// - Throws: `AccountError.noSuchAccount`, `.wrongCode`; `.secondFactor`: it was not begun, or
    ///   is set up already.
    public func confirmSecondFactor(_ code: String, in session: Session, from address: IPAddress?, at now: Timestamp)
        throws
        -> [RecoveryCode]
    {
        try write { db in
            let id = session.account
            guard try !AccountRecords.require(id, db).hasSecondFactor else {
                throw AccountError.secondFactor(isOn: true)
            }
            guard let secret = try SecondFactorRecords.secret(of: id, db) else {
                throw AccountError.secondFactor(isOn: false)
            }
            guard try SecondFactorRecords.use(code, secret, of: id, at: now, db) else { throw AccountError.wrongCode }
            try db.execute(sql: "UPDATE account SET totp_confirmed = 1 WHERE id = ?", arguments: [id.number])
            let codes = try SecondFactorRecords.makeRecoveryCodes(of: id, db)
            try db.execute(
                sql: "DELETE FROM session WHERE account = ? AND id <> ?", arguments: [id.number, session.id.number])
            try ActivityRecords.add(.secondFactorSetUp, to: nil, by: Actor(id, address: address), at: now, db)
            return codes
        }
    }

    /// Removes the second factor: the caller's own, or that of an account that the caller
    /// administers. Used codes stay recorded. The sessions of another account end.
    /// - Throws: `AccountError.noSuchAccount`, `.notPermitted`; `.secondFactor(isOn: false)`.
    public func removeSecondFactor(of id: AccountID, by actor: Actor, at now: Timestamp) throws {
        try write { db in
            let account = try AccountRecords.require(id, db)
            let administration = try AccountRecords.administration(of: actor, db)
            guard actor.account == id || administration.mayControl(account.grants) else {
                throw AccountError.notPermitted
            }
            guard account.hasSecondFactor else { throw AccountError.secondFactor(isOn: false) }
            try db.execute(
                sql: "UPDATE account SET totp_secret = NULL, totp_confirmed = 0 WHERE id = ?", arguments: [id.number])
            try db.execute(sql: "DELETE FROM recovery_code WHERE account = ?", arguments: [id.number])
            if actor.account != id { try AccountRecords.endSessions(of: id, db) }
            try TieRecords.add(.secondFactorRemoved, to: account.name, by: actor, at: now, db)
            try ActivityRecords.add(.secondFactorRemoved, to: account.name, by: actor, at: now, db)
        }
    }

    /// How many recovery codes an account has left, 0 to 10.
    public func recoveryCodesLeft(of id: AccountID) throws -> Int {
        try read { try SecondFactorRecords.recoveryCodesLeft(of: id, $0) }
    }

    /// The result of checking a code.
    enum CodeResult {
        /// The session is signed in, under another token.
        case right(SecretToken)
        case wrong
        /// The session has ended, or the account has no second factor any more.
        case ended
    }

    /// Uses up a code of the app or a recovery code, and gives the session another token.
    func useCode(_ typed: String, for token: SecretToken, from address: IPAddress?, at now: Timestamp) throws
        -> CodeResult
    {
        try write { db in
            guard let session = try SessionRecords.find(token, db), session.isAlive(at: now),
                let account = try AccountRecords.find(session.account, db), account.state == .active,
                account.hasSecondFactor,
                let secret = try SecondFactorRecords.secret(of: account.id, db)
            else { return .ended }
            let actor = Actor(account.id, address: address)
            if try !SecondFactorRecords.use(typed, secret, of: account.id, at: now, db) {
                guard let code = RecoveryCode(typed: typed), try SecondFactorRecords.use(code, of: account.id, db)
                else {
                    try SessionRecords.countWrongCode(session.id, db)
                    try ActivityRecords.add(.signInFailed(.wrongCode), to: nil, by: actor, at: now, db)
                    return .wrong
                }
                let left = try SecondFactorRecords.recoveryCodesLeft(of: account.id, db)
                try ActivityRecords.add(.recoveryCodeUsed(left: left), to: nil, by: actor, at: now, db)
            }
            if session.stage == .awaitingCode { try ActivityRecords.add(.signedIn, to: nil, by: actor, at: now, db) }
            return .right(try SessionRecords.prove(session.id, at: now, db))
        }
    }

    /// Gives a session whose person has just shown the password another token.
    /// - Returns: nil if it has ended, or also needs a code.
    func prove(_ token: SecretToken, _ password: PasswordHash, at now: Timestamp) throws -> SecretToken? {
        try write { db in
            guard let session = try SessionRecords.find(token, db), session.isAlive(at: now),
                session.stage == .signedIn,
                try !AccountRecords.require(session.account, db).hasSecondFactor,
                try AccountRecords.password(of: session.account, db) == password
            else { return nil }
            return try SessionRecords.prove(session.id, at: now, db)
        }
    }
}

/// Second factors as rows, within a transaction.
enum SecondFactorRecords {
    static func stored(_ secret: TOTPSecret) -> String { SHA256.hex(secret.bytes) }

    /// The secret, confirmed or not; nil without one.
    static func secret(of id: AccountID, _ db: Database) throws -> TOTPSecret? {
        guard let row = try AccountRow.one(db, "SELECT totp_secret FROM account WHERE id = ?", [id.number]),
            try row.optional(0, String.self) != nil
        else { return nil }
        let bytes = try row.bytes(0)
        return TOTPSecret(bytes: try AccountRow.known(bytes.isEmpty ? nil : bytes))
    }

    /// Whether a code of an authenticator app is right; uses up its step. Steps are kept
    /// permanently, so that none works twice, whatever the clock does.
    static func use(_ typed: String, _ secret: TOTPSecret, of id: AccountID, at now: Timestamp, _ db: Database) throws
        -> Bool
    {
        let window = TOTPSecret.window(at: now)
        let used = try AccountRow.all(
            db, "SELECT step FROM used_step WHERE account = ? AND step BETWEEN ? AND ?",
            [id.number, window.lowerBound, window.upperBound]
        ).map { try $0.value(0, Int64.self) }
        guard let step = secret.acceptedStep(typed, at: now, used: Set(used)) else { return false }
        try db.execute(sql: "INSERT INTO used_step (account, step) VALUES (?, ?)", arguments: [id.number, step])
        return true
    }

    /// Whether a recovery code is one of the account's; uses it up.
    static func use(_ code: RecoveryCode, of id: AccountID, _ db: Database) throws -> Bool {
        let rows = try AccountRow.all(db, "SELECT rowid, salt, hash FROM recovery_code WHERE account = ?", [id.number])
        // All are compared, so that the time does not show which one it was.
        // A damaged one matches no code.
        let fitting = rows.filter {
            (try? RecoveryCode.Hash(salt: $0.bytes(1), digest: $0.bytes(2)).fits(code)) ?? false
        }
        for row in fitting {
            try db.execute(sql: "DELETE FROM recovery_code WHERE rowid = ?", arguments: [row.value(0, Int64.self)])
        }
        return !fitting.isEmpty
    }

    static func recoveryCodesLeft(of id: AccountID, _ db: Database) throws -> Int {
        try AccountRow.one(db, "SELECT count(*) FROM recovery_code WHERE account = ?", [id.number])?.value(0) ?? 0
    }

    /// Replaces all recovery codes.
    static func makeRecoveryCodes(of id: AccountID, _ db: Database) throws -> [RecoveryCode] {
        try db.execute(sql: "DELETE FROM recovery_code WHERE account = ?", arguments: [id.number])
        let codes = (0..<RecoveryCode.count).map { _ in RecoveryCode() }
        for code in codes {
            let hash = RecoveryCode.Hash(of: code)
            try db.execute(
                sql: "INSERT INTO recovery_code (account, salt, hash) VALUES (?, ?, ?)",
                arguments: [id.number, SHA256.hex(hash.salt), SHA256.hex(hash.digest)])
        }
        return codes
    }
}
