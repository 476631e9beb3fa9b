import Base
import GRDB

extension RunStore {
    /// The figures of the report. At once for a run that has ended and not changed since; otherwise the outcomes are read through,
    /// about a second for a million.
    /// - Parameter withGroups: also by language and variant, for which every recipient has to be read where figures are not kept.
    public func figures(withGroups: Bool = false) throws -> RunFigures {
        try read { db in
            // Kept figures that cannot be read are as good as none: the outcomes are the truth.
            if let figures = try keptFigures(db), figures.groups != nil || !withGroups { return figures }
            return try countFigures(db, withGroups: withGroups)
        }
    }

    private func keptFigures(_ db: Database) throws -> RunFigures? {
        guard let kept = try String.fetchOne(db, sql: "SELECT json FROM figures"), let json = try? JSONValue(parsing: kept) else { return nil }
        return RunFigures(json: json)
    }

    /// Keeps the figures until the next claim or outcome.
    func keepFigures(_ db: Database) throws {
        let figures = try countFigures(db, withGroups: true)
        try db.execute(sql: "DELETE FROM figures")
        try db.execute(sql: "INSERT INTO figures VALUES (?)", arguments: [figures.json.text])
    }

    /// Takes kept figures back, because something changed.
    func forgetFigures(_ db: Database) throws {
        // Emptying a table rewrites its page, also when nothing is in it.
        var isKept = false
        try PreparedStatement(db, "SELECT 1 FROM figures LIMIT 1").forEachRow { _ in
            isKept = true
            return false
        }
        if isKept { try db.execute(sql: "DELETE FROM figures") }
    }

    func countFigures(_ db: Database, withGroups: Bool = false) throws -> RunFigures {
        let claims = try claims(db)
        var tally = FigureTally(claims: claims)
        let groups = withGroups ? try GroupTally(db, hasVariants: knowsVariants, audience: plan.audience, claims: claims) : nil
        try PreparedStatement(db, RunSchema.selectForFigures).forEachRow { row in
            let recipient = row.number(0)
            guard (0..<plan.audience).contains(recipient) else { throw RunDiagnostics.damaged(path, "an outcome has no recipient") }
            let isCounted = tally.add(
                recipient: recipient, outcome: row.number(1), status: row.number(2), reason: row.text(3), attempts: row.number(4),
                latency: row.number(5), settledAt: Int64(row.number(6)))
            guard isCounted else { throw RunDiagnostics.damaged(path, "the outcome of recipient \(recipient) cannot be read") }
            try groups?.add(recipient: recipient, outcome: row.number(1))
            return true
        }
        var figures = tally.figures(audience: plan.audience)
        figures.groups = try groups?.finish()
        return figures
    }
}
