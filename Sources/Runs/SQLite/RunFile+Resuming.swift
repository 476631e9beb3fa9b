import Base
import GRDB

/// Resuming a run that was stopped, paused, interrupted or killed. Settled recipients stay settled; unsent ones are sent; unknown ones are
/// sent again or not, as the campaign says.
extension RunFile {
    /// Checks the whole file before anything is sent from it again: pages, claims, outcomes, recipients.
    /// - Throws: `Diagnostic` when it is damaged.
    public func checkIntegrity() throws {
        try requireRecipients()
        try read(in: parts) { view in
            let db = view.db
            let finding = try db.first("PRAGMA quick_check(1)") { try $0.string(0) }
            // What SQLite finds may name values.
            guard finding == "ok" else { throw RunDiagnostics.damaged(path, what: "its pages or rows do not fit together") }
            // Ids are dense, so that two numbers tell whether one is missing.
            let ids = try db.first("SELECT count(*), coalesce(max(id), -1), coalesce(min(id), 0) FROM recipient") { row in
                [try row.int(0), try row.int(1), try row.int(2)]
            }
            guard ids == [plan.audience, plan.audience - 1, 0] else {
                throw RunDiagnostics.damaged(path, what: "some of its \(plan.audience) recipients are missing")
            }
            // Reads every outcome.
            let tally = try tally(view).figures
            guard tally.sentUnclaimed == 0 else { throw RunDiagnostics.damaged(path, what: "a claim is missing") }
            let counted = try figures(of: tally, db)
            // A bit of an outcome makes another outcome of it, and a push that was accepted could be sent again.
            if let kept = try keptFigures(db), kept.outcomes != counted.outcomes {
                throw RunDiagnostics.damaged(path, what: "its outcomes are not those that were counted when it ended")
            }
        }
    }

    /// Calls `body` with what sending needs of each recipient of a range that is not settled.
    func forEachUnsettledPush(
        in range: Range<Int>, _ selected: OpenOutcomes, withTraits: Bool, _ body: (StoredPush) throws -> Void
    ) throws {
        try requireRecipients()
        try read { db in
            let open = try openSlots(db, in: range, selected)
            guard let first = open.first?.id, let last = open.last?.id else { return }
            let select = try PreparedStatement(db, sql: RunSchema.selectPushes(traits(withTraits)))
            try select.bind(first, at: 1)
            try select.bind(last + 1, at: 2)
            var rest = open[...]
            try forEachPush(of: select, withTraits: withTraits) { push in
                if push.id == rest.first?.id {
                    let slot = rest.removeFirst().slot
                    var push = push
                    (push.mayHaveArrived, push.attempts) = (slot?.outcome != .unsent, slot?.attempts ?? 0)
                    try body(push)
                }
                return true
            }
            if let missing = rest.first { throw missingRecipient(missing.id) }
        }
    }

    /// The recipients of a range that are not settled, with what is recorded of them.
    func openSlots(_ db: Database, in range: Range<Int>, _ selected: OpenOutcomes) throws -> [(id: Int, slot: OutcomeSlot?)] {
        var outcomes = try OutcomeReader(db, self)
        let closed = try OutcomeReasons.numbers(of: selected.closing, db)
        var open: [(id: Int, slot: OutcomeSlot?)] = []
        for id in range.clamped(to: 0..<plan.audience) {
            let slot = try outcomes.slot(of: id)
            if slot.map({ Self.isOpen($0, resendsUnknown: selected.resendsUnknown, closed) }) ?? true { open.append((id, slot)) }
        }
        return open
    }

    /// Takes back the outcomes of recipients that are about to be sent again, so that they are claimed and nothing else: a crash leaves them
    /// unknown. Must return before any of them goes onto the wire.
    /// - Parameter ids: ascending.
    /// - Returns: the attempts that were recorded of them, where there were any.
    func reopen(
        _ ids: some BidirectionalCollection<Int>, resendsUnknown: Bool, at now: Timestamp = .now()
    ) throws -> [Int: Int] {
        guard !ids.isEmpty else { return [:] }
        return try write { db in
            try checkSending(db)
            return try reopen(ids, resendsUnknown: resendsUnknown, at: now, db)
        }
    }

    /// - Parameter ids: ascending.
    func reopen(_ ids: some BidirectionalCollection<Int>, resendsUnknown: Bool, at now: Timestamp, _ db: Database) throws -> [Int: Int] {
        guard let first = ids.first, let last = ids.last else { return [:] }
        var attempts: [Int: Int] = [:]
        var doubted: [Int] = []
        var board = try OutcomeBoard(db, self, ids: first..<last + 1)
        for id in ids {
            let slot = try board.slot(of: id)
            guard !slot.isEmpty, Self.isOpen(slot, resendsUnknown: resendsUnknown) else { continue }
            if slot.attempts > 0 { attempts[id] = slot.attempts }
            if slot.outcome == .unknown { doubted.append(id) }
            try board.clear(id)
        }
        try board.store()
        try noteDoubt(about: doubted, at: now, db)
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS taken_back (recipients INTEGER NOT NULL  -- ever, each as often as it was\n)")
        try db.execute(sql: "UPDATE taken_back SET recipients = recipients + ?", arguments: [ids.count])
        if db.changesCount == 0 { try db.execute(sql: "INSERT INTO taken_back VALUES (?)", arguments: [ids.count]) }
        try forgetFigures(db)
        return attempts
    }

    /// Whether a recipient with this record is sent to again.
    /// - Parameter closed: numbers of reasons after which unsent recipients get nothing more.
    static func isOpen(_ slot: OutcomeSlot, resendsUnknown: Bool, _ closed: Set<Int> = []) -> Bool {
        slot.outcome == .unsent && !closed.contains(slot.reason) || resendsUnknown && slot.outcome == .unknown
    }

    /// Records as unknown who was claimed and has no outcome: what a killed process left behind.
    /// - Returns: how many they were.
    func recordLost(at now: Timestamp) throws -> Int {
        var count = 0
        for range in try claimedWithoutOutcome() {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 10_000) {
                let ids = start..<min(start + 10_000, range.upperBound)
                try record(ids.map { Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: now) })
                count += ids.count
            }
        }
        return count
    }
}
