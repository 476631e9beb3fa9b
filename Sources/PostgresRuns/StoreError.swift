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
            case .unreachable: "the store cannot be reached: \(TextFormat.foreign(error.message))"
            case .lost, .late: "the store gave no answer: \(TextFormat.foreign(error.message))"
            case .refused: "the store refuses what Volley asks of it: \(TextFormat.foreign(error.message))"
            }
        return Diagnostic(what, remedy: error.remedy ?? remedy(error.sqlState))
    }

    /// SQLSTATEs: appendix A of PostgreSQL's manual.
    private static func remedy(_ state: String?) -> String {
        switch state {
        case "42501": "Give the role its rights: `volley store check` says which are missing."
        case "42P01", "42703": "Its tables are missing, or of another version: run `volley store migrate`."
        case "25006":
            "This server is a standby, or read-only: let the address lead to the primary, for example with target_session_attrs=read-write."
        case "53100": "Its disk is full: make room there."
        case "53300": "It has too many connections: allow more (max_connections); each process that sends needs four."
        default: "Look at the database's log; `volley store check` says what Volley finds there."
        }
    }
}
