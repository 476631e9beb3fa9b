import Base
import Postgres

/// What people read when the store cannot be used.
enum StoreError {
    /// Explains errors of the connection.
    @discardableResult
    static func explaining<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as PostgresError { throw explained(error) }
    }

    static func explained(_ error: PostgresError) -> Diagnostic {
        let what =
            switch error.cause {
            case .address: error.message
            case .unreachable: "the store cannot be reached: \(TextFormat.foreign(error.message, maximumBytes: 500))"
            case .lost, .late: "the store gave no answer: \(TextFormat.foreign(error.message, maximumBytes: 500))"
            case .refused: "the store refuses what Volley asks of it: \(TextFormat.foreign(error.message, maximumBytes: 500))"
            }
        return Diagnostic(what, remedy: remedy(error.sqlState) ?? error.remedy ?? usualRemedy)
    }

    private static let usualRemedy = "Look at the database's log; `volley store check` says what Volley finds there."

    /// SQLSTATEs: appendix A of PostgreSQL's manual. The server's own hints are for its administrators.
    private static func remedy(_ state: String?) -> String? {
        switch state {
        case "42501": "Give the role its rights: `volley store check` says which are missing."
        case "42P01", "42703": "Its tables are missing, or of another version: run `volley store migrate`."
        case "25006":
            "This server is a standby, or read-only: let the address lead to the primary, for example with target_session_attrs=read-write."
        case "53100": "Its disk is full: make room there."
        case "53200": "The database's machine has no memory left: give it more, or end other work there."
        case "53300": "It has too many connections: allow more (max_connections); each process that sends needs four."
        case "55P03", "57014": "Another session of the database holds what Volley needs: `pg_locks` and `pg_stat_activity` show which."
        case "57P01", "57P02", "57P03": "The database is shutting down, or coming up: wait, or start it."
        default: nil
        }
    }
}

extension PostgresRow {
    /// The ids of recipients from the first to the one before the last.
    /// - Throws: a `Diagnostic` for what no run can have: the database was damaged or edited.
    func ids(_ first: Int, _ last: Int) throws(Diagnostic) -> Range<Int> {
        let (first, last) = (int(first), int(last))
        guard first >= 0, first <= last, last <= Int(UInt32.max) else { throw StoreError.damaged("the ids of some recipients") }
        return first..<last
    }

    /// How many of something.
    /// - Throws: a `Diagnostic` for a number below 0, or beyond all that Volley counts.
    func count(_ column: Int) throws(Diagnostic) -> Int {
        let count = int(column)
        guard (0...1 << 40).contains(count) else { throw StoreError.damaged("a count") }
        return count
    }

    /// A moment, stored as milliseconds since 1970; nil for NULL.
    /// - Throws: a `Diagnostic` for one outside the years 1 to 9999.
    func optionalMoment(_ column: Int) throws(Diagnostic) -> Timestamp? {
        guard let moment = optionalInt(column) else { return nil }
        guard (-62_135_596_800_000...253_402_300_799_999).contains(moment) else { throw StoreError.damaged("a moment") }
        return Timestamp(epochMilliseconds: Int64(moment))
    }
}

extension StoreError {
    /// A value of a row is not what it should be; it is not shown.
    static func damaged(_ what: String) -> Diagnostic {
        Diagnostic(
            "the store is damaged: \(what) cannot be right",
            remedy: "Nothing more is sent of this run. Restore the database from a backup, and look for what else writes to it.")
    }
}
