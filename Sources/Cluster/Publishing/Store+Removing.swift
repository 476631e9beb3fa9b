import Base
import Postgres
public import Runs

/// Runs out of the store for good.
extension Store {
    /// Blocks that are removed at a time: no transaction lasts long.
    private static let blocksRemovedTogether = 500

    /// Removes a run. What workers recorded is removed last, at once, so that a run whose removal
    /// was interrupted, and that is published again, continues where it was. What keeps machines
    /// that did not fetch it from sending to its devices again stays (`BegunRun.Removed`).
    /// - Parameters:
    ///   - evenIfUnfetched: whether it is removed even if its outcomes are lost with it.
    ///   - catalog: where its file is.
    ///   - silent: called each second with the machines of workers that do not beat, and may be
    ///     gone.
    /// - Throws: `Diagnostic`: it is not there, workers send it, or its file does not hold all that
    ///   the store has; `CancellationError`.
    public func remove(
        _ id: String, evenIfUnfetched: Bool, fetchedInto catalog: RunsFolder, silent: ([String]) -> Void = { _ in }
    ) throws {
        let storeConnection = storeConnection(answerSeconds: Self.answerSeconds)
        guard let known = try StoreError.explaining({ try storeConnection.retrying { try Self.find(id, $0) } }) else {
            throw Self.isMissing(id)
        }
        var plan: RunPlan?
        if known.isPublished {
            // A plan that is damaged there can only be removed.
            let ledger = evenIfUnfetched ? try? open(id, in: catalog) : try open(id, in: catalog)
            try ledger?.requireAbsence(for: "removed", silent: silent)
            if !evenIfUnfetched { try requireFetched(known, id, in: catalog, storeConnection) }
            plan = ledger?.plan
        }
        try remove(known.number, id, plan)
    }

    /// Removes a run that has no workers, whatever became of it.
    /// - Parameters:
    ///   - number: the run's in the store.
    ///   - id: the run's, for messages.
    ///   - plan: nil if it cannot be read.
    func remove(_ number: Int, _ id: String, _ plan: RunPlan? = nil) throws {
        let storeConnection = storeConnection(answerSeconds: Self.answerSeconds)
        let facts = try? plan.map(BegunRun.Facts.init)
        try StoreError.explaining {
            guard try storeConnection.retrying({ try close(number, facts, $0) }) else { throw Self.isSent(id) }
            while try storeConnection.retrying({ try removeBlocks(of: number, $0) }) > 0 {
                if retryDeadline.isAsked { throw CancellationError() }
            }
            try storeConnection.retrying { connection in
                // Journal, segments, leases and workers go with it.
                try connection.run(
                    "DELETE FROM volley_run WHERE number = $1 AND NOT is_published", [.int(number)],
                    within: Self.answerSeconds)
                try connection.run(
                    "DELETE FROM volley_pace WHERE starts_with(key, $1)", [.text("run \(id) ")],
                    within: Self.answerSeconds)
                // A table that is not logged cannot refer to one that is.
                try connection.run(
                    "DELETE FROM volley_present p WHERE NOT EXISTS (SELECT 1 FROM volley_sender s WHERE s.number = p.sender)",
                    within: Self.answerSeconds)
                var isThere = false
                try connection.run(
                    "SELECT 1 FROM volley_run WHERE number = $1", [.int(number)], within: Self.answerSeconds
                ) { _ in
                    isThere = true
                }
                if isThere { throw Self.isSent(id) }
            }
        }
    }

    /// Keeps workers from joining, and keeps what must outlive a run that has begun.
    /// - Returns: false if there are some.
    private func close(_ number: Int, _ facts: BegunRun.Facts?, _ connection: PostgresConnection) throws -> Bool {
        try connection.transaction(within: Self.answerSeconds) {
            // A worker that joins holds the row under FOR KEY SHARE.
            try connection.run(
                "SELECT 1 FROM volley_run WHERE number = $1 FOR UPDATE", [.int(number)], within: Self.answerSeconds)
            var workers = 0
            try connection.run(
                "SELECT count(*) FROM volley_sender WHERE run = $1 AND dead_at IS NULL", [.int(number)],
                within: Self.answerSeconds
            ) { workers = $0.int(0) }
            guard workers == 0 else { return false }
            // A removal that was cut off left the row.
            try connection.run(
                """
                INSERT INTO volley_removed
                SELECT id, number, app, campaign, $2, $3, $4, life,
                    coalesce(ended_at, (extract(epoch FROM clock_timestamp()) * 1000)::bigint), taken_home,
                    coalesce((SELECT string_agg(concat_ws(' ', sender, lane, last), chr(10)) FROM
                        (SELECT sender, lane, max(number) AS last FROM volley_journal WHERE run = $1 GROUP BY 1, 2) j), '')
                FROM volley_run WHERE number = $1 AND life <> '' ON CONFLICT (id) DO NOTHING
                """,
                [
                    .int(number), .optional(facts?.list), .optional(facts?.occurrence), .optional(facts?.retryOf),
                ], within: Self.answerSeconds)
            try connection.run(
                "UPDATE volley_run SET is_published = false WHERE number = $1", [.int(number)],
                within: Self.answerSeconds)
            return true
        }
    }

    /// - Returns: how many were removed; 0 also if the run has been published again since.
    private func removeBlocks(of number: Int, _ connection: PostgresConnection) throws -> Int {
        try connection.transaction(within: Self.answerSeconds) {
            guard try Self.hold(number, connection) == false else { return 0 }
            return try connection.run(
                """
                DELETE FROM volley_block WHERE run = $1 AND number IN
                    (SELECT number FROM volley_block WHERE run = $1 ORDER BY number LIMIT \(Self.blocksRemovedTogether))
                """, [.int(number)], within: Self.answerSeconds)
        }
    }

    /// Keeps others from publishing a run or removing blocks of it until the transaction ends; its
    /// blocks may be copied until then.
    /// - Returns: whether it is published; nil if it is gone.
    static func hold(_ number: Int, _ connection: PostgresConnection) throws -> Bool? {
        var isPublished: Bool?
        try connection.run(
            "SELECT is_published FROM volley_run WHERE number = $1 FOR NO KEY UPDATE", [.int(number)],
            within: answerSeconds
        ) { isPublished = $0.int(0) == 1 }
        return isPublished
    }

    private static func isSent(_ id: String) -> Diagnostic {
        Diagnostic(
            "another process publishes or sends the run \(id) again",
            remedy: "`volley store list` shows the members of runs. Try again later.", [.wait(run: id)])
    }

    // MARK: - What would be lost

    /// Makes sure that the run's file holds all that the store has of it.
    private func requireFetched(
        _ known: Known, _ id: String, in catalog: RunsFolder, _ storeConnection: StoreConnection
    ) throws {
        let remedy =
            "Fetch it before, with `volley store fetch \(id)`. With --force it is removed all the same, and what is only there is lost."
        guard catalog.holds(id) else {
            throw Diagnostic(
                "what became of the run \(id) is nowhere but in the store, as far as this machine knows", remedy: remedy
            )
        }
        let file = try RunFile(path: catalog.place(of: id), readOnly: true)
        guard file.planDigest == known.digest else {
            throw Diagnostic(
                "the file of this id is another run than the one in the store", file: file.place, remedy: remedy)
        }
        guard try file.prunedAt == nil && holds(file, allOf: known.number, storeConnection) else {
            throw Diagnostic(
                "the run's file does not hold all that the store knows of it", file: file.place, remedy: remedy)
        }
    }

    /// Whether a run's file holds all that workers have recorded.
    /// - Parameter number: the run's in the store.
    func holds(_ file: RunFile, allOf number: Int, _ storeConnection: StoreConnection) throws -> Bool {
        let recorded = try StoreError.explaining {
            try storeConnection.retrying { try Self.lastEntries(of: number, $0) }
        }
        return Set(try file.fetchMarks()).isSuperset(of: recorded)
    }

    /// The last entry of each worker in each of its sequences of numbers.
    private static func lastEntries(of run: Int, _ connection: PostgresConnection) throws -> Set<FetchMark> {
        var last: Set<FetchMark> = []
        try connection.run(
            "SELECT sender, lane, max(number) FROM volley_journal WHERE run = $1 GROUP BY 1, 2", [.int(run)],
            within: answerSeconds
        ) { last.insert(FetchMark(sender: $0.int(0), writer: $0.int(1), number: $0.int(2))) }
        return last
    }
}
