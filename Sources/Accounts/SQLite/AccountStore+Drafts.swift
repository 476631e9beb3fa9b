public import Base
import GRDB

/// What a person wrote about a campaign and has not saved: a form of the console as it was filled
/// in, with its mistakes.
public struct SavedDraft: Hashable, Sendable {
    /// Where it was written.
    public enum Page: String, Hashable, Sendable {
        case form, source
        /// A campaign that has no file yet.
        case new
    }

    /// Never given to another one.
    public let id: Int64
    /// The campaign's file; nil for a new one.
    public let file: String?
    /// Where it was written.
    public let page: Page
    /// SHA-256 of the file as it was when the person opened it, 64 hex digits; blank for a new one.
    public let base: String
    /// The fields of the form.
    public let fields: [String: String]
    /// When, by the clock of the machine.
    public let savedAt: Timestamp
}

/// Drafts belong to one person, and nothing is planned or sent from them.
extension AccountStore {
    /// How many a person may have.
    static let mostDrafts = 100

    /// Keeps a draft.
    /// - Parameter id: that of a draft of this person to replace; nil, or that of any other draft,
    ///   for a new one.
    /// - Returns: its id.
    /// - Throws: `AccountError.tooManyDrafts`, `.noSuchAccount`.
    @discardableResult
    public func keep(
        draft fields: [String: String], _ page: SavedDraft.Page, of file: String? = nil, base: String,
        replacing id: Int64? = nil,
        for account: AccountID, at now: Timestamp
    ) throws -> Int64 {
        let json = JSONValue.object(pairs: fields.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }).text
        return try write { db in
            guard try AccountRecords.find(account, db) != nil else { throw AccountError.noSuchAccount }
            let known = try AccountRow.one(
                db, "SELECT id FROM draft WHERE account = ? AND id = ? AND file IS ?", [account.number, id, file])
            if let known = try known?.value(0, Int64.self) {
                try db.execute(
                    sql: "UPDATE draft SET page = ?, base = ?, fields = ?, saved_at = ? WHERE id = ?",
                    arguments: [page.rawValue, base, json, now.epochMilliseconds, known])
                return known
            }
            let count =
                try AccountRow.one(db, "SELECT count(*) FROM draft WHERE account = ?", [account.number])?.value(
                    0, Int.self) ?? 0
            guard count < Self.mostDrafts else { throw AccountError.tooManyDrafts }
            try db.execute(
                sql: "INSERT INTO draft (account, file, page, base, fields, saved_at) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [account.number, file, page.rawValue, base, json, now.epochMilliseconds])
            return db.lastInsertedRowID
        }
    }

    /// The drafts of a person, the last saved first. Damaged ones are left out.
    public func drafts(of account: AccountID) throws -> [SavedDraft] {
        try read { db in
            let rows = try AccountRow.all(
                db,
                "SELECT id, file, page, base, fields, saved_at FROM draft WHERE account = ? ORDER BY saved_at DESC, id DESC",
                [account.number])
            return try AccountRow.readable(rows) { row in
                guard case .object(let members) = try row.json(4) else { throw AccountDiagnostics.unreadable }
                let fields = try members.map { ($0.name, try AccountRow.known($0.value.stringValue)) }
                return SavedDraft(
                    id: try row.value(0), file: try row.optional(1), page: try row.word(2), base: try row.value(3),
                    fields: Dictionary(fields) { first, _ in first }, savedAt: try row.moment(5))
            }.values
        }
    }

    /// Removes a draft of a person. One that is gone already is no error.
    public func discardDraft(_ id: Int64, of account: AccountID) throws {
        try write {
            try $0.execute(sql: "DELETE FROM draft WHERE id = ? AND account = ?", arguments: [id, account.number])
        }
    }

    /// The account of a session that has ended, for two days; nil for any other token. It gives no
    /// right.
    public func account(ofEnded token: SecretToken) throws -> AccountID? {
        try read { db in
            let row = try AccountRow.one(
                db,
                "SELECT a.id FROM ended_session AS e JOIN account AS a ON a.id = e.account WHERE hash = ? AND state = 'active'",
                [SecretToken.stored(token)])
            return try row.map { AccountID(try $0.value(0)) }
        }
    }
}
