public import Base
import Glibc
import Postgres

/// What was found when a store was looked at. Nothing was changed.
public struct StoreCheck: Hashable, Sendable {
    /// The server and the role.
    public var facts = StoreFacts()
    /// The version of the tables, 0 without tables; nil if the role may not read it.
    public var version: Int? = 0
    /// The version that this Volley works with.
    public static let neededVersion = StoreSchema.version
    /// Tables of the needed version that are not there.
    public var missingTables: [String] = []
    /// What the role lacks to work with tables of the needed version: `UPDATE ON volley_block`.
    public var missingRights: [String] = []
    /// How far the server's clock is ahead of this machine's, give or take half of the shortest
    /// round trip; seconds.
    public var clockLeadSeconds = 0.0
    /// How long a question takes there and back, the median of `roundTrips`; seconds.
    public var roundTripSeconds = 0.0

    /// How many questions the median is of.
    public static let roundTrips = 20

    /// What the role needs for each table.
    private static let rights = ["SELECT", "INSERT", "UPDATE", "DELETE"]

    /// Findings to be filled in.
    public init() {}

    /// Looks at the store behind a connection.
    /// - Throws: `PostgresError`; `CancellationError`.
    init(_ connection: PostgresConnection) throws {
        facts = try StoreFacts(connection)
        if facts.isRecentEnough { try lookAtTables(connection) }
        try measure(connection)
    }

    private mutating func lookAtTables(_ connection: PostgresConnection) throws {
        do { version = try StoreSchema.version(of: connection) } catch let error as PostgresError
            where error.sqlState == "42501"
        {
            (version, missingRights) = (nil, ["SELECT ON volley_store"])
            return
        }
        guard version == Self.neededVersion else { return }
        func list(_ names: [String]) -> String { "unnest(ARRAY[\(names.map { "'\($0)'" }.joined(separator: ", "))])" }
        let rows = try connection.execute(
            """
            SELECT t, r, to_regclass(t) IS NULL FROM \(list(StoreSchema.tables)) WITH ORDINALITY AS tables (t, n),
                \(list(Self.rights)) WITH ORDINALITY AS rights (r, m)
            WHERE has_table_privilege(to_regclass(t), r) IS NOT TRUE ORDER BY n, m
            """, within: StoreAddress.stepSeconds)
        for row in rows {
            let (table, right, isMissing) = (row[0] ?? "", row[1] ?? "", row[2] == "t")
            if !isMissing {
                missingRights.append("\(right) ON \(table)")
            } else if missingTables.last != table {
                missingTables.append(table)
            }
        }
    }

    /// Queries the time repeatedly: the quickest answer dates the server's clock best.
    private mutating func measure(_ connection: PostgresConnection) throws {
        var seconds: [Double] = []
        for _ in 0..<Self.roundTrips {
            let (sent, start) = (Double(Timestamp.now().epochMilliseconds) / 1000, ContinuousClock.now)
            let rows = try connection.execute(
                "SELECT extract(epoch FROM clock_timestamp())", within: StoreAddress.stepSeconds)
            let trip = (ContinuousClock.now - start) / .seconds(1)
            if trip < seconds.min() ?? .infinity, let time = rows.first?.first.flatMap({ $0 }).flatMap(Double.init) {
                clockLeadSeconds = time - (sent + trip / 2)
            }
            seconds.append(trip)
        }
        roundTripSeconds = seconds.sorted()[Self.roundTrips / 2]
    }
}

extension StoreAddress {
    /// Connects, and looks at the server, the tables and what the role may do. Nothing is changed.
    /// - Throws: `Diagnostic` if it cannot be reached; `CancellationError`.
    public func check(_ cancellation: Cancellation) throws -> StoreCheck {
        let connection = try connect(cancellation)
        return try explaining { try StoreCheck(connection) }
    }
}

extension StoreSchema {
    /// The tables of this version, except the one that holds the version.
    static let tables = [
        "volley_run", "volley_block", "volley_leg", "volley_sender", "volley_lease", "volley_returned",
        "volley_journal", "volley_pace",
        "volley_service", "volley_firing", "volley_list", "volley_suppressed", "volley_reached",
        "volley_life", "volley_present", "volley_removed",
    ]
}
