import Base
import Delivery
import Cluster
import Runs

/// Sending a run together with other machines: rounds until the run has ended, and what the
/// coordinator does once for all.
extension RunSender {
    /// Whether this process does what is done once for the run.
    var isCoordinating: Bool { session?.worker.isCoordinator ?? true }

    /// Reasons for which a recipient that is unsent gets nothing any more: a recipient that was
    /// given back is sent to again in the same epoch, or, of a run that was cancelled, in the next
    /// one.
    private static let closing = Set(OwnReason.allCases).subtracting(OwnReason.givenBack)

    /// Sends until the run has ended, for all or for this process.
    func sendShared(_ session: WorkerSession) throws -> RunEnd {
        let end = try sentShared(session)
        // What the store neither takes nor says once it is given up says nothing about the run.
        switch end {
        case .stopped(.ledger), .stopped(.described): return session.isStoreGivenUp ? .interrupted : end
        default: return end
        }
    }

    private func sentShared(_ session: WorkerSession) throws -> RunEnd {
        do {
            let end = run.plan.waves.isEmpty ? try sendRounds(session) : try sendWaves()
            // Another worker may have recorded how the run ended, also at the same moment.
            if let end = session.end { return end }
            if endsRun(end) {
                let recorded = recorded(end)
                let inStore = session.endInStore
                // This machine was interrupted, and says so; for the others the run was stopped.
                if recorded == .interrupted, case .stopped(.interrupted)? = inStore { return recorded }
                return inStore ?? recorded
            }
            // Why its ledger takes nothing more may not have come with a beat yet.
            if case .stopped(.ledger) = end { return session.endInStore ?? end }
            return end
        } catch let end as SendingRevoked {
            return end.isCancelled ? .cancelled : session.end ?? session.endInStore ?? .stopped(.ledger(.takenOver))
        }
    }

    /// Whether an end of this process is one of the run: where a person interrupts it on a machine
    /// that only helps, the others continue.
    private func endsRun(_ end: RunEnd) -> Bool {
        switch end {
        case .interrupted: options.endsSharedRuns && session?.mirror != nil
        case .stopped(.ledger): false
        case .stopped(let cause) where concernsOnlyThisMachine(cause): false
        case .finished, .stopped, .cancelled: true
        }
    }

    /// Whether a stop is a reason for a machine that helps to leave, while the others continue: it
    /// has no connection, its clock is wrong, its key is refused. On the machine that has the run's
    /// file every stop is one of the run.
    func concernsOnlyThisMachine(_ cause: StopCause) -> Bool {
        session != nil && session?.mirror == nil && cause.isOfMachine
    }

    private func sendRounds(_ session: WorkerSession) throws -> RunEnd {
        var rounds = try begunRounds()
        let start = try run.status().startedAt ?? clock.now()
        while true {
            if options.cancellation.isRequested { return .interrupted }
            if let end = session.end { return end }
            if order == .pause, let end = waitWhilePaused() { return end }
            let (end, asked) = try deliver(0..<run.plan.audience, startingAt: start, after: EarlierCalls(), in: &rounds)
            try session.ledger.returnLeases()
            switch (end, asked) {
            case (.finished, _):
                // A segment may have had fewer recipients than a canary.
                if let news = session.worker.news, news.isCoordinator {
                    session.open(run.plan.segments.filter(mayBegin), news)
                }
                if try isOver() { return ended(rounds) }
            case (.stopped(let cause), _): return .stopped(cause)
            case (.cancelled, _): return .cancelled
            case (.interrupted, .paused): if isCoordinating { try run.append(.rested) }
            case (.interrupted, _): break
            }
        }
    }

    /// Whether no worker has anything left to send. Waits for news otherwise.
    func isOver() throws -> Bool {
        guard let session else { return true }
        if isCoordinating, try hasNothingLeft(session.ledger) { return true }
        options.observer(.tick)
        if try !hasWork(session) { session.worker.waitForNews(options.cancellation) }
        return false
    }

    private func hasWork(_ session: WorkerSession) throws -> Bool {
        guard let news = session.worker.news else { return false }
        return run.plan.segments.contains { news.segmentsWithWork.contains($0.ids.lowerBound) && mayBegin($0) }
    }

    /// Looks after those that workers left behind, and finds out whether everybody is settled. For
    /// the coordinator.
    private func hasNothingLeft(_ ledger: SharedLedger) throws -> Bool {
        try recordLost(ledger)
        guard try ledger.offerAgain(resendsUnknown: services.map(\.resendsUnknown), closing: Self.closing) == 0 else {
            return false
        }
        return try ledger.isSettled(closing: Self.closing)
    }

    /// Finds waves to continue, of which recipients were given back by a worker that stopped,
    /// paused or died. Of the others those remain that are not settled. For the coordinator: others
    /// have done their part of a wave once nothing of it is left to be taken.
    /// - Parameter sent: waves of which this worker has done its part.
    func reopened(of sent: inout SentWaves) throws -> [Int] {
        guard let session, isCoordinating, sent.mayBeAsked else { return [] }
        let start = ContinuousClock.now
        try recordLost(session.ledger)
        var again: [Int] = [], unsettled: Set<Int> = []
        for wave in sent.waves.sorted() {
            let ids = run.plan.waves[wave].ids
            let offered = try session.ledger.offerAgain(
                resendsUnknown: services.map(\.resendsUnknown), closing: Self.closing, of: ids)
            if try offered > 0 || session.ledger.isWaiting(ids) {
                again.append(wave)
            } else if try !session.ledger.isSettled(closing: Self.closing, of: ids) {
                unsettled.insert(wave)
            }
        }
        sent.looked(since: start, unsettled: unsettled)
        return again
    }

    /// Records recipients as unknown that were left behind by workers that are gone.
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
    /// Whether it may have to do with the machine rather than with the run: others may still be
    /// able to send it.
    fileprivate var isOfMachine: Bool {
        switch self {
        case .connection, .notSent, .ledger, .described: true
        case .limit, .interrupted, .cancelled, .rejected: false
        case .services(let partial): partial.stopped.contains { $0.cause.isOfMachine }
        case .service(_, let stop):
            switch stop {
            case .mostTargetsRefused, .targetsRefused, .mostRejected, .quotaUsedUp: false
            case .refused, .certificateExpired, .credentialsUnusable, .tokenExpired, .namesRefused, .namesMissing,
                .tokenRefused,
                .tokenMissing, .notTheService, .notHTTP2, .outage:
                true
            }
        }
    }
}
