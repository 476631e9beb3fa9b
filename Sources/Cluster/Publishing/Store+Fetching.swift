import Base
import Postgres
public import Runs

/// A run that was fetched from the store.
public struct FetchedRun: Hashable, Sendable {
    /// Where its file is.
    public var place: String
    /// Whether the file was made; otherwise it was there, and was brought up to date.
    public var isNew: Bool
    /// Its recipients, and how many of them were claimed.
    public var audience: Int, claimed: Int
    /// How the run is.
    public var status: RunStatus
}

/// How far fetching is.
public enum FetchProgress: Hashable, Sendable {
    /// Workers on these machines do not beat: whether they are gone shows within half a minute.
    case waiting(machines: [String])
    /// The number of recipients copied so far.
    case recipients(Int)
    /// The number of outcomes taken over so far.
    case outcomes(Int)
}

/// Runs out of the store.
extension Store {
    /// Makes a run's file from what the store has of it, or brings the file up to date that is
    /// there: then its claims, outcomes and state are those of the store. The run must not be sent
    /// during this.
    /// - Parameters:
    ///   - catalog: where its file is, or will be.
    ///   - progress: called now and then.
    /// - Throws: `Diagnostic`: the store does not have it, workers send it, there is another run of
    ///   its id; `CancellationError`. Then no file was made.
    public func fetch(_ id: String, into catalog: RunsFolder, progress: (FetchProgress) -> Void = { _ in }) throws
        -> FetchedRun
    {
        let row = try storedPlan(id)
        guard row.takenBackBy.isEmpty else { throw Self.hasRunFile(row) }
        let isNew = !catalog.holds(id)
        let file = isNew ? nil : try ownFile(row, in: catalog)
        let watcher = try open(id, in: catalog)
        try watcher.requireAbsence(for: "fetched") { progress(.waiting(machines: $0)) }
        if let file {
            try takeOver(row, into: file, isNew: false, progress)
            return try fetched(file, at: file.place, isNew: false)
        }
        let rebuilt: RebuiltRun
        do { rebuilt = try RebuiltRun(bare: row.bare, of: id, in: catalog) } catch is Mistake {
            throw StoreError.damaged("the plan", ofRun: id)
        }
        try copyRecipients(of: row, into: rebuilt, progress)
        let run = try rebuilt.complete()
        try takeOver(row, into: run, isNew: true, progress)
        let result = try fetched(run, at: "", isNew: true)
        return FetchedRun(
            place: try rebuilt.place(run), isNew: true, audience: result.audience, claimed: result.claimed,
            status: result.status)
    }

    private func fetched(_ run: RunFile, at place: String, isNew: Bool) throws -> FetchedRun {
        let result = FetchedRun(
            place: place, isNew: isNew, audience: run.plan.audience, claimed: try run.claims().claimed.count,
            status: try run.status())
        try run.closeIntoOneFile()
        return result
    }

    /// What the store has of a run other than recipients and journal.
    struct StoredPlan {
        var id: String
        var number: Int
        var digest: String
        var audience: Int
        var bare: [UInt8]
        /// The machine that continues alone; blank while no machine does.
        var takenBackBy: String
    }

    private static func hasRunFile(_ row: StoredPlan) -> Diagnostic {
        Diagnostic(
            "the store had forgotten something of the run \(row.id), so \(TextFormat.foreign(row.takenBackBy)) went on with it alone",
            remedy:
                "What became of it is in its file there. What the store has is older, and would send to devices again.")
    }

    func storedPlan(_ id: String) throws -> StoredPlan {
        let storeConnection = storeConnection(answerSeconds: Self.answerSeconds)
        var found: StoredPlan?, isComplete = false
        try StoreError.explaining {
            try storeConnection.retrying { connection in
                try connection.run(
                    "SELECT number, digest, audience, plan, is_published, taken_home FROM volley_run WHERE id = $1",
                    [.text(id)],
                    within: Self.answerSeconds
                ) { cells in
                    found = StoredPlan(
                        id: id, number: cells.int(0), digest: cells.text(1), audience: try cells.count(2),
                        bare: Array(cells.bytes(3)),
                        takenBackBy: cells.text(5))
                    isComplete = cells.int(4) == 1
                }
            }
        }
        guard let found else { throw Self.isMissing(id) }
        guard isComplete else {
            throw Diagnostic(
                "the store does not have all recipients of the run \(id)",
                remedy:
                    "It was being copied there, or removed. `volley send \(id)` on the machine that planned it copies what is missing.",
                [.send(run: id)])
        }
        return found
    }

    /// The id of the run that a command's RUN argument means.
    /// - Parameters:
    ///   - argument: a run's id, the path of its file, or `last`: of the runs in the store, the one
    ///     that was planned last.
    ///   - catalog: where a file is looked for that is named without a folder.
    /// - Throws: `Diagnostic`: there is no run in the store, or no such file; `CancellationError`.
    public func id(named argument: String, in catalog: RunsFolder) throws -> String {
        if argument == "last" { return try lastRun() }
        guard argument.contains("/") || argument.hasSuffix(".sqlite") else { return argument }
        let run = try catalog.open(named: argument, readOnly: true)
        defer { run.close() }
        return run.plan.id
    }

    private func lastRun() throws -> String {
        let storeConnection = storeConnection(answerSeconds: Self.answerSeconds)
        var last: String?
        try StoreError.explaining {
            try storeConnection.retrying { connection in
                // Ids begin with the moment of planning: 20261201-090000.
                try connection.run(
                    "SELECT id FROM volley_run ORDER BY left(id, 15) COLLATE \"C\" DESC, number DESC LIMIT 1", [],
                    within: Self.answerSeconds
                ) { last = $0.text(0) }
            }
        }
        guard let last else {
            throw Diagnostic(
                "there are no runs in the store",
                remedy: "A run comes there when it is sent where volley.yaml names a `store`.")
        }
        return last
    }

    static func isMissing(_ id: String) -> Diagnostic {
        Diagnostic("there is no run \(id) in the store", remedy: "`volley store list` shows the runs that are there.")
    }

    /// The run's file that is there already.
    private func ownFile(_ row: StoredPlan, in catalog: RunsFolder) throws -> RunFile {
        let file = try RunFile(path: catalog.place(of: row.id))
        guard file.planDigest == row.digest else {
            throw Diagnostic(
                "there is another run with this id", file: file.place,
                remedy: "Name another folder with --into. Nothing was changed.")
        }
        guard file.prunedAt == nil else {
            throw Diagnostic(
                "the recipients of this run were pruned from its file, so nothing can be fetched into it",
                file: file.place,
                remedy: "Move the file away and fetch again, or name another folder with --into. Nothing was changed.")
        }
        // Two that fetch at the same moment would record the same twice.
        try file.lockForSending(isSending: false)
        return file
    }

    /// Takes over the journal, and how the run is.
    private func takeOver(_ row: StoredPlan, into file: RunFile, isNew: Bool, _ progress: (FetchProgress) -> Void)
        throws
    {
        if isNew { try file.noteCopy(at: .now()) }
        let ledger = SharedLedger(self, run: row.number, replica: file, scratch: nil)
        try ledger.checkWorkersOfJournal()
        try ledger.refresh { progress(.outcomes($0)) }
        let segments = try ledger.ask { try ledger.segmentStates($0) }, state = try ledger.ask { try ledger.row($0) }
        guard state.workers == 0 else {
            throw Diagnostic(
                "another process has begun to send the run meanwhile", file: ledger.place,
                remedy: "Fetch it again once it has ended.")
        }
        // What was put there and never began has nothing to take over, and the file may be ahead of
        // it.
        if state.epoch.isEmpty, !isNew { return try file.noteFetched() }
        var status = RunStatus(
            state: state.state, cause: state.cause, startedAt: state.startedAt, finishedAt: state.endedAt)
        status.segments = segments
        try file.takeOver(status)
    }

    // MARK: - Recipients

    /// Blocks that are requested at a time: 4 MB or so.
    private static let blocksAtATime = 50

    /// Copies the blocks: one thread reads them while this one writes the file.
    private func copyRecipients(of row: StoredPlan, into run: RebuiltRun, _ progress: (FetchProgress) -> Void) throws {
        let queue = BoundedQueue<[[UInt8]]>(capacity: 2)
        let reader = try WorkerThread("read blocks") {
            defer { queue.close() }
            return Result { try self.readBlocks(of: row, into: queue) }
        }
        do {
            var number = 0
            while let blocks = queue.take() {
                try run.add { put in
                    for block in blocks {
                        try Self.unpack(block, RecipientBlock.ids(of: number, audience: row.audience).count, put)
                        number += 1
                    }
                }
                progress(.recipients(min(number * RecipientBlock.recipients, row.audience)))
            }
        } catch {
            queue.close()
            _ = reader.join()
            throw error
        }
        try reader.join().get()
    }

    private func readBlocks(of row: StoredPlan, into queue: BoundedQueue<[[UInt8]]>) throws {
        let storeConnection = storeConnection(answerSeconds: Self.answerSeconds),
            count = RecipientBlock.count(of: row.audience)
        for start in stride(from: 0, to: count, by: Self.blocksAtATime) {
            let end = min(start + Self.blocksAtATime, count)
            var blocks: [[UInt8]] = []
            try StoreError.explaining {
                try storeConnection.retrying { connection in
                    blocks = []
                    try connection.run(
                        "SELECT data FROM volley_block WHERE run = $1 AND number >= $2 AND number < $3 ORDER BY number",
                        [.int(row.number), .int(start), .int(end)], within: Self.answerSeconds
                    ) { blocks.append(Array($0.bytes(0))) }
                }
            }
            guard blocks.count == end - start else {
                // It may just have been removed.
                _ = try storedPlan(row.id)
                throw Self.isUnreadable
            }
            guard queue.put(blocks) else { return }
        }
    }

    private static func unpack(_ block: [UInt8], _ count: Int, _ put: (StoredRecipient) throws -> Void) throws {
        try block.withUnsafeBytes { bytes in
            var reader = RecipientBlockReader(bytes)
            for _ in 0..<count { try reader.next(put) }
            guard reader.isIntact, reader.isAtEnd else { throw isUnreadable }
        }
    }

    private static var isUnreadable: Diagnostic {
        Diagnostic(
            "recipients of the run cannot be read in the store",
            remedy: "No file was made. Fetch again, or restore the database.")
    }
}
