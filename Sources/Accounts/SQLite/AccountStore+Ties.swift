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
            guard ties.concern(account.name) else { return }
            let person = try actor.account.flatMap { try AccountRecords.find($0, db) }
            if let person, ties.haveOneHand(person.name, account.name) { throw AccountError.tied }
            try db.execute(
                // Also those whose end is damaged.
                sql: """
                    UPDATE tie SET confirmed_by = ?, confirmed_at = ?
                    WHERE account = ? AND NOT coalesce(confirmed_at IN (SELECT at FROM activity WHERE kind = 'confirmed'), 0)
                    """,
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

    /// The activities confirm each value: what they do not know is damaged, and then binds rather than frees. A moment that cannot be right counts as now,
    /// a name as that of any account, and an end as none.
    static func ties(at now: Timestamp, _ db: Database) throws -> AccountTies {
        let rows = try AccountRow.all(
            db,
            """
            SELECT holder, account, deed, at, coalesce(at IN (SELECT at FROM activity), 0),
                coalesce(confirmed_at IN (SELECT at FROM activity WHERE kind = 'confirmed'), 0),
                coalesce(holder IN (SELECT name FROM activity WHERE name IS NOT NULL UNION SELECT name FROM account), 0),
                coalesce(account IN (SELECT subject FROM activity WHERE subject IS NOT NULL UNION SELECT name FROM account), 0)
            FROM tie ORDER BY id
            """)
        var ties: [AccountTie] = [], partial: [AccountTie.Partial] = []
        for row in rows where try row.value(5) == 0 {
            let holder = try row.value(6) == 1 ? try? row.name(0) : nil, account = try row.value(7) == 1 ? try? row.name(1) : nil
            let deed = (try? row.word(2, AccountTie.Deed.self)) ?? .invited, at = try row.value(4) == 1 ? (try? row.moment(3)) ?? now : now
            if let holder, let account {
                ties.append(AccountTie(holder: holder, account: account, deed: deed, at: at))
            } else {
                partial.append(AccountTie.Partial(holder: holder, account: account, deed: deed, at: at))
            }
        }
        return AccountTies(ties, partial: partial, at: now)
    }
}
