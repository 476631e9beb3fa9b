import Base
import Delivery
import PostgresRuns
import Runs
import Synchronization

/// The place of this process among the machines that send a run together.
final class TeamPlace: Sendable {
    let ledger: SharedLedger
    let member: Membership
    /// Carries orders between the run's file and the store; nil on machines that do not have the file.
    let mirror: OrderMirror?
    private let commonClock: CommonClock
    private let answers: MemberAnswers
    private let round = Mutex(Round())
    private let ending: Cancellation
    /// Rung when a leg is to be opened.
    private let wanted: Wakeup
    /// Tells the store what may have to wait for it: the threads that watch over sending must not.
    private let teller = Mutex<WorkerThread<Void>?>(nil)

    /// What the others had recorded as the present round began.
    private struct Round {
        /// By the numbers of services.
        var before: [Int: [Outcome: Int]] = [:]
        /// The first ids of legs that the others may send, as far as this member says, and of those that the store has yet to be told of.
        var opened: Set<Int> = [], toOpen: Set<Int> = []
    }

    /// Milliseconds between two looks at the orders of the run's file.
    private static let lookMilliseconds = 200

    /// Joins.
    /// - Parameters:
    ///   - file: the run's own file, where this machine has it.
    ///   - paces: those that members keep together.
    ///   - clock: set by the store's, as beats show it.
    /// - Throws: `Diagnostic`: the store cannot be reached, or has the run no longer.
    init(_ ledger: SharedLedger, file: RunFile?, dividing paces: [DividedPace], setting clock: CommonClock) throws {
        let answers = MemberAnswers(ledger.plan)
        (self.ledger, self.answers) = (ledger, answers)
        commonClock = clock
        mirror = file.map(OrderMirror.init)
        (ending, wanted) = (try Cancellation(), try Wakeup())
        member = try Membership(ledger, answers: { answers.counts }, dividing: paces)
        do {
            let thread = try WorkerThread("tell store") { [self] in
                while !ending.isRequested {
                    if ending.wait(milliseconds: Self.lookMilliseconds, orUntil: wanted) { wanted.clear() }
                    guard !ending.isRequested, !member.isDead else { continue }
                    mirror?.carry(member.news, ledger, isAway: member.trouble != nil)
                    if member.trouble == nil { openLegs() }
                }
            }
            teller.withLock { $0 = thread }
        } catch {
            member.end()
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
        member.end()
        ledger.unlock()
    }

    /// Less is not worth a correction: members that ask at the same moment get answers so far apart.
    private static let leastSeconds = 0.05

    /// The database's clock: all members go by the same, however their own are set.
    var clock: WaitClock {
        WaitClock(
            now: { [commonClock, member] in
                Self.set(commonClock, by: member.news)
                return commonClock.now()
            }, rest: WaitClock.system.rest)
    }

    /// Sets a clock by the database's, unless what a beat showed may be the time that it took.
    private static func set(_ clock: CommonClock, by news: MemberNews?) {
        guard let news, abs(news.clockOffsetSeconds - clock.offsetSeconds) > max(leastSeconds, news.clockErrorSeconds) else { return }
        clock.correct(bySeconds: news.clockOffsetSeconds)
    }

    /// What the run's file asks for and the store does not say yet; nil for nothing, or if this machine does not have the file.
    var pendingOrder: RunOrder? { mirror?.pending }

    /// Whether the store is waited for no longer, as a person has asked for the end while it was away.
    var isStoreGivenUp: Bool { ledger.store.isGivenUp }

    /// Counts what this member has recorded.
    func count(_ settlements: [Settlement]) { answers.add(settlements) }

    /// Why this member sends no more; nil if it goes on.
    var end: RunEnd? {
        if member.isDead {
            // A store that has forgotten a member does not tell it from one that was declared dead.
            switch endInStore {
            case .stopped(.ledger(let stop))? where stop.isForgetting: return .stopped(.ledger(stop))
            case .cancelled?: return .cancelled
            default: break
            }
            return .stopped(.ledger(.takenOver))
        }
        return member.news.flatMap { Self.end($0.state, $0.cause) }
    }

    /// How the run ended, as the store says now; nil if it goes on, or the store cannot be asked.
    var endInStore: RunEnd? { (try? ledger.status()).flatMap { Self.end($0.state, $0.cause) } }

    private static func end(_ state: RunState, _ cause: StopCause?) -> RunEnd? {
        switch state {
        case .finished: .finished
        case .stopped: .stopped(cause ?? .interrupted)
        case .cancelled: .cancelled
        case .planned, .running, .paused: nil
        }
    }

    /// Whether this member may send a leg: whoever conducts goes first, with the canary.
    func mayBegin(_ leg: RunLeg) -> Bool {
        guard let news = member.news, let whole = ledger.plan.legs.first(where: { $0.ids.contains(leg.ids.lowerBound) }) else {
            return false
        }
        let first = whole.ids.lowerBound
        return !news.stoppedLegs.contains(first) && (news.isConductor || news.openLegs.contains(first))
    }

    // MARK: - A round

    /// Notes where the others are as a round begins.
    /// - Parameter figures: of the whole run; nil if nothing was sent.
    func beginRound(_ figures: RunFigures?, _ legs: [LegSending]) {
        let own = answers.counts
        round.withLock { round in
            for leg in legs {
                let service = leg.leg.service
                let all = figures?.figures(ofService: service).outcomes ?? [:]
                round.before[service] = all.merging(own[service] ?? [:]) { max(0, $0 - $1) }
            }
        }
        for leg in legs { leg.control.openGate(until: member.handsOverUntil) }
        member.note(isSending: !legs.isEmpty)
    }

    /// Notes that a round has ended: this member sends nothing for now.
    func endRound() { member.note(isSending: false) }

    /// Passes on what the last beat brought, and what must not go on any longer. Called several times a second.
    func steer(_ legs: [LegSending], _ state: SendState) {
        Self.set(commonClock, by: member.news)
        for leg in legs { leg.control.openGate(until: member.handsOverUntil) }
        if member.isDead {
            legs.interrupt(.cancelled)
            return state.fail(.ledger(.takenOver))
        }
        guard let news = member.news else { return }
        if news.state.hasEnded, news.state != .cancelled { legs.interrupt(.interrupted) }
        for leg in legs where isStopped(leg.leg, news) { leg.control.interrupt(.interrupted) }
        noteElsewhere(news, legs, state)
        if news.isConductor { open(legs.filter(\.control.canaryIsOver).map(\.leg), news) }
    }

    private func isStopped(_ leg: RunLeg, _ news: MemberNews) -> Bool {
        ledger.plan.legs.contains { news.stoppedLegs.contains($0.ids.lowerBound) && $0.ids.contains(leg.ids.lowerBound) }
    }

    private func noteElsewhere(_ news: MemberNews, _ legs: [LegSending], _ state: SendState) {
        let before = round.withLock { $0.before }
        var sum: [Outcome: Int] = [:]
        for service in Set(legs.map(\.leg.service)) {
            let elsewhere = (news.elsewhere[service] ?? [:]).merging(before[service] ?? [:]) { max(0, $0 - $1) }
            let since = elsewhere.filter { news.elsewhere[service]?[$0.key] != nil }
            for leg in legs where leg.leg.service == service { leg.control.noteElsewhere(since) }
            sum.merge(since) { $0 + $1 }
        }
        state.progress.note(elsewhere: sum)
    }

    /// Lets the others send legs in which whoever conducts has gone ahead.
    func open(_ legs: [RunLeg], _ news: MemberNews) {
        for leg in legs {
            guard let whole = ledger.plan.legs.first(where: { $0.ids.contains(leg.ids.lowerBound) }),
                !news.openLegs.contains(whole.ids.lowerBound),
                round.withLock({ $0.opened.insert(whole.ids.lowerBound).inserted })
            else { continue }
            round.withLock { _ = $0.toOpen.insert(whole.ids.lowerBound) }
            wanted.wake()
        }
    }

    private func openLegs() {
        for first in round.withLock({ $0.toOpen }) {
            guard let leg = ledger.plan.legs.first(where: { $0.ids.lowerBound == first }) else { continue }
            let isOpen = (try? ledger.open(leg)) != nil
            round.withLock { round in
                round.toOpen.remove(first)
                if !isOpen { round.opened.remove(first) }
            }
        }
    }
}

/// What a member was answered, by service and outcome.
final class MemberAnswers: Sendable {
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
