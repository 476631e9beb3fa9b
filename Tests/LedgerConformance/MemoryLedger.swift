import Base
import Runs
import Synchronization

/// A holder of a run in memory.
final class MemoryLedger: RunLedger {
    let run: MemoryRun
    /// The epoch that this holder began; nil before that.
    private let ownEpoch = Mutex<String?>(nil)
    private var own: String? { ownEpoch.withLock { $0 } }

    init(_ run: MemoryRun) { self.run = run }

    deinit { unlock() }

    var plan: RunPlan { run.plan }

    var place: String { "memory/\(plan.id)" }

    func with<Value>(_ body: (inout MemoryRun.Account) throws -> Value) throws -> Value {
        try run.account.withLock { account throws in try body(&account) }
    }

    func has(_ fault: MemoryRun.Fault) -> Bool { run.fault == fault }

    func status() throws -> RunStatus { run.account.withLock { $0.status } }

    func append(_ entry: RunEntry) throws -> EntryYield {
        switch entry {
        case .claimed(let ids, let unsent, let at): try claim(ids, unsent: unsent, at: at)
        case .settled(let parts):
            try with { account in try account.record(parts.flatMap(\.self), audience: plan.audience, run.fault) }
        case .reopened(let ids, let resendsUnknown, _):
            return EntryYield(attempts: try reopen(ids, resendsUnknown: resendsUnknown))
        case .deferred(let ids, let reason, let isTooLate, let at):
            return EntryYield(count: try `defer`(ids, reason: reason, isTooLate: isTooLate, at: at))
        case .callsNamed(let calls): try name(calls)
        case .callsForgotten(let numbers):
            try with { account in account.calls.removeAll { numbers.contains($0.number) || has(.forgetsAllCalls) } }
        case .receipts(let receipts, let service): try note(receipts: receipts, ofService: service)
        case .epochBegan(let epoch, let at, let expected): try begin(epoch, at: at, from: expected)
        case .rested: break
        case .lost(let at): return EntryYield(count: try recordLost(at: at))
        case .segment(let segment, let state): try set(state, of: segment)
        case .state(let state, let cause, let at, let expected):
            if state == .running { try lockForSending(isSending: true) }
            try record(state, cause: cause, at: at, from: expected)
        case .finished(let objection, let at): return EntryYield(objection: try finish(at: at, unless: objection))
        case .ordered(let order, let at):
            guard try status().isBeingSent || has(.takesOrdersForNobody) else {
                throw Diagnostic("no process sends this run")
            }
            try record(order.state, cause: order == .cancel ? .cancelled : nil, at: at, from: order.expected)
        case .epochNoted(let epoch, _): return EntryYield(beginning: try note(epoch))
        case .epochConfirmed: try with { $0.noted?.previous = nil }
        case .epochEnded: try endEpoch()
        case .claimsNoted(let made):
            try with { account in if account.noted?.epoch == own { account.noted?.claimed = made } }
        }
        return EntryYield()
    }

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

    // MARK: - Epochs

    private func note(_ epoch: NewEpoch) throws -> SendingHistory.Beginning {
        try with { account in
            if let known = account.noted {
                let isKnown = epoch.seen == known.epoch || epoch.seen == known.previous
                let isNewest = isKnown && epoch.reached >= known.reached && epoch.claimed >= known.claimed
                guard isNewest || has(.followsAnyEpoch) else { return .isOutdated }
            }
            account.noted = MemoryRun.NotedEpoch(
                epoch: epoch.epoch, previous: epoch.seen, reached: epoch.reached, claimed: epoch.claimed)
            return .noted
        }
    }

    private func begin(_ epoch: String, at now: Timestamp, from expected: Set<RunState>) throws {
        try lockForSending(isSending: true)
        try with { account in
            guard expected.contains(account.state) || has(.beginsFromAnyState) else {
                throw Diagnostic("the run is \(account.state)")
            }
            account.epoch = epoch
            if !account.claims.isEmpty {
                let figures = account.figures(plan, run.fault)
                for service in 0..<plan.serviceCount {
                    let evidence = figures.tokenEvidence(ofService: service, in: plan)
                    guard evidence.answers > account.beforeEpochs[service]?.last?.answers ?? 0 else { continue }
                    account.beforeEpochs[service, default: []].append(evidence)
                }
            }
            if !has(.keepsStopsOfSegments) {
                account.segments = account.segments.compactMapValues { state in
                    state.heldUntil.map { SegmentState(heldUntil: $0) }
                }
            }
            let end = account.finishedAt
            Self.set(.running, nil, at: now, &account)
            if has(.keepsTheEnd) { account.finishedAt = end }
        }
        ownEpoch.withLock { $0 = epoch }
    }

    private func endEpoch() throws {
        let (reached, claimed, own) = (try reached(), try claims().made, own)
        run.account.withLock { account in
            guard account.noted?.epoch == own else { return }
            account.noted?.reached = reached
            account.noted?.claimed = claimed
        }
    }

    private static func set(
        _ state: RunState, _ cause: StopCause?, at now: Timestamp, _ account: inout MemoryRun.Account
    ) {
        account.state = state
        account.cause = cause
        if state == .running {
            account.startedAt = account.startedAt ?? now
            account.finishedAt = nil
        }
        if state.hasEnded { account.finishedAt = now }
    }

    private func record(_ state: RunState, cause: StopCause?, at now: Timestamp, from expected: Set<RunState>?) throws {
        let own = own
        try with { account in
            guard own.map({ $0 == account.epoch }) ?? true else { throw Diagnostic("another process has taken over") }
            guard expected?.contains(account.state) ?? true || has(.takesOrdersThatDoNotFit) else {
                throw Diagnostic("the run is \(account.state)")
            }
            Self.set(state, cause, at: now, &account)
        }
    }

    private func finish(at now: Timestamp, unless objection: (RunFigures) -> StopCause?) throws -> StopCause? {
        try with { account in
            let cause = objection(account.figures(plan, run.fault))
            Self.set(cause == nil ? .finished : .stopped, cause, at: now, &account)
            return cause
        }
    }

    // MARK: - Claims

    func claims() throws -> RunClaims {
        run.account.withLock { RunClaims($0.claims, reopened: $0.reopened, skippedWaves: $0.skipped) }
    }

    func lease(atMost limit: Int, of segment: Range<Int>) throws -> Range<Int>? {
        let claims = has(.leasesWhoIsClaimed) ? ClaimSet() : try claims().claimed
        if has(.leasesIntoTheNextSegment) {
            return claims.next(atMost: limit, of: segment.lowerBound..<max(segment.lowerBound, plan.audience))
        }
        return claims.next(
            atMost: limit, of: has(.leasesBeyondTheSegment) ? segment : segment.clamped(to: 0..<plan.audience))
    }

    /// - Throws: `SendingRevoked`.
    func checkSending(_ account: MemoryRun.Account) throws {
        guard let own, !has(.claimsAfterTheEnd) else { return }
        if account.state == .cancelled { throw SendingRevoked(isCancelled: true) }
        if account.epoch != own { throw SendingRevoked(isCancelled: false) }
    }

    private func claim(_ range: Range<Int>, unsent: [Settlement], at now: Timestamp) throws {
        guard !range.isEmpty else { return }
        try with { account in
            try checkSending(account)
            guard range.clamped(to: 0..<plan.audience) == range,
                account.claimed.ranges(in: range).isEmpty || has(.claimsTwice)
            else {
                throw Diagnostic("\(range) cannot be claimed")
            }
            if !has(.keepsDeferrals) { for id in range { account.outcomes[id] = nil } }
            account.claims.append((range, now))
            try account.record(unsent, audience: plan.audience, run.fault)
        }
    }

    func unsettled(in ids: Range<Int>, _ open: OpenOutcomes) throws -> UnsettledRecipients {
        run.account.withLock { account in
            func ranges(where isWanted: (Settlement?) -> Bool) -> [Range<Int>] {
                let claimed = account.claimed.ranges(in: ids).joined()
                return ClaimSet(claimed.filter { isWanted(account.outcomes[$0]) }.map { $0..<$0 + 1 }).ranges
            }
            return UnsettledRecipients(
                inDoubt: ranges { $0 == nil }, open: ranges { $0.map { Self.isOpen($0, open) } ?? false })
        }
    }
}
