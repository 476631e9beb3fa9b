import Base
import PushServices
import Runs
import Synchronization

extension MemoryLedger {
    // MARK: - Pushes

    func forEachPush(in range: Range<Int>, _ selection: PushSelection, _ body: (StoredPush) throws -> Void) throws {
        let outcomes = run.account.withLock { $0.outcomes }
        for id in range.clamped(to: 0..<plan.audience) {
            guard let open = selection.open else {
                try lend(id, selection.withTraits) { try body($0) }
                continue
            }
            let settlement = outcomes[id]
            guard settlement.map({ Self.isOpen($0, open) }) ?? true || has(.handsOutTheSettled) else { continue }
            try lend(id, selection.withTraits) { push in
                var push = push
                push.mayHaveArrived = settlement?.outcome != .unsent
                push.attempts = settlement?.attempts ?? 0
                try body(push)
            }
        }
    }

    /// Whether a recipient with this record gets the push again.
    static func isOpen(_ settlement: Settlement, _ open: OpenOutcomes) -> Bool {
        let own = OwnReason(rawValue: settlement.reason)
        return switch settlement.outcome {
        case .unsent: own.map { !open.closing.contains($0) } ?? true
        case .unknown: open.resendsUnknown && own != .refusedAgain
        default: false
        }
    }

    private func lend(_ id: Int, _ withTraits: Bool, _ body: (StoredPush) throws -> Void) throws {
        let recipient = run.recipients[id]
        let service = has(.readsOneServiceForAll) ? 0 : plan.service(of: id)
        let targets = plan.services[service].target.kept
        let cells = Array("[\(recipient.fields.map { "\"\($0)\"" }.joined(separator: ","))]".utf8)
        try Array(recipient.token.text.utf8).withUnsafeBufferPointer { token in
            try cells.withUnsafeBufferPointer { cells in
                try Array((withTraits ? recipient.language : "").utf8).withUnsafeBufferPointer { language in
                    try Array((withTraits ? recipient.variant : "").utf8).withUnsafeBufferPointer { variant in
                        var located = EscapedCells()
                        guard targets.contains(token) else { throw Diagnostic("recipient \(id) has no target") }
                        guard located.locate(in: cells) else {
                            throw Diagnostic("the cells of recipient \(id) cannot be read")
                        }
                        try body(
                            StoredPush(
                                id: id, token: token, cells: located, language: language, variant: variant,
                                service: service))
                    }
                }
            }
        }
    }

    // MARK: - Calls

    func name(_ calls: [NamedCall]) throws {
        try run.account.withLock { account throws in
            try checkSending(account)
            let before = account.calls
            for call in calls {
                guard has(.namesWhoIsUnclaimed) || call.recipients.allSatisfy(account.claimed.contains) else {
                    if !has(.namesHalf) { account.calls = before }
                    throw Diagnostic("a recipient of a call was never claimed")
                }
                account.append(call)
            }
        }
    }

    func calls(ofService service: Int) throws -> [NamedCall] {
        run.account.withLock { $0.calls.filter { $0.service == service } }
    }

    // MARK: - Outcomes

    func reopen(_ ids: [Int], resendsUnknown: Bool) throws -> [Int: Int] {
        try run.account.withLock { account throws in
            try checkSending(account)
            var attempts: [Int: Int] = [:]
            for id in ids {
                guard let settlement = account.outcomes[id],
                    Self.isOpen(settlement, OpenOutcomes(resendsUnknown: resendsUnknown))
                else {
                    continue
                }
                if settlement.outcome == .unknown, account.lastCall > 0, !has(.forgetsWhomItDoubts) {
                    account.append(
                        NamedCall(
                            service: plan.service(of: id), name: "", namedAt: settlement.settledAt, recipients: [id]))
                }
                if settlement.attempts > 0 { attempts[id] = settlement.attempts }
                account.outcomes[id] = nil
            }
            if !has(.forgetsWhoWasReopened) { account.reopened += ids.count }
            return attempts
        }
    }

    func `defer`(_ ids: Range<Int>, reason: OwnReason, isTooLate: Bool, at now: Timestamp) throws -> Int {
        run.account.withLock { account in
            let claimed = account.claimed
            if isTooLate {
                for range in claimed.gaps(in: ids) { account.claims.append((range, now)) }
                account.skipped.insert(ids.lowerBound)
            }
            var count = 0
            for id in ids
            where account.outcomes[id]?.outcome == .unsent || !claimed.contains(id) || has(.defersWhoIsUnderWay) {
                let attempts = account.outcomes[id]?.attempts ?? 0
                account.outcomes[id] = Settlement(
                    recipient: id, outcome: .unsent, own: reason, attempts: attempts, settledAt: now)
                count += 1
            }
            return count
        }
    }

    func recordLost(at now: Timestamp) throws -> Int {
        let lost = has(.losesNobody) ? [] : try claimedWithoutOutcome().flatMap(Array.init)
        _ = try append(
            .settled([lost.map { Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now) }]))
        return lost.count
    }

    func forEachResult(
        _ body: (_ id: Int, _ recipient: Recipient, _ outcome: Settlement?, _ isClaimed: Bool) throws -> Void
    ) throws {
        let (outcomes, claimed) = run.account.withLock { ($0.outcomes, $0.claimed) }
        for (id, recipient) in run.recipients.enumerated() {
            try body(id, recipient, outcomes[id], claimed.contains(id))
        }
    }

    func figures(withGroups: Bool) throws -> RunFigures { run.account.withLock { $0.figures(plan, run.fault) } }

    // MARK: - Judging

    func answers(ofService service: Int) throws -> ServiceAnswers {
        run.account.withLock { account in
            var seen: Set<String> = []
            return ServiceAnswers(
                ofRetried: TokenEvidence(),
                beforeEpochs: account.beforeEpochs[has(.mixesTheAnswersOfServices) ? 0 : service, default: []],
                receipts: account.receipts[service, default: []].filter { seen.insert($0).inserted })
        }
    }

    // MARK: - Segments

    func set(_ state: SegmentState, of segment: RunSegment) throws {
        guard plan.segments.contains(segment) || has(.stopsAnything) else { throw Diagnostic("\(segment) is no leg") }
        run.account.withLock {
            $0.segments[has(.stopsTheWrongSegment) ? 0 : segment.ids.lowerBound] = state == SegmentState() ? nil : state
        }
    }

    // MARK: - Receipts

    func note(receipts: [String], ofService service: Int) throws {
        run.account.withLock { account in
            let key = has(.mixesReceipts) ? 0 : service
            account.receipts[key] = (has(.forgetsReceipts) ? [] : account.receipts[key] ?? []) + receipts
        }
    }
}
