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
