import Base
import GRDB
import PushServices

/// What a list exchanges with the store of several machines. This file is what planning reads; the
/// store is where the lists of all machines meet.
///
/// From the first exchange on, every change of the list also leaves a mark in the same transaction,
/// which goes once the store has it: a store that is away loses nothing. Lists that were never
/// exchanged have no marks.
extension SuppressionList {
    /// How far the exchange is.
    package struct Sharing: Hashable, Sendable {
        /// The name that the store gave the list. Another one is another store, or one that was
        /// emptied.
        package var id: String
        /// The number of the newest change that was taken from there.
        package var taken: Int
    }

    /// An entry on its way to the store or from there.
    package struct SharedEntry: Hashable, Sendable {
        package var token: String
        package var reason: String
        /// Milliseconds since 1970; 0 for one that was removed.
        package var invalidSince: Int
        package var run: String
        /// When it was added or removed; milliseconds since 1970.
        package var changedAt: Int
        package var isRemoved: Bool

        package init(token: String, reason: String, invalidSince: Int, run: String, changedAt: Int, isRemoved: Bool) {
            self.token = token
            self.reason = reason
            self.invalidSince = invalidSince
            self.run = run
            self.changedAt = changedAt
            self.isRemoved = isRemoved
        }
    }

    /// How far the exchange is; nil if there was none.
    package func sharing() throws -> Sharing? {
        let found = try SuppressionFile.read(path, isDecision: false) { db -> Sharing? in
            guard try SuppressionSchema.isShared(db) else { return nil }
            return try db.first("SELECT id, taken FROM shared WHERE environment = ?", [environment]) {
                Sharing(id: try $0.string(0), taken: try $0.int(1))
            }
        }
        return found ?? nil
    }

    /// Begins to exchange the list with a store that has not seen it: all entries are marked to go
    /// there.
    package func beginSharing(as id: String) throws {
        try SuppressionFile.write(path) { db in
            try transaction(db) {
                if try !SuppressionSchema.isShared(db) { try db.execute(sql: SuppressionSchema.sharingTables) }
                try db.execute(
                    sql: "INSERT OR REPLACE INTO shared (environment, id, taken) VALUES (?, ?, 0)",
                    arguments: [environment, id])
                try db.execute(sql: SuppressionSchema.markAll, arguments: [environment])
                return .commit
            }
        }
    }

    /// Changes that the store does not have yet.
    package func unsent(atMost limit: Int) throws -> [SharedEntry] {
        try SuppressionFile.read(path, isDecision: false) { db in
            try db.all(SuppressionSchema.selectUnsent, [environment, limit]) { row in
                SharedEntry(
                    token: try row.string(0), reason: try row.string(1), invalidSince: try row.int(2),
                    run: try row.string(3),
                    changedAt: try row.int(4), isRemoved: try row.flag(5))
            }
        } ?? []
    }

    /// Notes that the store has changes. A mark that has been renewed since then stays.
    package func noteSent(_ entries: [SharedEntry]) throws {
        try SuppressionFile.write(path) { db in
            try transaction(db) {
                let delete = try PreparedStatement(db, sql: SuppressionSchema.deleteUnsent)
                for entry in entries {
                    try delete.bind(environment, at: 1)
                    try delete.bind(entry.token, at: 2)
                    try delete.bind(entry.changedAt, at: 3)
                    try delete.execute()
                }
                return .commit
            }
        }
    }

    /// Takes entries as the store has them, except those that were changed here and are on their
    /// way there.
    /// - Throws: `Diagnostic`, also if a token has not the form that the list's service gives out;
    ///   then none of them is taken.
    package func take(_ entries: [SharedEntry]) throws {
        let kept = targets.kept
        try SuppressionFile.write(path) { db in
            try transaction(db) {
                let (insert, delete) = (
                    try PreparedStatement(db, sql: SuppressionSchema.takeEntry),
                    try PreparedStatement(db, sql: SuppressionSchema.takeRemoval)
                )
                for entry in entries {
                    guard Array(entry.token.utf8).withUnsafeBufferPointer({ kept.contains($0) }) else {
                        throw Diagnostic(
                            "the suppression list in the store has a token that cannot be read: \(Target.redact(entry.token))"
                        )
                    }
                    let statement = entry.isRemoved ? delete : insert
                    try statement.bind(environment, at: 1)
                    try statement.bind(entry.token, at: 2)
                    if !entry.isRemoved {
                        try statement.bind(entry.reason, at: 3)
                        try statement.bind(entry.invalidSince, at: 4)
                        try statement.bind(entry.changedAt, at: 5)
                        try statement.bind(entry.run, at: 6)
                    }
                    try statement.execute()
                }
                return .commit
            }
        }
    }

    /// Notes that everything up to a change was taken.
    package func note(taken number: Int) throws {
        try SuppressionFile.write(path) { db in
            try db.execute(sql: "UPDATE shared SET taken = ? WHERE environment = ?", arguments: [number, environment])
        }
    }
}

extension SuppressionSchema {
    /// Makes a list one that is exchanged. An older Volley would change it without leaving marks,
    /// so it must not.
    static let sharingTables = """
        CREATE TABLE shared (                    -- how far a list has been exchanged with the store of several machines
            environment TEXT PRIMARY KEY, id TEXT NOT NULL, taken INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE unsent (                    -- changes that the store does not have yet
            environment TEXT NOT NULL, device_token TEXT NOT NULL, changed_at INTEGER NOT NULL, PRIMARY KEY (environment, device_token)
        ) WITHOUT ROWID;
        PRAGMA user_version = \(version);
        """

    static func isShared(_ db: Database) throws -> Bool { try db.has(table: "unsent") }

    static let markAll = """
        INSERT OR REPLACE INTO unsent (environment, device_token, changed_at) SELECT environment, device_token, added_at FROM suppressed
        WHERE environment = ?
        """

    /// Those of `temp.incoming` that were just merged.
    static let markIncoming = """
        INSERT OR REPLACE INTO unsent (environment, device_token, changed_at) SELECT environment, device_token, added_at FROM suppressed
        WHERE environment = ? AND added_at = ? AND device_token IN (SELECT device_token FROM temp.incoming)
        """

    /// A process removes only an entry that it has seen: the removal is later than the entry,
    /// whatever the clocks say.
    static let markRemoved = """
        INSERT OR REPLACE INTO unsent (environment, device_token, changed_at) SELECT environment, device_token, max(?, added_at + 1)
        FROM suppressed WHERE environment = ?
        """

    static let selectUnsent = """
        SELECT u.device_token, coalesce(s.reason, ''), coalesce(s.invalid_since, 0), coalesce(s.run, ''), u.changed_at, s.device_token IS NULL
        FROM unsent u LEFT JOIN suppressed s ON s.environment = u.environment AND s.device_token = u.device_token
        WHERE u.environment = ? ORDER BY u.device_token LIMIT ?
        """

    static let deleteUnsent = "DELETE FROM unsent WHERE environment = ? AND device_token = ? AND changed_at = ?"

    private static let isNotUnsent = "NOT EXISTS (SELECT 1 FROM unsent WHERE environment = ?1 AND device_token = ?2)"

    static let takeEntry = """
        INSERT OR REPLACE INTO suppressed (environment, device_token, reason, invalid_since, added_at, run)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE \(isNotUnsent)
        """

    static let takeRemoval = "DELETE FROM suppressed WHERE environment = ?1 AND device_token = ?2 AND \(isNotUnsent)"
}

/// What a suppression list looks like inside. Any change here changes `version`.
///
/// Made to be read with `sqlite3 FILE` too:
/// `SELECT reason, count(*) FROM suppressed GROUP BY reason`.
enum SuppressionSchema {
    /// "Vsup": distinguishes a suppression list from every other SQLite database
    /// (`PRAGMA application_id`).
    static let applicationID = 0x5673_7570
    /// The newest format (`PRAGMA user_version`): of lists that are exchanged with other machines
    /// (`sharingTables`).
    static let version = 2
    /// The format of all others.
    static let plainVersion = 1

    static let tables = """
        CREATE TABLE suppressed (
            environment TEXT NOT NULL,           -- production, sandbox, simulator, or host:port: a token is worth something in one of them
            device_token TEXT NOT NULL,
            reason TEXT NOT NULL,                -- the service's word, or what an import says
            invalid_since INTEGER NOT NULL,      -- milliseconds since 1970: as the service says, else when it refused the push
            added_at INTEGER NOT NULL,           -- milliseconds since 1970: when this row was written
            run TEXT NOT NULL,                   -- the run that found out; blank for an import
            PRIMARY KEY (environment, device_token)
        ) WITHOUT ROWID;
        """

    /// Creates the tables in an empty file and marks it.
    static func create(_ db: Database) throws {
        try db.execute(sql: tables)
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(plainVersion)")
    }

    /// New entries are gathered outside the list, so that the list is locked only while it is
    /// merged, and merged in the order of its keys: inserted as they come, a million tokens would
    /// be a million pages read and written.
    static let incoming = """
        CREATE TEMP TABLE incoming (device_token TEXT NOT NULL, reason TEXT NOT NULL, invalid_since INTEGER NOT NULL, run TEXT NOT NULL)
        """

    static let insertIncoming = "INSERT INTO temp.incoming VALUES (?, ?, ?, ?)"

    /// A token is in the list once; the newest `invalid_since` wins, and an entry that is not newer
    /// changes nothing.
    static let merge = """
        INSERT INTO suppressed (environment, device_token, reason, invalid_since, added_at, run)
        SELECT ?, device_token, reason, invalid_since, ?, run FROM temp.incoming WHERE true
        ORDER BY device_token, invalid_since DESC, rowid
        ON CONFLICT (environment, device_token) DO UPDATE SET reason = excluded.reason, invalid_since = excluded.invalid_since,
            added_at = excluded.added_at, run = excluded.run
        WHERE excluded.invalid_since > suppressed.invalid_since
        """

    static let outgoing = "CREATE TEMP TABLE outgoing (device_token TEXT PRIMARY KEY) WITHOUT ROWID"

    static let insertOutgoing = "INSERT OR IGNORE INTO temp.outgoing VALUES (?)"

    static let removeOutgoing = """
        DELETE FROM suppressed WHERE environment = ? AND device_token IN (SELECT device_token FROM temp.outgoing)
        """

    static let count = "SELECT count(*) FROM suppressed WHERE environment = ?"

    /// Each environment once, and whether a token of it is no text, which sorts before or after all
    /// that are: without a look at every row.
    static let selectEnvironments = """
        WITH RECURSIVE found (environment) AS (
            SELECT min(environment) FROM suppressed
            UNION ALL SELECT (SELECT min(s.environment) FROM suppressed s WHERE s.environment > found.environment) FROM found
            WHERE found.environment IS NOT NULL)
        SELECT environment, EXISTS (SELECT 1 FROM suppressed s WHERE s.environment = found.environment AND s.device_token >= x'')
            OR EXISTS (SELECT 1 FROM suppressed s WHERE s.environment = found.environment AND s.device_token < '') AS device_token
        FROM found WHERE environment IS NOT NULL
        """

    /// NULL never reaches Swift, so that a damaged record cannot crash it.
    static let selectPage = """
        SELECT coalesce(device_token, ''), invalid_since, coalesce(reason, ''), added_at, coalesce(run, '') FROM suppressed
        WHERE environment = ? AND device_token > ? ORDER BY device_token LIMIT ?
        """

    static let selectOne = """
        SELECT coalesce(device_token, ''), invalid_since, coalesce(reason, ''), added_at, coalesce(run, '') FROM suppressed
        WHERE environment = ? AND device_token = ?
        """

    static let selectTokens = """
        SELECT coalesce(device_token, ''), invalid_since, CASE typeof(run) WHEN 'text' THEN run = '' END AS run FROM suppressed
        WHERE environment = ? AND (added_at >= ? OR run = '' OR typeof(run) <> 'text')
        """

    static let selectNewest = """
        SELECT coalesce(device_token, ''), invalid_since, coalesce(reason, ''), added_at, coalesce(run, '') FROM suppressed
        WHERE environment = ? ORDER BY added_at DESC, invalid_since DESC, device_token LIMIT ?
        """

    static let countReasons = """
        SELECT coalesce(reason, ''), count(*) FROM suppressed WHERE environment = ? GROUP BY reason ORDER BY count(*) DESC, reason
        """
}
