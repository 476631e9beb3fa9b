import Base
import GRDB

/// What a run file looks like inside. Any change here changes `version`.
///
/// Made to be read with `sqlite3 FILE` too:
/// `SELECT outcome, count(*) FROM result GROUP BY outcome`. Moments are milliseconds since 1970 in
/// the tables and ISO 8601 in the view. Blank text and 0 mean "none", which costs no byte. Device
/// tokens are in `recipient` and nowhere else, apart from ids that a person wrote into the campaign
/// itself (`campaign_source`).
enum RunSchema {
    /// "Voly": distinguishes a run file from every other SQLite database (`PRAGMA application_id`).
    static let applicationID = 0x566F_6C79
    /// The format's number (`PRAGMA user_version`). `RunUpgrade` converts older ones to this one.
    static let version = 5
    /// The number of a file with segments of several services, which is the same otherwise. An
    /// older Volley refuses it; it would send all pushes through the first service. Files of one
    /// service keep the other number, so that an older Volley reads them.
    static let versionWithSegments = 6

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
            stop_cause TEXT NOT NULL,            -- why it stopped: JSON, blank when it did not
            planned_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER,
            rows INTEGER NOT NULL, audience INTEGER NOT NULL,
            skipped TEXT NOT NULL,               -- JSON object: rows by skip reason
            seed TEXT NOT NULL,                  -- 128 bits in hex, behind the id of every push
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

    static let approvalTable = """
        CREATE TABLE approval (                  -- the last one of the run's digest counts
            approved_by TEXT NOT NULL,
            approved_at INTEGER NOT NULL,
            digest TEXT NOT NULL
        );
        """

    /// The tables that sending fills, except outcomes.
    static let sendingTables = """
        CREATE TABLE claim (                     -- committed before any of these recipients goes onto the wire
            first_id INTEGER PRIMARY KEY,
            last_id INTEGER NOT NULL,
            claimed_at INTEGER NOT NULL
        );
        CREATE TABLE figures (json TEXT NOT NULL);  -- a row only while claims and outcomes have not changed since it was made
        """

    /// The tables of outcomes, and the views that show them to SQL.
    static let outcomeTables = """
        CREATE TABLE outcome_block (             -- `outcome` and `result` show what is in it
            number INTEGER PRIMARY KEY,          -- of the recipients from number * \(OutcomeBlock.slots) on
            slots BLOB NOT NULL                  -- \(OutcomeBlock.slots) times \(OutcomeSlot.bytes) bytes, zeros where nothing is recorded
        );
        CREATE TABLE reason (number INTEGER PRIMARY KEY, reason TEXT NOT NULL UNIQUE);
        CREATE TABLE invalid_since (recipient_id INTEGER PRIMARY KEY, invalid_since INTEGER NOT NULL);
        CREATE TABLE outcome_name (outcome INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE VIEW outcome AS
            WITH RECURSIVE place (place) AS (VALUES (0) UNION ALL SELECT place + 1 FROM place WHERE place < \(OutcomeBlock.slots - 1)),
            slot (recipient_id, digits) AS (
                -- Looked up for each: whatever sorts the rows would carry whole blocks along otherwise.
                SELECT n.number * \(OutcomeBlock.slots) + place, (SELECT hex(substr(slots, place * \(OutcomeSlot.bytes) + 1, \(OutcomeSlot.bytes)))
                    FROM outcome_block b WHERE b.number = n.number)
                FROM (SELECT number FROM outcome_block) n CROSS JOIN place)
            SELECT recipient_id, \(slotColumns("digits"))
            FROM slot WHERE substr(digits, 1, 1) <> '0';
        CREATE VIEW result AS
            WITH slot AS (
                SELECT r.id AS recipient_id, r.*,
                    (SELECT hex(substr(slots, r.id % \(OutcomeBlock.slots) * \(OutcomeSlot.bytes) + 1, \(OutcomeSlot.bytes)))
                    FROM outcome_block b WHERE b.number = r.id / \(OutcomeBlock.slots)
                        AND substr(slots, r.id % \(OutcomeBlock.slots) * \(OutcomeSlot.bytes) + 1, 1) >= x'10') AS digits
                FROM recipient r),
            settled AS (SELECT slot.*, \(slotColumns("digits")) FROM slot)
            SELECT id, device_token, registration_id, alias, language, variant,
                coalesce((SELECT name FROM outcome_name n WHERE n.outcome = s.outcome),
                    CASE WHEN (SELECT last_id FROM claim WHERE first_id <= id ORDER BY first_id DESC LIMIT 1) >= id
                    THEN 'unknown' ELSE 'unsent' END) AS outcome,
                nullif(status, 0) AS status, coalesce(reason, '') AS reason, coalesce(attempts, 0) AS attempts,
                CASE WHEN status > 0 THEN latency_ms END AS latency_ms,
                strftime('%Y-%m-%dT%H:%M:%fZ', settled_at / 1000.0, 'unixepoch') AS settled_at,
                strftime('%Y-%m-%dT%H:%M:%fZ', invalid_since / 1000.0, 'unixepoch') AS invalid_since
            FROM settled s;
        """

    /// The fields of `OutcomeSlot`, from a slot's hex digits in a row that also has `recipient_id`.
    private static func slotColumns(_ digits: String) -> String {
        // SQL has no function that reads hex.
        func number(_ places: ClosedRange<Int>) -> String {
            let values = places.map {
                "(instr('123456789ABCDEF', substr(\(digits), \($0), 1)) << \(4 * (places.upperBound - $0)))"
            }
            return values.joined(separator: " + ")
        }
        return """
            \(number(1...1)) - 1 AS outcome, \(number(2...4)) AS status,
            coalesce((SELECT reason FROM reason WHERE number = \(number(5...8))), '') AS reason,
            \(number(9...12)) AS attempts, \(number(13...20)) AS latency_ms, \(number(21...32)) AS settled_at,
            (SELECT i.invalid_since FROM invalid_since i WHERE i.recipient_id = slot.recipient_id) AS invalid_since
            """
    }

    /// Columns of `upsertRecipients`.
    static let recipientColumns = 7

    /// Stores this number of recipients; existing ones are replaced.
    static func upsertRecipients(_ count: Int, into table: String = "recipient") -> String {
        "INSERT OR REPLACE INTO \(table) (id, device_token, registration_id, alias, language, variant, fields) VALUES "
            + repeatElement("(?, ?, ?, ?, ?, ?, ?)", count: count).joined(separator: ", ")
    }

    /// NULL never reaches Swift, so that a damaged record cannot crash it.
    static let selectRecipients = """
        SELECT id, coalesce(device_token, ''), coalesce(registration_id, ''), coalesce(alias, ''), coalesce(language, ''), coalesce(fields, ''),
            coalesce(variant, '')
        FROM recipient WHERE id >= ? AND id < ? ORDER BY id
        """

    /// The columns of a line about a recipient. NULL reads as blank text.
    static let selectResults =
        "SELECT id, device_token, registration_id, alias, language, variant FROM recipient ORDER BY id"

    static let selectToken = "SELECT device_token FROM recipient WHERE id = ?"

    /// The columns that the recipients' digest covers. NULL reads as blank text.
    static let selectDigestedRows = """
        SELECT id, device_token, registration_id, alias, language, variant, fields FROM recipient WHERE id >= ? AND id < ? ORDER BY id
        """

    /// Exactly the columns that sending needs. NULL reads as blank text.
    static func selectPushes(_ traits: PushTraits) -> String {
        "SELECT r.id, r.device_token, r.fields\(traits.columns) FROM recipient r WHERE r.id >= ? AND r.id < ? ORDER BY r.id"
    }

    /// The claims that begin at an id or before it, the last one first.
    static let selectClaimsFromLast = "SELECT first_id, last_id FROM claim WHERE first_id <= ? ORDER BY first_id DESC"

    static let insertClaim = "INSERT INTO claim (first_id, last_id, claimed_at) VALUES (?, ?, ?)"

    static let selectOutcomeBlock = "SELECT slots FROM outcome_block WHERE number = ?"

    static let selectOutcomeBlocks =
        "SELECT number, slots FROM outcome_block WHERE number BETWEEN ? AND ? ORDER BY number"

    static let upsertOutcomeBlock = """
        INSERT INTO outcome_block (number, slots) VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET slots = excluded.slots
        """

    static let selectInvalidSince = "SELECT invalid_since FROM invalid_since WHERE recipient_id = ?"

    static let upsertInvalidSince = "INSERT OR REPLACE INTO invalid_since (recipient_id, invalid_since) VALUES (?, ?)"

    /// A cause as it is kept.
    static func text(_ cause: StopCause) -> String { cause.json.text }

    /// The cause that was stored this way; nil when the run has none. A cause of a newer kind keeps
    /// its text.
    static func stopCause(_ text: String) -> StopCause? {
        if text.isEmpty { return nil }
        return JSONValue(stored: text).flatMap(StopCause.init) ?? .described(text)
    }

    /// Creates the tables for outcomes, and marks the file.
    /// - Parameter hasSegments: whether there are several services.
    static func seal(_ db: Database, hasSegments: Bool = false) throws {
        try db.execute(sql: outcomeTables)
        for outcome in Outcome.allCases {
            try db.execute(sql: "INSERT INTO outcome_name VALUES (?, ?)", arguments: [outcome.rawValue, outcome.name])
        }
        try mark(db, hasSegments: hasSegments)
    }

    /// Marks the file as a run of this version.
    /// - Parameter hasSegments: whether there are several services.
    static func mark(_ db: Database, hasSegments: Bool = false) throws {
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(hasSegments ? versionWithSegments : version)")
    }
}

/// What sending may need from a recipient in addition to token and cells.
enum PushTraits {
    /// Nothing: all get the same text.
    case none
    /// Its language and its variant.
    case languageAndVariant

    /// Follow the columns that are always read.
    fileprivate var columns: String {
        switch self {
        case .none: ""
        case .languageAndVariant: ", r.language, r.variant"
        }
    }
}

extension RunSchema {
    /// In plans that have sending times. Files without these tables have none.
    static let waveTables = """
        CREATE TABLE wave (                      -- who goes out when, in sending order
            first_id INTEGER PRIMARY KEY,
            count INTEGER NOT NULL,
            zone TEXT NOT NULL,                  -- whose clock counts for them; others that agree with it are in the wave too
            due_at INTEGER NOT NULL
        );
        CREATE TABLE skipped_wave (              -- those to whom it became too late: they stay unsent
            first_id INTEGER PRIMARY KEY,
            skipped_at INTEGER NOT NULL
        );
        """

    static func insert(_ waves: [RunWave], into db: Database) throws {
        guard !waves.isEmpty else { return }
        try db.execute(sql: waveTables)
        for wave in waves {
            try db.execute(
                sql: "INSERT INTO wave VALUES (?, ?, ?, ?)",
                arguments: [wave.ids.lowerBound, wave.ids.count, wave.zone, wave.due.epochMilliseconds])
        }
    }

    /// nil when `insert` did not write them: they must cover all recipients from first to last
    /// without a gap.
    static func waves(from db: Database, audience: Int) throws -> [RunWave]? {
        guard try db.tableExists("wave") else { return [] }
        var waves: [RunWave] = []
        let rows = try db.all("SELECT first_id, count, zone, due_at FROM wave ORDER BY first_id") { row in
            (try row.int(0), try row.count(1), try row.string(2), try row.moment(3))
        }
        for (first, count, zone, due) in rows {
            guard first == waves.last?.ids.upperBound ?? 0, count > 0, count <= audience - first
            else { return nil }
            waves.append(RunWave(ids: first..<first + count, zone: zone, due: due))
        }
        return waves.last?.ids.upperBound == audience ? waves : nil
    }

    /// Their text in the plan's digest; blank without any.
    static func waveText(of db: Database) throws -> String {
        guard try db.tableExists("wave") else { return "" }
        let sql = "SELECT first_id || ',' || count || ',' || quote(zone) || ',' || due_at FROM wave ORDER BY first_id"
        return "\nwaves\n" + (try db.all(sql) { try $0.string(0) }).joined(separator: "\n")
    }
}

extension RunSchema {
    /// In plans of several services, whose files have the number `versionWithSegments`.
    static let segmentTable = """
        CREATE TABLE leg (                       -- whose pushes which service takes, in sending order
            first_id INTEGER PRIMARY KEY,
            count INTEGER NOT NULL,
            service INTEGER NOT NULL             -- its place in run.settings: 0 is the service there, 1 the first of its "services"
        )
        """

    /// Made with `leg`; otherwise when something happens to a segment.
    static let segmentStateTable = """
        CREATE TABLE IF NOT EXISTS leg_state (   -- what holds legs, or stopped them, while others go on
            first_id INTEGER PRIMARY KEY,
            held_until INTEGER,                  -- its service takes no pushes before then
            cause TEXT NOT NULL                  -- why it stopped: JSON, blank when it did not
        )
        """

    /// - Parameter segments: of several services.
    static func insert(_ segments: [RunSegment], into db: Database) throws {
        try db.execute(sql: segmentTable)
        try db.execute(sql: segmentStateTable)
        for segment in segments {
            try db.execute(
                sql: "INSERT INTO leg VALUES (?, ?, ?)",
                arguments: [segment.ids.lowerBound, segment.ids.count, segment.service])
        }
    }

    /// Whether the file is one of several services.
    static func hasSegments(_ db: Database) throws -> Bool { try db.pragma("user_version") == versionWithSegments }

    /// None where one service takes all; nil when `insert` did not write them: they must cover all
    /// recipients from first to last without a gap.
    static func segments(from db: Database, audience: Int) throws -> [RunSegment]? {
        // The table without the number, or the number without the table, is no file of Volley's.
        guard try hasSegments(db) == db.tableExists("leg") else { return nil }
        guard try hasSegments(db) else { return [] }
        var segments: [RunSegment] = []
        let rows = try db.all("SELECT first_id, count, service FROM leg ORDER BY first_id") {
            (try $0.int(0), try $0.count(1), try $0.int(2))
        }
        for (first, count, service) in rows {
            guard first == segments.last?.ids.upperBound ?? 0, count > 0, count <= audience - first,
                (0..<SegmentSorter.mostServices).contains(service)
            else { return nil }
            segments.append(RunSegment(ids: first..<first + count, service: service))
        }
        return segments.last?.ids.upperBound ?? 0 == audience ? segments : nil
    }

    /// Their text in the plan's digest; blank where one service takes all.
    static func segmentText(of db: Database) throws -> String {
        guard try db.tableExists("leg") else { return "" }
        let sql = "SELECT first_id || ',' || count || ',' || service FROM leg ORDER BY first_id"
        return "\nlegs\n" + (try db.all(sql) { try $0.string(0) }).joined(separator: "\n")
    }
}
