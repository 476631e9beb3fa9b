package import Base
import Postgres
package import Runs

/// A run of the store that was begun, as the gate of another run sees it.
package struct BegunRun: Sendable {
    /// Its id; the order of publishing.
    package let id: String, number: Int
    package let state: RunState
    /// When it ended, by the store's clock; nil if it has not.
    package let endedAt: Timestamp?
    /// The machine that continues it alone, so that the store does not have the rest; blank while none does.
    package let takenBackBy: String
    /// Those whose processes send it, as far as they were not declared dead.
    package let machines: [String]

    /// Whether it is being sent, is paused, or will be continued by the next machine that helps.
    package var isActive: Bool { [.running, .paused].contains(state) && takenBackBy.isEmpty }
}

extension Store {
    /// The runs of a campaign that were begun on any machine, in the order of publishing.
    /// - Throws: `Diagnostic`: the store cannot be queried, or the row of such a run is damaged.
    package func begunRuns(of campaign: String, app: String) throws -> [BegunRun] {
        var runs: [BegunRun] = []
        try StoreError.explaining {
            try looking.once(isRepeated: true) { connection in
                runs = []
                try connection.run(
                    """
                    SELECT r.id, r.number, r.state, r.ended_at, r.taken_home, coalesce(
                        (SELECT string_agg(DISTINCT s.machine, chr(10)) FROM volley_sender s WHERE s.run = r.number AND s.dead_at IS NULL), '')
                    FROM volley_run r WHERE r.campaign = $1 AND r.app = $2 AND r.is_published AND r.life <> '' ORDER BY r.number
                    """, [.text(campaign), .text(app)], within: looking.answerSeconds
                ) { cells in
                    let id = cells.text(0)
                    guard let state = RunState(rawValue: cells.text(2)) else { throw StoreError.damaged("the state", ofRun: id) }
                    runs.append(
                        BegunRun(
                            id: id, number: cells.int(1), state: state, endedAt: try cells.optionalMoment(3), takenBackBy: cells.text(4),
                            machines: cells.text(5).split(separator: "\n").map(String.init)))
                }
            }
        }
        return runs
    }

    /// Whether the file of a run holds all that the store knows of it.
    package func holds(_ file: RunFile, allOf run: BegunRun) throws -> Bool { try holds(file, allOf: run.number, looking) }

    /// The plan of a run.
    /// - Parameter catalog: where it is kept while it is read.
    /// - Throws: `Diagnostic`: the store does not have it, or it is damaged there.
    package func plan(of id: String, in catalog: RunsFolder) throws -> RunPlan {
        let row = try storedPlan(id), scratch = try catalog.scratchFolder()
        let bare = try StoreError.bareFile(row.bare, of: id, in: scratch)
        defer { bare.close() }
        return bare.plan
    }

    /// Checks in the transaction in which a run begins that no other run of its campaign has begun since the gate
    /// looked. Of several at the same moment, one begins.
    /// - Parameter known: those that had begun then.
    static func requireNoOther(thanKnown known: Set<String>, of run: RunPlan, _ connection: PostgresConnection) throws {
        try connection.run(
            "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [.text("volley \(run.app)\n\(run.campaign)")], within: answerSeconds)
        var other: String?
        try connection.run(
            "SELECT id FROM volley_run WHERE campaign = $1 AND app = $2 AND is_published AND life <> '' ORDER BY number",
            [.text(run.campaign), .text(run.app)], within: answerSeconds
        ) { cells in if cells.text(0) != run.id, !known.contains(cells.text(0)) { other = cells.text(0) } }
        guard let other else { return }
        throw Diagnostic(
            "another machine began \(other), a run of '\(run.campaign)', at the same moment; nothing was sent",
            remedy: "`volley resume \(run.id)` sends this one, if it may still be sent then.", [.resume(run: run.id)])
    }
}
