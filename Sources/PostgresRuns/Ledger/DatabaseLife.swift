import Postgres

/// The lives of the database, as `RollCall` has them: statements that lease, claim and give back carry its condition.
enum DatabaseLife {
    private static let seconds = 10.0

    /// SQL: this database.
    private static let database = "(SELECT oid FROM pg_database WHERE datname = current_database())"

    /// SQL: whether the row of volley_life is of this life. One that came along with a copy of a server that was shut down is of another start of the
    /// server; one that came with a dump is in another database, or was written by another transaction than it says.
    private static let isOfThisLife =
        "server_started_at = pg_postmaster_start_time() AND database = \(database) AND volley_life.xmin = written_by"

    /// SQL: the life, in parentheses; no row before anybody has looked.
    static let present = "(SELECT number, began_at FROM volley_life WHERE \(isOfThisLife))"

    /// The database's life; begins one if there is none.
    static func current(_ connection: PostgresConnection) throws -> Int {
        if let life = try known(connection) { return life }
        try connection.run("DELETE FROM volley_life WHERE NOT (\(isOfThisLife))", within: seconds)
        try connection.run(
            """
            INSERT INTO volley_life (one, number, began_at, server_started_at, database, written_by)
            VALUES (true, $1, clock_timestamp(), pg_postmaster_start_time(), \(database), pg_current_xact_id()::xid) ON CONFLICT DO NOTHING
            """, [.int(Int.random(in: 1 ... .max))], within: seconds)
        let life = try known(connection) ?? 0
        try connection.run("DELETE FROM volley_present WHERE life <> $1", [.int(life)], within: seconds)
        return life
    }

    private static func known(_ connection: PostgresConnection) throws -> Int? {
        var life: Int?
        try connection.run("SELECT number FROM \(present) l", within: seconds) { life = $0.int(0) }
        return life
    }

    /// Notes that a member has nothing that could be missing in a life.
    static func confirm(_ member: Int, life: Int, _ connection: PostgresConnection) throws {
        try connection.run(
            """
            INSERT INTO volley_present VALUES ($1, $2) ON CONFLICT (sender) DO UPDATE SET life = excluded.life
                WHERE volley_present.life <> excluded.life
            """, [.int(member), .int(life)], within: seconds)
    }

    /// Notes that a witness misses nothing of a run in a life. One of another life says nothing about the present one.
    static func witness(_ run: Int, life: Int, _ connection: PostgresConnection) throws {
        try connection.run(
            "UPDATE volley_run SET witnessed_in = $2 WHERE number = $1 AND witnessed_in <> $2 AND $2 = (SELECT number FROM \(present) l)",
            [.int(run), .int(life)], within: seconds)
    }

    /// SQL: from the first look on, everybody who was not heard of is silent.
    private static let isQuiet = "clock_timestamp() >= l.began_at + interval '\(Int(RollCall.quietSeconds)) s'"

    /// SQL: whether work may go on in the run `r`: a witness and all of its members have confirmed the database's life, and whoever was not heard of is silent.
    static let isCalm = """
        EXISTS (SELECT 1 FROM \(present) l
            WHERE l.number = r.witnessed_in AND (l.number = r.published_in OR \(isQuiet))
                AND NOT EXISTS (SELECT 1 FROM volley_sender m LEFT JOIN volley_present p ON p.sender = m.number AND p.life = l.number
                    WHERE m.run = r.number AND m.dead_at IS NULL AND p.sender IS NULL))
        """

    /// SQL: whether nobody is left who could say that nothing is missing in the run `r`.
    static let lacksWitnesses = """
        EXISTS (SELECT 1 FROM \(present) l
            WHERE l.number <> r.witnessed_in AND \(isQuiet)
                AND NOT EXISTS (SELECT 1 FROM volley_sender m WHERE m.run = r.number AND m.dead_at IS NULL AND m.is_witness))
        """

    /// SQL: whether the member `s` has confirmed the database's life.
    static let hasConfirmed = """
        EXISTS (SELECT 1 FROM \(present) l JOIN volley_present p ON p.life = l.number WHERE p.sender = s.number)
        """
}
