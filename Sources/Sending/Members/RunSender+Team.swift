import Base
import Delivery
import PostgresRuns
import Runs

/// Sending a run together with other machines: rounds until the run has ended, and what whoever conducts does once for all.
extension RunSender {
    /// Whether this process does what is done once for the run.
    var isConducting: Bool { team?.member.isConductor ?? true }

    /// Reasons for which a recipient that is unsent gets nothing any more: a recipient that was given back is sent to again in the same life, or, of a run that was
    /// cancelled, in the next one.
    private static let closing = Set(OwnReason.allCases).subtracting(OwnReason.givenBack)

    /// Sends until the run has ended, for all or for this process.
    func sendInTeam(_ team: TeamPlace) throws -> RunEnd {
        let end = try sentInTeam(team)
        // What the store does not take once it is given up says nothing about the run.
        if case .stopped(.ledger) = end, team.isStoreGivenUp { return .interrupted }
        return end
    }

    private func sentInTeam(_ team: TeamPlace) throws -> RunEnd {
        do {
            let end = run.plan.waves.isEmpty ? try sendRounds(team) : try sendWaves()
            // Another member may have recorded how the run ended, also at the same moment.
            if let end = team.end { return end }
            if endsRun(end) {
                let recorded = recorded(end)
                let inStore = team.endInStore
                // Who was interrupted here knows it; to the others the run was stopped.
                if recorded == .interrupted, case .stopped(.interrupted)? = inStore { return recorded }
                return inStore ?? recorded
            }
            // Why its ledger takes nothing more may not have come with a beat yet.
            if case .stopped(.ledger) = end { return team.endInStore ?? end }
            return end
        } catch let end as NotSending {
            return end.isCancelled ? .cancelled : team.end ?? team.endInStore ?? .stopped(.ledger(.takenOver))
        }
    }

    /// Whether an end of this process is one of the run: where a person interrupts it on a machine that only helps, the others continue.
    private func endsRun(_ end: RunEnd) -> Bool {
        switch end {
        case .interrupted: attendance.endsTeamRuns && team?.mirror != nil
        case .stopped(.ledger): false
        case .stopped(let cause) where concernsOnlyThisMachine(cause): false
        case .finished, .stopped, .cancelled: true
        }
    }

    /// Whether a stop is a reason for a machine that helps to leave, while the others go on: it has no connection, its clock is wrong, its key is refused.
    /// On the machine that has the run's file every stop is one of the run.
    func concernsOnlyThisMachine(_ cause: StopCause) -> Bool { team != nil && team?.mirror == nil && cause.isOfMachine }

    private func sendRounds(_ team: TeamPlace) throws -> RunEnd {
        var rounds = try begunRounds()
        let start = try run.status().startedAt ?? clock.now()
        while true {
            if attendance.cancellation.isRequested { return .interrupted }
            if let end = team.end { return end }
            if order == .pause, let end = waitWhilePaused() { return end }
            let (end, asked) = try deliver(0..<run.plan.audience, startingAt: start, after: EarlierCalls(), in: &rounds)
            try team.ledger.returnLeases()
            switch (end, asked) {
            case (.finished, _):
                // A leg may have had fewer recipients than a canary.
                if let news = team.member.news, news.isConductor { team.open(run.plan.legs.filter(mayBegin), news) }
                if try isOver() { return ended(rounds) }
            case (.stopped(let cause), _): return .stopped(cause)
            case (.interrupted, .cancelled): return .cancelled
            case (.interrupted, .paused): if isConducting { try run.append(.rested) }
            case (.interrupted, _): break
            }
        }
    }

    /// Whether nothing is left to send, for anybody. Waits for news if there is.
    func isOver() throws -> Bool {
        guard let team else { return true }
        if isConducting, try hasNothingLeft(team.ledger) { return true }
        attendance.observer(.tick)
        if try !hasWork(team) { team.member.waitForNews(attendance.cancellation) }
        return false
    }

    private func hasWork(_ team: TeamPlace) throws -> Bool {
        guard let news = team.member.news else { return false }
        return run.plan.legs.contains { news.legsWithWork.contains($0.ids.lowerBound) && mayBegin($0) }
    }

    /// Looks after those that members left behind, and finds out whether everybody is settled. For whoever conducts.
    private func hasNothingLeft(_ ledger: SharedLedger) throws -> Bool {
        try recordLost(ledger)
        guard try ledger.offerAgain(resendsUnknown: services.map(\.resendsUnknown), closing: Self.closing) == 0 else { return false }
        return try ledger.isSettled(closing: Self.closing)
    }

    /// Finds waves to go on with, of which recipients were given back by a member that stopped, paused or died. Of the others those remain that are not
    /// settled. For the conductor: others have done their part of a wave once nothing of it is left to be taken.
    /// - Parameter sent: waves of which this member has done its part.
    func reopened(of sent: inout SentWaves) throws -> [Int] {
        guard let team, isConducting, sent.mayBeAsked else { return [] }
        let start = ContinuousClock.now
        try recordLost(team.ledger)
        var again: [Int] = [], unsettled: Set<Int> = []
        for wave in sent.waves.sorted() {
            let ids = run.plan.waves[wave].ids
            let offered = try team.ledger.offerAgain(resendsUnknown: services.map(\.resendsUnknown), closing: Self.closing, of: ids)
            if try offered > 0 || team.ledger.isWaiting(ids) {
                again.append(wave)
            } else if try !team.ledger.isSettled(closing: Self.closing, of: ids) {
                unsettled.insert(wave)
            }
        }
        sent.looked(since: start, unsettled: unsettled)
        return again
    }

    /// Records as unknown whom members that are gone left behind.
    private func recordLost(_ ledger: SharedLedger) throws {
        try ledger.claimDoubtful(at: clock.now())
        let skipping = services.indices.filter { !services[$0].resendsUnknown }
        if skipping.count == services.count {
            try run.append(.lost(at: clock.now()))
        } else {
            for number in skipping { try recordLost(ofService: number, at: clock.now()) }
        }
    }
}

extension StopCause {
    /// Whether it may have to do with the machine rather than with the run: others may still be able to send it.
    fileprivate var isOfMachine: Bool {
        switch self {
        case .connection, .notSent, .ledger, .described: true
        case .limit, .interrupted, .cancelled, .rejected: false
        case .services(let partial): partial.stopped.contains { $0.cause.isOfMachine }
        case .service(_, let stop):
            switch stop {
            case .mostTargetsRefused, .targetsRefused, .mostRejected, .quotaUsedUp: false
            case .refused, .certificateExpired, .credentialsUnusable, .tokenExpired, .namesRefused, .namesMissing, .tokenRefused,
                .tokenMissing, .notTheService, .notHTTP2, .outage:
                true
            }
        }
    }
}
