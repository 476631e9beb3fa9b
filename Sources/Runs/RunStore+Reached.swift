public import Base
import GRDB

/// Which devices a run has pushed to: what caps of how often look back at.
extension RunStore {
    /// Runs of an app that may have reached somebody since a moment, oldest first. Tests, and plans that nobody has begun to send, reach nobody.
    /// Plans whose recipients are gone (`volley prune`) know nobody any more. Files that cannot be opened are among the second.
    public static func runs(ofApp app: String, reachingSince since: Timestamp, in folder: String) throws -> (
        runs: [RunStore], broken: [Diagnostic]
    ) {
        let (all, broken) = try all(in: folder)
        let runs = try all.filter { run in
            guard run.plan.app == app, !run.plan.isTest else { return false }
            let status = try run.status()
            return status.startedAt != nil && status.finishedAt ?? since >= since
        }
        return (runs, broken)
    }

    /// Calls `body` with the token (lower-case hex digits, lent) of every device that has got this run's push, or may have, and when; of those
    /// that a process is about to send to with nil.
    public func forEachReached(_ body: (_ token: UnsafeBufferPointer<UInt8>, _ at: Timestamp?) throws -> Void) throws {
        let isUnderWay = isBeingSent
        try read { db in
            var outcomes = try OutcomeReader(db, self)
            var claims = try claims(db)[...]
            try PreparedStatement(db, "SELECT id, device_token FROM recipient ORDER BY id").forEachRow { row in
                let (id, token) = (row.number(0), row.text(1))
                while let claim = claims.first, claim.upperBound <= id { claims.removeFirst() }
                guard Self.isToken(token) else { return true }
                if let slot = try outcomes.slot(of: id) {
                    if slot.outcome == .accepted || slot.outcome == .unknown { try body(token, slot.settledAt) }
                } else if isUnderWay || claims.first?.contains(id) ?? false {
                    // Claimed by a process that is gone: it may have got the push.
                    try body(token, nil)
                }
                return true
            }
        }
    }
}
