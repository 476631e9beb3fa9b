public import Base
import GRDB

/// A run that other machines also send: a store has more of it than this file, until what they
/// recorded has been fetched.
extension RunFile {
    private static let table = """
        CREATE TABLE IF NOT EXISTS shared_out (   -- a row while a store may know of pushes that this file does not know
            since INTEGER NOT NULL                -- epoch milliseconds
        )
        """

    /// Since when a store may have pushes that this file does not have; nil if this file has all.
    /// Notes are in the table `shared_out`.
    public func sharedSince() throws -> Timestamp? {
        try read { db in
            guard try db.tableExists("shared_out") else { return nil }
            return try db.first("SELECT since FROM shared_out") { try $0.moment(0) }
        }
    }

    /// Notes that others may send it from now on: before any of them can.
    package func noteShared(at now: Timestamp) throws {
        guard try sharedSince() == nil else { return }
        try write { db in
            try db.execute(sql: Self.table)
            try db.execute(sql: "INSERT INTO shared_out VALUES (?)", arguments: [now.epochMilliseconds])
        }
    }

    /// Notes that no machine sends it any more, and this file has all that they recorded.
    package func noteFetched() throws {
        guard try sharedSince() != nil else { return }
        try write { try $0.execute(sql: "DELETE FROM shared_out") }
    }
}

/// Orders that were given where this file is: the machines that go by the store stop only once the
/// store has them.
extension RunFile {
    private static let orderTable = """
        CREATE TABLE IF NOT EXISTS order_to_pass_on (   -- a row while the store is not known to have the order that is the run's state
            state TEXT NOT NULL
        )
        """

    /// The pause or cancellation that was given here, and that the store is not known to have:
    /// other machines may still send the run. nil for none. Notes are in the table
    /// `order_to_pass_on`.
    public func orderToPassOn() throws -> RunOrder? {
        try read { db in
            guard try Self.mayBeSentElsewhere(db), try db.tableExists("order_to_pass_on"),
                let state = try RunSchema.state(db)
            else {
                return nil
            }
            let noted = try db.first("SELECT state FROM order_to_pass_on") { try $0.string(0) }
            return noted == state.rawValue ? RunOrder(state) : nil
        }
    }

    /// Notes that the store has an order: no other one that was given since.
    package func notePassedOn(_ order: RunOrder) throws {
        guard try orderToPassOn() == order else { return }
        try write {
            try $0.execute(sql: "DELETE FROM order_to_pass_on WHERE state = ?", arguments: [order.state.rawValue])
        }
    }

    /// Notes that the store has yet to get an order, in the transaction that records it.
    func noteToPassOn(_ order: RunOrder, _ db: Database) throws {
        try forgetOrderToPassOn(db)
        guard order != .goOn, try Self.mayBeSentElsewhere(db) else { return }
        try db.execute(sql: Self.orderTable)
        try db.execute(sql: "INSERT INTO order_to_pass_on VALUES (?)", arguments: [order.state.rawValue])
    }

    /// What was ordered before an epoch begins does not count in it.
    func forgetOrderToPassOn(_ db: Database) throws {
        if try db.tableExists("order_to_pass_on") { try db.execute(sql: "DELETE FROM order_to_pass_on") }
    }

    private static func mayBeSentElsewhere(_ db: Database) throws -> Bool {
        guard try db.tableExists("shared_out"),
            try db.first("SELECT count(*) FROM shared_out", reading: { try $0.count(0) }) ?? 0 > 0
        else {
            return false
        }
        return try !db.tableExists("without_store")
    }
}

/// The run file of a run that several machines send: it takes over what they record in the store,
/// in the order in which it happened.
extension RunFile {
    private static let markTable = """
        CREATE TABLE IF NOT EXISTS fetched (     -- how far the journals of members in the store were taken over
            sender INTEGER NOT NULL, lane INTEGER NOT NULL, number INTEGER NOT NULL,
            PRIMARY KEY (sender, lane)
        )
        """

    /// How far it has taken over what members recorded.
    package func fetchMarks() throws -> [FetchMark] {
        try read { db in
            guard try db.tableExists("fetched") else { return [] }
            return try db.all("SELECT sender, lane, number FROM fetched") { row in
                FetchMark(sender: try row.int(0), writer: try row.int(1), number: try row.int(2))
            }
        }
    }

    /// Takes over entries, in one transaction with how far that is.
    /// - Parameters:
    ///   - entries: in the order of the store.
    ///   - hasForgotten: whether the store has forgotten entries, so that some of these refer to
    ///     claims that it lacks, or claim what was claimed before.
    /// - Throws: `Diagnostic` when they do not add up with what is there; nothing is taken over
    ///   then.
    package func apply(_ entries: [RunEntry], marks: [FetchMark], hasForgotten: Bool = false) throws {
        defer { forgetClaims() }
        try write { db in
            try checkOwner(db)
            // Neighbouring outcomes are in few blocks: they are recorded together.
            var outcomes: [[Settlement]] = []
            for entry in entries {
                if case .settled(let parts) = entry, !hasForgotten {
                    outcomes += parts
                    continue
                }
                try record(collected: &outcomes, db)
                if hasForgotten { try applyInDoubt(entry, db) } else { try apply(entry, db) }
            }
            try record(collected: &outcomes, db)
            try db.execute(sql: Self.markTable)
            for mark in marks {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO fetched VALUES (?, ?, ?)",
                    arguments: [mark.sender, mark.writer, mark.number])
            }
        }
    }

    private func record(collected parts: inout [[Settlement]], _ db: Database) throws {
        if let ids = try bounds(of: parts) { try record(parts, ids: ids, db) }
        parts.removeAll(keepingCapacity: true)
    }

    private func apply(_ entry: RunEntry, _ db: Database) throws {
        switch entry {
        case .claimed(let range, let unsent, let at): try claim(range, unsent: unsent, at: at, db)
        case .settled(let parts): try record(parts, ids: bounds(of: parts) ?? 0..<0, db)
        case .reopened(let ids, let resendsUnknown, let at):
            _ = try reopen(ids, resendsUnknown: resendsUnknown, at: at, db)
        case .deferred(let ids, let reason, let isTooLate, let at):
            _ = try `defer`(ids, reason: reason, isTooLate: isTooLate, at: at, db)
        case .callsNamed(let calls): try name(calls, db)
        case .callsForgotten(let numbers): if try db.tableExists("call") { try forgetCalls(numbers, db) }
        case .receipts(let receipts, let service): try note(receipts: receipts, ofService: service, db)
        case .epochBegan:
            try noteEvidence(db)
            try takeBackStops(db)
        case .rested: try noteEvidenceAtRest(db)
        case .lost, .segment, .state, .finished, .ordered, .epochNoted, .epochConfirmed, .epochEnded, .claimsNoted:
            throw broken("the journal has an entry that is never written into it")
        }
    }

    /// Takes over an entry of a store that has forgotten others. A recipient that may have been
    /// handed over counts as claimed; one that was claimed twice is unknown, as nothing shows which
    /// of the two claims an outcome belongs to. The first outcome counts.
    private func applyInDoubt(_ entry: RunEntry, _ db: Database) throws {
        switch entry {
        case .claimed(let range, let unsent, let at):
            let earlier = try claims(db, around: range)
            let fresh = ClaimSet(earlier.gaps(in: range))
            try claim(missingIn: earlier, of: fresh.ranges, at: at, db)
            try recordFirst(unsent.filter { fresh.contains($0.recipient) }, db)
            let twice = earlier.ranges(in: range).flatMap(\.self)
            try recordFirst(
                twice.map { Settlement(recipient: $0, outcome: .unknown, own: .processEnded, settledAt: at) }, db)
        case .settled(let parts):
            let settlements = parts.flatMap(\.self)
            guard let ids = try bounds(of: [settlements]) else { return }
            let handedOver = settlements.lazy.filter { $0.outcome != .unsent }.map { $0.recipient..<$0.recipient + 1 }
            try claim(
                missingIn: claims(db, around: ids), of: ClaimSet(handedOver).ranges, at: settlements[0].settledAt, db)
            try recordFirst(settlements, db)
        case .callsNamed(let calls):
            for var call in calls {
                try claim(
                    missingIn: claims(db), of: ClaimSet(call.recipients.lazy.map { $0..<$0 + 1 }).ranges,
                    at: call.namedAt, db)
                // The store may give out a number again that it gave out before.
                call.number = 0
                try name([call], db)
            }
        // It may be about another call of the same number.
        case .callsForgotten: break
        default: try apply(entry, db)
        }
    }

    /// Claims those of some recipients that are not claimed yet.
    private func claim(missingIn claims: ClaimSet, of ids: [Range<Int>], at moment: Timestamp, _ db: Database) throws {
        for range in ids {
            for missing in claims.gaps(in: range) { try claim(missing, unsent: [], at: moment, db) }
        }
    }

    /// Records outcomes of recipients that have none other than `unsent`.
    private func recordFirst(_ settlements: [Settlement], _ db: Database) throws {
        guard let ids = try bounds(of: [settlements]) else { return }
        var board = try OutcomeWriteCache(db, self, ids: ids)
        var seen: Set<Int> = []
        let first = try settlements.filter { settled in
            let slot = try board.slot(of: settled.recipient)
            return (slot.isEmpty || slot.isUnsent) && seen.insert(settled.recipient).inserted
        }
        if !first.isEmpty { try record([first], ids: ids, db) }
    }

    /// Counts recipients as claimed that the process with the file is sure to have claimed, though
    /// the store has forgotten it.
    package func takeAsClaimed(_ ids: [Range<Int>], at moment: Timestamp) throws {
        defer { forgetClaims() }
        try write { db in
            try checkOwner(db)
            try claim(missingIn: claims(db), of: ids, at: moment, db)
        }
    }

    // MARK: - Without the store

    private static let withoutStoreTable = "CREATE TABLE IF NOT EXISTS without_store (since INTEGER NOT NULL)"

    /// Whether the run continues from this file alone, although other machines have helped with it:
    /// the store had forgotten something.
    package func goesOnWithoutStore() throws -> Bool {
        try read { db in
            guard try db.tableExists("without_store") else { return false }
            return try db.first("SELECT count(*) FROM without_store") { try $0.count(0) } ?? 0 > 0
        }
    }

    /// Notes that it does, from now on.
    package func goOnWithoutStore(at now: Timestamp) throws {
        try write { db in
            try checkOwner(db)
            try db.execute(sql: Self.withoutStoreTable)
            try db.execute(sql: "INSERT INTO without_store VALUES (?)", arguments: [now.epochMilliseconds])
        }
    }

    /// Checks that outcomes could be recorded, and records none of them.
    /// - Throws: `Diagnostic` as `record` does.
    package func checkRecordable(_ parts: [[Settlement]]) throws {
        guard let ids = try bounds(of: parts) else { return }
        try write { db in
            try db.inSavepoint {
                try record(parts, ids: ids, db)
                return .rollback
            }
        }
    }

    /// Recipients that are not settled, as `forEachPush` finds them, also where the file has no
    /// recipients.
    package func unsettledPushes(
        in range: Range<Int>, _ open: OpenOutcomes
    ) throws -> [(id: Int, attempts: Int, mayHaveArrived: Bool)] {
        try read { db in
            try openSlots(db, in: range, open).map { id, slot in
                (id, slot?.attempts ?? 0, slot?.outcome != .unsent)
            }
        }
    }

    /// The outcomes of some recipients, where there are any.
    package func settlements(of ids: Range<Int>) throws -> [Int: Settlement] {
        try read { db in
            var outcomes = try OutcomeReader(db, self)
            var settlements: [Int: Settlement] = [:]
            for id in ids { settlements[id] = try outcomes.settlement(of: id) }
            return settlements
        }
    }

    /// How many of some recipients are unsent for a reason.
    package func count(unsent reason: OwnReason, in ids: Range<Int>) throws -> Int {
        try read { db in
            var outcomes = try OutcomeReader(db, self)
            let numbers = try OutcomeReasons.numbers(of: [reason], db)
            return try ids.count { id in
                try outcomes.slot(of: id).map { $0.outcome == .unsent && numbers.contains($0.reason) } ?? false
            }
        }
    }

    /// Whether the run continues from its file alone, because the store had forgotten something:
    /// the store is no longer queried.
    package var isWithoutStore: Bool { (try? goesOnWithoutStore()) ?? false }
}

/// A run file that was made again from the store: it says how the run was when it was fetched, and
/// is read like any other, but never sent.
extension RunFile {
    private static let copyTable = """
        CREATE TABLE IF NOT EXISTS fetched_copy (   -- a row if this file was made from the store, on a machine that did not plan the run
            fetched_at INTEGER NOT NULL
        )
        """

    /// When this file was made from the store: it is read like the run itself, and retried, but
    /// never sent. nil for the file that was planned. Notes are in the table `fetched_copy`.
    public func copiedAt() throws -> Timestamp? {
        try read { db in
            guard try db.tableExists("fetched_copy") else { return nil }
            return try db.first("SELECT fetched_at FROM fetched_copy") { try $0.moment(0) }
        }
    }

    /// Notes that this file was made from the store.
    package func noteCopy(at now: Timestamp) throws {
        try write { db in
            try db.execute(sql: Self.copyTable)
            try db.execute(sql: "INSERT INTO fetched_copy VALUES (?)", arguments: [now.epochMilliseconds])
        }
    }

    /// Takes over how the run is in the store, after what its journal says.
    package func takeOver(_ status: RunStatus) throws {
        try write { db in
            try checkOwner(db)
            try db.execute(
                sql: "UPDATE run SET state = ?, stop_cause = ?, started_at = ?, finished_at = ?",
                arguments: [
                    status.state.rawValue, status.cause.map(RunSchema.text) ?? "", status.startedAt?.epochMilliseconds,
                    status.finishedAt?.epochMilliseconds,
                ])
            try db.execute(sql: RunSchema.segmentStateTable)
            try db.execute(sql: "DELETE FROM leg_state")
            for (first, state) in status.segments {
                try db.execute(
                    sql: "INSERT INTO leg_state VALUES (?, ?, ?)",
                    arguments: [first, state.heldUntil?.epochMilliseconds, state.cause.map(RunSchema.text) ?? ""])
            }
        }
        // Apart from what has just changed: counting reads the file with several threads.
        if status.state.hasEnded { try write { _ = try keepFigures($0) } }
    }

    /// - Throws: `Diagnostic` for a file that was made from the store.
    func checkIsNoCopy() throws {
        guard let moment = try copiedAt() else { return }
        throw Diagnostic(
            "this file was fetched from the store at \(moment), and is not the run's own", file: path,
            remedy:
                "Send the run where it was planned. If that machine is gone, `volley cancel \(plan.id)` ends the run here; then "
                + "`volley retry \(plan.id) --outcome unsent` sends to the rest.", [.cancelThenRetry(run: plan.id)])
    }
}
