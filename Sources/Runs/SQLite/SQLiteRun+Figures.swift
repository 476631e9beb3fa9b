public import Base
import GRDB

extension SQLiteRun {
    /// The figures of the report. Available at once for a run that has ended and not changed since; otherwise all outcomes are read,
    /// a quarter of a second for a million on one core.
    /// - Parameter withGroups: also by language and variant, for which every recipient has to be read where figures are not kept.
    public func figures(withGroups: Bool) throws -> RunFigures {
        // Kept figures that cannot be read do not matter: the outcomes are the truth.
        if let figures = try read(keptFigures), figures.groups != nil || !withGroups { return figures }
        return try read(in: parts) { try countFigures($0, withGroups: withGroups) }
    }

    private func keptFigures(_ db: Database) throws -> RunFigures? {
        guard let kept = try String.fetchOne(db, sql: "SELECT json FROM figures"), let json = try? JSONValue(parsing: kept) else {
            return nil
        }
        return RunFigures(json: json)
    }

    /// Keeps the figures until the next claim or outcome.
    /// - Parameter db: in a transaction that changed neither claims nor outcomes.
    @discardableResult
    func keepFigures(_ db: Database) throws -> RunFigures {
        let figures = try countFigures(view(db, in: parts), withGroups: true)
        try db.execute(sql: "DELETE FROM figures")
        try db.execute(sql: "INSERT INTO figures VALUES (?)", arguments: [figures.json.text])
        return figures
    }

    /// What the answers to the runs that this one retries say about tokens and settings; empty for a run that is not a retry. A retry has
    /// the settings of the first, and usually too few devices to tell.
    public func tokenEvidenceOfRetried() -> TokenEvidence {
        guard let retried = plan.retryOf else { return TokenEvidence() }
        guard let runs = try? RunChain(of: self).runs, runs.contains(where: { $0.plan.id == retried }) else { return .ofUnreadableRun }
        return runs.filter { $0.plan.id != plan.id }.reduce(TokenEvidence()) { sum, run in
            defer { run.close() }
            return sum + ((try? run.figures().tokenEvidence(of: run.plan.service)) ?? .ofUnreadableRun)
        }
    }

    /// What its answers say of tokens and settings, part by part and with those to the runs that it retries.
    public func evidence() throws -> RunEvidence {
        try RunEvidence(
            figures().tokenEvidence(of: plan.service), retried: tokenEvidenceOfRetried(), before: evidenceBeforeLives(),
            atRests: read { try evidence($0, in: Self.restTable) })
    }

    private static let lifeTable = "life_answers", restTable = "rest_answers"

    /// What had been answered as each life but the first began, in order.
    public func evidenceBeforeLives() throws -> [TokenEvidence] { try read { try evidence($0, in: Self.lifeTable) } }

    private func evidence(_ db: Database, in table: String) throws -> [TokenEvidence] {
        guard try db.tableExists(table) else { return [] }
        return try Row.fetchAll(db, sql: "SELECT accepted, doubtful, gone, answers FROM \(table) ORDER BY rowid").map { row in
            guard let accepted = Int.fromDatabaseValue(row[0]), let ambiguous = Int.fromDatabaseValue(row[1]),
                let gone = Int.fromDatabaseValue(row[2]), let answers = Int.fromDatabaseValue(row[3])
            else { throw RunDiagnostics.damaged(path, what: "the answers recorded before it was resumed cannot be read") }
            var evidence = TokenEvidence()
            (evidence.accepted, evidence.ambiguous, evidence.gone, evidence.answers) = (accepted, ambiguous, gone, answers)
            return evidence
        }
    }

    /// Notes what was answered in the lives before the one that begins now; nothing when there were no answers.
    func noteEvidence(_ db: Database) throws { try noteEvidence(db, in: Self.lifeTable, least: 1) }

    /// Answers that a part of a life between two rests has at least: with fewer, wrong settings cannot be told from a few dead tokens.
    private static let leastAnswersOfPart = 20

    /// Notes what was answered before a rest, a pause or the time until the next wave, in which settings that were right may become wrong.
    public func noteEvidenceAtRest() throws {
        try write { try noteEvidence($0, in: Self.restTable, least: Self.leastAnswersOfPart) }
    }

    /// - Parameter least: the fewest answers since the last note that are worth a new one.
    private func noteEvidence(_ db: Database, in table: String, least: Int) throws {
        guard try !claims(db).isEmpty else { return }
        let evidence = try (keptFigures(db) ?? countFigures(view(db, in: parts))).tokenEvidence(of: plan.service)
        guard try evidence.answers >= (self.evidence(db, in: table).last?.answers ?? 0) + least else { return }
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(table) (  -- how many had been answered as each life but the first, or a part of one, began, and how
                    accepted INTEGER NOT NULL, doubtful INTEGER NOT NULL, gone INTEGER NOT NULL, answers INTEGER NOT NULL)
                """)
        try db.execute(
            sql: "INSERT INTO \(table) VALUES (?, ?, ?, ?)",
            arguments: [evidence.accepted, evidence.ambiguous, evidence.gone, evidence.answers])
    }

    /// Discards kept figures, because something changed.
    func forgetFigures(_ db: Database) throws {
        // Emptying a table rewrites its page even when the table is empty.
        var isKept = false
        try PreparedStatement(db, sql: "SELECT 1 FROM figures LIMIT 1").forEachRow { _ in
            isKept = true
            return false
        }
        if isKept { try db.execute(sql: "DELETE FROM figures") }
    }

    func countFigures(_ view: RunView, withGroups: Bool = false) throws -> RunFigures {
        let (tally, groups) = try tally(view, withGroups: withGroups)
        var figures = try figures(of: tally, view.db)
        if withGroups { figures.groups = groups.largestFirst }
        return figures
    }

    /// Counts every outcome, and with groups every recipient.
    func tally(_ view: RunView, withGroups: Bool = false) throws -> (figures: FigureTally, groups: GroupTally) {
        if prunedAt != nil { throw RunDiagnostics.damaged(path, what: "its figures cannot be read, and its recipients were pruned") }
        let claims = try claims(view.db)
        let parts = try view.read { [self] db, ids in
            var (figures, groups) = (FigureTally(claims: claims), GroupTally())
            try forEachOutcome(db, in: ids) { figures.add($0, $1, $2) }
            if withGroups { try groups.count(db, self, ids: ids, claims) }
            return (figures: figures, groups: groups)
        }
        var (figures, groups) = parts[0]
        for (ids, part) in zip(view.parts, parts).dropFirst() {
            figures.add(part.figures)
            if !groups.add(part.groups) { try groups.count(view.db, self, ids: ids, claims) }
        }
        return (figures, groups)
    }

    /// The figures of a tally of the whole run.
    func figures(of tally: FigureTally, _ db: Database) throws -> RunFigures {
        let reasons = try OutcomeReasons.all(db)
        return try tally.figures(audience: plan.audience) { number in
            guard let reason = reasons[number] else { throw RunDiagnostics.damaged(path, what: "a reason is missing") }
            return reason
        }
    }
}
