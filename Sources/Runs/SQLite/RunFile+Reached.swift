public import Base
import GRDB
import PushServices

/// Which devices a run has pushed to: the history that frequency caps look at.
extension RunFile {
    /// Whether it may have pushed to somebody since a moment, or is about to.
    public func mayHaveReached(since moment: Timestamp) throws -> Bool {
        if sendingSince != nil { return true }
        let status = try status()
        guard status.startedAt != nil, status.state != .paused else { return status.state == .paused }
        // A run that was cut off has no end; its claims do not say when it pushed.
        return status.finishedAt.map { $0 >= moment } ?? true
    }

    /// Calls `body` with the token (lower-case hex digits, lent) of every device that this run reaches: when it got the push, or may have, whether it is
    /// still to be sent to it, as a process sends the run or will go on with it (paused), and the number of the service that takes the push.
    /// - Parameter closing: reasons for which those who are unsent will get nothing any more.
    /// - Throws: `Diagnostic` when somebody's outcome or token cannot be read.
    public func forEachReached(
        closing: Set<OwnReason>,
        _ body: (_ token: UnsafeBufferPointer<UInt8>, _ at: Timestamp?, _ isToCome: Bool, _ service: Int) throws -> Void
    ) throws {
        let goesOn = try sendingSince != nil || status().state == .paused
        try read { db in
            var outcomes = try OutcomeReader(db, self)
            let closed = try OutcomeReasons.numbers(of: closing, db)
            let claims = try db.all("SELECT first_id, last_id, claimed_at FROM claim ORDER BY first_id") { row in
                let first = try row.int(0)
                return (ids: first...max(first, try row.int(1)), at: try row.moment(2))
            }
            var rest = claims[...]
            var targets = targets
            try PreparedStatement(db, sql: "SELECT id, device_token FROM recipient ORDER BY id").forEachRow { row in
                let (id, token) = (row.number(0), row.text(1))
                while let ended = rest.first, ended.ids.upperBound < id { rest.removeFirst() }
                // Blank after `volley prune`.
                guard !token.isEmpty else { return true }
                guard targets.contains(token, of: id) else { throw noToken(id) }
                if let slot = try outcomes.slot(of: id) {
                    guard let outcome = slot.outcome else { throw unreadableOutcome(of: id) }
                    if outcome == .accepted || outcome == .unknown { try body(token, slot.settledAt, false, targets.service) }
                    if outcome == .unsent, goesOn, !closed.contains(slot.reason) { try body(token, nil, true, targets.service) }
                } else if let claim = rest.first, claim.ids.contains(id) {
                    // It may have got the push then, whatever happened to the process that claimed it.
                    try body(token, claim.at, goesOn, targets.service)
                } else if goesOn {
                    try body(token, nil, true, targets.service)
                }
                return true
            }
        }
    }

    /// Calls `body` with the token (lower-case hex digits, lent) of each device that some outcome is recorded of.
    /// - Parameter isWanted: called for each of them before its token is looked for.
    /// - Throws: `Diagnostic` when an outcome or a token cannot be read. Whatever the closures throw.
    public func forEachDevice(
        withOutcome outcome: Outcome, where isWanted: (Settlement) -> Bool,
        _ body: (_ token: UnsafeBufferPointer<UInt8>, _ settlement: Settlement) throws -> Void
    ) throws {
        try requireRecipients()
        try read { db in
            var targets = targets
            let token = try PreparedStatement(db, sql: RunSchema.selectToken)
            var outcomes = try OutcomeReader(db, self)
            try forEachOutcome(db) { id, _, recorded in
                guard recorded == outcome, let settled = try outcomes.settlement(of: id), isWanted(settled) else { return }
                try token.bind(id, at: 1)
                var isFound = false
                try token.forEachRow { row in
                    isFound = targets.contains(row.text(0), of: id)
                    if isFound { try body(row.text(0), settled) }
                    return false
                }
                if !isFound { throw noToken(id) }
            }
        }
    }
}
