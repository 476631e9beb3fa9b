package import Base
import Postgres

/// Times of schedules. Which run may be sent for a time is decided by its row alone: a process
/// changes it only under conditions that the row itself fulfils, in one statement. A service that
/// was suspended, declared dead and continues finds another run there; if no other has followed it,
/// it continues as if nothing had happened.
extension Store {
    private static let firingSeconds = 10.0

    /// Claims a time for a run, begins it, or leaves it out; again for the same run, this changes
    /// nothing. A time that a dead service had claimed and not begun may be claimed for another
    /// run.
    /// - Parameter service: the number of the service that does so; nil where a person sends.
    /// - Returns: nil if the time is this run's now; otherwise the firing that has it.
    /// - Throws: `Diagnostic`: the store cannot be queried; `StoreRefusal.quiet`: it may have
    ///   forgotten which run has the time.
    package func claim(_ firing: SharedFiring, by service: Int? = nil) throws -> SharedFiring? {
        try StoreError.explaining { try looking.once { try Self.claim(firing, by: service, $0) } }
    }

    static func claim(_ firing: SharedFiring, by service: Int?, _ connection: PostgresConnection) throws
        -> SharedFiring?
    {
        var isOurs = false
        try connection.run(
            """
            INSERT INTO volley_firing AS old (app, campaign, occurrence, run, state, owner, machine, changed_at)
            SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::bigint, $7::text, clock_timestamp()
            WHERE NOT \(isQuiet)
                OR EXISTS (SELECT 1 FROM volley_firing f WHERE f.app = $1 AND f.campaign = $2 AND f.occurrence = $3 AND f.run = $4)
            ON CONFLICT (app, campaign, occurrence) DO UPDATE SET
                run = excluded.run, machine = excluded.machine, changed_at = excluded.changed_at,
                owner = CASE WHEN old.run = excluded.run THEN coalesce(excluded.owner, old.owner) ELSE excluded.owner END,
                state = CASE WHEN old.run = excluded.run AND old.state = 'begun' THEN old.state ELSE excluded.state END
            WHERE old.run = excluded.run AND (old.state IN ('claimed', 'begun') OR old.state = excluded.state OR excluded.state = 'begun')
                OR old.state = 'claimed' AND NOT EXISTS (SELECT 1 FROM volley_service s WHERE s.number = old.owner AND s.dead_at IS NULL)
                OR old.state = 'skipped' AND excluded.state = 'begun'
            RETURNING 1
            """,
            values(firing) + [
                .text(firing.run), .text(firing.state.rawValue), .optional(service), .text(firing.machine),
            ],
            within: firingSeconds
        ) { _ in isOurs = true }
        if isOurs { return nil }
        let holder = try find(firing, connection)
        if holder.map({ $0.run != firing.run && $0.state == .skipped && firing.state == .begun }) ?? true {
            try refuseWhileQuiet(connection)
        }
        guard let holder else {
            throw Diagnostic(
                "who has \(firing.campaign) (\(firing.occurrence)) in the store cannot be read",
                remedy: "Use the same version on all machines.")
        }
        return holder
    }

    /// The firing that has a time; nil if the time is free, or only this run has had it.
    /// - Throws: as `claim`.
    package func holder(of firing: SharedFiring) throws -> SharedFiring? {
        try StoreError.explaining {
            try looking.once { connection in
                let holder = try Self.find(firing, connection)
                if let holder, holder.run == firing.run || holder.state != .skipped {
                    return holder.run == firing.run ? nil : holder
                }
                try Self.refuseWhileQuiet(connection)
                return nil
            }
        }
    }

    /// Writes again what a machine's own record says of times, also if the database has forgotten
    /// them. What was begun there replaces what was not begun elsewhere: it was planned because
    /// that was forgotten.
    /// - Parameters:
    ///   - firings: of each time one.
    ///   - service: the number of the service that does so.
    func write(_ firings: [SharedFiring], by service: Int) throws {
        for start in stride(from: 0, to: firings.count, by: Self.firingsOfStatement) {
            let part = firings[start..<min(start + Self.firingsOfStatement, firings.count)].map { firing in
                JSONValue.object(
                    pairs: [
                        ("app", firing.app), ("campaign", firing.campaign), ("occurrence", firing.occurrence),
                        ("run", firing.run),
                        ("state", firing.state.rawValue),
                    ].map { ($0, .string($1)) })
            }
            try StoreError.explaining {
                try looking.once { connection in
                    try connection.run(
                        """
                        INSERT INTO volley_firing AS old (app, campaign, occurrence, run, state, owner, machine, changed_at)
                        SELECT f.app, f.campaign, f.occurrence, f.run, f.state, $2::bigint, $3::text, clock_timestamp()
                        FROM json_to_recordset($1::json) AS f (app text, campaign text, occurrence text, run text, state text)
                        ON CONFLICT (app, campaign, occurrence) DO UPDATE SET
                            run = excluded.run, state = excluded.state, owner = excluded.owner, machine = excluded.machine,
                            changed_at = excluded.changed_at
                        WHERE excluded.state = 'begun' AND old.state IN ('claimed', 'skipped')
                            OR old.run = excluded.run AND old.state = 'claimed'
                        """, [.text(JSONValue.array(part).text), .int(service), .text(MachineName.host)],
                        within: Self.firingSeconds)
                }
            }
        }
    }

    private static let firingsOfStatement = 1000

    /// SQL: whether the database came up so recently that services may not have said yet which
    /// times they have begun (`FiringBarrier`). This also holds until the first look.
    private static let isQuiet = """
        NOT EXISTS (SELECT 1 FROM \(DatabaseEpoch.present) l
            WHERE clock_timestamp() >= l.began_at + interval '\(Int(FiringBarrier.quietSeconds)) s')
        """

    private static func isQuiet(_ connection: PostgresConnection) throws -> Bool {
        var isQuiet = true
        try connection.run("SELECT \(Self.isQuiet)", within: firingSeconds) { isQuiet = $0.int(0) == 1 }
        return isQuiet
    }

    private static func refuseWhileQuiet(_ connection: PostgresConnection) throws {
        // From the first look on it is counted.
        _ = try DatabaseEpoch.current(connection)
        guard try isQuiet(connection) else { return }
        throw StoreRefusal.quiet
    }

    /// Gives back a time whose run was not begun.
    package func giveBack(_ firing: SharedFiring) throws {
        try StoreError.explaining {
            try looking.once { connection in
                try connection.run(
                    """
                    UPDATE volley_firing SET state = 'claimed', changed_at = clock_timestamp()
                    WHERE app = $1 AND campaign = $2 AND occurrence = $3 AND run = $4 AND state = 'begun'
                    """, Self.values(firing) + [.text(firing.run)], within: Self.firingSeconds)
            }
        }
    }

    /// Notes of times that were claimed and never begun that nothing is sent for them any more.
    /// - Parameter runs: the runs that would have been sent.
    package func end(_ runs: [String], as state: SharedFiring.State) throws {
        guard !runs.isEmpty else { return }
        try StoreError.explaining {
            try looking.once { connection in
                try connection.run(
                    """
                    UPDATE volley_firing SET state = $2, changed_at = clock_timestamp()
                    WHERE state = 'claimed' AND run IN (SELECT json_array_elements_text($1::json))
                    """, [.text(JSONValue.array(runs.map { .string($0) }).text), .text(state.rawValue)],
                    within: Self.firingSeconds)
            }
        }
    }

    private static func find(_ firing: SharedFiring, _ connection: PostgresConnection) throws -> SharedFiring? {
        var found: SharedFiring?
        try connection.run(
            """
            SELECT app, campaign, occurrence, run, state, machine FROM volley_firing
            WHERE app = $1 AND campaign = $2 AND occurrence = $3
            """, values(firing), within: firingSeconds
        ) { found = SharedFiring($0) }
        return found
    }

    private static func values(_ firing: SharedFiring) -> [PostgresValue] {
        [.text(firing.app), .text(firing.campaign), .text(firing.occurrence)]
    }

    // MARK: - Services

    /// How long the store keeps which run had a time; days. Far longer than schedules look back.
    private static let daysOfFirings = 400

    /// Makes a service known.
    /// - Returns: its number.
    func joinAsService() throws -> Int {
        try StoreError.explaining {
            try looking.once { connection in
                try connection.run(
                    "DELETE FROM volley_service WHERE dead_at < now() - interval '1 day'", within: Self.firingSeconds)
                try connection.run(
                    "DELETE FROM volley_firing WHERE changed_at < now() - make_interval(days => $1::int)",
                    [.int(Self.daysOfFirings)],
                    within: Self.firingSeconds)
                var number = 0
                try connection.run(
                    "INSERT INTO volley_service (machine, beat, joined_at) VALUES ($1, 0, clock_timestamp()) RETURNING number",
                    [.text(MachineName.process)], within: Self.firingSeconds
                ) { number = $0.int(0) }
                return number
            }
        }
    }

    /// What a beat of a service brings.
    struct ServiceNews: Sendable {
        /// Of the others that are there, by their numbers.
        var beats: [String: Int64] = [:]
        /// Times that dead services had claimed and not begun.
        var orphans: [SharedFiring] = []
        /// Whether the database came up only just now (`FiringBarrier`).
        var isQuiet = true
    }

    /// The epoch of the database; begins one if it has none.
    func databaseEpoch() throws -> Int {
        try StoreError.explaining { try looking.once(isRepeated: true) { try DatabaseEpoch.current($0) } }
    }

    /// - Returns: nil if the service was declared dead.
    func beat(ofService me: Int) throws -> ServiceNews? {
        try StoreError.explaining {
            try looking.once(isRepeated: true) { connection in
                let count = try connection.run(
                    "UPDATE volley_service SET beat = beat + 1 WHERE number = $1 AND dead_at IS NULL", [.int(me)],
                    within: Self.firingSeconds)
                guard count == 1 else { return nil }
                var news = ServiceNews()
                try connection.run(
                    "SELECT number, beat FROM volley_service WHERE dead_at IS NULL AND number <> $1", [.int(me)],
                    within: Self.firingSeconds
                ) { news.beats["\($0.int(0))"] = Int64($0.int(1)) }
                try connection.run(
                    """
                    SELECT app, campaign, occurrence, run, state, machine FROM volley_firing f WHERE state = 'claimed'
                        AND NOT EXISTS (SELECT 1 FROM volley_service s WHERE s.number = f.owner AND s.dead_at IS NULL)
                    ORDER BY app, campaign, occurrence
                    """, within: Self.firingSeconds
                ) { if let firing = SharedFiring($0) { news.orphans.append(firing) } }
                news.isQuiet = try Self.isQuiet(connection)
                return news
            }
        }
    }

    /// Declares services dead whose beats have not changed since.
    func declareDead(_ silences: [WorkerWatch.Silence]) throws {
        try StoreError.explaining {
            try looking.once { connection in
                for silence in silences {
                    try connection.run(
                        "UPDATE volley_service SET dead_at = clock_timestamp() WHERE number = $1 AND beat = $2 AND dead_at IS NULL",
                        [.int(Int(silence.worker) ?? 0), .int(Int(silence.beat))], within: Self.firingSeconds)
                }
            }
        }
    }
}

extension SharedFiring {
    /// nil for a state that this version does not know.
    fileprivate init?(_ cells: PostgresRow) {
        guard let state = State(rawValue: cells.text(4)) else { return nil }
        self.init(
            app: cells.text(0), campaign: cells.text(1), occurrence: cells.text(2), run: cells.text(3), state: state)
        machine = cells.text(5)
    }
}

/// A time of a campaign's schedule, and the one run that may be sent for it, on whichever machine.
package struct SharedFiring: Hashable, Sendable {
    /// How far it is.
    package enum State: String, Sendable {
        /// A service is to plan it, or has, and nothing of its run was sent. Once that service is
        /// dead, another may have it.
        case claimed
        /// Its run is being sent, or was: no other run gets the time any more.
        case begun
        /// Nothing is sent for it unless a person does so by hand: it was left out, or is too late.
        case skipped
        /// Nothing is sent for it any more: its plan was cancelled, for example.
        case over
    }

    /// The names of the app and the campaign, and the time on the schedule's clock.
    package var app: String, campaign: String, occurrence: String
    /// The run; blank for a time that was left out.
    package var run: String
    package var state: State
    /// The machine that has it.
    package var machine = MachineName.host

    package init(app: String, campaign: String, occurrence: String, run: String, state: State) {
        (self.app, self.campaign, self.occurrence, self.run, self.state) = (app, campaign, occurrence, run, state)
    }
}

extension SharedFiring {
    /// Why another run cannot be sent for the time.
    package var isTaken: Diagnostic {
        Diagnostic(
            "another machine, \(machine), has \(campaign) (\(occurrence))\(run.isEmpty ? "" : " as \(run)"); nothing was sent",
            remedy:
                "Each time goes out only once, on one machine. To send another push, give the campaign another time.",
            [.giveAnotherTime])
    }
}
