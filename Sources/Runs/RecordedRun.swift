public import Base

/// A run as a catalogue keeps it: its account, and beside it what reports, gates, approvals and pruning need, which sending itself does not know.
///
/// Above this room every run is one of these. There is one kind of them as yet, the run file (`SQLiteRun`); runs in PostgreSQL become the second.
public protocol RecordedRun: RunLedger {
    /// The runs that are kept where this one is.
    var catalog: any RunCatalog { get }

    /// When its recipients were removed; nil when they are there.
    var prunedAt: Timestamp? { get }

    /// Whether its plan has a digest, and can be approved; plans of older versions have none.
    var hasDigest: Bool { get }

    /// Identifies its plan, every recipient included: SHA-256 of all that planning stored, 64 hex digits; blank for plans of older versions. It is what
    /// the file says, and `checkUnchanged` shows that it is true.
    var planDigest: String { get }

    /// How much it takes up, in bytes.
    var fileSize: Int { get }

    /// Whether it is still what was opened: nobody removed it or, since it was first written to, put another in its place.
    var isInPlace: Bool { get }

    // MARK: - Whether it is what was planned

    /// Makes sure that nobody removed it, or put another in its place, since it was opened: `prune` does.
    func checkNotReplaced() throws

    /// Makes sure that this is the run that was planned, and no copy: a copy that could be sent would be sent twice.
    /// - Parameter home: the place of the catalogue in which it was planned, when that is known. It counts as long as it is there.
    /// - Throws: `Diagnostic` that says what it is instead.
    func checkPlace(home: String?) throws

    /// When this copy was made of what a store has of the run: it is read like the run itself, and retried, but never sent. nil for the run itself.
    func copiedAt() throws -> Timestamp?

    /// Since when a store that machines share may know of pushes that are not recorded here; nil when all are.
    func sharedSince() throws -> Timestamp?

    /// Compares all that was planned, every recipient included, with its digest. Does nothing for a plan without one.
    /// - Throws: `Diagnostic` when campaign, settings or recipients were changed after planning.
    func checkUnchanged() throws

    /// Looks at all of it before anything is sent from it again: claims, outcomes, recipients.
    /// - Throws: `Diagnostic` when it is damaged.
    func checkIntegrity() throws

    /// - Throws: `Diagnostic` when the recipients were removed.
    func requireRecipients() throws

    // MARK: - Approval

    /// Who agreed last to exactly this plan; nil when nobody has.
    func approval() throws -> RunApproval?

    /// Records that somebody agreed to this plan. Whoever calls this has seen to it that the plan is unchanged.
    /// - Throws: `Diagnostic` when it is being sent, or has ended for good, or it is of a version without approvals.
    func approve(_ approval: RunApproval) throws

    // MARK: - What it did

    /// Calls `body` for every recipient in id order with its bytes as they are kept: nothing is allocated per recipient. What `body` sees is one moment, whatever
    /// is recorded meanwhile. `body` must not use this run.
    /// - Throws: `Diagnostic` when a recipient is missing or invalid, or its recipients were pruned. Whatever `body` throws.
    func forEachStoredResult(_ body: (StoredResult) throws -> Void) throws

    /// What services said last of its pushes, by their numbers; nothing of those that were not asked.
    func statistics() throws -> [ServiceStatistics]

    /// Keeps what a service said of its pushes, in place of what it said before of the same; what it does not say any more stays as it was.
    /// - Parameter counts: by what it was asked about, and by the service's own names.
    func record(statistics counts: [String: [String: Int]], ofService service: Int, at now: Timestamp) throws

    /// Calls `body` with the token (lower-case hex digits, lent) of each device that some outcome is recorded of.
    /// - Parameter isWanted: asked of each of them before its token is looked for.
    /// - Throws: `Diagnostic` when somebody's outcome or token cannot be read. Whatever the closures throw.
    func forEachDevice(
        withOutcome outcome: Outcome, where isWanted: (Settlement) -> Bool,
        _ body: (_ token: UnsafeBufferPointer<UInt8>, _ settlement: Settlement) throws -> Void) throws

    /// Whether it may have pushed to somebody since a moment, or is about to.
    func mayHaveReached(since moment: Timestamp) throws -> Bool

    /// Calls `body` with the token (lower-case hex digits, lent) of every device that this run reaches: when it got the push, or may have, whether it is
    /// still to be sent to it, as a process sends the run or will go on with it (paused), and the number of the service that takes the push.
    /// - Parameter closing: reasons for which those who are unsent will get nothing any more.
    /// - Throws: `Diagnostic` when somebody's outcome or token cannot be read.
    func forEachReached(
        closing: Set<OwnReason>,
        _ body: (_ token: UnsafeBufferPointer<UInt8>, _ at: Timestamp?, _ isToCome: Bool, _ service: Int) throws -> Void) throws

    /// What the answers of a service say of tokens and settings, part by part and with those to the runs that it retries. Each service is judged
    /// alone: good answers of one say nothing about the settings of another.
    /// - Parameter service: its number.
    func evidence(ofService service: Int) throws -> RunEvidence

    /// Runs of the campaign that were planned before this one, from the same catalogue, newest first; none of a test or a retry.
    /// - Parameter limit: how many at most.
    /// - Throws: `Diagnostic`: they cannot be listed.
    func earlierRuns(limit: Int) throws -> [any RecordedRun]

    // MARK: - The end of using it

    /// Closes it, and gives back the right to send. The next use opens it again. Where it is kept in files, one remains.
    /// - Throws: `Diagnostic`; nothing is lost then, the file only keeps company.
    func closeIntoOneFile() throws

    /// The same, for those who cannot do anything about a failure.
    func close()

    /// Removes a plan that nobody wants to send.
    /// - Throws: `Diagnostic` when sending has begun: what was sent must stay on record.
    func remove() throws

    /// Removes recipients (tokens, registration ids, aliases, cells), claims and outcomes, and keeps all else and the figures. From then on the run can be reported
    /// and compared, and nothing else; this value is of no use any more.
    /// - Parameter seen: the status that was decided by; nil when it does not matter.
    /// - Throws: `Diagnostic` when the run is being sent, has another status by now, or cannot be replaced; it stays as it was then.
    func prune(at now: Timestamp, ifStill seen: RunStatus?) throws
}

extension RecordedRun {
    /// Runs of the campaign that were planned before this one, from the same catalogue, newest first; ten at most.
    public func earlierRuns() throws -> [any RecordedRun] { try earlierRuns(limit: 10) }

    /// What `body` finds out about a run that was listed; nil if the run was removed meanwhile: a plan that was refused, and has reached nobody.
    /// - Throws: what `body` throws about a run that is still there.
    public func unlessRemoved<Value>(_ body: (_ run: any RecordedRun) throws -> Value) throws -> Value? {
        do { return try body(self) } catch {
            guard catalog.isRemoved(plan.id) else { throw error }
            return nil
        }
    }
}
