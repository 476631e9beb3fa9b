-- accounts.sqlite of format 1, made with the tables of that time: an administrator, and what she did.
CREATE TABLE account (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,           -- never given to another one
                    name TEXT NOT NULL UNIQUE, display_name TEXT NOT NULL,
                    state TEXT NOT NULL,                            -- active, disabled
                    password TEXT NOT NULL,                         -- $scrypt$ln=15,r=8,p=1$SALT$KEY
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
CREATE TABLE used_step (                            -- steps of one-time passwords: none works twice
                    account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE, step INTEGER NOT NULL,
                    PRIMARY KEY (account, step)
                ) WITHOUT ROWID;
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
INSERT INTO "sqlite_sequence" VALUES('account',1);
INSERT INTO "sqlite_sequence" VALUES('activity',1);
PRAGMA application_id = 1450142817;
PRAGMA user_version = 1;
