import Postgres

/// The library that the store is reached with.
public enum StoreLibrary {
    /// The version of libpq that this process runs with: `15.14`.
    public static var version: String { PostgresLibrary.version }
}
