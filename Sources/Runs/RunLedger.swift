public import Base

/// The account of one run while it is sent: who may send it, who was claimed, what became of each push, and what other processes ask for. It is what sending
/// knows of a run; how it is kept, and where, only the ledger knows. `Tests/LedgerConformance` holds every kind of ledger to the same behaviours.
///
/// May be used from several threads. What a call has written is safe from a crash when the call returns. Calls are made for each range or group of recipients,
/// never for each push. Calls throw `Diagnostic` unless they say otherwise: it cannot be read or written, it is damaged, another process has the run.
public protocol RunLedger: AnyObject, Sendable {
    /// What was frozen when the run was planned.
    var plan: RunPlan { get }

    /// Where the run is, for messages: nothing is opened by it.
    var place: String { get }

    /// The state, why it stopped, when sending began and ended. A run that says it is running while no process sends it was cut off: it is stopped, without
    /// an end.
    func status() throws -> RunStatus

    // MARK: - The right to send

    /// Takes the right to send the run, until `unlock` or until the process is gone: two that resume one run would send pushes twice.
    /// - Parameter isSending: false to keep others from sending only.
    /// - Throws: `Diagnostic` when another process has it; nothing when this one has.
    func lockForSending(isSending: Bool) throws

    /// Gives the right to send back.
    func unlock()

    /// Sees to it that nobody else can take the run from the process that sends it. To be called several times a second while the run is sent.
    /// - Returns: why it may not be sent any longer, as its account, or the right to send it, is gone; nil while all is there.
    func loss(during activity: RunActivity) -> LedgerStop?

    /// Whether some process has the right to send this run, or may have, as that cannot be seen; also while it is paused.
    var isBeingSent: Bool { get }

    /// Since when a process has been sending it, in nanoseconds since 1970; nil when none is, or none can be seen.
    var sendingSince: Int64? { get }

    // MARK: - Lives

    /// The life that began last; blank before the first, and in runs of older versions.
    func life() throws -> String

    /// Notes, where other runs and older copies of this one are told by it, that a life of the run is about to begin.
    /// - Returns: whether it was noted; only then may the life begin.
    func note(_ life: NewLife, at now: Timestamp) throws -> SendingHistory.Beginning

    /// Records that the run is being sent, as a new life. Takes the right to send it.
    /// - Parameter expected: the states of which the run must be in one.
    /// - Throws: `Diagnostic` when it is in another one by now, or another process sends it; nothing is changed then.
    func begin(life: String, at now: Timestamp, from expected: Set<RunState>) throws

    /// Notes that the account has the life that was noted: an older copy is no longer taken for this run. Must return before anything is pushed.
    /// - Parameter givenUp: retries of it that were noted, and given up before they began.
    /// - Returns: false, and nothing is noted, when a retry of it began meanwhile.
    func confirm(givenUp: Set<String>) throws -> Bool

    /// Notes how far the run is as the life ends that this ledger began. Does nothing when another one has begun since.
    func endLife() throws

    /// Records a state. `running` takes the right to send, sets the start when there is none yet and takes an earlier end back; `stopped`, `finished` and
    /// `cancelled` set the end.
    /// - Parameters:
    ///   - cause: why it stops; nil for most states.
    ///   - expected: the states of which the run must be in one, when another process may have changed it meanwhile.
    func setState(_ state: RunState, cause: StopCause?, at now: Timestamp, from expected: Set<RunState>?) throws

    /// Records that the run has got to its end: it finished or, when its figures say otherwise, stopped.
    /// - Parameter objection: why a run with these figures did not finish; nil when it did.
    /// - Returns: the objection.
    func finish(at now: Timestamp, unless objection: (RunFigures) -> StopCause?) throws -> StopCause?

    // MARK: - Claims

    /// Who is claimed.
    func claims() throws -> ClaimSet

    /// Claims that were ever made: every claimed recipient, and each as often again as it was reopened. It never becomes less, and is more after each call that
    /// allows a push.
    func claimCount() throws -> Int

    /// How many recipients are worth a claim of their own, where a run is fast enough: many where each claim goes to a server and back.
    var worthwhileClaim: Int { get }

    /// The next recipients of a leg that nobody has claimed, and that nobody else is given meanwhile; the same again until they are claimed.
    /// - Parameters:
    ///   - limit: how many at most, at least 1.
    ///   - leg: ids.
    /// - Returns: ids in a row; nil when all of the leg are claimed.
    func lease(atMost limit: Int, of leg: Range<Int>) throws -> Range<Int>?

    /// Commits the claim for a range. Must return before any of its recipients goes onto the wire.
    /// - Parameter unsent: what is recorded with the claim of those of the range who get nothing, ascending.
    /// - Throws: `NotSending`; `Diagnostic` when part of it is claimed already or is not in the audience; nothing is claimed then.
    func claim(_ range: Range<Int>, unsent: [Settlement], at now: Timestamp) throws

    /// Notes how many claims were made (`claimCount`) where it outlasts the account's newest part. Must return before the last of them goes onto the wire.
    func note(claimed: Int) throws

    /// Recipients that were claimed and have no outcome: after a crash, those that may or may not have been pushed. Ascending.
    func claimedWithoutOutcome() throws -> [Range<Int>]

    /// The same of those that processes which are gone left behind: nobody has them in hand.
    func lost() throws -> [Range<Int>]

    /// Ranges of a leg in which this process is to look for recipients who were claimed and are to be sent to again (`forEachUnsettledPush`). Ascending.
    func claimedBefore(of leg: Range<Int>) throws -> [Range<Int>]

    /// When the first of some recipients were claimed; nil when none were.
    func firstClaim(of ids: Range<Int>) throws -> Timestamp?

    /// When recipients were claimed last; nil when none were.
    func lastClaim() throws -> Timestamp?

    // MARK: - Calls

    /// Commits the names of calls, all or none. Must return before any of them goes onto the wire.
    /// - Throws: `NotSending`; `Diagnostic` when a recipient of one was never claimed; nothing is recorded then.
    func name(_ calls: [NamedCall]) throws

    /// The named calls of a service that were not forgotten, in the order in which they were named. Recipients who were recorded as unknown and
    /// then reopened, after a call was named, are in one with a blank name.
    func calls(ofService service: Int) throws -> [NamedCall]

    /// Forgets calls that say nothing more about anybody.
    func forgetCalls(_ numbers: [Int]) throws

    // MARK: - Legs

    /// What holds legs, or stopped them, by their first ids; nothing of those that go on.
    func legStates() throws -> [Int: LegState]

    /// Records what holds or stopped a leg, in place of what was recorded of it. A new life takes stops back, and keeps what holds.
    /// - Throws: `Diagnostic` when it is no leg of the run, or another process sends the run.
    func setState(_ state: LegState, of leg: RunLeg) throws

    // MARK: - Pushes

    /// So many threads will read at the same time while the run is sent: takes effect before the first write, or not at all.
    func expectReaders(_ count: Int)

    /// Calls `body` with what sending needs of each recipient with an id in `range`, in order; ids beyond the audience are left out. `body` must not use this
    /// ledger.
    /// - Parameter withTraits: whether language and variant are read too.
    /// - Throws: `Diagnostic` when one is missing or is not a recipient. Whatever `body` throws.
    func forEachPush(in range: Range<Int>, withTraits: Bool, _ body: (StoredPush) throws -> Void) throws

    /// The same of those that are not settled, each with its attempts and whether it may have arrived.
    /// - Parameters:
    ///   - resendsUnknown: whether who is recorded as unknown counts as not settled.
    ///   - closing: reasons for which those who are unsent get nothing any more.
    func forEachUnsettledPush(
        in range: Range<Int>, resendsUnknown: Bool, closing: Set<OwnReason>, withTraits: Bool, _ body: (StoredPush) throws -> Void) throws

    // MARK: - Outcomes

    /// Records outcomes, all or none; to give back who was claimed and never handed over, `unsent`. A recipient recorded twice is an error, except that `unsent`
    /// may be replaced; so is one that was never claimed, unless it is `unsent`.
    /// - Parameter parts: settlements, which are not copied together.
    func record(_ parts: [[Settlement]]) throws

    /// Keeps receipts of a service's answers: ids under which it can be asked about its pushes later.
    /// - Parameter service: its number.
    func note(receipts: [String], ofService service: Int) throws

    /// The receipts of a service's answers, each once, in the order in which they came.
    func receipts(ofService service: Int) throws -> [String]

    /// Takes back the outcomes of recipients that are about to be sent again, so that they are claimed and nothing else: a crash leaves them unknown. Must return
    /// before any of them goes onto the wire.
    /// - Parameter ids: ascending.
    /// - Returns: the attempts that were recorded of them, where there were any.
    /// - Throws: `NotSending`.
    func reopen(_ ids: [Int], resendsUnknown: Bool) throws -> [Int: Int]

    /// Records as unsent whoever of some recipients was never sent to: they wait for another time, and can be claimed then, or it is too late for them. Whoever
    /// is unknown remains so.
    /// - Parameter isTooLate: whether they stay unsent when the run goes on, and so are claimed in the same moment; they are a whole wave then.
    /// - Returns: how many are unsent for this reason.
    @discardableResult
    func `defer`(_ ids: Range<Int>, reason: OwnReason, isTooLate: Bool, at now: Timestamp) throws -> Int

    /// Records as unknown who was claimed and has no outcome: what a killed process left behind.
    /// - Returns: how many they were.
    func recordLost(at now: Timestamp) throws -> Int

    /// The waves for which it became too late, by their first ids.
    func skippedWaves() throws -> Set<Int>

    /// Whether there is nothing left to send to some recipients: all are claimed, and none of their outcomes is open.
    /// - Parameter closing: reasons for which those who are unsent will get nothing any more.
    func isSettled(_ ids: Range<Int>, resendsUnknown: Bool, closing: Set<OwnReason>) throws -> Bool

    /// Calls `body` for every recipient in id order; nil where no outcome is recorded, with whether it was claimed. What `body` sees is one moment, whatever
    /// is recorded meanwhile. `body` must not use this ledger.
    func forEachResult(_ body: (_ id: Int, _ recipient: Recipient, _ outcome: Settlement?, _ isClaimed: Bool) throws -> Void) throws

    /// The figures of the report.
    /// - Parameter withGroups: also by language and variant.
    func figures(withGroups: Bool) throws -> RunFigures

    // MARK: - Judging

    /// What a service's answers to the runs that this one retries say of tokens and settings; nothing for a run that is not a retry.
    /// - Parameter service: its number.
    func tokenEvidenceOfRetried(ofService service: Int) -> TokenEvidence

    /// What a service had answered as each life but the first began, in order; lives before which it answered nothing new are left out.
    /// - Parameter service: its number.
    func evidenceBeforeLives(ofService service: Int) throws -> [TokenEvidence]

    /// Notes what was answered before a pause or a wait, so that what comes after it can be judged apart.
    func noteEvidenceAtRest() throws

    // MARK: - Orders

    /// What other processes want of the one that sends the run, which looks several times a second; nil when it is neither running nor held up.
    func order() throws -> RunOrder?

    /// Asks the process that sends this run for something, by recording it.
    /// - Throws: `Diagnostic` when no process sends the run, or the order does not fit its state by now.
    func give(_ order: RunOrder, at now: Timestamp) throws
}

/// What may be asked of a process that sends a run.
public enum RunOrder: CaseIterable, Hashable, Sendable {
    /// To await the answers that are under way, and to wait.
    case pause
    /// To send, also after a pause.
    case goOn
    /// To end for good.
    case cancel

    /// The state by which it is recorded.
    public var state: RunState {
        switch self {
        case .pause: .paused
        case .goOn: .running
        case .cancel: .cancelled
        }
    }

    /// The states in which it makes sense.
    public var expected: Set<RunState> {
        switch self {
        case .pause: [.running]
        case .goOn: [.paused]
        case .cancel: [.running, .paused]
        }
    }

    /// The order that a state is; nil for one that no process is in that sends a run.
    public init?(_ state: RunState) {
        switch state {
        case .paused: self = .pause
        case .running: self = .goOn
        case .cancelled: self = .cancel
        case .planned, .stopped, .finished: return nil
        }
    }
}

/// The run is not to be sent any more by this process: it was cancelled, or another one has taken over while this one stood still.
public struct NotSending: Error, Hashable {
    /// Whether it was cancelled; otherwise another process has it.
    public let isCancelled: Bool

    /// Why it is not.
    public init(isCancelled: Bool) { self.isCancelled = isCancelled }
}

extension RunLedger {
    /// Where a claim costs little, its size is a matter of those who render.
    public var worthwhileClaim: Int { 1 }

    /// Where one process at a time sends a run, whoever has no outcome as it begins was left behind.
    public func lost() throws -> [Range<Int>] { try claimedWithoutOutcome() }

    /// Where one process at a time sends a run, it looks at all who were claimed.
    public func claimedBefore(of leg: Range<Int>) throws -> [Range<Int>] { try claims().ranges(in: leg) }

    /// Takes the right to send the run.
    public func lockForSending() throws { try lockForSending(isSending: true) }

    /// Records a state.
    public func setState(_ state: RunState, cause: StopCause? = nil, at now: Timestamp) throws {
        try setState(state, cause: cause, at: now, from: nil)
    }

    /// Records a state.
    public func setState(_ state: RunState, at now: Timestamp, from expected: Set<RunState>?) throws {
        try setState(state, cause: nil, at: now, from: expected)
    }

    /// Commits the claim for a range of whom all are to be sent to.
    public func claim(_ range: Range<Int>, at now: Timestamp) throws { try claim(range, unsent: [], at: now) }

    /// Records outcomes, all or none.
    public func record(_ settlements: [Settlement]) throws { try record([settlements]) }

    /// The figures of the report, not by language and variant.
    public func figures() throws -> RunFigures { try figures(withGroups: false) }

    /// Whether anything says that sending was begun, as far as this account knows.
    public func hasBegun() throws -> Bool { try status().startedAt != nil || !claims().isEmpty || !life().isEmpty }

    /// Recipients of whom it is on record that the run has reached them, or may have: the number never decreases. Who was claimed and has no outcome does not
    /// count yet: where a service recognizes calls, those whom a killed process had put into none turn out to be unsent.
    public func reached() throws -> Int {
        guard try !claims().isEmpty else { return 0 }
        let open = try claimedWithoutOutcome().reduce(0) { $0 + $1.count }
        return try plan.audience - figures().outcomes[.unsent, default: 0] - open
    }

    /// Whether the run has finished: every recipient has an outcome, and it is never resumed.
    func isComplete() throws -> Bool {
        guard try status().state == .finished, try claims().contains(all: 0..<plan.audience) else { return false }
        return try claimedWithoutOutcome().isEmpty
    }
}
