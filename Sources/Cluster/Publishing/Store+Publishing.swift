package import Base
import Postgres
package import Runs

/// Plans into the store.
extension Store {
    /// Copies a plan into the store, unless it is there, and opens it as this machine's.
    ///
    /// Blocks are committed in parts, and no worker uses them before all are there
    /// (`is_published`). What they hold follows from the plan's digest: a process that publishes a
    /// plan that another one left in the middle, or publishes at the same moment, copies what is
    /// missing.
    /// - Parameter progress: called with the recipients that this call has found or copied so far,
    ///   ascending, from several threads, one at a time.
    /// - Throws: `Diagnostic`: another plan has its id there; the file was changed; it cannot be
    ///   written. Then what is in the store is not used.
    package func publish(_ file: RunFile, progress: @escaping @Sendable (Int) -> Void = { _ in }) throws -> SharedLedger
    {
        guard file.hasDigest else {
            throw Diagnostic(
                "a plan of this older format cannot be sent by several machines", file: file.place,
                remedy: "Plan the campaign again.",
                [.planAgain])
        }
        let storeConnection = storeConnection(answerSeconds: Self.answerSeconds)
        let known = try StoreError.explaining { try storeConnection.retrying { try enter(file, $0) } }
        guard known.digest == file.planDigest else { throw Self.isAnother(file) }
        if !known.isPublished {
            // A store that was restored may be in the middle of copying what was sent since.
            guard try known.hasBegun || file.fetchMarks().isEmpty else { throw Self.hasBegun(file) }
            try file.checkUnchanged()
            try StoreError.explaining {
                try removedMeanwhile(file) { try BlockCopy(self, file, run: known.number, progress).run() }
                try storeConnection.retrying { try confirm(file, known.number, $0) }
            }
        }
        try file.noteShared(at: .now())
        return SharedLedger(self, run: known.number, replica: file, scratch: nil)
    }

    /// Opens a run as this machine's, if it was published.
    package func reopen(_ file: RunFile) throws -> SharedLedger? {
        let known = try StoreError.explaining { try looking.once { try Self.find(file.plan.id, $0) } }
        guard let known, known.isPublished, known.digest == file.planDigest else { return nil }
        return SharedLedger(self, run: known.number, replica: file, scratch: nil)
    }

    /// How long the store may take for what it does at once; seconds.
    static let answerSeconds = 60.0

    /// A run of the store.
    struct Known {
        var number: Int
        var digest: String
        var isPublished: Bool
        /// Whether an epoch of it has begun.
        var hasBegun: Bool
    }

    static func find(_ id: String, _ connection: PostgresConnection) throws -> Known? {
        var known: Known?
        try connection.run(
            "SELECT number, digest, is_published, life <> '' FROM volley_run WHERE id = $1", [.text(id)],
            within: answerSeconds
        ) {
            known = Known(number: $0.int(0), digest: $0.text(1), isPublished: $0.int(2) == 1, hasBegun: $0.int(3) == 1)
        }
        return known
    }

    private static func isAnother(_ file: RunFile) -> Diagnostic {
        Diagnostic(
            "the store has another run with the id \(file.plan.id)", file: file.place,
            remedy: "Two projects share the store, or this file was changed. Plan again: the next plan gets a new id.")
    }

    /// The run's row. If it does not exist, it is made, together with the rows of its segments.
    private func enter(_ file: RunFile, _ connection: PostgresConnection) throws -> Known {
        if let known = try Self.find(file.plan.id, connection) { return known }
        let plan = file.plan
        try connection.run("SELECT 1 FROM volley_removed WHERE id = $1", [.text(plan.id)], within: Self.answerSeconds) {
            _ in throw Self.wasSentAndRemoved(file, isWhole: (try? file.sharedSince()) == nil)
        }
        // The store would hand out recipients again that were claimed before.
        if let since = try file.sharedSince() { throw Self.isForgotten(file, since) }
        guard try file.claims().made == 0, try file.fetchMarks().isEmpty else { throw Self.hasBegun(file) }
        let bare = try file.bareFile()
        try connection.transaction(within: Self.answerSeconds) {
            var number: Int?
            try connection.run(
                """
                INSERT INTO volley_run (id, digest, app, campaign, plan, audience, is_published, state, cause, life, noted, conducts_sending,
                    published_in, witnessed_in, taken_home, changes, offers)
                VALUES ($1, $2, $3, $4, $5, $6, false, 'planned', '', '', '', false, $7, $7, '', 0, 0)
                ON CONFLICT (id) DO NOTHING RETURNING number
                """,
                [
                    .text(plan.id), .text(file.planDigest), .text(plan.app), .text(plan.campaign), .bytes(bare),
                    .int(plan.audience),
                    .int(try DatabaseEpoch.current(connection)),
                ], within: Self.answerSeconds
            ) { number = $0.int(0) }
            // Another process was quicker.
            guard let number else { return }
            for segment in plan.segments where !segment.ids.isEmpty {
                try connection.run(
                    "INSERT INTO volley_leg (run, first, last, next, is_open, cause) VALUES ($1, $2, $3, $2, false, '')",
                    [.int(number), .int(segment.ids.lowerBound), .int(segment.ids.upperBound)],
                    within: Self.answerSeconds)
            }
        }
        guard let known = try Self.find(file.plan.id, connection) else { throw Self.isRemoved(file) }
        return known
    }

    private static func hasBegun(_ file: RunFile) -> Diagnostic {
        Diagnostic(
            "sending this run was begun, and the store does not have it", file: file.place,
            remedy:
                "Only a plan can be put there. `volley retry \(file.plan.id)` makes one of the devices that are left.",
            [.retry(run: file.plan.id)])
    }

    private static func isForgotten(_ file: RunFile, _ since: Timestamp) -> Diagnostic {
        Diagnostic(
            "this run was put into a store at \(since), and this store does not have it: whom other machines have sent to is not known here",
            file: file.place,
            remedy:
                "Name the store that has it, then `volley resume \(file.plan.id)`. If it is lost, `volley cancel \(file.plan.id)` ends the run "
                + "here, and its report says how a new plan leaves out the devices that may have got it.",
            [.resume(run: file.plan.id), .cancel(run: file.plan.id)])
    }

    /// Lets workers use the run, if all of its blocks are there.
    private func confirm(_ file: RunFile, _ number: Int, _ connection: PostgresConnection) throws {
        let count = try connection.transaction(within: Self.answerSeconds) {
            // Counted by a statement that begins once no process removes blocks. Of a run that was
            // not begun nothing can be forgotten.
            _ = try Self.hold(number, connection)
            let epoch = try DatabaseEpoch.current(connection)
            let count = try connection.run(
                """
                UPDATE volley_run SET is_published = true,
                    published_in = CASE WHEN is_published OR life <> '' THEN published_in ELSE $3 END,
                    witnessed_in = CASE WHEN is_published OR life <> '' THEN witnessed_in ELSE $3 END
                WHERE number = $1 AND (SELECT count(*) FROM volley_block WHERE run = $1) = $2
                """, [.int(number), .int(RecipientBlock.count(of: file.plan.audience)), .int(epoch)],
                within: Self.answerSeconds)
            guard count == 1 else { return count }
            // Its removal was cut off.
            try connection.run(
                "DELETE FROM volley_removed WHERE number = $1", [.int(number)], within: Self.answerSeconds)
            return count
        }
        if count != 1 { throw Self.isRemoved(file) }
    }

    /// A run that was begun and is there no longer.
    /// - Parameter isWhole: whether the file has all that was sent.
    package static func wasSentAndRemoved(_ file: RunFile, isWhole: Bool) -> Diagnostic {
        let id = file.plan.id
        var found = Diagnostic(
            "this run was sent through the store, and was removed from it since: it does not continue",
            file: file.place,
            remedy:
                "`volley cancel \(id)` ends it. Then `volley retry \(id) --outcome unsent` sends to the devices that are left, if this file is "
                + "the newest one of the run.", [.cancelThenRetry(run: id)])
        if !isWhole {
            found.remedy =
                "What other machines sent is not in this file: retry the run on the machine that fetched all of it. "
                + "If none did, only a new plan reaches the rest: `volley report \(id)` says how."
            found.remedies = [.ask(.restoreRun(id)), .readReport(run: id)]
        }
        return found
    }

    /// Blocks refer to the run's row: without it none can be written.
    private func removedMeanwhile(_ file: RunFile, _ body: () throws -> Void) throws {
        do { try body() } catch let error as PostgresError where error.sqlState == "23503" {
            throw Self.isRemoved(file)
        }
    }

    private static func isRemoved(_ file: RunFile) -> Diagnostic {
        Diagnostic(
            "the run was removed from the store while it was copied there", file: file.place,
            remedy: "Nothing was sent; try again.")
    }

    /// Opens a run that another machine published.
    /// - Parameter catalog: where its plan is kept while this process takes part.
    /// - Throws: `Diagnostic`: the store has no such run.
    package func open(_ id: String, in catalog: RunsFolder) throws -> SharedLedger {
        let storeConnection = storeConnection(answerSeconds: 60)
        var found: (number: Int, bare: [UInt8])?
        try StoreError.explaining {
            try storeConnection.retrying { connection in
                try connection.run(
                    "SELECT number, plan FROM volley_run WHERE id = $1 AND is_published", [.text(id)], within: 60
                ) {
                    found = ($0.int(0), Array($0.bytes(1)))
                }
            }
        }
        guard let found else {
            throw Self.isMissing(id)
        }
        let scratch = try catalog.scratchFolder()
        return SharedLedger(
            self, run: found.number, replica: try StoreError.bareFile(found.bare, of: id, in: scratch), scratch: scratch
        )
    }
}
