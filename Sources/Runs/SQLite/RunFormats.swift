import GRDBSQLite

/// The formats of the files that this Volley reads and writes in a folder of runs. It reads all
/// older ones, and refuses newer ones.
public enum RunFormats {
    /// The newest format of each kind of file, by the name that documents give it. A run through
    /// one service has the format before the newest.
    public static let newest: [(file: String, format: Int)] = [
        ("run", RunSchema.versionWithSegments), ("sent.db", SendingHistory.version),
        (ScheduleStore.fileName, ScheduleStore.version),
        (OrderStore.fileName, OrderStore.version), ("suppression list", SuppressionSchema.version),
    ]

    /// The version of SQLite that this process runs with: `3.40.1`.
    public static var sqlite: String { String(cString: sqlite3_libversion()) }
}
