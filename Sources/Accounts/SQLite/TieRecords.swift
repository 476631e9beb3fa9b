import Base
import GRDB

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
        return AccountTies(
            try rows.map { AccountTie(holder: try $0.name(0), account: try $0.name(1), deed: try $0.word(2), at: try $0.moment(3)) },
            at: now)
    }
}
