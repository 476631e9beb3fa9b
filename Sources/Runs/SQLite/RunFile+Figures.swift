public import Base
import GRDB

/// Figures: counted when they are requested, and kept once the run has ended.
extension RunFile {
    /// The figures of the report. Available at once for a run that has ended and not changed since;
    /// otherwise all outcomes are read, a quarter of a second for a million on one core.
    /// - Parameter withGroups: also by language and variant, for which every recipient has to be
    ///   read where figures are not kept.
    public func figures(withGroups: Bool = false) throws -> RunFigures {
        // Kept figures that cannot be read do not matter: the outcomes are the truth.
        if let figures = try read(keptFigures), figures.groups != nil || !withGroups { return figures }
        return try read(in: parts) { try countFigures($0, withGroups: withGroups) }
    }

    /// The figures that were counted when the run ended; nil if anything has changed since, or they
    /// cannot be read.
    func keptFigures(_ db: Database) throws -> RunFigures? {
        // Figures that cannot be read are counted again.
        guard let json = try db.first("SELECT json FROM figures", reading: { try? $0.json(0) }) ?? nil,
            let figures = RunFigures(json: json),
            figures.outcomes.values.reduce(0, +) == plan.audience
        else { return nil }
        // Of a pruned run nothing can be counted again.
        let services = plan.serviceCount
        return figures.services.count == (services > 1 ? services : 0) || prunedAt != nil ? figures : nil
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
        guard withGroups else { return figures }
        figures.groups = groups.largestFirst
        for number in figures.services.indices {
            figures.services[number].groups = groups.largestFirst(ofService: number)
        }
        return figures
    }

    /// Counts every outcome, and with groups every recipient.
    func tally(_ view: RunView, withGroups: Bool = false) throws -> (
        figures: ServiceOutcomeCounter, groups: GroupOutcomeCounter
    ) {
        if prunedAt != nil {
            throw RunDiagnostics.damaged(path, what: "its figures cannot be read, and its recipients were pruned")
        }
        let claims = try claims(view.db)
        let empty = ServiceOutcomeCounter(plan, claims)
        let parts = try view.read { [self] db, ids in
            var (figures, groups) = (empty, GroupOutcomeCounter())
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
    func figures(of tally: ServiceOutcomeCounter, _ db: Database) throws -> RunFigures {
        let reasons = try OutcomeReasons.all(db)
        return try tally.figures { number in
            guard let reason = reasons[number] else { throw RunDiagnostics.damaged(path, what: "a reason is missing") }
            return reason
        }
    }

    /// Checks the whole file before anything is sent from it again: pages, claims, outcomes,
    /// recipients.
    /// - Throws: `Diagnostic` when it is damaged.
    public func checkIntegrity() throws {
        try requireRecipients()
        try read(in: parts) { view in
            let db = view.db
            guard try db.isWhole() else { throw RunDiagnostics.damagedPages(path) }
            // Ids are dense, so that two numbers tell whether one is missing.
            let ids = try db.first("SELECT count(*), coalesce(max(id), -1), coalesce(min(id), 0) FROM recipient") {
                row in
                [try row.int(0), try row.int(1), try row.int(2)]
            }
            guard ids == [plan.audience, plan.audience - 1, 0] else {
                throw RunDiagnostics.damaged(path, what: "some of its \(plan.audience) recipients are missing")
            }
            // Reads every outcome.
            let tally = try tally(view).figures
            guard tally.sentUnclaimed == 0 else { throw RunDiagnostics.damaged(path, what: "a claim is missing") }
            let counted = try figures(of: tally, db)
            // A bit of an outcome makes another outcome of it, and a push that was accepted could
            // be sent again.
            if let kept = try keptFigures(db), kept.outcomes != counted.outcomes {
                throw RunDiagnostics.damaged(path, what: "its outcomes are not those that were counted when it ended")
            }
        }
    }
}

/// What the answers of services say of tokens and settings, epoch by epoch.
extension RunFile {
    /// What the answers of a service say of tokens and settings, part by part and with those to the
    /// runs that it retries. Each service is judged alone: good answers of one say nothing about
    /// the settings of another.
    /// - Parameter service: its number.
    public func evidence(ofService service: Int) throws -> RunEvidence {
        try RunEvidence(
            figures().tokenEvidence(ofService: service, in: plan), retried: tokenEvidenceOfRetried(ofService: service),
            before: evidenceBeforeEpochs(ofService: service),
            atRests: read { try evidence($0, in: Self.restTable, of: service) })
    }

    /// What a service answered before the present epoch, with the receipts of its answers.
    public func answers(ofService service: Int) throws -> ServiceAnswers {
        ServiceAnswers(
            ofRetried: tokenEvidenceOfRetried(ofService: service),
            beforeEpochs: try evidenceBeforeEpochs(ofService: service),
            receipts: try receipts(ofService: service))
    }

    /// What the answers to the runs that this one retries say about tokens and settings; empty for
    /// a run that is not a retry. A retry has the settings of the first, and usually too few
    /// devices to tell.
    private func tokenEvidenceOfRetried(ofService service: Int) -> TokenEvidence {
        guard let retried = plan.retryOf else { return TokenEvidence() }
        guard let runs = try? RunChain(of: self).runs, runs.contains(where: { $0.plan.id == retried }) else {
            return .ofUnreadableRun
        }
        return runs.filter { $0.plan.id != plan.id }.reduce(TokenEvidence()) { sum, run in
            defer { run.close() }
            guard let number = run.plan.number(ofService: service, of: plan) else { return sum }
            return sum + ((try? run.figures().tokenEvidence(ofService: number, in: run.plan)) ?? .ofUnreadableRun)
        }
    }

    private static let epochTable = "life_answers", restTable = "rest_answers"

    /// What a service had answered as each epoch but the first began, in order.
    public func evidenceBeforeEpochs(ofService service: Int) throws -> [TokenEvidence] {
        try read { try evidence($0, in: Self.epochTable, of: service) }
    }

    /// Whether rows of answers say whose they are: in runs of several services. In others they look
    /// as in files of every version.
    private var namesServices: Bool { plan.serviceCount > 1 }

    private func evidence(_ db: Database, in table: String, of service: Int) throws -> [TokenEvidence] {
        guard try db.tableExists(table) else { return [] }
        let condition = namesServices ? "WHERE service = \(service)" : ""
        let sql = "SELECT accepted, doubtful, gone, answers FROM \(table) \(condition) ORDER BY rowid"
        return try db.all(sql) { row in
            var evidence = TokenEvidence()
            (evidence.accepted, evidence.ambiguous) = (try row.count(0), try row.count(1))
            (evidence.gone, evidence.answers) = (try row.count(2), try row.count(3))
            return evidence
        }
    }

    /// Notes what was answered in the epochs before the one that begins now; nothing when there
    /// were no answers.
    func noteEvidence(_ db: Database) throws { try noteEvidence(db, in: Self.epochTable, least: 1) }

    /// Answers that a part of an epoch between two rests has at least: with fewer, wrong settings
    /// cannot be told from a few dead tokens.
    private static let leastAnswersOfPart = 20

    /// Notes what was answered before a rest, a pause or the time until the next wave, in which
    /// settings that were right may become wrong.
    func noteEvidenceAtRest() throws {
        try write(noteEvidenceAtRest)
    }

    func noteEvidenceAtRest(_ db: Database) throws {
        try noteEvidence(db, in: Self.restTable, least: Self.leastAnswersOfPart)
    }

    /// - Parameter least: the fewest answers since the last note that are worth a new one.
    private func noteEvidence(_ db: Database, in table: String, least: Int) throws {
        guard try !claims(db).isEmpty else { return }
        let figures = try keptFigures(db) ?? countFigures(view(db, in: parts))
        for service in 0..<plan.serviceCount {
            let evidence = figures.tokenEvidence(ofService: service, in: plan)
            guard try evidence.answers >= (self.evidence(db, in: table, of: service).last?.answers ?? 0) + least else {
                continue
            }
            try insert(evidence, of: service, into: table, db)
        }
    }

    private func insert(_ evidence: TokenEvidence, of service: Int, into table: String, _ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(table) (  -- how many had been answered as each life but the first, or a part of one, began, and how
                    accepted INTEGER NOT NULL, doubtful INTEGER NOT NULL, gone INTEGER NOT NULL, answers INTEGER NOT NULL\(
                    namesServices ? ", service INTEGER NOT NULL" : ""))
                """)
        let numbers =
            [evidence.accepted, evidence.ambiguous, evidence.gone, evidence.answers] + (namesServices ? [service] : [])
        try db.execute(sql: "INSERT INTO \(table) VALUES (\(numbers.map(String.init).joined(separator: ", ")))")
    }
}

/// Counts outcomes by language and variant in id order, in constant memory: every recipient is read
/// once, with what is recorded for it.
struct GroupOutcomeCounter {
    /// The most groups that are counted separately; groups beyond them count as `other`, so that an
    /// export cannot fill the memory.
    private static let maximumGroups = 2000
    private static let other = "other"

    private var places: [UInt64: Int] = [:]
    /// The groups that are counted separately, in order of appearance. They are the first of
    /// `groups`.
    private var hashes: [UInt64] = []
    private var groups: [RunGroup] = []
    /// The numbers of the groups' services.
    private var services: [Int] = []
    /// Where `other` of a variant is.
    private var others: [Other: Int] = [:]

    private struct Other: Hashable {
        var service: Int
        var variant: String
    }

    /// The largest first, of all services together.
    var largestFirst: [RunGroup] { Self.largestFirst(services.contains { $0 != 0 } ? merged : groups) }

    /// The largest of a service first.
    func largestFirst(ofService service: Int) -> [RunGroup] {
        Self.largestFirst(zip(groups, services).filter { $0.1 == service }.map(\.0))
    }

    private static func largestFirst(_ groups: [RunGroup]) -> [RunGroup] {
        groups.sorted { ($1.audience, $0.language, $0.variant) < ($0.audience, $1.language, $1.variant) }
    }

    private var merged: [RunGroup] {
        var merged: [[String]: RunGroup] = [:]
        for group in groups {
            var sum =
                merged[[group.language, group.variant]]
                ?? RunGroup(language: group.language, variant: group.variant, outcomes: [])
            sum.outcomes = sum.outcomes.isEmpty ? group.outcomes : zip(sum.outcomes, group.outcomes).map(+)
            merged[[group.language, group.variant]] = sum
        }
        return Array(merged.values)
    }

    /// Counts recipients.
    /// - Parameters:
    ///   - ids: a part of the audience that follows those counted before.
    ///   - claims: of the whole run.
    mutating func count(_ db: Database, _ run: RunFile, ids: Range<Int>, _ claims: ClaimSet) throws {
        var claims = claims.ranges[...]
        var outcomes = try OutcomeReader(db, run)
        var cursor = ServiceCursor(run.plan)
        let select = try PreparedStatement(
            db, sql: "SELECT id, language, variant FROM recipient WHERE id >= ? AND id < ? ORDER BY id")
        let (first, end) = run.bounds(of: ids)
        try select.bind(first, at: 1)
        try select.bind(end, at: 2)
        try select.forEachRow { row in
            let id = row.number(0)
            while let claim = claims.first, claim.upperBound <= id { claims.removeFirst() }
            let isClaimed = claims.first?.contains(id) ?? false
            let outcome = try outcomes.slot(of: id)?.outcome ?? (isClaimed ? .unknown : .unsent)
            cursor.move(to: id)
            let place = place(row.text(1), row.text(2), cursor.service)
            groups[place].outcomes[outcome.rawValue] += 1
            return true
        }
    }

    /// Counts what another tally counted, of recipients that follow those of this one.
    /// - Returns: false when it cannot be added, as it met more groups than it counts separately,
    ///   some of which this one may know. Those recipients must then be counted by this tally.
    mutating func add(_ next: GroupOutcomeCounter) -> Bool {
        guard next.others.isEmpty else { return false }
        for (number, hash) in next.hashes.enumerated() {
            let group = next.groups[number]
            let place =
                places[hash] ?? newPlace(hash, language: group.language, variant: group.variant, next.services[number])
            for outcome in group.outcomes.indices { groups[place].outcomes[outcome] += group.outcomes[outcome] }
        }
        return true
    }

    private mutating func place(
        _ language: UnsafeBufferPointer<UInt8>, _ variant: UnsafeBufferPointer<UInt8>, _ service: Int
    ) -> Int {
        // FNV-1a, with a byte between the two that UTF-8 does not have.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        if service != 0 { hash = (hash ^ UInt64(service)) &* 0x100_0000_01B3 }
        for byte in variant { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        for byte in language { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return places[hash]
            ?? newPlace(
                hash, language: String(decoding: language, as: UTF8.self),
                variant: String(decoding: variant, as: UTF8.self), service)
    }

    private mutating func newPlace(_ hash: UInt64, language: String, variant: String, _ service: Int) -> Int {
        guard places.count < Self.maximumGroups else {
            // From here on not even hashes are kept.
            let other = Other(service: service, variant: variant)
            if let place = others[other] { return place }
            others[other] = groups.count
            return append(Self.other, variant: variant, service)
        }
        places[hash] = groups.count
        hashes.append(hash)
        return append(language, variant: variant, service)
    }

    private mutating func append(_ language: String, variant: String, _ service: Int) -> Int {
        services.append(service)
        groups.append(
            RunGroup(language: language, variant: variant, outcomes: [Int](repeating: 0, count: Outcome.allCases.count))
        )
        return groups.count - 1
    }
}
