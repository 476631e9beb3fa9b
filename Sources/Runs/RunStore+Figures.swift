public import Base
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
        guard let kept = try String.fetchOne(db, sql: "SELECT json FROM figures"), let json = try? JSONValue(parsing: kept) else {
            return nil
        }
        return RunFigures(json: json)
    }

    /// Keeps the figures until the next claim or outcome.
    @discardableResult
    func keepFigures(_ db: Database) throws -> RunFigures {
        let figures = try countFigures(db, withGroups: true)
        try db.execute(sql: "DELETE FROM figures")
        try db.execute(sql: "INSERT INTO figures VALUES (?)", arguments: [figures.json.text])
        return figures
    }

    /// What the answers to the runs that this one retries say of tokens and settings; nothing for a run that is no retry. A retry has the settings
    /// of the first, and mostly too few devices to tell.
    public func tokenEvidenceOfRetried() -> TokenEvidence {
        guard let retried = plan.retryOf else { return TokenEvidence() }
        guard let runs = try? RunChain(of: self).runs, runs.contains(where: { $0.plan.id == retried }) else { return .ofUnreadableRun }
        return runs.filter { $0.plan.id != plan.id }.reduce(TokenEvidence()) { sum, run in
            defer { run.close() }
            return sum + ((try? run.figures().tokenEvidence) ?? .ofUnreadableRun)
        }
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
        if prunedAt != nil { throw RunDiagnostics.damaged(path, "its figures cannot be read, and its recipients were pruned") }
        let claims = try claims(db)
        var tally = FigureTally(claims: claims)
        try forEachOutcome(db) { tally.add($0, $1, $2) }
        let reasons = try OutcomeReasons.all(db)
        var figures = try tally.figures(audience: plan.audience) { number in
            guard let reason = reasons[number] else { throw RunDiagnostics.damaged(path, "a reason is missing") }
            return reason
        }
        if withGroups { figures.groups = try GroupTally.count(db, self, claims) }
        return figures
    }
}
