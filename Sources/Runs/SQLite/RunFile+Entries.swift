import Base

/// The run file as a journal: entries, and what can be computed from the state that they add up to.
extension RunFile {
    /// Appends an entry, in one transaction.
    @discardableResult
    public func append(_ entry: RunEntry) throws -> EntryYield {
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
        case .epochBegan(let epoch, let at, let expected): try begin(life: epoch, at: at, from: expected)
        case .rested: try noteEvidenceAtRest()
        case .lost(let at): return EntryYield(count: try recordLost(at: at))
        case .segment(let segment, let state): try setState(state, of: segment)
        case .state(let state, let cause, let at, let expected): try setState(state, cause: cause, at: at, from: expected)
        case .finished(let objection, let at): return EntryYield(objection: try finish(at: at, unless: objection))
        case .ordered(let order, let at): try give(order, at: at)
        case .epochNoted(let epoch, let at): return EntryYield(beginning: try note(epoch, at: at))
        case .epochConfirmed(let givenUp): return EntryYield(beginning: try confirm(givenUp: givenUp) ? .noted : .isOvertaken)
        case .epochEnded: try endLife()
        case .claimsNoted(let made): try note(claimed: made)
        }
        return EntryYield()
    }

    /// Whether anything says that sending was begun, as far as this file knows.
    public func hasBegun() throws -> Bool {
        let status = try status()
        return try status.startedAt != nil || !status.epoch.isEmpty || !claims().claimed.isEmpty
    }

    /// Recipients of whom it is on record that the run has reached them, or may have: the number never decreases. Those that were claimed and have no
    /// outcome do not count yet: where a service recognizes calls, those that a killed process had put into none turn out to be unsent.
    public func reached() throws -> Int {
        guard try !claims().claimed.isEmpty else { return 0 }
        let open = try claimedWithoutOutcome().reduce(0) { $0 + $1.count }
        return try plan.audience - figures().outcomes[.unsent, default: 0] - open
    }

    /// Whether the run has finished: every recipient has an outcome, and it is never resumed.
    func isComplete() throws -> Bool {
        guard try status().state == .finished, try claims().claimed.contains(all: 0..<plan.audience) else { return false }
        return try claimedWithoutOutcome().isEmpty
    }
}
