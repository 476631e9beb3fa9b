package import Base
import Postgres
package import Runs
import Synchronization

/// The account of a run that several machines send, as one of its workers uses it: claims, outcomes
/// and orders are in the store; what is read of many recipients at once comes from a run file that
/// follows the journal (`replica`).
///
/// A worker's row is its fence: whatever it leases, claims or records is written together with a
/// look at that row under FOR SHARE. Declaring it dead changes the row, and so waits for what is
/// being written, and stops everything after. The row also stops a process that was suspended and
/// continues.
///
/// The fence holds at READ COMMITTED and with FOR SHARE only: REPEATABLE READ sees the row as it
/// was when the transaction began, and KEY SHARE does not conflict with the update that declares
/// the worker dead.
package final class SharedLedger: RunLedger {
    package let plan: RunPlan
    package let store: Store
    /// The run's number in the store.
    let run: Int
    /// The run's own file on the machine that published it; elsewhere one without recipients, which
    /// is removed with this value.
    let replica: RunFile
    private let scratch: ScratchFolder?
    /// Whether `replica` is the run's own file.
    var hasRunFile: Bool { scratch == nil }

    /// Claims and names calls; also leases, and reads recipients.
    let claiming: JournalWriter
    /// Records.
    let recording: JournalWriter
    /// Looks, and takes orders.
    let asking: StoreConnection
    /// Beats: whatever else waits for the database, this connection does not.
    let beating: StoreConnection
    let state = Mutex(State())
    /// Blocks of recipients that were read lately.
    let blocks = BlockCache()
    /// One refresh of the replica at a time.
    let refreshing = Mutex(())
    /// The time of a schedule that begins with the run; nil without one.
    let firing = Mutex<SharedFiring?>(nil)
    /// The runs of the campaign that the gate has judged; nil if others may begin at any time.
    let knownOthers = Mutex<JudgedRuns?>(nil)
    /// All that this process has claimed, where it has the run's file: the store may forget it.
    let ownClaims = Mutex(ClaimSet())

    /// The state of this process as a worker.
    struct State {
        /// Its row; nil before it joined, and after it left.
        var sender: Int?
        /// The epoch of the run that it takes part in.
        var epoch: String?
        var leasedRanges = LeasedRanges()
        var own = UnsettledPushes()
        /// How many workers send, as the last beat showed.
        var workers = 1
        /// Recipients claimed since the last lease, and when that was, for the size of the next
        /// one.
        var claimedSinceLease = 0
        var leasedAt: ContinuousClock.Instant?
        /// What the last beat brought.
        var news: WorkerNews?
        var beat = 0
        /// Whether a `WorkerRegistration` beats for this process.
        var isBeating = false
        /// What the database had of all workers when this one last read it.
        var memory = CommitMemory()
        /// The epoch of the database in which nothing is missing; nil before the first look.
        var comparedEpoch: Int?
        /// Whether it was there in an epoch of the database that is known to have everything: it
        /// can tell what is missing in the next one.
        var isSurvivor = false
        /// Why nothing may be written any more: it was declared dead.
        var isFenced = false
    }

    /// A beat that takes longer is given up, and followed by another.
    private static let beatSeconds = 5.0

    init(_ store: Store, run: Int, replica: RunFile, scratch: ScratchFolder?) {
        (self.store, self.run, self.replica, self.scratch) = (store, run, replica, scratch)
        plan = replica.plan
        claiming = JournalWriter(store, place: 0)
        recording = JournalWriter(store, place: 1)
        asking = store.storeConnection()
        beating = store.storeConnection(answerSeconds: Self.beatSeconds)
    }

    deinit { unlock() }

    package var place: String { "the store, run \(plan.id)" }

    /// The run as it is in the store.
    struct Row {
        var state: RunState
        var cause: StopCause?
        var epoch: String
        var noted: JSONValue?
        var startedAt: Timestamp?, endedAt: Timestamp?
        /// The coordinator; nil when the run has none, or it left or died.
        var coordinator: Int?
        var coordinatesSending: Bool
        var coordinatorSince: Int64?
        /// Workers that are there.
        var workers: Int
        /// Whether it is known which recipients get nothing because of frequency caps.
        var knowsCapped: Bool
        /// The machine that continues alone, from the run's file; blank while no machine does.
        var takenBackBy: String

        /// What the store has forgotten, or may have, so that no machine may continue through it;
        /// nil if nothing.
        var forgetting: LedgerStop? {
            if case .ledger(let stop)? = cause, stop.isForgetting { return stop }
            return takenBackBy.isEmpty ? nil : .unwitnessed
        }
    }

    /// The approval of the plan, with which it was published; nil if it had none.
    package func approval() throws -> RunApproval? { try replica.approval() }

    func row(_ connection: PostgresConnection, locking: Bool = false) throws -> Row {
        var row: Row?
        try connection.run(
            """
            SELECT r.state, r.cause, r.life, r.noted, r.started_at, r.ended_at, s.number, r.conducts_sending,
                (extract(epoch FROM s.joined_at) * 1e9)::bigint,
                (SELECT count(*) FROM volley_sender m WHERE m.run = r.number AND m.dead_at IS NULL),
                r.capped IS NOT NULL, r.taken_home
            FROM volley_run r LEFT JOIN volley_sender s ON s.number = r.conductor AND s.dead_at IS NULL
            WHERE r.number = $1 \(locking ? "FOR UPDATE OF r" : "")
            """, [.int(run)], within: asking.answerSeconds
        ) { cells in
            guard let state = RunState(rawValue: cells.text(0)) else {
                throw StoreError.damaged("the state", ofRun: plan.id)
            }
            row = Row(
                state: state, cause: StoredCause.read(cells.text(1)), epoch: cells.text(2),
                noted: JSONValue(stored: cells.text(3)),
                startedAt: try cells.optionalMoment(4),
                endedAt: try cells.optionalMoment(5), coordinator: cells.optionalInt(6),
                coordinatesSending: cells.int(7) == 1, coordinatorSince: cells.optionalInt(8).map(Int64.init),
                workers: cells.int(9),
                knowsCapped: cells.int(10) == 1, takenBackBy: cells.text(11))
        }
        guard let row else { throw isGone }
        return row
    }

    var isGone: Diagnostic {
        Diagnostic(
            "the run is no longer in the store", file: place,
            remedy: "It was removed there; `volley report \(plan.id)` shows what became of it.",
            [.readReport(run: plan.id)])
    }

    /// Runs a statement in the store once; while the store is away, retries for as long as it
    /// takes.
    @discardableResult
    func ask<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try StoreError.explaining { try asking.retrying(body) }
    }

    /// An invariant that is broken: sending must stop at once.
    func broken(_ what: String) -> Diagnostic {
        Diagnostic(
            "the account of this run does not add up: \(what)", file: place,
            remedy: "Nothing more is sent. Please report this.")
    }

    // MARK: - Status

    package func status() throws -> RunStatus {
        let (row, segments) = try ask { (try self.row($0), try segmentStates($0)) }
        var status = RunStatus(state: row.state, cause: row.cause, startedAt: row.startedAt, finishedAt: row.endedAt)
        (status.epoch, status.segments) = (row.epoch, segments)
        status.isBeingSent = row.coordinator != nil
        status.sendingSince = row.coordinatesSending ? row.coordinatorSince : nil
        if row.state == .running, row.workers == 0 { (status.state, status.cause) = (.stopped, .ledger(.processGone)) }
        return status
    }

    /// What people want of the processes that send the run: as the last beat showed it, where this
    /// process beats, which it does several times a second.
    package func order() throws -> RunOrder? {
        try state.withLock { $0.news }.map { RunOrder($0.state) } ?? status().order
    }

    package func loss(during activity: RunActivity) -> LedgerStop? {
        if let loss = hasRunFile ? replica.loss(during: activity) : nil { return loss }
        return state.withLock { $0.isFenced || $0.sender == nil } ? .takenOver : nil
    }
}

/// The shared run as a journal: which entries are written into the store's journal, and which
/// change rows there.
extension SharedLedger {
    /// Appends an entry. A wave for which it is too late, and more calls than fit into one row, are
    /// several rows of the journal: what was written before an error stays, and the next try
    /// continues.
    @discardableResult
    package func append(_ entry: RunEntry) throws -> EntryYield {
        switch entry {
        case .claimed(let ids, let unsent, let at): try claim(ids, unsent: unsent, at: at)
        case .settled(let parts): try record(parts)
        case .reopened(let ids, let resendsUnknown, let at):
            return EntryYield(attempts: try reopen(ids, resendsUnknown: resendsUnknown, at: at))
        case .deferred(let ids, let reason, let isTooLate, let at):
            return EntryYield(count: try `defer`(ids, reason: reason, isTooLate: isTooLate, at: at))
        case .callsNamed(let calls): try name(calls)
        case .callsForgotten(let numbers): try forgetCalls(numbers)
        case .receipts(let receipts, let service): try note(receipts: receipts, ofService: service)
        case .epochBegan(let epoch, let at, let expected): try begin(epoch: epoch, at: at, from: expected)
        case .rested: try write(.rested, at: .now())
        case .lost(let at): return EntryYield(count: try recordLost(at: at))
        case .segment(let segment, let state): try setState(state, of: segment)
        case .state(let state, let cause, let at, let expected):
            try setState(state, cause: cause, at: at, from: expected)
        case .finished(let objection, let at): return EntryYield(objection: try finish(at: at, unless: objection))
        case .ordered(let order, let at): try give(order, at: at)
        case .epochNoted(let epoch, let at): return EntryYield(beginning: try note(epoch, at: at))
        case .epochConfirmed(let givenUp):
            return EntryYield(beginning: try confirm(givenUp: givenUp) ? .noted : .isOvertaken)
        // The journal itself says how far the run is.
        case .epochEnded, .claimsNoted: break
        }
        return EntryYield()
    }
}

/// How the store keeps causes of stops.
enum StoredCause {
    /// Whether the store has forgotten something, as statements have it, with `r` the run.
    static let isForgotten = "r.cause LIKE '%\"store_has_forgotten\"%'"

    static func text(_ cause: StopCause?) -> String { cause?.json.text ?? "" }

    static func read(_ text: String) -> StopCause? {
        if text.isEmpty { return nil }
        return JSONValue(stored: text).flatMap(StopCause.init) ?? .described(text)
    }
}

/// A connection with numbers of its own for what one worker writes through it.
final class JournalWriter: Sendable {
    /// Its place among the writers of a worker.
    let place: Int
    let storeConnection: StoreConnection
    private let numbers = Mutex(JournalNumbers())
    /// `JournalNumbers.confirmed`, for callers that must not wait for an entry that is under way.
    private let lastConfirmed = Atomic(0)

    /// Writers of a worker: one claims, the other records.
    static let count = 2

    init(_ store: Store, place: Int) {
        self.place = place
        storeConnection = store.storeConnection()
    }

    /// Begins to count anew, for another worker.
    func restart() {
        numbers.withLock { numbers in
            numbers = JournalNumbers()
            lastConfirmed.store(0, ordering: .releasing)
        }
    }

    /// Entries that the database has confirmed. Waits for none that is under way: beats continue.
    var confirmed: Int { lastConfirmed.load(ordering: .acquiring) }

    /// The result of writing an entry.
    enum WriteResult {
        /// It is in the journal, by this try or an earlier one.
        case isThere
        /// Its number is taken by another entry, which was given up, and arrived all the same.
        case isAnother
        /// It may not be written.
        case isMissing
    }

    /// Appends an entry, however often it takes.
    /// - Parameters:
    ///   - isOver: whether to try no more when the database is away.
    ///   - write: writes it under a number; it may be there already.
    /// - Returns: false if the worker may not write it. Its number is used again then.
    func append(until isOver: () -> Bool, _ write: (PostgresConnection, _ number: Int) throws -> WriteResult) throws
        -> Bool
    {
        try numbers.withLock { numbers in
            while true {
                let written = try tried(&numbers, until: isOver, write)
                defer { lastConfirmed.store(Int(numbers.confirmed), ordering: .releasing) }
                switch written {
                case .isThere:
                    numbers.acknowledged()
                    return true
                case .isAnother: numbers.acknowledged()
                case .isMissing:
                    numbers.refused()
                    return false
                }
            }
        }
    }

    private func tried(
        _ numbers: inout JournalNumbers, until isOver: () -> Bool,
        _ write: (PostgresConnection, _ number: Int) throws -> WriteResult
    ) throws -> WriteResult {
        let number = Int(numbers.take())
        do { return try storeConnection.retrying(until: isOver) { try write($0, number) } } catch {
            numbers.lost()
            throw error
        }
    }
}
