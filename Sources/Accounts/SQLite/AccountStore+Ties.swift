public import Base
import GRDB

/// Which accounts may be in one hand, and how that ends.
extension AccountStore {
    /// The ties that count now and that were not confirmed away.
    public func ties(at now: Timestamp) throws -> AccountTies { try read { try TieRecords.ties(at: now, $0) } }

    /// Confirms that the person of an account is the only one that holds it: ties to it do not count any more. Later ones do.
    /// - Throws: `AccountError.noSuchAccount`, `.notPermitted`; `.tied`: one person may hold both accounts.
    public func confirm(_ id: AccountID, by actor: Actor, at now: Timestamp) throws {
        try control(id, by: actor) { account, db in
            let ties = try TieRecords.ties(at: now, db)
            guard ties.all.contains(where: { $0.account == account.name }) else { return }
            let person = try actor.account.flatMap { try AccountRecords.find($0, db) }
            if let person, ties.haveOneHand(person.name, account.name) { throw AccountError.tied }
            try db.execute(
                sql: "UPDATE tie SET confirmed_by = ?, confirmed_at = ? WHERE account = ? AND confirmed_at IS NULL",
                arguments: [person?.name.text, now.epochMilliseconds, account.name.text])
            try ActivityRecords.add(.confirmed, to: account.name, by: actor, at: now, db)
        }
    }
}

/// Ties as rows, within the transaction of what makes them.
enum TieRecords {
    /// Notes a tie; none is made by the terminal, and none by a person to their own account.
    static func add(_ deed: AccountTie.Deed, to account: AccountName, by actor: Actor, at now: Timestamp, _ db: Database) throws {
        guard let holder = try actor.account.flatMap({ try AccountRecords.find($0, db)?.name }), holder != account else { return }
        // While the clock was set back, a tie would otherwise end before its week is over.
        let latest = try AccountRow.one(db, "SELECT max(at) FROM activity").flatMap { try $0.optional(0, Int64.self) } ?? .min
        try db.execute(
            sql: "INSERT INTO tie (holder, account, deed, at) VALUES (?, ?, ?, ?)",
            arguments: [holder.text, account.text, deed.rawValue, max(now.epochMilliseconds, latest)])
    }

    static func ties(at now: Timestamp, _ db: Database) throws -> AccountTies {
        let rows = try AccountRow.all(
            db, "SELECT holder, account, deed, at FROM tie WHERE confirmed_at IS NULL AND at > ? ORDER BY id",
            [now.epochMilliseconds - AccountTie.days * 86_400_000])
        let ties = rows.compactMap { row -> AccountTie? in
            // A damaged row says nothing of others; what it says of these two continues to bind them.
            guard let holder = try? row.name(0), let account = try? row.name(1) else { return nil }
            return AccountTie(holder: holder, account: account, deed: (try? row.word(2)) ?? .invited, at: (try? row.moment(3)) ?? now)
        }
        return AccountTies(ties, at: now)
    }
}
