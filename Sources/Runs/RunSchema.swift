import Base
import GRDB

/// What a run file looks like inside. Whatever changes here changes `version`.
///
/// Made to be read with `sqlite3 FILE` too: `SELECT outcome, count(*) FROM result GROUP BY outcome`. Moments are milliseconds since
/// 1970 in the tables and ISO 8601 in the view. Blank text and 0 mean "none", which costs no byte. Device tokens are in
/// `recipient` and nowhere else.
enum RunSchema {
    /// "Voly": tells a run file from every other SQLite database (`PRAGMA application_id`).
    static let applicationID = 0x566F_6C79
    /// The format's number (`PRAGMA user_version`). 1 did not know `retry_of`, 2 no variants, digests and approvals; such files are read, and sent, as they are.
    static let version = 3
    /// From this format on recipients have a variant.
    static let firstVersionWithVariants = 3
    /// From this format on a plan has a digest, and can be approved.
    static let firstVersionWithDigest = 3

    /// The tables a plan fills.
    static let planTables = """
        CREATE TABLE recipient (
            id INTEGER PRIMARY KEY,              -- dense: 0, 1, 2, … in sending order
            device_token TEXT NOT NULL,
            registration_id TEXT NOT NULL,
            alias TEXT NOT NULL,
            language TEXT NOT NULL,
            variant TEXT NOT NULL,               -- blank when all get the same
            fields TEXT NOT NULL                 -- JSON array: the cells of the columns in run.fields
        );
        CREATE TABLE run (
            id TEXT NOT NULL, campaign TEXT NOT NULL, app TEXT NOT NULL,
            state TEXT NOT NULL,                 -- planned, running, paused, stopped, finished, cancelled
            reason TEXT NOT NULL,                -- why it stopped
            planned_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER,
            rows INTEGER NOT NULL, audience INTEGER NOT NULL,
            skipped TEXT NOT NULL,               -- JSON object: rows by skip reason
            seed TEXT NOT NULL,                  -- 128 bits in hex, behind every apns-id
            plan_hash TEXT NOT NULL,
            fields TEXT NOT NULL,                -- JSON array of column names
            project_file TEXT NOT NULL, campaign_file TEXT NOT NULL, campaign_source TEXT NOT NULL,
            settings TEXT NOT NULL,              -- JSON: where to, how fast; secrets are named by file only
            preview TEXT NOT NULL,               -- JSON
            retry_of TEXT NOT NULL,              -- the run of which this one sends to some recipients again
            preview_text TEXT NOT NULL,          -- the preview as a person reads it
            is_test INTEGER NOT NULL,            -- 1: to the app's test devices, not to the audience
            recipients_digest TEXT NOT NULL,     -- of all rows of recipient, as they were planned
            digest TEXT NOT NULL                 -- SHA-256 of all that was planned: this row and recipients_digest
        );
        """

    /// The tables that sending fills, and what makes them readable.
    static let sendingTables = """
        CREATE TABLE approval (                  -- the last one of the run's digest counts
            approved_by TEXT NOT NULL,
            approved_at INTEGER NOT NULL,
            digest TEXT NOT NULL
        );
        CREATE TABLE claim (                     -- committed before any of these recipients goes onto the wire
            first_id INTEGER PRIMARY KEY,
            last_id INTEGER NOT NULL,
            claimed_at INTEGER NOT NULL
        );
        CREATE TABLE outcome (
            recipient_id INTEGER PRIMARY KEY,
            outcome INTEGER NOT NULL,
            status INTEGER NOT NULL,
            reason TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            latency_ms INTEGER NOT NULL,
            settled_at INTEGER NOT NULL,
            invalid_since INTEGER                -- with 410: since when APNs knows the token to be invalid
        );
        CREATE TABLE outcome_name (outcome INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE figures (json TEXT NOT NULL);  -- a row only while claims and outcomes have not changed since it was made
        CREATE VIEW result AS
            SELECT r.id, r.device_token, r.registration_id, r.alias, r.language, r.variant,
                coalesce(n.name, CASE WHEN (SELECT last_id FROM claim WHERE first_id <= r.id ORDER BY first_id DESC LIMIT 1) >= r.id
                    THEN 'unknown' ELSE 'unsent' END) AS outcome,
                nullif(o.status, 0) AS status, coalesce(o.reason, '') AS reason, coalesce(o.attempts, 0) AS attempts,
                CASE WHEN o.status > 0 THEN o.latency_ms END AS latency_ms,
                strftime('%Y-%m-%dT%H:%M:%fZ', o.settled_at / 1000.0, 'unixepoch') AS settled_at,
                strftime('%Y-%m-%dT%H:%M:%fZ', o.invalid_since / 1000.0, 'unixepoch') AS invalid_since
            FROM recipient r
            LEFT JOIN outcome o ON o.recipient_id = r.id
            LEFT JOIN outcome_name n ON n.outcome = o.outcome;
        """

    /// Columns of `upsertRecipients`.
    static let recipientColumns = 7

    /// Stores so many recipients; one that is there is replaced.
    static func upsertRecipients(_ count: Int) -> String {
        "INSERT OR REPLACE INTO recipient (id, device_token, registration_id, alias, language, variant, fields) VALUES "
            + repeatElement("(?, ?, ?, ?, ?, ?, ?)", count: count).joined(separator: ", ")
    }

    /// NULL never reaches Swift, so that a damaged record cannot crash it.
    static func selectRecipients(version: Int) -> String {
        """
        SELECT id, coalesce(device_token, ''), coalesce(registration_id, ''), coalesce(alias, ''), coalesce(language, ''), coalesce(fields, ''),
            \(version < firstVersionWithVariants ? "''" : "coalesce(variant, '')")
        FROM recipient WHERE id >= ? AND id < ? ORDER BY id
        """
    }

    /// What the digest of the recipients is made of. NULL reads as blank text.
    static let selectDigestedRows = """
        SELECT id, device_token, registration_id, alias, language, variant, fields FROM recipient WHERE id >= ? AND id < ? ORDER BY id
        """

    /// What sending needs, and no more. NULL reads as blank text.
    static func selectPushes(_ traits: PushTraits) -> String {
        "SELECT r.id, r.device_token, r.fields\(traits.columns) FROM recipient r WHERE r.id >= ? AND r.id < ? ORDER BY r.id"
    }

    /// The same of those whose outcome is open: none, or one from a number on.
    static func selectUnsettledPushes(_ traits: PushTraits) -> String {
        """
        SELECT r.id, r.device_token, r.fields\(traits.columns) FROM recipient r LEFT JOIN outcome o ON o.recipient_id = r.id
        WHERE r.id >= ?1 AND r.id < ?2 AND coalesce(o.outcome, ?3) >= ?3 ORDER BY r.id
        """
    }

    static let selectAttempts = """
        SELECT recipient_id, attempts FROM outcome WHERE recipient_id >= ? AND recipient_id < ? AND outcome >= ? AND attempts > 0
        """

    static let deleteOutcomes = "DELETE FROM outcome WHERE recipient_id >= ? AND recipient_id < ? AND outcome >= ?"

    static let selectLastClaim = "SELECT first_id, last_id FROM claim WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1"

    /// Values of an outcome, in the order of `insertOutcomes`.
    static let outcomeColumns = 8

    /// Any outcomes.
    static func insertOutcomes(rows: Int) -> String { insertOutcomes(rows: rows, "(?, ?, ?, ?, ?, ?, ?, ?)") }

    /// Values of an outcome in `insertUsualOutcomes`: recipient, latency, moment.
    static let usualOutcomeColumns = 3

    /// Outcomes that are accepted at the first attempt: what is constant need not be bound for each.
    static func insertUsualOutcomes(rows: Int) -> String {
        insertOutcomes(rows: rows, "(?, \(Outcome.accepted.rawValue), 200, '', 1, ?, ?, NULL)")
    }

    /// Only `unsent` may be replaced; for anything else the statement changes one row less.
    private static func insertOutcomes(rows: Int, _ row: String) -> String {
        """
        INSERT INTO outcome (recipient_id, outcome, status, reason, attempts, latency_ms, settled_at, invalid_since)
        VALUES \([String](repeating: row, count: rows).joined(separator: ", "))
        ON CONFLICT (recipient_id) DO UPDATE SET outcome = excluded.outcome, status = excluded.status, reason = excluded.reason,
            attempts = excluded.attempts, latency_ms = excluded.latency_ms, settled_at = excluded.settled_at,
            invalid_since = excluded.invalid_since
        WHERE outcome.outcome = \(Outcome.unsent.rawValue)
        """
    }

    static let selectOutcomes = """
        SELECT recipient_id, coalesce(outcome, -1), status, coalesce(reason, ''), attempts, latency_ms, settled_at,
            coalesce(invalid_since, \(Int64.min))
        FROM outcome ORDER BY recipient_id
        """

    /// What figures are counted from; every column but the reason is a number.
    static let selectForFigures = """
        SELECT recipient_id, outcome, status, reason, attempts, latency_ms, settled_at FROM outcome ORDER BY recipient_id
        """

    /// Fills the lookup table and marks the file as a run of this version.
    static func seal(_ db: Database) throws {
        for outcome in Outcome.allCases {
            try db.execute(sql: "INSERT INTO outcome_name VALUES (?, ?)", arguments: [outcome.rawValue, outcome.name])
        }
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }
}

/// What sending may need of a recipient beside token and cells.
enum PushTraits {
    /// Nothing: all get the same text.
    case none
    /// Its language, in a file that knows no variants.
    case language
    /// Its language and its variant.
    case languageAndVariant

    /// Behind the columns that are always read.
    fileprivate var columns: String {
        switch self {
        case .none: ""
        case .language: ", r.language, ''"
        case .languageAndVariant: ", r.language, r.variant"
        }
    }
}
