import Base
package import Runs

/// The shared run as a journal: which entries are written into the store's journal, and which change rows there.
extension SharedLedger {
    /// Appends an entry.
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
        case .epochBegan(let epoch, let at, let expected): try begin(life: epoch, at: at, from: expected)
        case .rested: try write(.rested, at: .now())
        case .lost(let at): return EntryYield(count: try recordLost(at: at))
        case .segment(let segment, let state): try setState(state, of: segment)
        case .state(let state, let cause, let at, let expected): try setState(state, cause: cause, at: at, from: expected)
        case .finished(let objection, let at): return EntryYield(objection: try finish(at: at, unless: objection))
        case .ordered(let order, let at): try give(order, at: at)
        case .epochNoted(let epoch, let at): return EntryYield(beginning: try note(epoch, at: at))
        case .epochConfirmed(let givenUp): return EntryYield(beginning: try confirm(givenUp: givenUp) ? .noted : .isOvertaken)
        // The journal itself says how far the run is.
        case .epochEnded, .claimsNoted: break
        }
        return EntryYield()
    }
}
