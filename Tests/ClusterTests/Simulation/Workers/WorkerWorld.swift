import TestSupport

@testable import Cluster

/// A run that several workers send, in a world where connections break before and after the
/// database has done what it was asked, answers come late, workers join, leave, freeze and are
/// killed, people pause and cancel, and a standby takes over that has everything or lags. The
/// database is a few tables, and what it does for others is seen in the order in which transactions
/// commit. A seed decides all.
///
/// What is judged (`WorkerWorld+Judging`): no device gets two pushes, except in the case that
/// `RecoveryBarrier` says cannot be prevented; a worker that is on record as dead submits nothing;
/// the pace holds in every second; only one worker sends until the canary is over; nothing is
/// claimed after a cancel; every recipient is settled in the end, and soon after the last trouble;
/// the end is recorded once; a run stops if entries are missing or no survivor is left, and only
/// then. A run that stopped so is resumed from its file, and sends to no recipient that the file or
/// the store has on record (`WorkerWorld+Resuming`).
struct WorkerWorld {
    /// A rule that is broken on purpose.
    enum Breakage: String, CaseIterable {
        /// `FOR KEY SHARE`: a worker that is declared dead is not waited for.
        case keyShare
        /// The transaction that declares a worker dead reads what was there when it began.
        case repeatableRead
        /// A beat is dated from its answer.
        case gateFromAnswer
        /// A part of the pace counts as free as soon as it is no longer in force.
        case partRaisedEarly
        /// What may have been written is written again under another number.
        case retryWithoutNumber
        /// The observer's time continues while it is not connected.
        case watchesWhileAway
        /// Silences continue when another server has taken over.
        case countsAcrossEpochs = "countsAcrossLives"
        /// Workers do not compare what the database has with what it acknowledged.
        case comparesNothing
        /// Workers compare with what was acknowledged when the answer came.
        case comparesLate
        /// Workers claim and record before they have compared, on a new connection, and do not wait
        /// for each other.
        case claimsBeforeComparing
        /// Each worker confirms for itself, and continues.
        case awaitsNobody
        /// What a worker had leased that died without having confirmed is leased again.
        case trustsTheUnconfirmed
        /// A worker that joins after the database has come up again counts as a survivor of the
        /// epoch before.
        case newcomersSurvivor = "newcomersWitness"
        /// A run whose store has forgotten something is resumed from the store, without what the
        /// run's file has.
        case resumesThroughStore
        /// A worker does not ask for what it already has.
        case leasesAnew
        /// A worker leaves while its last second counts.
        case leavesAtOnce
        /// Claims do not look at the order.
        case claimsWhateverTheOrder
        /// The end is recorded without its condition.
        case endsUnconditionally
        /// The role of the canary is not given up by the dead.
        case canaryDies
        /// The process that has the run's file takes part no longer once it was declared dead.
        case hostStaysAway = "homeStaysAway"
    }

    enum Record {
        case outcomes([(id: Int, isAccepted: Bool)])
        case unsent([(id: Int, redo: Int)])
    }

    struct Beat {
        var number: Int64
        var used: Int
        var wants: Bool
        var confirms: Int64?
        var isSurvivor: Bool
        /// Of its own entries: what it misses, the database notices with the beat, even if the
        /// answer never arrives.
        var acknowledged: CommitMemory.Row
        var judgesCanary: Bool
        /// After a cancel: it has nothing in hand, and what it has claimed is recorded.
        var isDone: Bool
        var start: Double
    }

    /// What a worker requests from the database.
    enum Request {
        case lease(most: Int)
        case claim(number: Int64, LeasedRange)
        case record(number: Int64, Record)
        case beat(Beat)
        case declareDead(worker: Int, beat: Int64)
        case leave, reopen, end
        case stop(missing: Int64)
    }

    /// What a beat sees of the run.
    struct Observation {
        var state = SharedTables.State.paused
        var isCanary = false, isCoordinator = false, isReopened = false
        var isCanaryOver = true
        var answered = 0
        var canEnd = false
        var isCalm = false
        var isUnwitnessedCancellation = false
    }

    struct BeatAnswer {
        var granted: Int?
        var others: [String: Int64]
        var entries: [String: CommitMemory.Row]
        var changes: Int64
        var epoch: Int64
        var isSurvivorConfirmed: Bool
        /// The worker is not on record as dead.
        var isAlive: Bool
        var observation: Observation
    }

    enum Answer {
        case leased(LeasedRange?)
        case done
        /// The recovery barrier is closed, or the order does not allow it.
        case notNow
        /// The leased range is leased to another worker, or to none.
        case notYours
        case beat(BeatAnswer)
        /// The fence: the worker is on record as dead.
        case dead
    }

    /// A statement on its way: it begins, waits for locks, and commits.
    struct Statement {
        var worker: Int
        var request: Request
        var thread: Int
        /// The connection's end of the database; what was sent to another one is lost.
        var incarnation: Int
        /// Whether the answer gets back.
        var isAnswered = true
        var answerDelay: Double
        var execution: Double
        var answer = Answer.done
        /// What it saw when it began.
        var snapshot: SharedTables.Row?
        var sawAlive = false
        var order = SharedTables.State.sending
    }

    enum Event {
        case tick(Int)
        case begin(Int), proceed(Int), commit(Int), answer(Int), lost(Int)
        case outcome(worker: Int, id: Int)
        case trouble, watchman, takeover, goOn
    }

    let seed: UInt64
    let audience: Int
    /// Pushes a second, all workers together.
    let pace: Int
    let breakage: Breakage?
    /// Takes what happens, to be read.
    let trace: (@Sendable (String) -> Void)?
    var random: SeededRandom
    /// Seconds. All workers read the same clock, and none of them tells another what it shows.
    var now = 0.0
    var queue = EventQueue<Event>()
    var statements: [Statement] = []

    // The database.
    var tables: SharedTables
    var recoveryBarrier = RecoveryBarrier(publishedIn: 1)
    var epochs: Int64 = 1
    /// Statements that hold a worker's row: together, and alone.
    var sharers: [Set<Int>] = []
    var owners: [Int?] = []
    var blocked: [(worker: Int, statement: Int)] = []
    /// Raised when another server takes over.
    var incarnation = 0
    /// What a standby has that lags, while it does.
    var standby: SharedTables?
    var isTakeoverPending = false
    var file: HostFile
    /// The database cannot be reached until then.
    var awayUntil = -1.0
    var outageTimes: [ClosedRange<Double>] = []

    // The processes, the service, and the truth.
    var workers: [SimulatedWorker] = []
    /// The worker as which the process takes part that has the run's file; nil once it was killed,
    /// or has left.
    var host: Int? = 0
    var wasHostEnded = false
    var truth: Truth
    var counts = Counts()
    var failures: [String] = []
    var lastTrouble = 0.0

    init(seed: UInt64, breakage: Breakage? = nil, trace: (@Sendable (String) -> Void)? = nil) {
        self.trace = trace
        self.seed = seed
        random = SeededRandom(seed)
        self.breakage = breakage
        audience = Int.random(in: 60...600, using: &random)
        pace = Int.random(in: 4...30, using: &random)
        let former = Bool.random(using: &random) ? 0 : Int.random(in: 1...30, using: &random)
        tables = SharedTables(audience: audience, pace: pace, former: former, hasCanary: Bool.random(using: &random))
        truth = Truth(audience: audience)
        file = HostFile(audience: audience)
        truth.isCanaryOver = tables.isCanaryOver
    }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
    mutating func between(_ low: Double, _ high: Double) -> Double { Double.random(in: low...high, using: &random) }
    mutating func fail(_ what: String) { if failures.count < 10 { failures.append("\(now): \(what)") } }
    func tell(_ what: @autoclosure () -> String) { trace?("\((now * 1_000).rounded() / 1_000) \(what())") }
    mutating func at(_ moment: Double, _ event: Event) { queue.add(event, at: moment) }

    // MARK: - Epoch

    mutating func run() {
        for _ in 0..<3 { join() }
        at(between(1, 5), .trouble)
        at(15, .watchman)
        while let entry = queue.next(), entry.at < 1_200, failures.isEmpty {
            now = entry.at
            handle(entry.event)
            // A worker that was suspended when the run ended finds out later.
            if let over = truth.overAt, now > over + 3, isHostAtTheEnd || now > over + 200 { break }
        }
        judge()
    }

    mutating func join() {
        workers.append(SimulatedWorker(name: "m\(workers.count)"))
        sharers.append([])
        owners.append(nil)
        at(now + between(0, 0.5), .tick(workers.count - 1))
    }

    /// Whether the process with the run's file has read that the run has ended, or is gone.
    private var isHostAtTheEnd: Bool { host.map { workers[$0].isGone } ?? true }

    /// The process that has the run's file was declared dead: it takes part again, as another
    /// worker.
    mutating func rejoin(_ worker: Int) {
        guard host == worker else { return }
        host = nil
        guard breakage != .hostStaysAway else { return }
        counts[.rejoins] += 1
        tell("\(workers[worker].name) takes part again as m\(workers.count)")
        host = workers.count
        join()
    }

    mutating func handle(_ event: Event) {
        switch event {
        case .trouble: trouble()
        case .watchman: watchman()
        case .takeover: takeOver()
        case .goOn: order(.sending)
        case .tick(let worker):
            guard !workers[worker].isGone else { return }
            guard workers[worker].frozenUntil < now else {
                return at(workers[worker].frozenUntil + between(0, 0.05), event)
            }
            tick(worker)
            at(now + 0.1, event)
        case .begin(let id): begin(id)
        case .proceed(let id): proceed(id)
        case .commit(let id): commit(id)
        case .answer(let id): if reaches(statements[id].worker, event) { answered(id) }
        case .lost(let id): if reaches(statements[id].worker, event) { wasLost(id) }
        case .outcome(let worker, let id):
            guard reaches(worker, event) else { return }
            workers[worker].outcomes.append((id, truth.accepted[id]))
            workers[worker].inFlight -= 1
        }
    }

    /// Events for a frozen process reach it when it continues.
    mutating func reaches(_ worker: Int, _ event: Event) -> Bool {
        guard !workers[worker].isGone else { return false }
        guard workers[worker].frozenUntil >= now else { return true }
        at(workers[worker].frozenUntil + between(0, 0.05), event)
        return false
    }

    // MARK: - Messages

    mutating func send(_ request: Request, from worker: Int, thread: Int, retryDeadline: Double = 5) {
        let id = statements.count
        var statement = Statement(
            worker: worker, request: request, thread: thread, incarnation: incarnation,
            answerDelay: between(0.001, 0.03), execution: between(0.001, 0.02))
        workers[worker].waiting[thread] = id
        var arrival = now + between(0.001, 0.03)
        var isSent = true
        if arrival < awayUntil {
            counts[.losses] += 1
            at(now + (chance(0.5) ? between(0.01, 1) : retryDeadline), .lost(id))
            isSent = false
        } else if chance(0.03) {
            counts[.losses] += 1
            statement.isAnswered = false
            at(now + (chance(0.5) ? between(0.01, 1) : retryDeadline), .lost(id))
            // Never arrives, or arrives, at once or long after it was given up.
            if chance(0.3) {
                isSent = false
            } else if chance(0.4) {
                counts[.lateCommits] += 1
                arrival += between(1, 40)
                // Locks and disks also take their time.
                if chance(0.5) { statement.execution += between(0.1, 5) }
            }
        } else if chance(0.02) {
            // A slow network.
            statement.answerDelay += between(0.5, retryDeadline - 0.5)
        } else if chance(0.02) {
            statement.execution += between(0.1, 3)
        }
        statements.append(statement)
        if isSent { at(arrival, .begin(id)) }
    }
}
