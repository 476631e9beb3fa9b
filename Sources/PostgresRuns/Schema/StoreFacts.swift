import Base
import Postgres

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
    /// Whether the server names standbys that commits wait for, as far as `synchronousCommit` has them wait.
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
        guard let row = rows.first, row.count == 9 else { throw PostgresError(.lost, "the server gave another answer than was asked for") }
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
