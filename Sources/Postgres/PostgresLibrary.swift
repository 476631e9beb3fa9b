import CPostgreSQL

/// The library that talks to PostgreSQL.
public enum PostgresLibrary {
    /// The version that this process runs with: `15.14`.
    public static var version: String {
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }
}
