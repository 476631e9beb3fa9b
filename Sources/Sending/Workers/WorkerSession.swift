import Base
import Delivery
import Cluster
import Runs
import Synchronization

/// The place of this process among the machines that send a run together.
final class WorkerSession: Sendable {
    let ledger: SharedLedger
    let worker: WorkerRegistration
    /// Carries orders between the run's file and the store; nil on machines that do not have the
    /// file.
    let mirror: OrderMirror?
    private let commonClock: CommonClock
    private let answers: WorkerAnswers
    private let round = Mutex(Round())
    private let ending: Cancellation
    /// Rung when a segment must be opened.
    private let wanted: Wakeup
    /// Tells the store what may have to wait for it: the threads that watch over sending must not.
    private let teller = Mutex<WorkerThread<Void>?>(nil)

    /// What the others had recorded as the present round began.
    private struct Round {
        /// By the numbers of services.
        var before: [Int: [Outcome: Int]] = [:]
        /// The first ids of segments that the others may send, as far as this worker says, and of
        /// those that the store has yet to be told of.
        var opened: Set<Int> = [], toOpen: Set<Int> = []
    }

    /// Milliseconds between two looks at the orders of the run's file.
    private static let lookMilliseconds = 200

    /// Joins.
    /// - Parameters:
    ///   - file: the run's own file, where this machine has it.
    ///   - paces: those that workers keep together.
    ///   - clock: set by the store's, as beats show it.
    /// - Throws: `Diagnostic`: the store cannot be reached, or no longer has the run.
    init(_ ledger: SharedLedger, file: RunFile?, dividing paces: [DividedPace], setting clock: CommonClock) throws {
        let answers = WorkerAnswers(ledger.plan)
        (self.ledger, self.answers) = (ledger, answers)
        commonClock = clock
        mirror = file.map(OrderMirror.init)
        (ending, wanted) = (try Cancellation(), try Wakeup())
        worker = try WorkerRegistration(ledger, answers: { answers.counts }, dividing: paces)
        do {
            let thread = try WorkerThread("tell store") { [self] in
                while !ending.isRequested {
                    if ending.wait(milliseconds: Self.lookMilliseconds, orUntil: wanted) { wanted.clear() }
                    guard !ending.isRequested, !worker.isDead else { continue }
                    mirror?.carry(worker.news, ledger, isAway: worker.trouble != nil)
                    if worker.trouble == nil { openSegments() }
                }
            }
            teller.withLock { $0 = thread }
        } catch {
            worker.end()
            throw error
        }
    }

    /// Takes part no longer.
    func leave() {
        ending.request()
        teller.withLock { thread in
            thread?.join()
            thread = nil
        }
        worker.end()
        ledger.unlock()
    }

    /// Less is not worth a correction: workers that ask at the same moment get answers so far
    /// apart.
    private static let leastSeconds = 0.05

    /// The database's clock: all workers go by the same, however their own are set.
    var clock: WaitClock {
        WaitClock(
            now: { [commonClock, worker] in
                Self.set(commonClock, by: worker.news)
                return commonClock.now()
            }, rest: WaitClock.system.rest)
    }

    /// Sets a clock by the database's, unless what a beat showed may be the time that it took.
    private static func set(_ clock: CommonClock, by news: WorkerNews?) {
        guard let news, abs(news.clockOffsetSeconds - clock.offsetSeconds) > max(leastSeconds, news.clockErrorSeconds)
        else { return }
        clock.correct(bySeconds: news.clockOffsetSeconds)
    }

    /// What the run's file orders and the store does not say yet; nil for nothing, or if this
    /// machine does not have the file.
    var pendingOrder: RunOrder? { mirror?.pending }

    /// Whether the store is waited for no longer, as a person has requested the end while it was
    /// away.
    var isStoreGivenUp: Bool { ledger.store.isGivenUp }

    /// Counts what this worker has recorded.
    func count(_ settlements: [Settlement]) { answers.add(settlements) }

    /// Why this worker sends no more; nil if it continues.
    var end: RunEnd? {
        if worker.isDead {
            // A store that has forgotten a worker does not tell it from one that was declared dead.
            switch endInStore {
            case .stopped(.ledger(let stop))? where stop.isForgetting: return .stopped(.ledger(stop))
            case .cancelled?: return .cancelled
            default: break
            }
            return .stopped(.ledger(.takenOver))
        }
        return worker.news.flatMap { Self.end($0.state, $0.cause) }
    }

    /// How the run ended, as the store says now; nil if it has not ended, or the store cannot be
    /// queried.
    var endInStore: RunEnd? { (try? ledger.status()).flatMap { Self.end($0.state, $0.cause) } }

    private static func end(_ state: RunState, _ cause: StopCause?) -> RunEnd? {
        switch state {
        case .finished: .finished
        case .stopped: .stopped(cause ?? .interrupted)
        case .cancelled: .cancelled
        case .planned, .running, .paused: nil
        }
    }

    /// Whether this worker may send a segment: the coordinator goes first, with the canary.
    func mayBegin(_ segment: RunSegment) -> Bool {
        guard let news = worker.news,
            let whole = ledger.plan.segments.first(where: { $0.ids.contains(segment.ids.lowerBound) })
        else {
            return false
        }
        let first = whole.ids.lowerBound
        return !news.stoppedSegments.contains(first) && (news.isCoordinator || news.openSegments.contains(first))
    }

    // MARK: - A round

    /// Notes where the others are as a round begins.
    /// - Parameter figures: of the whole run; nil if nothing was sent.
    func beginRound(_ figures: RunFigures?, _ segments: [SegmentSending]) {
        let own = answers.counts
        round.withLock { round in
            for segment in segments {
                let service = segment.segment.service
                let all = figures?.figures(ofService: service).outcomes ?? [:]
                round.before[service] = all.merging(own[service] ?? [:]) { max(0, $0 - $1) }
            }
        }
        for segment in segments { segment.control.openGate(until: worker.handsOverUntil) }
        worker.note(isSending: !segments.isEmpty)
    }

    /// Notes that a round has ended: this worker sends nothing for now.
    func endRound() { worker.note(isSending: false) }

    /// Passes on what the last beat brought, and what must not continue. Called several times a
    /// second.
    func steer(_ segments: [SegmentSending], _ state: SendState) {
        Self.set(commonClock, by: worker.news)
        for segment in segments { segment.control.openGate(until: worker.handsOverUntil) }
        if worker.isDead {
            segments.interrupt(.cancelled)
            return state.fail(.ledger(.takenOver))
        }
        guard let news = worker.news else { return }
        if news.state.hasEnded, news.state != .cancelled { segments.interrupt(.interrupted) }
        for segment in segments where isStopped(segment.segment, news) { segment.control.interrupt(.interrupted) }
        noteElsewhere(news, segments, state)
        if news.isCoordinator { open(segments.filter(\.control.canaryIsOver).map(\.segment), news) }
    }

    private func isStopped(_ segment: RunSegment, _ news: WorkerNews) -> Bool {
        ledger.plan.segments.contains {
            news.stoppedSegments.contains($0.ids.lowerBound) && $0.ids.contains(segment.ids.lowerBound)
        }
    }

    private func noteElsewhere(_ news: WorkerNews, _ segments: [SegmentSending], _ state: SendState) {
        let before = round.withLock { $0.before }
        var sum: [Outcome: Int] = [:]
        for service in Set(segments.map(\.segment.service)) {
            let elsewhere = (news.elsewhere[service] ?? [:]).merging(before[service] ?? [:]) { max(0, $0 - $1) }
            let since = elsewhere.filter { news.elsewhere[service]?[$0.key] != nil }
            for segment in segments where segment.segment.service == service { segment.control.noteElsewhere(since) }
            sum.merge(since) { $0 + $1 }
        }
        state.progress.note(elsewhere: sum)
    }

    /// Lets the others send segments in which the coordinator has gone ahead.
    func open(_ segments: [RunSegment], _ news: WorkerNews) {
        for segment in segments {
            guard let whole = ledger.plan.segments.first(where: { $0.ids.contains(segment.ids.lowerBound) }),
                !news.openSegments.contains(whole.ids.lowerBound),
                round.withLock({ $0.opened.insert(whole.ids.lowerBound).inserted })
            else { continue }
            round.withLock { _ = $0.toOpen.insert(whole.ids.lowerBound) }
            wanted.wake()
        }
    }

    private func openSegments() {
        for first in round.withLock({ $0.toOpen }) {
            guard let segment = ledger.plan.segments.first(where: { $0.ids.lowerBound == first }) else { continue }
            let isOpen = (try? ledger.open(segment)) != nil
            round.withLock { round in
                round.toOpen.remove(first)
                if !isOpen { round.opened.remove(first) }
            }
        }
    }
}

/// What a worker was answered, by service and outcome.
final class WorkerAnswers: Sendable {
    private let plan: RunPlan
    private let state = Mutex<[Int: [Outcome: Int]]>([:])

    init(_ plan: RunPlan) { self.plan = plan }

    /// Counts settlements of one service.
    func add(_ settlements: [Settlement]) {
        guard let first = settlements.first else { return }
        let service = plan.service(of: first.recipient)
        var counts: [Outcome: Int] = [:]
        for settled in settlements where settled.outcome != .unsent { counts[settled.outcome, default: 0] += 1 }
        state.withLock { $0[service, default: [:]].merge(counts) { $0 + $1 } }
    }

    var counts: [Int: [Outcome: Int]] { state.withLock { $0 } }
}

/// Carries orders between the file of a run and the store, in both directions: a person may pause
/// or cancel on the machine that has the file, or on any other.
final class OrderMirror: Sendable {
    let file: RunFile
    private let state = Mutex(State())

    private struct State {
        /// What both said when they last agreed.
        var known = RunOrder.goOn
        var pending: RunOrder?
    }

    init(_ file: RunFile) { self.file = file }

    /// What is carried where; nil for nothing.
    enum Step: Hashable {
        case intoStore(RunOrder), intoFile(RunOrder)
    }

    /// - Parameter known: what both said when they last agreed.
    static func step(file: RunOrder, store: RunOrder, known: RunOrder) -> Step? {
        if file == store { return nil }
        // A cancelled run stays cancelled, whatever else was ordered in between.
        if file == .cancel { return .intoStore(.cancel) }
        if store == .cancel { return .intoFile(.cancel) }
        return file == known ? .intoFile(store) : .intoStore(file)
    }

    /// What the file orders and the store does not say yet. This machine stops at once, whether or
    /// not the store can be told; it continues once all may.
    var pending: RunOrder? { state.withLock { $0.pending } }

    static func pending(_ step: Step?) -> RunOrder? {
        guard case .intoStore(let order)? = step, order != .goOn else { return nil }
        return order
    }

    /// Carries what changed since the last call.
    /// - Parameter isAway: whether the store cannot be told anything now.
    func carry(_ news: WorkerNews?, _ ledger: SharedLedger, isAway: Bool) {
        guard let store = news.flatMap({ RunOrder($0.state) }), let file = try? file.status().order else { return }
        let (step, isPassedOn) = state.withLock { state in
            let step = Self.step(file: file, store: store, known: state.known), wasPending = state.pending != nil
            if step == nil { state.known = file }
            state.pending = Self.pending(step)
            return (step, step == nil && wasPending)
        }
        if isPassedOn { try? self.file.notePassedOn(file) }
        guard let step, !isAway else { return }
        // What fails is tried again with the next call; the states show then what is left to do.
        switch step {
        // Both agree once a beat shows it: until then the store's state may be an old one, which
        // says nothing against the file's.
        case .intoStore(let order):
            if (try? ledger.append(.ordered(order, at: .now()))) != nil { try? self.file.notePassedOn(order) }
        case .intoFile(let order):
            if (try? self.file.append(.ordered(order, at: .now()))) != nil {
                state.withLock { $0.known = order }
                try? self.file.notePassedOn(order)
            }
        }
    }
}
