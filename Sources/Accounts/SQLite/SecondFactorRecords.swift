import Base
import Cryptography
import GRDB

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

    /// Whether a code of an authenticator app is right; uses its step up. Steps are kept for good: whatever the clock does, none works twice.
    static func use(_ typed: String, _ secret: TOTPSecret, of id: AccountID, at now: Timestamp, _ db: Database) throws -> Bool {
        let window = TOTPSecret.window(at: now)
        let used = try AccountRow.all(
            db, "SELECT step FROM used_step WHERE account = ? AND step BETWEEN ? AND ?", [id.number, window.lowerBound, window.upperBound]
        ).map { try $0.value(0, Int64.self) }
        guard let step = secret.acceptedStep(typed, at: now, used: Set(used)) else { return false }
        try db.execute(sql: "INSERT INTO used_step (account, step) VALUES (?, ?)", arguments: [id.number, step])
        return true
    }

    /// Whether a recovery code is one of the account's; uses it up.
    static func use(_ code: RecoveryCode, of id: AccountID, _ db: Database) throws -> Bool {
        let rows = try AccountRow.all(db, "SELECT rowid, salt, hash FROM recovery_code WHERE account = ?", [id.number])
        // All are compared, so that the time does not show which one it was.
        // One that cannot be read fits no code.
        let fitting = rows.filter { (try? RecoveryCode.Hash(salt: $0.bytes(1), digest: $0.bytes(2)).fits(code)) ?? false }
        for row in fitting { try db.execute(sql: "DELETE FROM recovery_code WHERE rowid = ?", arguments: [row.value(0, Int64.self)]) }
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
