public import Base

/// The journal of one run, as a store keeps it. Senders read the plan and append entries
/// (`RunEntry`); everything else is read from the state that the entries add up to. How and where
/// it is kept is private to the ledger. `Tests/LedgerConformance` holds every kind of ledger to the
/// same behaviours.
///
/// May be used from several threads. What a call has written is safe from a crash when the call
/// returns. Calls are made for each range or group of recipients, never for each push. Calls throw
/// `Diagnostic` unless they say otherwise: it cannot be read or written, it is damaged, another
/// process has the run.
///
/// ```swift
/// try ledger.append(.claimed(0..<4000, at: .now()))
/// try ledger.forEachPush(in: 0..<4000, PushSelection()) { push in print(push.id) }
/// try ledger.append(.settled([settlements]))
/// ```
public protocol RunLedger: AnyObject, Sendable {
    /// What was frozen when the run was planned.
    var plan: RunPlan { get }

    /// Where the run is, for messages: nothing is opened by it.
    var place: String { get }

    /// The state that the entries add up to. A run that says it is running while no process sends
    /// it was cut off: it is stopped, without an end.
    func status() throws -> RunStatus

    /// Takes the right to send the run, until `unlock` or until the process is gone: two that
    /// resume one run would send pushes twice.
    /// - Parameter isSending: false to keep others from sending only.
    /// - Throws: `Diagnostic` if another process has it; nothing if this one has.
    func lockForSending(isSending: Bool) throws

    /// Gives the right to send back.
    func unlock()

    /// Keeps the run from being taken from the process that sends it. To be called several times a
    /// second while the run is sent.
    /// - Returns: why it may not be sent any longer, as its account, or the right to send it, is
    ///   gone; nil while all is there.
    func loss(during activity: RunActivity) -> LedgerStop?

    /// The next recipients of a segment that are not claimed, and that no other process is given in
    /// the meantime; the same again until they are claimed.
    /// - Parameters:
    ///   - limit: how many at most, at least 1.
    ///   - segment: ids.
    /// - Returns: ids in a row; nil if all of the segment are claimed.
    func lease(atMost limit: Int, of segment: Range<Int>) throws -> Range<Int>?

    /// Appends an entry, completely or not at all.
    /// - Returns: what it yielded; `RunEntry` says which entries yield something.
    /// - Throws: `SendingRevoked` for an entry that allows pushes, if this process may not send the
    ///   run any more; `Diagnostic` if it is refused. Nothing is changed then.
    @discardableResult func append(_ entry: RunEntry) throws -> EntryYield

    /// The claims that were made.
    func claims() throws -> RunClaims

    /// The claimed recipients of a range that are not settled.
    func unsettled(in ids: Range<Int>, _ open: OpenOutcomes) throws -> UnsettledRecipients

    /// Calls `body` with what sending needs of each recipient of a range, in order; ids beyond the
    /// audience are left out. `body` must not use this ledger.
    /// - Throws: `Diagnostic` if one is missing or is not a recipient. Whatever `body` throws.
    func forEachPush(in range: Range<Int>, _ selection: PushSelection, _ body: (StoredPush) throws -> Void) throws

    /// Calls `body` for every recipient in id order; nil where no outcome is recorded, with whether
    /// it was claimed. What `body` sees is one moment, whatever is recorded in the meantime. `body`
    /// must not use this ledger.
    func forEachResult(
        _ body: (_ id: Int, _ recipient: Recipient, _ outcome: Settlement?, _ isClaimed: Bool) throws -> Void) throws

    /// The figures of the report.
    /// - Parameter withGroups: also by language and variant.
    func figures(withGroups: Bool) throws -> RunFigures

    /// The named calls of a service that were not forgotten, in the order in which they were named.
    /// Recipients that were recorded as unknown and then reopened, after a call was named, are in
    /// one with a blank name.
    /// - Parameter service: its number.
    func calls(ofService service: Int) throws -> [NamedCall]

    /// What a service answered before the present epoch.
    /// - Parameter service: its number.
    func answers(ofService service: Int) throws -> ServiceAnswers
}

/// The claims of a run, at one moment.
///
/// ```swift
/// let begun = try ledger.claims().first(of: run.plan.segments[0].ids)
/// ```
public struct RunClaims: Hashable, Sendable {
    /// The claimed recipients.
    public private(set) var claimed = ClaimSet()
    /// Claims that were ever made: every claimed recipient, and each as often again as it was
    /// reopened. It never becomes less, and is more after each entry that allows a push.
    public private(set) var made = 0
    /// The waves for which it became too late, by their first ids.
    public private(set) var skippedWaves: Set<Int> = []
    /// In the order of ids.
    private var parts: [Part] = []

    private struct Part: Hashable {
        var ids: Range<Int>
        var at: Timestamp
    }

    /// No claims.
    public init() {}

    /// - Parameters:
    ///   - parts: each claim with its moment, in any order.
    ///   - reopened: how often recipients were reopened, altogether.
    ///   - skippedWaves: by their first ids.
    public init(_ parts: some Sequence<(ids: Range<Int>, at: Timestamp)>, reopened: Int, skippedWaves: Set<Int>) {
        self.parts = parts.map { Part(ids: $0.ids, at: $0.at) }
        self.parts.sort { $0.ids.lowerBound < $1.ids.lowerBound }
        claimed = ClaimSet(self.parts.lazy.map(\.ids))
        made = claimed.count + reopened
        self.skippedWaves = skippedWaves
    }

    /// When the first of some recipients were claimed; nil if none were.
    public func first(of ids: Range<Int>) -> Timestamp? {
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = (low + high) / 2
            if parts[middle].ids.upperBound > ids.lowerBound { high = middle } else { low = middle + 1 }
        }
        return parts[low...].prefix { $0.ids.lowerBound < ids.upperBound }.map(\.at).min()
    }

    /// When recipients were claimed last; nil if none were.
    public var last: Timestamp? { parts.lazy.map(\.at).max() }
}

/// Which recorded outcomes are open: these recipients get the push again.
public struct OpenOutcomes: Hashable, Sendable {
    /// Whether recipients that are recorded as unknown get the push again.
    public var resendsUnknown: Bool
    /// Reasons for which recipients that are unsent get nothing any more.
    public var closing: Set<OwnReason>

    /// Reasons after which recipients get nothing any more, whatever their outcome: what the
    /// service refused for good after an answer was lost is unknown, but it would refuse it again.
    package var closed: Set<OwnReason> { closing.filter { $0.outcome != .unknown }.union([.refusedAgain]) }

    /// All that are unsent, and nothing else, unless it says otherwise.
    public init(resendsUnknown: Bool = false, closing: Set<OwnReason> = []) {
        (self.resendsUnknown, self.closing) = (resendsUnknown, closing)
    }
}

/// Claimed recipients that are not settled, as ascending ranges.
///
/// ```swift
/// let open = OpenOutcomes(resendsUnknown: true)
/// let unsettled = try ledger.unsettled(in: 0..<4000, open)
/// ```
public struct UnsettledRecipients: Hashable, Sendable {
    /// Those without an outcome: after a crash, those that may or may not have been pushed.
    public var inDoubt: [Range<Int>]
    /// Those of them that processes which are gone left behind: none has them in hand.
    public var leftBehind: [Range<Int>]
    /// Those whose outcome is open.
    public var open: [Range<Int>]

    /// - Parameters:
    ///   - inDoubt: those without an outcome.
    ///   - leftBehind: nil for all of them, where one process at a time sends a run.
    ///   - open: those whose outcome is open.
    public init(inDoubt: [Range<Int>], leftBehind: [Range<Int>]? = nil, open: [Range<Int>]) {
        (self.inDoubt, self.leftBehind, self.open) = (inDoubt, leftBehind ?? inDoubt, open)
    }

    /// Whether all are settled.
    public var isEmpty: Bool { inDoubt.isEmpty && open.isEmpty }
}

/// Which recipients of a range are read, and what of them.
public struct PushSelection: Hashable, Sendable {
    /// To read only recipients that are not settled, each with its attempts and whether it may have
    /// arrived: the outcomes that are open. nil for all recipients.
    public var open: OpenOutcomes?
    /// Whether language and variant are read too.
    public var withTraits: Bool

    /// All recipients, unless it says otherwise.
    public init(unsettled open: OpenOutcomes? = nil, withTraits: Bool = false) {
        (self.open, self.withTraits) = (open, withTraits)
    }
}

/// What a service answered to a run before its present epoch.
public struct ServiceAnswers: Hashable, Sendable {
    /// What its answers to the runs that this one retries say of tokens and settings; nothing for a
    /// run that is not a retry.
    public var ofRetried: TokenEvidence
    /// What it had answered as each epoch but the first began, in order; epochs before which it
    /// answered nothing new are left out.
    public var beforeEpochs: [TokenEvidence]
    /// The receipts of its answers, each once, in the order in which they came.
    public var receipts: [String]

    /// What a service answered.
    public init(ofRetried: TokenEvidence, beforeEpochs: [TokenEvidence], receipts: [String]) {
        (self.ofRetried, self.beforeEpochs, self.receipts) = (ofRetried, beforeEpochs, receipts)
    }
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

/// The run is not to be sent any more by this process: it was cancelled, or another one has taken
/// over while this one stood still.
public struct SendingRevoked: Error, Hashable {
    /// Whether it was cancelled; otherwise another process has it.
    public let isCancelled: Bool

    /// Why it is not.
    public init(isCancelled: Bool) { self.isCancelled = isCancelled }
}

/// Where a run is between its plan and its end.
public enum RunState: String, CaseIterable, Hashable, Sendable {
    case planned, running, paused, stopped, finished, cancelled

    /// Whether sending has ended, permanently or until someone resumes it.
    public var hasEnded: Bool { self == .stopped || self == .finished || self == .cancelled }
}

/// What a run's entries add up to, apart from claims and outcomes.
///
/// ```swift
/// let status = try run.status()
/// if status.state == .stopped, let cause = status.cause { print(cause) }
/// ```
public struct RunStatus: Hashable, Sendable {
    /// The state.
    public var state: RunState
    /// Why it stopped; nil otherwise.
    public var cause: StopCause?
    /// The file says that it is running, but it is not known whether a process still sends it: its
    /// lock file may not be read.
    public var isSenderHidden = false
    /// When sending began.
    public var startedAt: Timestamp?
    /// When it ended.
    public var finishedAt: Timestamp?
    /// The epoch that began last; blank before the first, and in runs of older versions.
    public var epoch = ""
    /// What holds segments, or stopped them, by their first ids; nothing of those still being sent.
    public var segments: [Int: SegmentState] = [:]
    /// Whether some process has the right to send the run, or may have, as that cannot be seen;
    /// also while it is paused.
    public var isBeingSent = false
    /// Since when a process has been sending it, in nanoseconds since 1970; nil if none is, or none
    /// can be seen.
    public var sendingSince: Int64?

    /// A status.
    public init(state: RunState, cause: StopCause?, startedAt: Timestamp?, finishedAt: Timestamp?) {
        self.state = state
        self.cause = cause
        self.startedAt = startedAt
        self.finishedAt = finishedAt
    }

    /// What other processes want of the one that sends the run, which looks several times a second;
    /// nil if it is neither running nor held up.
    public var order: RunOrder? { RunOrder(state) }
}

/// What sending needs of a recipient. Texts are in memory that is only lent during the call.
public struct StoredPush {
    /// The recipient's id.
    public let id: Int
    /// The target in its stored form: hex digits in lower case, or the text that the service gives
    /// out.
    public let token: UnsafeBufferPointer<UInt8>
    /// The cells of the run's fields.
    public let cells: EscapedCells
    /// Blank when the export has none, or it was not requested.
    public let language: UnsafeBufferPointer<UInt8>
    /// Blank when the campaign has none, or it was not requested.
    public let variant: UnsafeBufferPointer<UInt8>
    /// The number of the service that takes it.
    public let service: Int
    /// Whether it may have been pushed to before: it was claimed and has no outcome, or is unknown.
    public var mayHaveArrived = false
    /// The attempts that are recorded for it.
    public var attempts = 0

    /// What sending needs of a recipient.
    public init(
        id: Int, token: UnsafeBufferPointer<UInt8>, cells: EscapedCells, language: UnsafeBufferPointer<UInt8>,
        variant: UnsafeBufferPointer<UInt8>, service: Int = 0
    ) {
        self.id = id
        self.token = token
        self.cells = cells
        self.language = language
        self.variant = variant
        self.service = service
    }
}

/// A recipient and its outcome, as in the run file. Valid only during the call: texts stay in
/// SQLite's own memory.
public struct StoredResult {
    /// The dense id.
    public let id: Int
    /// The target in its stored form: hex digits in lower case, or the text that the service gives
    /// out.
    public let token: UnsafeBufferPointer<UInt8>
    /// Blank when the export had none.
    public let registrationID: UnsafeBufferPointer<UInt8>, alias: UnsafeBufferPointer<UInt8>,
        language: UnsafeBufferPointer<UInt8>
    /// Blank when the campaign has no variants.
    public let variant: UnsafeBufferPointer<UInt8>
    /// The number of the service that takes its push.
    public let service: Int
    let isClaimed: Bool
    let slot: OutcomeSlot?
    /// The service's reason, or Volley's; blank for none.
    public let reason: String

    /// Its outcome: as recorded, or `unknown` when it was only claimed, or `unsent`.
    public var outcome: Outcome { slot?.outcome ?? (isClaimed ? .unknown : .unsent) }
    /// The last HTTP status; 0 without an answer.
    public var status: Int { slot?.status ?? 0 }
    /// How often it was handed to the wire, as far as it is recorded.
    public var attempts: Int { slot?.attempts ?? 0 }
    /// Of the answer.
    public var latencyMilliseconds: Int { slot?.latencyMilliseconds ?? 0 }
    /// When the outcome was recorded; nil when none is.
    public var settledAt: Timestamp? { slot?.settledAt }
    /// Whether anything is recorded of it.
    public var isRecorded: Bool { slot != nil }
    /// Whether it may have been on the wire.
    public var mayHaveBeenSent: Bool { attempts > 0 || outcome == .unknown }
    /// Whether it is not known how often it was handed to the wire, if at all: the process that
    /// would have recorded it ended.
    public var hasUnknownAttempts: Bool { attempts == 0 && outcome == .unknown }
}
