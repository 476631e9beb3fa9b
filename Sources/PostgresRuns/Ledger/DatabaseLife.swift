import Postgres

/// The lives of the database, as `RollCall` has them: statements that lease, claim and give back carry its condition.
enum DatabaseLife {
    private static let seconds = 10.0

    /// The database's life; begins one if there is none.
    static func current(_ connection: PostgresConnection) throws -> Int {
        try connection.run(
            "INSERT INTO volley_life VALUES (true, $1, clock_timestamp()) ON CONFLICT DO NOTHING",
            [.int(Int.random(in: 1 ... .max))], within: seconds)
        var life = 0
        try connection.run("SELECT number FROM volley_life", within: seconds) { life = $0.int(0) }
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

    /// SQL: whether work may go on in the run `r`: all of its members have confirmed the database's life, and whoever was not heard of is silent.
    static let isCalm = """
        EXISTS (SELECT 1 FROM volley_life l
            WHERE (l.number = r.published_in OR clock_timestamp() >= l.began_at + interval '\(Int(RollCall.quietSeconds)) s')
                AND NOT EXISTS (SELECT 1 FROM volley_sender m LEFT JOIN volley_present p ON p.sender = m.number AND p.life = l.number
                    WHERE m.run = r.number AND m.dead_at IS NULL AND p.sender IS NULL))
        """

    /// SQL: whether the member `s` has confirmed the database's life.
    static let hasConfirmed = """
        EXISTS (SELECT 1 FROM volley_life l JOIN volley_present p ON p.life = l.number WHERE p.sender = s.number)
        """
}
