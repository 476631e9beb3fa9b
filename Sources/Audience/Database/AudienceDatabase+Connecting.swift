public import Base
import Glibc
import Postgres

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
                    "Set it where Volley runs, for example: export \(variable.value)=postgresql://volley@HOST/DATABASE."))
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
            let (version, encrypted) = (connection.serverVersion, connection.isEncrypted ? "TLS" : "no TLS, on this machine")
            return "PostgreSQL \(version / 10_000).\(version % 10_000), as \(TextFormat.foreign(connection.role)), \(encrypted)"
        } catch let error as PostgresError {
            throw explained(error, at: nil)
        }
    }
}
