import Base
import GRDB

/// Activities as rows, within the transaction of the change.
enum ActivityRecords {
    /// Longer names and paths are cut.
    private static let mostBytes = 1_000

    /// Notes what was done to an account; nil: to one's own.
    static func add(_ kind: ActivityKind, to account: AccountName?, by actor: Actor, at now: Timestamp, _ db: Database)
        throws
    {
        try add(kind, about: (nil, account?.text), by: actor, at: now, db)
    }

    /// Notes what was done.
    /// - Parameter about: the app, and the campaign, run or account.
    static func add(
        _ kind: ActivityKind, about: (app: String?, subject: String?), by actor: Actor, at now: Timestamp,
        _ db: Database
    ) throws {
        let name = try actor.account.flatMap { try AccountRecords.find($0, db)?.name }
        try db.execute(
            sql:
                "INSERT INTO activity (at, account, name, kind, details, app, subject, address) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                now.epochMilliseconds, actor.account?.number, name?.text, kind.name.rawValue, kind.values.text,
                about.app,
                about.subject.map { TextFormat.foreign($0, maximumBytes: mostBytes) }, actor.address?.description,
            ])
    }

    static func page(_ filter: ActivityFilter, before: Int64?, count: Int, _ db: Database) throws -> ActivityPage {
        var conditions: [String] = []
        var arguments: StatementArguments = []
        func require(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
            guard let value else { return }
            conditions.append(condition)
            arguments += [value]
        }
        require("account = ?", filter.account?.number)
        require("app = ?", filter.app)
        if let apps = filter.apps {
            conditions.append("app IN (\(apps.map { _ in "?" }.joined(separator: ", ")))")
            arguments += StatementArguments(apps.sorted())
        }
        require("kind = ?", filter.kind?.rawValue)
        require("subject = ?", filter.subject)
        require("id < ?", before)
        let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        // One more than the page holds shows whether there is another.
        let rows = try AccountRow.all(
            db,
            "SELECT id, at, account, name, kind, details, app, subject, address FROM activity\(condition) ORDER BY id DESC LIMIT ?",
            arguments + [count + 1])
        let shown = Array(rows.prefix(count))
        let found = try AccountRow.readable(shown, activity)
        return ActivityPage(
            activities: found.values, damaged: try found.damaged.map { try $0.value(0) },
            next: rows.count > count ? try shown.last?.value(0) : nil)
    }

    private static func activity(_ row: AccountRow) throws -> Activity {
        let name = try row.optional(3, String.self).map { try AccountRow.known(AccountName(reading: $0)) }
        return Activity(
            number: try row.value(0), at: try row.moment(1),
            person: .init(account: try row.optional(2).map { AccountID($0) }, name: name),
            kind: try AccountRow.known(ActivityKind(row.word(4), values: row.json(5))), app: try row.optional(6),
            subject: try row.optional(7), address: try row.address(8))
    }
}
