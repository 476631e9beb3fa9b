-- accounts.sqlite of format 3, made with the tables of that time: an administrator, and what she did.
CREATE TABLE account (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,           -- never given to another one
                    name TEXT NOT NULL UNIQUE, display_name TEXT NOT NULL,
                    state TEXT NOT NULL,                            -- active, disabled
                    password TEXT NOT NULL,                         -- $scrypt$ln=15,r=8,p=1$SALT$KEY; blank: of a provider
                    totp_secret TEXT, totp_confirmed INTEGER NOT NULL DEFAULT 0,
                    made_at INTEGER NOT NULL
                );
INSERT INTO "account" VALUES(1,'anna','Anna','active','$scrypt$ln=15,r=8,p=1$00000000000000000000000000000000$0000000000000000000000000000000000000000000000000000000000000000',NULL,0,1796115600000);
CREATE TABLE activity (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL,
                    account INTEGER, name TEXT,                     -- who, as they were called then; NULL: the terminal
                    kind TEXT NOT NULL, details TEXT NOT NULL,      -- JSON
                    app TEXT, subject TEXT, address TEXT
                );
INSERT INTO "activity" VALUES(1,1796115600000,1,'anna','signed_in','{}',NULL,NULL,NULL);
CREATE TABLE invitation (                           -- removed when it is used or withdrawn
                    id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE,    -- SHA-256 of the token
                    account INTEGER REFERENCES account (id) ON DELETE CASCADE,          -- whose password; NULL: a new account
                    name TEXT, display_name TEXT, roles TEXT,                           -- of a new account
                    invited_by INTEGER,                             -- an account; NULL: the terminal
                    made_at INTEGER NOT NULL, lapses_at INTEGER NOT NULL
                );
CREATE TABLE provider_identity (                    -- of accounts that sign in by a provider of identities
            account INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
            issuer TEXT NOT NULL, subject TEXT NOT NULL,
            UNIQUE (issuer, subject)
        );
CREATE TABLE recovery_code (
                    account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
                    salt TEXT NOT NULL, hash TEXT NOT NULL          -- SHA-256 of salt and code
                );
CREATE TABLE role (
                    account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
                    role TEXT NOT NULL, app TEXT                    -- NULL: all apps
                );
INSERT INTO "role" VALUES(1,'administrator',NULL);
CREATE TABLE session (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE,    -- SHA-256 of the token
                    account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
                    stage TEXT NOT NULL, tries_left INTEGER NOT NULL,
                    started_at INTEGER NOT NULL, used_at INTEGER NOT NULL, proved_at INTEGER NOT NULL,
                    address TEXT, agent TEXT NOT NULL
                );
CREATE TABLE tie (                                  -- what may have put two accounts into one hand
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            holder TEXT NOT NULL, account TEXT NOT NULL,    -- names: they outlive the accounts
            deed TEXT NOT NULL,                             -- invited, password_reset, promoted, enabled, second_factor_removed
            at INTEGER NOT NULL,
            confirmed_by TEXT, confirmed_at INTEGER         -- the administrator that ended it; NULL: the terminal, and: not ended
        );
INSERT INTO "tie" VALUES(1,'ben','anna','enabled',1796040000000,NULL,NULL);
CREATE TABLE used_step (                            -- steps of one-time passwords: none works twice
                    account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, step INTEGER NOT NULL,
                    PRIMARY KEY (account, step)
                ) WITHOUT ROWID;
CREATE TABLE version (                              -- of campaign files, as they were saved
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            file TEXT NOT NULL, digest TEXT NOT NULL, text TEXT NOT NULL,
            app TEXT,                                       -- that it names; NULL where it cannot be read
            account INTEGER, name TEXT,                     -- who, as they were called then; NULL: the terminal
            at INTEGER NOT NULL
        );
CREATE INDEX role_by_account ON role (account);
CREATE INDEX recovery_code_by_account ON recovery_code (account);
CREATE INDEX session_by_account ON session (account);
CREATE INDEX activity_by_account ON activity (account, id);
CREATE INDEX activity_by_app ON activity (app, id);
CREATE INDEX activity_by_kind ON activity (kind, id);
CREATE TRIGGER activity_is_kept BEFORE DELETE ON activity BEGIN
                    SELECT RAISE(ABORT, 'activities are only added to');
                END;
CREATE TRIGGER activity_stays BEFORE UPDATE ON activity BEGIN
                    SELECT RAISE(ABORT, 'activities are only added to');
                END;
CREATE INDEX version_by_file ON version (file, number);
CREATE INDEX version_by_digest ON version (digest);
CREATE INDEX tie_by_time ON tie (at);
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
INSERT INTO "sqlite_sequence" VALUES('account',1);
INSERT INTO "sqlite_sequence" VALUES('activity',1);
INSERT INTO "draft" VALUES(1,1,'spring-sale.yaml','form','','{"content.title":"Hi"}',1796000000000);
INSERT INTO "sqlite_sequence" VALUES('tie',1);
INSERT INTO "sqlite_sequence" VALUES('draft',1);
PRAGMA application_id = 1450142817;
PRAGMA user_version = 5;
