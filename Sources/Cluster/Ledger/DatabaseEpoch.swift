import Postgres

/// The epochs of the database, as `RecoveryBarrier` has them: statements that lease, claim and give
/// back carry its condition.
enum DatabaseEpoch {
    private static let seconds = 10.0

    /// SQL: this database.
    private static let database = "(SELECT oid FROM pg_database WHERE datname = current_database())"

    /// SQL: whether the row of volley_life is of this epoch. One that came along with a copy of a
    /// server that was shut down is of another start of the server; one that came with a dump is in
    /// another database, or was written by another transaction than it says.
    private static let isOfThisEpoch =
        "server_started_at = pg_postmaster_start_time() AND database = \(database) AND volley_life.xmin = written_by"

    /// SQL: the epoch, in parentheses; no row before the first look.
    static let present = "(SELECT number, began_at FROM volley_life WHERE \(isOfThisEpoch))"

    /// The database's epoch; begins one if it has none.
    static func current(_ connection: PostgresConnection) throws -> Int {
        if let epoch = try known(connection) { return epoch }
        try connection.run("DELETE FROM volley_life WHERE NOT (\(isOfThisEpoch))", within: seconds)
        try connection.run(
            """
            INSERT INTO volley_life (one, number, began_at, server_started_at, database, written_by)
            VALUES (true, $1, clock_timestamp(), pg_postmaster_start_time(), \(database), pg_current_xact_id()::xid) ON CONFLICT DO NOTHING
            """, [.int(Int.random(in: 1 ... .max))], within: seconds)
        let epoch = try known(connection) ?? 0
        try connection.run("DELETE FROM volley_present WHERE life <> $1", [.int(epoch)], within: seconds)
        return epoch
    }

    private static func known(_ connection: PostgresConnection) throws -> Int? {
        var epoch: Int?
        try connection.run("SELECT number FROM \(present) l", within: seconds) { epoch = $0.int(0) }
        return epoch
    }

    /// Notes that a worker has nothing that could be missing in an epoch.
    static func confirm(_ worker: Int, epoch: Int, _ connection: PostgresConnection) throws {
        try connection.run(
            """
            INSERT INTO volley_present VALUES ($1, $2) ON CONFLICT (sender) DO UPDATE SET life = excluded.life
                WHERE volley_present.life <> excluded.life
            """, [.int(worker), .int(epoch)], within: seconds)
    }

    /// Notes that a survivor misses nothing of a run in an epoch. One of another epoch says nothing
    /// about the present one.
    static func survivor(_ run: Int, epoch: Int, _ connection: PostgresConnection) throws {
        try connection.run(
            "UPDATE volley_run SET witnessed_in = $2 WHERE number = $1 AND witnessed_in <> $2 AND $2 = (SELECT number FROM \(present) l)",
            [.int(run), .int(epoch)], within: seconds)
    }

    /// SQL: whether enough time has passed since the first look that every worker without a beat in
    /// this epoch is silent.
    private static let isQuiet = "clock_timestamp() >= l.began_at + interval '\(Int(RecoveryBarrier.quietSeconds)) s'"

    /// SQL: whether work may continue in the run `r`: a survivor and all of its workers have
    /// confirmed the database's epoch, and workers without a beat in it are silent.
    static let isCalm = """
        EXISTS (SELECT 1 FROM \(present) l
            WHERE l.number = r.witnessed_in AND (l.number = r.published_in OR \(isQuiet))
                AND NOT EXISTS (SELECT 1 FROM volley_sender m LEFT JOIN volley_present p ON p.sender = m.number AND p.life = l.number
                    WHERE m.run = r.number AND m.dead_at IS NULL AND p.sender IS NULL))
        """

    /// SQL: whether no worker is left that could say that nothing is missing in the run `r`.
    static let lacksSurvivors = """
        EXISTS (SELECT 1 FROM \(present) l
            WHERE l.number <> r.witnessed_in AND \(isQuiet)
                AND NOT EXISTS (SELECT 1 FROM volley_sender m WHERE m.run = r.number AND m.dead_at IS NULL AND m.is_witness))
        """

    /// SQL: whether the worker `s` has confirmed the database's epoch.
    static let hasConfirmed = """
        EXISTS (SELECT 1 FROM \(present) l JOIN volley_present p ON p.life = l.number WHERE p.sender = s.number)
        """
}
