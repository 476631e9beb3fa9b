import Base
import Postgres

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
