public import Base
import GRDB

/// What goes on with a run that was stopped, paused, interrupted or killed. Settled stays settled; who is unsent is sent; who is unknown is
/// sent again or not, as the campaign says.
extension RunStore {
    /// Looks at the whole file before anything is sent from it again: pages, claims, outcomes, recipients.
    /// - Throws: `Diagnostic` when it is damaged.
    public func checkIntegrity() throws {
        try read { db in
            let findings = try String.fetchAll(db, sql: "PRAGMA quick_check(1)")
            if findings != ["ok"] { throw RunDiagnostics.damaged(path, findings.first ?? "it cannot be checked") }
            // Ids are dense, so that two numbers tell whether one is missing.
            let ids = try Row.fetchOne(db, sql: "SELECT count(*), coalesce(max(id), -1), coalesce(min(id), 0) FROM recipient")
            guard let ids, ids[0] == plan.audience, ids[1] == plan.audience - 1, ids[2] == 0 else {
                throw RunDiagnostics.damaged(path, "some of its \(plan.audience) recipients are missing")
            }
            let claims = try claims(db)
            // Claims are made in order, so that they leave no gap.
            guard claims.count <= 1, claims.first?.lowerBound ?? 0 == 0 else { throw RunDiagnostics.damaged(path, "a claim is missing") }
            // Reads every outcome.
            _ = try countFigures(db)
        }
    }

    /// Calls `body` with what sending needs of each recipient with an id in `range` that is not settled, in order, as `forEachPush` does.
    /// - Parameter resendsUnknown: whether who is recorded as unknown counts as not settled.
    public func forEachUnsettledPush(
        in range: Range<Int>, resendsUnknown: Bool, _ body: PushBody<Void>
    ) throws {
        try read { db in
            let select = try PreparedStatement(db, RunSchema.selectUnsettledPushes)
            try select.bind(range.lowerBound, at: 1)
            try select.bind(range.upperBound, at: 2)
            try select.bind(Self.firstOpenOutcome(resendsUnknown), at: 3)
            try forEachPush(of: select) { id, token, language, cells in
                try body(id, token, language, cells)
                return true
            }
        }
    }

    /// Takes back the outcomes of recipients that are about to be sent again, so that they are claimed and nothing else: a crash leaves them
    /// unknown. Must return before any of them goes onto the wire.
    /// - Returns: the attempts that were recorded of them, where there were any.
    public func takeBack(_ range: Range<Int>, resendsUnknown: Bool) throws -> [Int: Int] {
        try write { db in
            var attempts: [Int: Int] = [:]
            let (select, delete) = (
                try PreparedStatement(db, RunSchema.selectAttempts), try PreparedStatement(db, RunSchema.deleteOutcomes)
            )
            for statement in [select, delete] {
                try statement.bind(range.lowerBound, at: 1)
                try statement.bind(range.upperBound, at: 2)
                try statement.bind(Self.firstOpenOutcome(resendsUnknown), at: 3)
            }
            try select.forEachRow { row in
                attempts[row.number(0)] = row.number(1)
                return true
            }
            try delete.execute()
            try forgetFigures(db)
            return attempts
        }
    }

    /// Outcomes from here on are open: `unsent` comes last, `unknown` just before it.
    private static func firstOpenOutcome(_ resendsUnknown: Bool) -> Int { (resendsUnknown ? Outcome.unknown : .unsent).rawValue }

    /// Records as unknown who was claimed and has no outcome: what a killed process left behind.
    /// - Returns: how many they were.
    public func settleLost(at now: Timestamp) throws -> Int {
        var count = 0
        for range in try unsettled() {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 10_000) {
                let ids = start..<min(start + 10_000, range.upperBound)
                try record(ids.map { Settlement(recipient: $0, outcome: .unknown, reason: "Interrupted", settledAt: now) })
                count += ids.count
            }
        }
        return count
    }
}
