import Base
import Runs
import Synchronization

/// A holder of a run in memory.
final class MemoryLedger: RunLedger {
    let run: MemoryRun
    /// The life that this holder began; nil before that.
    private let ownLife = Mutex<String?>(nil)

    init(_ run: MemoryRun) { self.run = run }

    deinit { unlock() }

    var plan: RunPlan { run.plan }

    var place: String { "memory/\(plan.id)" }

    private func with<Value>(_ body: (inout MemoryRun.Account) throws -> Value) throws -> Value {
        try run.account.withLock { account throws in try body(&account) }
    }

    func has(_ fault: MemoryRun.Fault) -> Bool { run.fault == fault }

    func status() throws -> RunStatus { run.account.withLock { $0.status } }

    // MARK: - The right to send

    func lockForSending(isSending: Bool) throws {
        try with { account in
            if let holder = account.holder {
                guard holder.ledger == ObjectIdentifier(self) || has(.sharesTheRightToSend) else {
                    throw Diagnostic("another process has this run")
                }
                return
            }
            account.holder = MemoryRun.Holder(
                ledger: ObjectIdentifier(self), since: isSending ? Timestamp.now().epochMilliseconds * 1_000_000 : nil)
        }
    }

    func unlock() {
        run.account.withLock { account in if account.holder?.ledger == ObjectIdentifier(self) { account.holder = nil } }
    }

    func loss(during activity: RunActivity) -> LedgerStop? {
        let isHeld = run.account.withLock { $0.holder?.ledger == ObjectIdentifier(self) }
        return isHeld ? nil : .lockLost("another process has this run", during: activity)
    }

    var isBeingSent: Bool { run.account.withLock { $0.holder != nil } }

    var sendingSince: Int64? { run.account.withLock { $0.holder?.since } }

    // MARK: - Lives

    func life() throws -> String { run.account.withLock { $0.life } }

    func note(_ life: NewLife, at now: Timestamp) throws -> SendingHistory.Beginning {
        try with { account in
            if let known = account.noted {
                let isKnown = life.seen == known.life || life.seen == known.previous
                let isNewest = isKnown && life.reached >= known.reached && life.claimed >= known.claimed
                guard isNewest || has(.followsAnyLife) else { return .isOutdated }
            }
            account.noted = MemoryRun.NotedLife(life: life.life, previous: life.seen, reached: life.reached, claimed: life.claimed)
            return .noted
        }
    }

    func begin(life: String, at now: Timestamp, from expected: Set<RunState>) throws {
        try lockForSending()
        try with { account in
            guard expected.contains(account.state) || has(.beginsFromAnyState) else { throw Diagnostic("the run is \(account.state)") }
            account.life = life
            if !account.claims.isEmpty {
                let figures = account.figures(plan, run.fault)
                for service in 0..<plan.serviceCount {
                    let evidence = figures.tokenEvidence(ofService: service, in: plan)
                    guard evidence.answers > account.beforeLives[service]?.last?.answers ?? 0 else { continue }
                    account.beforeLives[service, default: []].append(evidence)
                }
            }
            if !has(.keepsStopsOfLegs) {
                account.legs = account.legs.compactMapValues { state in state.heldUntil.map { LegState(heldUntil: $0) } }
            }
            let end = account.finishedAt
            Self.set(.running, nil, at: now, &account)
            if has(.keepsTheEnd) { account.finishedAt = end }
        }
        ownLife.withLock { $0 = life }
    }

    func confirm(givenUp: Set<String>) throws -> Bool {
        run.account.withLock { $0.noted?.previous = nil }
        return true
    }

    func endLife() throws {
        let own = ownLife.withLock { $0 }
        let (reached, claimed) = (try reached(), try claimCount())
        run.account.withLock { account in
            guard account.noted?.life == own else { return }
            account.noted?.reached = reached
            account.noted?.claimed = claimed
        }
    }

    private static func set(_ state: RunState, _ cause: StopCause?, at now: Timestamp, _ account: inout MemoryRun.Account) {
        account.state = state
        account.cause = cause
        if state == .running {
            account.startedAt = account.startedAt ?? now
            account.finishedAt = nil
        }
        if state.hasEnded { account.finishedAt = now }
    }

    func setState(_ state: RunState, cause: StopCause?, at now: Timestamp, from expected: Set<RunState>?) throws {
        if state == .running { try lockForSending() }
        try record(state, cause: cause, at: now, from: expected)
    }

    func record(_ state: RunState, cause: StopCause?, at now: Timestamp, from expected: Set<RunState>?) throws {
        let own = ownLife.withLock { $0 }
        try with { account in
            guard own.map({ $0 == account.life }) ?? true else { throw Diagnostic("another process has taken over") }
            guard expected?.contains(account.state) ?? true || has(.takesOrdersThatDoNotFit) else {
                throw Diagnostic("the run is \(account.state)")
            }
            Self.set(state, cause, at: now, &account)
        }
    }

    func finish(at now: Timestamp, unless objection: (RunFigures) -> StopCause?) throws -> StopCause? {
        try with { account in
            let cause = objection(account.figures(plan, run.fault))
            Self.set(cause == nil ? .finished : .stopped, cause, at: now, &account)
            return cause
        }
    }

    // MARK: - Claims

    func claims() throws -> ClaimSet { run.account.withLock { $0.claimed } }

    func claimCount() throws -> Int { run.account.withLock { $0.claimed.count + $0.reopened } }

    func lease(atMost limit: Int, of leg: Range<Int>) throws -> Range<Int>? {
        let claims = has(.leasesWhoIsClaimed) ? ClaimSet() : try claims()
        if has(.leasesIntoTheNextLeg) { return claims.next(atMost: limit, of: leg.lowerBound..<max(leg.lowerBound, plan.audience)) }
        return claims.next(atMost: limit, of: has(.leasesBeyondTheLeg) ? leg : leg.clamped(to: 0..<plan.audience))
    }

    /// - Throws: `NotSending`.
    func checkSending(_ account: MemoryRun.Account) throws {
        guard let own = ownLife.withLock({ $0 }), !has(.claimsAfterTheEnd) else { return }
        if account.state == .cancelled { throw NotSending(isCancelled: true) }
        if account.life != own { throw NotSending(isCancelled: false) }
    }

    func claim(_ range: Range<Int>, unsent: [Settlement], at now: Timestamp) throws {
        guard !range.isEmpty else { return }
        try with { account in
            try checkSending(account)
            guard range.clamped(to: 0..<plan.audience) == range, account.claimed.ranges(in: range).isEmpty || has(.claimsTwice)
            else {
                throw Diagnostic("\(range) cannot be claimed")
            }
            if !has(.keepsDeferrals) { for id in range { account.outcomes[id] = nil } }
            account.claims.append((range, now))
            try account.record(unsent, audience: plan.audience, run.fault)
        }
    }

    func note(claimed: Int) throws {
        let own = ownLife.withLock { $0 }
        run.account.withLock { account in if account.noted?.life == own { account.noted?.claimed = claimed } }
    }

    func claimedWithoutOutcome() throws -> [Range<Int>] {
        run.account.withLock { account in
            ClaimSet(account.claimed.ranges.joined().filter { account.outcomes[$0] == nil }.map { $0..<$0 + 1 }).ranges
        }
    }

    func firstClaim(of ids: Range<Int>) throws -> Timestamp? {
        run.account.withLock { $0.claims.filter { $0.ids.overlaps(ids) }.map(\.at).min() }
    }

    func lastClaim() throws -> Timestamp? { run.account.withLock { $0.claims.map(\.at).max() } }
}
