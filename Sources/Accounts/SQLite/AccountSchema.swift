import Base
import GRDB

/// The tables of `accounts.sqlite`. Times are epoch milliseconds; hashes, salts and secrets are hex
/// digits.
enum AccountSchema {
    /// "Vola"
    static let applicationID = 0x566F_6C61
    /// Raise it with every change of the tables, and convert older files in `upgrade`.
    static let version = 5

    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE account (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,           -- never given to another one
                    name TEXT NOT NULL UNIQUE, display_name TEXT NOT NULL,
                    state TEXT NOT NULL,                            -- active, disabled
                    password TEXT NOT NULL,                         -- $scrypt$ln=15,r=8,p=1$SALT$KEY; blank: of a provider
                    totp_secret TEXT, totp_confirmed INTEGER NOT NULL DEFAULT 0,
                    made_at INTEGER NOT NULL
                );
                CREATE TABLE role (
                    account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
                    role TEXT NOT NULL, app TEXT                    -- NULL: all apps
                );
                CREATE INDEX role_by_account ON role (account);
                CREATE TABLE used_step (                            -- steps of one-time passwords: none works twice
                    account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, step INTEGER NOT NULL,
                    PRIMARY KEY (account, step)
                ) WITHOUT ROWID;
                CREATE TABLE recovery_code (
                    account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
                    salt TEXT NOT NULL, hash TEXT NOT NULL          -- SHA-256 of salt and code
                );
                CREATE INDEX recovery_code_by_account ON recovery_code (account);
                CREATE TABLE session (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE,    -- SHA-256 of the token
                    account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
                    stage TEXT NOT NULL, tries_left INTEGER NOT NULL,
                    started_at INTEGER NOT NULL, used_at INTEGER NOT NULL, proved_at INTEGER NOT NULL,
                    address TEXT, agent TEXT NOT NULL
                );
                CREATE INDEX session_by_account ON session (account);
                CREATE TABLE invitation (                           -- removed when it is used or withdrawn
                    id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE,    -- SHA-256 of the token
                    account INTEGER REFERENCES account (id) ON DELETE CASCADE,          -- whose password; NULL: a new account
                    name TEXT, display_name TEXT, roles TEXT,                           -- of a new account
                    invited_by INTEGER,                             -- an account; NULL: the terminal
                    made_at INTEGER NOT NULL, lapses_at INTEGER NOT NULL
                );
                CREATE TABLE activity (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL,
                    account INTEGER, name TEXT,                     -- who, as they were called then; NULL: the terminal
                    kind TEXT NOT NULL, details TEXT NOT NULL,      -- JSON
                    app TEXT, subject TEXT, address TEXT
                );
                CREATE INDEX activity_by_account ON activity (account, id);
                CREATE INDEX activity_by_app ON activity (app, id);
                CREATE INDEX activity_by_kind ON activity (kind, id);
                CREATE TRIGGER activity_is_kept BEFORE DELETE ON activity BEGIN
                    SELECT RAISE(ABORT, 'activities are only added to');
                END;
                CREATE TRIGGER activity_stays BEFORE UPDATE ON activity BEGIN
                    SELECT RAISE(ABORT, 'activities are only added to');
                END;
                \(versions)
                \(identities)
                \(ties)
                \(drafts)
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(version);
                """)
    }

    /// Since version 2.
    private static let versions = """
        CREATE TABLE version (                              -- of campaign files, as they were saved
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            file TEXT NOT NULL, digest TEXT NOT NULL, text TEXT NOT NULL,
            app TEXT,                                       -- that it names; NULL where it cannot be read
            account INTEGER, name TEXT,                     -- who, as they were called then; NULL: the terminal
            at INTEGER NOT NULL
        );
        CREATE INDEX version_by_file ON version (file, number);
        CREATE INDEX version_by_digest ON version (digest);
        """

    /// Since version 3.
    private static let identities = """
        CREATE TABLE provider_identity (                    -- of accounts that sign in by a provider of identities
            account INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
            issuer TEXT NOT NULL, subject TEXT NOT NULL,
            UNIQUE (issuer, subject)
        );
        """

    /// Since version 4.
    private static let ties = """
        CREATE TABLE tie (                                  -- what may have put two accounts into one hand
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            holder TEXT NOT NULL, account TEXT NOT NULL,    -- names: they outlive the accounts
            deed TEXT NOT NULL,                             -- invited, password_reset, promoted, enabled, second_factor_removed
            at INTEGER NOT NULL,
            confirmed_by TEXT, confirmed_at INTEGER         -- the administrator that ended it; NULL: the terminal, and: not ended
        );
        CREATE INDEX tie_by_time ON tie (at);
        """

    /// Since version 5. Sessions that ended are remembered for a while, so that a form which was
    /// sent too late is kept as a draft of the person that filled it in.
    private static let drafts = """
        CREATE TABLE draft (                                -- forms of campaigns that are not saved yet
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            file TEXT,                                      -- of the campaign; NULL: a new one
            page TEXT NOT NULL,                             -- form, source, new: where it was written
            base TEXT NOT NULL,                             -- digest of the file as it was then; blank: a new one
            fields TEXT NOT NULL,                           -- JSON: the form as it was filled in
            saved_at INTEGER NOT NULL
        );
        CREATE INDEX draft_by_account ON draft (account);
        CREATE TABLE ended_session (
            hash TEXT PRIMARY KEY, account INTEGER NOT NULL,
            started_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TRIGGER session_ends AFTER DELETE ON session WHEN OLD.stage = 'signed_in' BEGIN
            INSERT OR REPLACE INTO ended_session (hash, account, started_at) VALUES (OLD.hash, OLD.account, OLD.started_at);
            DELETE FROM ended_session WHERE started_at < (SELECT max(started_at) FROM ended_session) - 172800000;
        END;
        """

    /// The ties that follow from the activities of an older file: an update must not loosen
    /// existing rules. A link counts from its last use.
    private static let tiesOfActivities = """
        INSERT INTO tie (holder, account, deed, at)
        SELECT name, subject, CASE kind WHEN 'password_reset_offered' THEN 'password_reset' WHEN 'roles_changed' THEN 'promoted' ELSE kind END,
            CASE WHEN kind IN ('invited', 'password_reset_offered') THEN max(at, coalesce(
                (SELECT max(used.at) FROM activity AS used WHERE used.kind = 'invitation_accepted' AND used.name = activity.subject), at))
            ELSE at END
        FROM activity
        WHERE (kind IN ('invited', 'password_reset_offered', 'enabled', 'second_factor_removed')
            OR kind = 'roles_changed' AND (details LIKE '%approver%' OR details LIKE '%administrator%'))
            AND account IS NOT NULL AND name IS NOT NULL AND subject IS NOT NULL AND subject <> name ORDER BY id;
        """

    /// Converts the tables of an older file to the present ones.
    static func upgrade(_ db: Database) throws {
        let found = try AccountRow.pragma("user_version", db)
        guard found < version else { return }
        if found < 2 { try db.execute(sql: versions) }
        if found < 3 { try db.execute(sql: identities) }
        if found < 4 { try db.execute(sql: "\(ties) \(tiesOfActivities)") }
        try db.execute(sql: "\(drafts) PRAGMA user_version = \(version);")
    }

    /// - Throws: `Diagnostic`: a newer Volley wrote it, it was emptied, or it is something else.
    static func check(_ db: Database, path: String) throws {
        let identity = try AccountRow.pragma("application_id", db)
        if identity != applicationID {
            guard identity == 0, try AccountRow.one(db, "SELECT 1 FROM sqlite_master LIMIT 1") == nil else {
                throw AccountDiagnostics.notAccounts(path)
            }
            throw AccountDiagnostics.emptied(path)
        }
        let found = try AccountRow.pragma("user_version", db)
        guard found <= version else {
            throw Diagnostic(
                "the accounts were written by a newer Volley (format \(found); this one reads \(version))", file: path,
                remedy: "Use the newer Volley.")
        }
    }
}

/// The format of the file of accounts.
public enum AccountFormat {
    /// The newest that this Volley reads, and the one that it writes. It reads all older ones.
    public static let newest = AccountSchema.version
}
