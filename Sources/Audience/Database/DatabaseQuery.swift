public import Base
import Glibc
import Postgres

/// A database that devices are read from.
public struct AudienceDatabase: Sendable {
    /// What volley.yaml calls it.
    public var name: String
    /// The environment variable that holds its address.
    public var variable: SourceText
    /// The longest that a query may take.
    public var seconds: Int

    /// A database, as volley.yaml names it.
    public init(name: String, variable: SourceText, seconds: Int) {
        (self.name, self.variable, self.seconds) = (name, variable, seconds)
    }
}

/// How far a query has come. Each one is a sign of life.
public struct QueryProgress: Hashable, Sendable {
    /// The database's name.
    public var database: String
    /// Rows and bytes that arrived; 0 before the first.
    public var rows = 0, bytes = 0
}

/// A query that returns an export.
///
/// It is parsed alone before anything else, so that it can only be one statement, which cannot
/// leave the brackets that it is put into afterwards; it runs as a part of
/// `COPY (SELECT …) TO STDOUT`, in a transaction that can only read, by a role that is no
/// superuser.
public struct DatabaseQuery: Sendable {
    /// The database that runs it.
    public let database: AudienceDatabase
    /// The SQL as it was written.
    public let sql: SourceText

    /// A query.
    public init(_ database: AudienceDatabase, _ sql: SourceText) { (self.database, self.sql) = (database, sql) }

    /// How long a step that reads no rows may take.
    private static let stepSeconds = 30.0
    /// How much longer than the server Volley waits, so that the server's own words arrive.
    private static let graceSeconds = 10.0
    /// Rows that are written together.
    private static let bufferSize = 1 << 20

    /// The columns that the query returns. Nothing is executed.
    /// - Throws: `Diagnostic`: the database cannot be reached, or refuses the query;
    ///   `CancellationError`.
    public func columns(_ cancellation: Cancellation) throws -> [String] {
        try explaining { try prepare(open(cancellation)).columns.map(\.name) }
    }

    /// Runs the query, and writes its rows as an export: CSV with a header.
    /// - Parameters:
    ///   - file: an open file, which gets the rows.
    ///   - progress: called before the first row arrives, about ten times a second while rows come,
    ///     and once a second while none do.
    /// - Throws: `Diagnostic`: the database cannot be reached, refuses the query, or finds no rows;
    ///   the file cannot be written; `CancellationError`, once the database was told.
    public func run(into file: SpoolFile, _ cancellation: Cancellation, progress: (QueryProgress) -> Void) throws {
        var reached = QueryProgress(database: database.name)
        progress(reached)
        try explaining {
            let connection = try open(cancellation)
            let prepared = try prepare(connection)
            try refusing(in: prepared.text, from: PreparedQuery.offset(in: prepared.copy, of: prepared.text)) {
                try receive(prepared, connection, into: file, &reached, progress)
            }
        }
        progress(reached)
        guard reached.rows > 0 else { throw returnedNothing }
    }

    private func receive(
        _ prepared: PreparedQuery, _ connection: PostgresConnection, into file: SpoolFile,
        _ reached: inout QueryProgress,
        _ progress: (QueryProgress) -> Void
    ) throws {
        var meter = ContinuousClock.now, buffer: [UInt8] = [], lines = 0, now = reached
        buffer.reserveCapacity(Self.bufferSize + 65_536)
        try connection.copy(
            prepared.copy, within: Double(database.seconds) + Self.graceSeconds, idle: { progress(now) }
        ) { row in
            buffer.append(contentsOf: row)
            lines += 1
            now.bytes += row.count
            if buffer.count >= Self.bufferSize { try file.write(&buffer) }
            guard lines & 0xFF == 0, .now - meter > .milliseconds(100) else { return }
            meter = .now
            now.rows = lines - 1
            progress(now)
        }
        try file.write(&buffer)
        // The first is the header.
        now.rows = lines - 1
        reached = now
    }

    // MARK: - Steps

    /// Connects, as a role that cannot do any harm, in a transaction that only reads.
    private func open(_ cancellation: Cancellation) throws -> PostgresConnection {
        let connection = try database.connect(cancellation)
        try database.checkRole(connection)
        let milliseconds = database.seconds * 1000
        // Only newer servers notice by themselves, while they compute, that the client has gone.
        let check = connection.serverVersion >= 140_000 ? "SET LOCAL client_connection_check_interval = '10s';" : ""
        // Scans are not synchronized: one that joins another begins in the middle of the table, and
        // the same rows in another order are another plan.
        _ = try connection.execute(
            """
            BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
            SET LOCAL statement_timeout = \(milliseconds);
            SET LOCAL lock_timeout = \(min(milliseconds, 30_000));
            SET LOCAL idle_in_transaction_session_timeout = '60s';
            SET LOCAL TIME ZONE 'UTC';
            SET LOCAL DateStyle = 'ISO, YMD';
            SET LOCAL IntervalStyle = 'postgres';
            SET LOCAL bytea_output = 'hex';
            SET LOCAL extra_float_digits = 1;
            SET LOCAL lc_monetary = 'C';
            SET LOCAL synchronize_seqscans = off;
            \(check)
            """, within: Self.stepSeconds)
        return connection
    }

    private func prepare(_ connection: PostgresConnection) throws -> PreparedQuery {
        let text = PreparedQuery.withoutEnd(sql.value)
        let described = try refusing(in: text, from: 0) { try connection.describe(text, within: Self.stepSeconds) }
        if described.parameters > 0 { throw hasParameters }
        try checkColumns(described.columns.map(\.name))
        let prepared = PreparedQuery(text: text, columns: described.columns)
        // What changes rows can be parsed alone, but not inside a query that reads.
        do { _ = try connection.describe(prepared.select, within: Self.stepSeconds) } catch let error as PostgresError {
            guard error.sqlState != nil else { throw error }
            throw isNoQuery(error)
        }
        // The server looks at rights only when it begins to execute, or to explain.
        try refusing(in: text, from: PreparedQuery.offset(in: prepared.explain, of: text)) {
            _ = try connection.execute(prepared.explain, within: Self.stepSeconds)
        }
        return prepared
    }
}

/// A query that was parsed, and what is made of it.
struct PreparedQuery {
    let text: String
    let columns: [PostgresColumn]

    /// Without what ends a statement at a prompt.
    static func withoutEnd(_ sql: String) -> String {
        var text = sql[...]
        while let last = text.last, last.isWhitespace || last == ";" { text.removeLast() }
        return String(text)
    }

    /// The query, with cells as exports have them.
    var select: String { "SELECT \(list) FROM (\n\(text)\(Self.afterText)" }

    /// What has it planned, without executing it.
    var explain: String { "EXPLAIN \(select)" }

    /// What sends its rows.
    var copy: String { "COPY (\(select)\(Self.afterSelect)" }

    private static let afterText = "\n) AS devices"
    private static let afterSelect = ") TO STDOUT WITH (FORMAT csv, HEADER, ENCODING 'UTF8')"

    /// Where a query begins in a statement that is made of it, in Unicode scalars.
    static func offset(in statement: String, of text: String) -> Int {
        let after = statement.hasSuffix(afterSelect) ? afterText + afterSelect : afterText
        return statement.unicodeScalars.count - after.unicodeScalars.count - text.unicodeScalars.count
    }

    private var list: String { columns.map(Self.expression).joined(separator: ", ") }

    /// Object ids of types with a text form that differs from exports. Source: pg_type.dat of
    /// PostgreSQL; they never change.
    private enum Types {
        static let boolean: UInt32 = 16, bytes: UInt32 = 17, moment: UInt32 = 1184
    }

    private static func expression(_ column: PostgresColumn) -> String {
        let name = "\"\(column.name.replacing(scalar: "\"", with: "\"\""))\""
        return switch column.type {
        case Types.boolean: "\(name)::text AS \(name)"
        case Types.bytes: "encode(\(name), 'hex') AS \(name)"
        // to_char drops the era and has no text for infinity: a moment outside of the years that
        // dates are read of keeps its own text, which no reader takes for a date.
        case Types.moment:
            "CASE WHEN \(name) >= '0001-01-01Z' AND \(name) < '10000-01-01Z' "
                + "THEN to_char(\(name), 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') ELSE \(name)::text END AS \(name)"
        default: name
        }
    }
}

/// A new file that rows are written to; only its owner may read it, as it holds device tokens.
public final class SpoolFile {
    private let descriptor: Int32
    private let path: String

    /// - Throws: `Diagnostic`: it cannot be made.
    public init(path: String) throws(Diagnostic) {
        self.path = path
        descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw Self.failure(errno, path) }
    }

    deinit { close(descriptor) }

    /// Writes bytes, and empties the buffer.
    /// - Throws: `Diagnostic`: they cannot be written.
    public func write(_ bytes: inout [UInt8]) throws(Diagnostic) {
        let code = WriteAll.write(bytes, to: descriptor)
        guard code == 0 else { throw Self.failure(code, path) }
        bytes.removeAll(keepingCapacity: true)
    }

    private static func failure(_ code: Int32, _ path: String) -> Diagnostic {
        let isFull = code == ENOSPC || code == EDQUOT
        return Diagnostic(
            isFull
                ? "\((MissingResource(at: path) ?? .space).words): there is no space for the rows of the query"
                : "the rows of the query cannot be written: \(SystemError.words(code))",
            file: path,
            remedy: isFull
                ? "Make space, or let the query find fewer rows." : "Check that you may write into the folder of runs.")
    }
}

extension AudienceDatabase {
    /// How long a question about the connection may take.
    private static let stepSeconds = 30.0

    /// - Throws: `PostgresError`; a `Diagnostic` if the variable is not set; `CancellationError`.
    func connect(_ cancellation: Cancellation) throws -> PostgresConnection {
        guard let address = EnvironmentVariables.filled(variable.value) else {
            throw Diagnostic(
                "the environment variable \(SecretText.variable(variable.value)), which should hold the address of the database '\(name)', is not set",
                at: variable.position,
                remedy: SecretText.remedy(
                    forUnset: variable.value, noun: "address",
                    "Set it where Volley runs, for example: export \(variable.value)=postgresql://volley@HOST/DATABASE."
                ))
        }
        return try PostgresConnection.open(PostgresAddress(address, of: variable.value), cancellation)
    }

    /// - Throws: a `Diagnostic` for a superuser: nothing that it is told to read is safe.
    func checkRole(_ connection: PostgresConnection) throws {
        let answer = try connection.execute("SELECT current_setting('is_superuser')", within: Self.stepSeconds)
        guard answer.first?.first == "off" else {
            throw Diagnostic(
                "\(variable.value) leads to the database '\(name)' as a superuser, which may do anything, also from within a query",
                at: variable.position,
                remedy: "Make a role that may only read, and name it there: CREATE ROLE volley LOGIN; "
                    + "GRANT SELECT ON the tables TO volley.")
        }
    }

    /// Checks that the database can be reached, safely, for reading.
    /// - Returns: what was found, in words.
    /// - Throws: `Diagnostic`; `CancellationError`.
    public func check(_ cancellation: Cancellation) throws -> String {
        do {
            let connection = try connect(cancellation)
            try checkRole(connection)
            let (version, encrypted) = (
                connection.serverVersion, connection.isEncrypted ? "TLS" : "no TLS, on this machine"
            )
            return
                "PostgreSQL \(version / 10_000).\(version % 10_000), as \(TextFormat.foreign(connection.role)), \(encrypted)"
        } catch let error as PostgresError {
            throw explained(error, at: nil)
        }
    }
}

/// What people read of a query that cannot be run.
extension DatabaseQuery {
    /// Explains errors of the connection; the query's own were explained with their places.
    func explaining<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as PostgresError { throw database.explained(error, at: sql.position) }
    }

    /// Explains what the server refuses in the query, at its place in the file.
    /// - Parameters:
    ///   - text: the query, as it is in the statement.
    ///   - start: where it is there, in Unicode scalars.
    func refusing<Value>(in text: String, from start: Int, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as PostgresError {
            guard let state = error.sqlState, !error.isConnectionLost else { throw error }
            let place = error.scalarOffset.flatMap { position(ofScalar: $0 - start, in: text) } ?? sql.position
            throw Diagnostic(
                "the database '\(database.name)' refuses the query: \(TextFormat.foreign(error.message))", at: place,
                remedy: remedy(for: state, error))
        }
    }

    private func position(ofScalar offset: Int, in text: String) -> SourcePosition? {
        let scalars = text.unicodeScalars
        guard offset >= 0, let index = scalars.index(scalars.startIndex, offsetBy: offset, limitedBy: scalars.endIndex)
        else { return nil }
        return sql.position(atUTF8Offset: text.utf8.distance(from: text.startIndex, to: index))
    }

    /// SQLSTATEs: appendix A of PostgreSQL's manual.
    private func remedy(for state: String, _ error: PostgresError) -> String {
        switch state {
        case "42501":
            "Let the role read it, for example: GRANT SELECT ON the table TO the role, and GRANT USAGE ON its schema."
        case "25006":
            "The query may only read: take out what changes rows, locks them (FOR UPDATE) or calls functions that do."
        case "57014":
            "It was ended by the server or an administrator; it may take \(TextFormat.span(seconds: Int64(database.seconds))). "
                + "Make it faster, with an index or fewer rows, or allow more with 'timeout' of the database in volley.yaml."
        case "55P03": "Another transaction locks a table that it reads. Try again once that has ended."
        case "42601" where error.scalarOffset == nil:
            "Write one SELECT; what prepares it belongs into a view or a function that only reads."
        default:
            error.remedy.map { "PostgreSQL says: \(TextFormat.foreign($0))" }
                ?? "Correct the query; in psql the same text must work as the role that Volley uses."
        }
    }

    /// A statement that is no query.
    func isNoQuery(_ error: PostgresError) -> Diagnostic {
        Diagnostic(
            "the query must be a SELECT that only reads: \(TextFormat.foreign(error.message))", at: sql.position,
            remedy: "Write one SELECT, VALUES or WITH … SELECT, without INSERT, UPDATE, DELETE, INTO or SHOW.")
    }

    var hasParameters: Diagnostic {
        Diagnostic(
            "the query asks for a value ($1), and there is nothing that gives it one", at: sql.position,
            remedy: "Write the value into the query; for the time of sending use now().")
    }

    var returnedNothing: Diagnostic {
        Diagnostic(
            "the query found no rows in the database '\(database.name)', so there are no devices", at: sql.position,
            remedy:
                "Run it in psql, and check its conditions and whether the role may see the rows (row-level security).")
    }

    /// Columns become a header, so their names must be clear.
    func checkColumns(_ names: [String]) throws(Diagnostic) {
        guard !names.isEmpty else {
            throw Diagnostic(
                "the query returns no columns", at: sql.position, remedy: "Write one SELECT that names columns.")
        }
        if let unnamed = names.firstIndex(where: { $0 == "?column?" || $0.isEmpty }) {
            throw Diagnostic(
                "column \(unnamed + 1) of the query has no name", at: sql.position,
                remedy: "Give it one, for example: SELECT … AS device_token.")
        }
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw Diagnostic(
                "the query returns two columns named '\(TextFormat.foreign(twice))'", at: sql.position,
                remedy: "Name the columns that are needed instead of *, or give one another name with AS.")
        }
    }
}

extension AudienceDatabase {
    /// An error of the address or the connection.
    /// - Parameter query: where a connection breaks that was there.
    func explained(_ error: PostgresError, at query: SourcePosition?) -> Diagnostic {
        switch error.cause {
        case .address: Diagnostic(error.message, at: variable.position, remedy: error.remedy)
        case .unreachable:
            Diagnostic(
                "the database '\(name)' cannot be reached: \(TextFormat.foreign(error.message))", at: variable.position,
                remedy: error.remedy)
        case .lost, .late, .refused:
            Diagnostic(
                "the database '\(name)' gave no answer: \(TextFormat.foreign(error.message))",
                at: query ?? variable.position,
                remedy: error.remedy ?? "Try again once the server is well.")
        }
    }
}
