import GRDB

/// What a suppression list looks like inside. Any change here changes `version`.
///
/// Made to be read with `sqlite3 FILE` too: `SELECT reason, count(*) FROM suppressed GROUP BY reason`.
enum SuppressionSchema {
    /// "Vsup": distinguishes a suppression list from every other SQLite database (`PRAGMA application_id`).
    static let applicationID = 0x5673_7570
    /// The newest format (`PRAGMA user_version`): of lists that are exchanged with other machines (`sharingTables`).
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

    /// New entries are gathered outside the list, so that the list is locked only while it is merged, and merged in the
    /// order of its keys: inserted as they come, a million tokens would be a million pages read and written.
    static let incoming = """
        CREATE TEMP TABLE incoming (device_token TEXT NOT NULL, reason TEXT NOT NULL, invalid_since INTEGER NOT NULL, run TEXT NOT NULL)
        """

    static let insertIncoming = "INSERT INTO temp.incoming VALUES (?, ?, ?, ?)"

    /// A token is in the list once; the newest `invalid_since` wins, and an entry that is not newer changes nothing.
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

    /// Each environment once, and whether a token of it is no text, which sorts before or after all that are: without a
    /// look at every row.
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
