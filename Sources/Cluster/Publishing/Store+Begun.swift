package import Base
import Postgres
package import Runs

/// A run of the store that was begun, as the gate of another run sees it.
package struct BegunRun: Sendable {
    /// Its id; the order of publishing.
    package let id: String, number: Int
    /// Its last epoch.
    package let epoch: String
    package let state: RunState
    /// When it ended, by the store's clock; nil if it has not.
    package let endedAt: Timestamp?
    /// The machine that continues it alone, so that the store does not have the rest; blank while
    /// none does.
    package let takenBackBy: String
    /// Those whose processes send it, as far as they were not declared dead.
    package let machines: [String]
    /// What is left of a run that was removed from the store.
    package let removed: Removed?

    /// What tells which devices and runs a run has to do with.
    package struct Facts: Sendable {
        /// Its list (`RunSettings.listName`), the time of a schedule that it was for, and what it
        /// retries. Nothing is known of a plan that was damaged when it was removed.
        package let list: String?, occurrence: String?, retryOf: String?

        init(list: String?, occurrence: String?, retryOf: String?) {
            (self.list, self.occurrence, self.retryOf) = (list, occurrence, retryOf)
        }

        /// - Throws: `Diagnostic`: the plan's settings cannot be read.
        init(_ plan: RunPlan) throws {
            let settings = try plan.settings.get()
            self.init(
                list: settings.listName, occurrence: settings.schedule?.occurrence.map { "\($0)" },
                retryOf: plan.retryOf)
        }
    }

    /// The row that outlives a removal. It ended when it was removed at the latest, and sends
    /// nothing any more.
    package struct Removed: Sendable {
        package let facts: Facts
        /// The last entries of its journal: a file that has them knows which devices it reached.
        let entries: Set<FetchMark>

        /// - Throws: `Diagnostic`: the row is damaged.
        init(_ facts: Facts, entries text: String, of id: String) throws(Diagnostic) {
            self.facts = facts
            var entries: Set<FetchMark> = []
            for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
                let numbers = line.split(separator: " ", omittingEmptySubsequences: false).map { Int($0) }
                guard numbers.count == 3, let sender = numbers[0], let writer = numbers[1], let number = numbers[2]
                else {
                    throw StoreError.damaged("what it keeps of the removed run \(TextFormat.foreign(id))")
                }
                entries.insert(FetchMark(sender: sender, writer: writer, number: number))
            }
            self.entries = entries
        }
    }

    /// Whether it is being sent, is paused, or will be continued by the next machine that helps.
    package var isActive: Bool { [.running, .paused].contains(state) && takenBackBy.isEmpty }
}

/// What the gate of a run knew of the runs of its campaign when it judged them.
package struct JudgedRuns: Sendable {
    /// The last epochs of those that had begun, by their ids.
    package var epochs: [String: String]
    /// The right to begin, if it was taken before the look.
    package var lock: BeginningLock?

    package init(_ runs: [BegunRun], _ lock: BeginningLock?) {
        epochs = Dictionary(runs.map { ($0.id, $0.epoch) }) { first, _ in first }
        self.lock = lock
    }
}

/// The right to begin or continue a run of a campaign. A process has it from before its gate looks
/// at what others have begun until its own run has begun, so that the process that gets it next
/// sees that run. It ends with the connection: when the process ends, or after five minutes.
/// `requireNoOther` holds without it too, but only refuses once the run's file says that it has
/// begun.
package final class BeginningLock: Sendable {
    private let storeConnection: StoreConnection

    fileprivate init(_ storeConnection: StoreConnection) { self.storeConnection = storeConnection }

    /// Lets another process begin.
    package func release() { storeConnection.close() }
}

extension Store {
    /// Takes the right to begin a run of a campaign.
    /// - Parameter waitingSeconds: how long another process is waited for that has it.
    /// - Returns: nil if that process still has it, or a person has requested the end.
    /// - Throws: `Diagnostic`: the store cannot be queried.
    package func lockBeginning(of run: RunPlan, waitingSeconds: Double = 10) throws -> BeginningLock? {
        let storeConnection = storeConnection(), end = ContinuousClock.now + .seconds(waitingSeconds)
        while true {
            var isTaken = false
            try StoreError.explaining {
                try storeConnection.once { connection in
                    // Copying a large plan takes minutes. A machine that is suspended must not keep
                    // it for longer.
                    try connection.execute(
                        "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5min'",
                        within: storeConnection.answerSeconds)
                    try connection.run(
                        "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))",
                        [.text("volley begins \(run.app)\n\(run.campaign)")], within: storeConnection.answerSeconds
                    ) { isTaken = $0.int(0) == 1 }
                    if !isTaken { try connection.execute("ROLLBACK", within: storeConnection.answerSeconds) }
                }
            }
            if isTaken { return BeginningLock(storeConnection) }
            guard ContinuousClock.now < end, !retryDeadline.isAsked else { return nil }
            retryDeadline.rest(atMost: 0.1)
        }
    }

    /// The runs of a campaign that were begun on any machine, in the order of publishing; also
    /// those that were removed.
    /// - Throws: `Diagnostic`: the store cannot be queried, or the row of such a run is damaged.
    package func begunRuns(of campaign: String, app: String) throws -> [BegunRun] {
        var runs: [BegunRun] = []
        try StoreError.explaining {
            try looking.once(isRepeated: true) { connection in
                runs = []
                try connection.run(
                    """
                    SELECT id, number, state, ended_at, taken_home, life, coalesce(
                        (SELECT string_agg(DISTINCT s.machine, chr(10)) FROM volley_sender s WHERE s.run = r.number AND s.dead_at IS NULL), ''),
                        false, NULL, NULL, NULL, ''
                    FROM volley_run r WHERE campaign = $1 AND app = $2 AND is_published AND life <> ''
                    UNION ALL SELECT id, number, 'stopped', ended_at, taken_home, life, '', true, list, occurrence, retry_of, entries
                    FROM volley_removed WHERE campaign = $1 AND app = $2 ORDER BY 2
                    """, [.text(campaign), .text(app)], within: looking.answerSeconds
                ) { runs.append(try Self.begun($0)) }
            }
        }
        return runs
    }

    private static func begun(_ cells: PostgresRow) throws(Diagnostic) -> BegunRun {
        let id = cells.text(0)
        guard let state = RunState(rawValue: cells.text(2)) else { throw StoreError.damaged("the state", ofRun: id) }
        let facts = BegunRun.Facts(
            list: cells.optionalText(8), occurrence: cells.optionalText(9), retryOf: cells.optionalText(10))
        return BegunRun(
            id: id, number: cells.int(1), epoch: cells.text(5), state: state, endedAt: try cells.optionalMoment(3),
            takenBackBy: cells.text(4), machines: cells.text(6).split(separator: "\n").map(String.init),
            removed: cells.int(7) == 1 ? try BegunRun.Removed(facts, entries: cells.text(11), of: id) : nil)
    }

    /// Whether the file of a run holds all that the store knows of it. What a machine sent alone
    /// since then is only in the file that it continued.
    package func holds(_ file: RunFile, allOf run: BegunRun) throws -> Bool {
        guard run.takenBackBy.isEmpty || file.isWithoutStore else { return false }
        if let removed = run.removed { return try Set(file.fetchMarks()).isSuperset(of: removed.entries) }
        return try holds(file, allOf: run.number, looking)
    }

    /// What a run has to do with.
    /// - Parameter catalog: where its plan is kept while it is read.
    /// - Throws: `Diagnostic`: the store does not have it, or it is damaged there.
    package func facts(of run: BegunRun, in catalog: RunsFolder) throws -> BegunRun.Facts {
        if let removed = run.removed { return removed.facts }
        let row = try storedPlan(run.id), scratch = try catalog.scratchFolder()
        let bare = try StoreError.bareFile(row.bare, of: run.id, in: scratch)
        defer { bare.close() }
        return try BegunRun.Facts(bare.plan)
    }

    /// Checks in the transaction in which a run begins or continues that no other run of its
    /// campaign has begun or continued since the gate looked. Of several at the same moment, one
    /// does.
    /// - Parameter epochs: of those that had begun then, by their ids.
    static func requireNoOther(thanKnown epochs: [String: String], of run: RunPlan, _ connection: PostgresConnection)
        throws
    {
        try connection.run(
            "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [.text("volley \(run.app)\n\(run.campaign)")],
            within: answerSeconds)
        var other: String?
        try connection.run(
            "SELECT id, life FROM volley_run WHERE campaign = $1 AND app = $2 AND is_published AND life <> '' ORDER BY number",
            [.text(run.campaign), .text(run.app)], within: answerSeconds
        ) { cells in if cells.text(0) != run.id, epochs[cells.text(0)] != cells.text(1) { other = cells.text(0) } }
        if let other { throw StoreRefusal.isOvertaken(BegunAtOnce(run: run.id, campaign: run.campaign, other: other)) }
    }
}
