import Base
import Postgres

/// The tables of a store: the PostgreSQL database through which several machines send one run.
/// Names begin with `volley_`, so that the tables can share a schema with others.
///
/// Nothing is written per recipient: recipients are in blocks, and what becomes of them is in the
/// journal, whose entries are about many of them and are never changed. Moments are milliseconds
/// since 1970. Ids of recipients are those of the run file.
public enum StoreSchema {
    /// The version that this Volley makes and reads.
    public static let version = 2

    /// What leads from each version to the next; the first entry makes the tables.
    static let steps: [[String]] = [
        [
            """
            CREATE TABLE volley_store (
                version int NOT NULL,
                hash_key bytea NOT NULL                 -- of the hashes in volley_reached
            )
            """,
            """
            CREATE TABLE volley_run (
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                id text NOT NULL UNIQUE,
                digest text NOT NULL,                   -- of its plan, recipients included
                app text NOT NULL, campaign text NOT NULL,
                plan bytea NOT NULL,                    -- a run file without recipients
                audience bigint NOT NULL,
                is_published boolean NOT NULL,          -- whether all of its blocks are there
                state text NOT NULL, cause text NOT NULL,
                life text NOT NULL,
                noted text NOT NULL,                    -- JSON: the life that is about to begin
                started_at bigint, ended_at bigint,
                conductor bigint,                       -- the member that does what is done once for all
                conducts_sending boolean NOT NULL,
                published_in bigint NOT NULL,           -- the life of the database: nothing can have been forgotten in it
                witnessed_in bigint NOT NULL,           -- the life of the database in which a witness found nothing missing
                taken_home text NOT NULL,               -- the machine that goes on alone, from the run's file; blank while there is none
                changes bigint NOT NULL,                -- how often this row was changed
                offers bigint NOT NULL,                 -- how often recipients were offered to be sent to again
                capped bytea                            -- who gets nothing as of the round that goes on; null while that is not known
            )
            """,
            """
            CREATE TABLE volley_block (                 -- 1,000 recipients each, packed
                run bigint NOT NULL REFERENCES volley_run ON DELETE CASCADE,
                number bigint NOT NULL,
                data bytea NOT NULL,
                PRIMARY KEY (run, number)
            )
            """,
            // Blocks are packed already.
            "ALTER TABLE volley_block ALTER COLUMN data SET STORAGE EXTERNAL",
            """
            CREATE TABLE volley_leg (
                run bigint NOT NULL REFERENCES volley_run ON DELETE CASCADE,
                first bigint NOT NULL, last bigint NOT NULL,    -- here and below: the id behind the last one
                next bigint NOT NULL,                           -- whoever stands before it was leased once
                is_open boolean NOT NULL,                       -- whether its canary was judged, so that all members may send
                held_until bigint, cause text NOT NULL,
                PRIMARY KEY (run, first)
            )
            """,
            """
            CREATE TABLE volley_sender (                -- the members; a row is the fence of one process
                -- Random: a database that was restored must not give out a number again that it gave out before.
                number bigint PRIMARY KEY,
                run bigint NOT NULL REFERENCES volley_run ON DELETE CASCADE,
                machine text NOT NULL,
                beat bigint NOT NULL,
                tallies text NOT NULL,                  -- JSON: answers so far, by service
                is_witness boolean NOT NULL,            -- whether it can tell, in the database's next life, what is missing
                joined_at timestamptz NOT NULL,
                dead_at timestamptz                     -- it left, or was declared dead
            )
            """,
            "CREATE INDEX volley_sender_run ON volley_sender (run)",
            """
            CREATE TABLE volley_lease (                 -- who may claim whom
                run bigint NOT NULL REFERENCES volley_run ON DELETE CASCADE,
                sender bigint NOT NULL,
                first bigint NOT NULL, last bigint NOT NULL,
                redo bytea,                             -- who of them is sent to again; null: nobody of them was claimed
                PRIMARY KEY (run, sender, first)
            )
            """,
            """
            CREATE TABLE volley_returned (              -- to be leased again
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                run bigint NOT NULL REFERENCES volley_run ON DELETE CASCADE,
                first bigint NOT NULL, last bigint NOT NULL,
                redo bytea
            )
            """,
            "CREATE INDEX volley_returned_run ON volley_returned (run, first)",
            """
            CREATE TABLE volley_journal (
                run bigint NOT NULL REFERENCES volley_run ON DELETE CASCADE,
                sender bigint NOT NULL,
                lane smallint NOT NULL,                 -- which of its threads wrote it: 0 claims, 1 records
                number bigint NOT NULL,                 -- the lane's own, so that a repeat after a lost answer is recognised
                seq bigint GENERATED ALWAYS AS IDENTITY,
                kind smallint NOT NULL,
                first bigint NOT NULL, last bigint NOT NULL,
                at bigint NOT NULL,
                data bytea NOT NULL,
                PRIMARY KEY (run, sender, lane, number),
                -- Whatever else goes wrong, nobody is claimed twice.
                CONSTRAINT volley_claimed_once EXCLUDE USING gist (int8range(run << 40 | first, run << 40 | last) WITH &&) WHERE (kind = 1)
            )
            """,
            "ALTER TABLE volley_journal ALTER COLUMN data SET STORAGE EXTERNAL",
            // Not logged: empty after a crash, on a standby that took over and after most backups
            // were brought back. That is when acknowledged commits may be missing
            // (`RecoveryBarrier`). A copy of a server that was shut down, and a dump, hold the
            // table as it was: a row counts only on the server, in the database and in the form in
            // which it was written.
            """
            CREATE UNLOGGED TABLE volley_life (
                one boolean PRIMARY KEY CHECK (one),
                number bigint NOT NULL,
                began_at timestamptz NOT NULL,
                server_started_at timestamptz NOT NULL,
                database oid NOT NULL,
                written_by xid NOT NULL                 -- the transaction
            )
            """,
            "CREATE UNLOGGED TABLE volley_present (sender bigint PRIMARY KEY, life bigint NOT NULL)",
            """
            CREATE TABLE volley_pace (                  -- how members divide a pace, of an app or a run
                key text PRIMARY KEY,
                parts text NOT NULL                     -- JSON
            )
            """,
            """
            CREATE TABLE volley_service (               -- each `volley schedule`
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                machine text NOT NULL,
                beat bigint NOT NULL,
                joined_at timestamptz NOT NULL,
                dead_at timestamptz
            )
            """,
            """
            CREATE TABLE volley_firing (                -- times of schedules, and the one run that may be sent for each
                app text NOT NULL, campaign text NOT NULL, occurrence text NOT NULL,
                run text NOT NULL,                      -- blank for one that was left out
                state text NOT NULL,                    -- claimed, begun, left_out
                owner bigint,                           -- the service that has claimed it; null where a person sends it
                machine text NOT NULL,                  -- its name, for messages
                changed_at timestamptz NOT NULL,
                PRIMARY KEY (app, campaign, occurrence)
            )
            """,
            """
            CREATE TABLE volley_list (                  -- suppression lists
                app text NOT NULL, list text NOT NULL,
                id text NOT NULL,                       -- random: tells whether it is the list that a machine knows
                number bigint NOT NULL,                 -- of its last change
                PRIMARY KEY (app, list)
            )
            """,
            """
            CREATE TABLE volley_suppressed (
                app text NOT NULL, list text NOT NULL, token text NOT NULL,
                reason text NOT NULL, invalid_since bigint NOT NULL, run text NOT NULL,
                changed_at bigint NOT NULL,             -- added or removed, by the clock of the machine that did it
                is_removed boolean NOT NULL,
                number bigint NOT NULL,                 -- of the change of the list that wrote it last
                PRIMARY KEY (app, list, token)
            )
            """,
            "CREATE INDEX volley_suppressed_number ON volley_suppressed (app, list, number, token)",
            """
            CREATE TABLE volley_reached (               -- whom runs have sent to, for frequency caps
                app text NOT NULL, list text NOT NULL, run text NOT NULL,
                at bigint NOT NULL,                     -- nobody of the block was sent to later
                number bigint NOT NULL,
                kept_for bigint NOT NULL,               -- seconds: as far back as the longest cap looks that the run knew of
                data bytea NOT NULL,                    -- eight bytes of a hash of each target
                PRIMARY KEY (app, list, run, at, number)
            )
            """,
            "CREATE INDEX volley_reached_at ON volley_reached (app, list, at)",
            "ALTER TABLE volley_reached ALTER COLUMN data SET STORAGE EXTERNAL",
            "INSERT INTO volley_store VALUES (1, uuid_send(gen_random_uuid()))",
        ],
        [
            // Some hundred bytes for each run, kept for good: without them a machine that did not
            // fetch the run could send to its devices again.
            """
            CREATE TABLE volley_removed (               -- runs that had begun, and were removed
                id text PRIMARY KEY,
                number bigint NOT NULL,                 -- as it was in volley_run
                app text NOT NULL, campaign text NOT NULL,
                list text,                              -- null, here and below: its plan could not be read
                occurrence text,                        -- also null without a time of a schedule
                retry_of text,                          -- also null for what is no retry
                life text NOT NULL,
                ended_at bigint NOT NULL,               -- or when it was removed
                taken_home text NOT NULL,
                entries text NOT NULL                   -- the last ones of its journal, a line each: sender, lane, number
            )
            """,
            "CREATE INDEX volley_removed_campaign ON volley_removed (campaign, app)",
        ],
    ]
}

extension StoreSchema {
    private static let seconds = 30.0

    /// The version of a store's tables; 0 where they do not exist.
    static func version(of connection: PostgresConnection) throws -> Int {
        var isThere = false
        try connection.run("SELECT to_regclass('volley_store') IS NOT NULL", within: seconds) {
            isThere = $0.int(0) == 1
        }
        guard isThere else { return 0 }
        var version = 0
        try connection.run("SELECT version FROM volley_store", within: seconds) { version = $0.int(0) }
        return version
    }

    /// - Throws: a `Diagnostic` unless the tables are there, of this version; `PostgresError`.
    static func check(_ connection: PostgresConnection) throws {
        let found = try version(of: connection)
        guard found != version else { return }
        if found > version { throw isNewer(found) }
        throw Diagnostic(
            found == 0
                ? "the store has no tables yet"
                : "the store's tables are of version \(found), and this Volley needs version \(version)",
            remedy: "Run `volley store migrate` once, on one machine.")
    }

    /// Tables that a newer Volley made or upgraded.
    static func isNewer(_ found: Int) -> Diagnostic {
        Diagnostic(
            "this Volley is too old for the store: its tables are of version \(found), and this Volley knows version \(version)",
            remedy: "Use the version of Volley that migrated them on every machine.")
    }
}
