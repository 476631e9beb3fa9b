public import Base
import Postgres

/// What was done to the tables of a store.
public struct StoreMigration: Hashable, Sendable {
    /// Their version before; 0 if there were none.
    public var before: Int
    /// Their version now, 1 or more.
    public var now: Int
}

extension StoreAddress {
    /// Makes the tables, or brings those of an older version up to date.
    /// - Throws: `Diagnostic`: the store cannot be reached, is a standby or belongs to a newer
    ///   Volley, or the role lacks rights; `CancellationError`. Then nothing was changed.
    public func migrate(_ cancellation: Cancellation) throws -> StoreMigration {
        let connection = try connect(cancellation)
        return try explaining { try StoreSchema.migrate(connection) }
    }
}

extension StoreSchema {
    /// Belongs to Volley among the advisory locks of a database: the letters of its name.
    static let lockNumber = 0x76_6F6C_6C65_79
    /// How long a migration waits for another one, or for a table that is in use; seconds.
    private static let lockSeconds = 60
    /// How long a statement of a migration may take; seconds. Making an index of a large table
    /// takes a while.
    private static let statementSeconds = 3600

    /// Makes the tables, or upgrades them, in one transaction. A process that does the same at the
    /// same moment waits for a lock of this database, which ends with the transaction, and then
    /// finds nothing to do.
    /// - Parameter steps: what leads from each version to the next.
    /// - Throws: `PostgresError`; a `Diagnostic` if the server will not do or the tables belong to
    ///   a newer Volley; `CancellationError`. Then nothing was changed.
    static func migrate(_ connection: PostgresConnection, by steps: [[String]] = steps) throws -> StoreMigration {
        let facts = try StoreFacts(connection)
        try checkServer(facts)
        do { return try upgrade(connection, by: steps) } catch let error as PostgresError {
            throw explained(error, as: facts.role) ?? error
        }
    }

    private static func upgrade(_ connection: PostgresConnection, by steps: [[String]]) throws -> StoreMigration {
        let seconds = Double(statementSeconds + lockSeconds)
        // What is read after the lock is what was made while it was waited for: the transaction is
        // READ COMMITTED.
        return try connection.transaction(within: seconds) {
            try connection.execute(
                """
                SET TRANSACTION READ WRITE;
                SET LOCAL lock_timeout = '\(lockSeconds)s';
                SET LOCAL statement_timeout = '\(statementSeconds)s';
                SET LOCAL synchronous_commit = on;
                SELECT pg_advisory_xact_lock(\(lockNumber));
                """, within: seconds)
            let before = try version(of: connection)
            if before > steps.count { throw isNewer(before) }
            for statement in steps[before...].joined() { try connection.execute(statement, within: seconds) }
            if before < steps.count {
                try connection.execute("UPDATE volley_store SET version = \(steps.count)", within: seconds)
            }
            return StoreMigration(before: before, now: steps.count)
        }
    }

    private static func checkServer(_ facts: StoreFacts) throws {
        guard facts.isRecentEnough else {
            throw Diagnostic(
                "the store's server is PostgreSQL \(facts.versionText), which is too old",
                remedy: StoreFacts.remedyForOldServer)
        }
        guard !facts.isStandby else {
            throw Diagnostic(
                "the store's server is a standby, which takes no changes", remedy: StoreFacts.remedyForStandby)
        }
        guard facts.schema != nil else {
            throw Diagnostic("there is no schema that the store's tables can be made in", remedy: facts.remedyForSchema)
        }
    }

    /// What a server refuses while tables are made, as far as there is something to do about it;
    /// SQLSTATEs are in appendix A of PostgreSQL's manual.
    private static func explained(_ error: PostgresError, as role: String) -> Diagnostic? {
        let remedy: String
        switch error.sqlState {
        case "42501":
            remedy =
                "Have an administrator run: CREATE SCHEMA \(role) AUTHORIZATION \(role). Tables that are there already are migrated by the role "
                + "that made them."
        case "55P03", "57014":
            remedy =
                "Another migration is at work, or a run that is being sent uses the tables. Try again once it is over."
        default: return nil
        }
        return Diagnostic("the store's tables cannot be made: \(TextFormat.foreign(error.message))", remedy: remedy)
    }
}

/// What a database says about itself, and about what the role may do there.
public struct StoreFacts: Hashable, Sendable {
    /// 150018 for 15.18.
    public var serverVersion = 0
    /// The role that statements run as, as SQL writes it.
    public var role = ""
    /// The schema that tables are made in, as SQL writes it; nil if the role can use none.
    public var schema: String?
    /// Whether the role may do anything.
    public var isSuperuser = false
    /// Whether the connection is encrypted.
    public var isEncrypted = false
    /// Whether the server follows another one, and takes no changes.
    public var isStandby = false
    /// Whether transactions of the role only read.
    public var onlyReads = false
    /// Whether the role may make tables.
    public var mayCreate = false
    /// The server's settings of these names, as they are for the role.
    public var synchronousCommit = "on", fsync = "on"
    /// Whether the server names standbys that commits wait for, as far as `synchronousCommit` has
    /// them wait.
    public var hasSynchronousStandbys = false

    /// The oldest server that Volley works with, as `serverVersion` counts.
    public static let oldestServer = 130_000

    /// Facts to be filled in.
    public init() {}

    /// Queries the server.
    /// - Throws: `PostgresError`; `CancellationError`.
    init(_ connection: PostgresConnection) throws {
        let rows = try connection.execute(
            """
            SELECT quote_ident(current_user), quote_ident(current_schema()), current_setting('is_superuser'), pg_is_in_recovery(),
                current_setting('default_transaction_read_only'), has_schema_privilege(current_schema(), 'CREATE'),
                current_setting('synchronous_commit'), current_setting('fsync'), current_setting('synchronous_standby_names') <> ''
            """, within: StoreAddress.stepSeconds)
        guard let row = rows.first, row.count == 9 else {
            throw PostgresError(.lost, "the server gave another answer than was asked for")
        }
        (serverVersion, isEncrypted) = (connection.serverVersion, connection.isEncrypted)
        (role, schema, isSuperuser) = (row[0] ?? "", row[1], row[2] == "on")
        (isStandby, onlyReads, mayCreate) = (row[3] == "t", row[4] == "on", row[5] == "t")
        (synchronousCommit, fsync, hasSynchronousStandbys) = (row[6] ?? "", row[7] ?? "", row[8] == "t")
    }

    /// Whether Volley can work with the server.
    public var isRecentEnough: Bool { serverVersion >= Self.oldestServer }

    /// `15.18`
    public var versionText: String { "\(serverVersion / 10_000).\(serverVersion % 10_000)" }

    /// What to do about a server that is too old.
    public static let remedyForOldServer = "Use PostgreSQL \(oldestServer / 10_000) or newer."

    /// What to do about a standby.
    public static let remedyForStandby =
        "Let the address lead to the primary server; one with several hosts finds it by target_session_attrs=read-write."

    /// What to do when the role can make no tables.
    public var remedyForSchema: String { "Have an administrator run: CREATE SCHEMA \(role) AUTHORIZATION \(role)." }
}
