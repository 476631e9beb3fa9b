import Base
import GRDB

/// Outcomes in a run file, found by recipient; fast when asked in the order of ids. Valid as long as the access that
/// created it.
struct OutcomeReader {
    private let run: RunFile
    private let select: PreparedStatement
    private let selectSince: PreparedStatement
    private let reasons: [Int: String]
    /// The block that was read last.
    private var words = [UInt64](repeating: 0, count: OutcomeBlock.words)
    private var block = -1
    private var isThere = false

    init(_ db: Database, _ run: RunFile) throws {
        self.run = run
        select = try PreparedStatement(db, sql: RunSchema.selectOutcomeBlock)
        selectSince = try PreparedStatement(db, sql: RunSchema.selectInvalidSince)
        reasons = try OutcomeReasons.all(db)
    }

    /// What is recorded of a recipient; nil when nothing is.
    mutating func slot(of id: Int) throws -> OutcomeSlot? {
        // An edited file may hold ids that no recipient has.
        guard id >= 0 else { return nil }
        if id / OutcomeBlock.slots != block { try load(id / OutcomeBlock.slots) }
        guard isThere else { return nil }
        let first = id % OutcomeBlock.slots * OutcomeSlot.words
        let slot = OutcomeSlot(high: words[first], low: words[first + 1])
        return slot.isEmpty ? nil : slot
    }

    /// The same as a settlement.
    mutating func settlement(of id: Int) throws -> Settlement? {
        guard let slot = try slot(of: id) else { return nil }
        guard let outcome = slot.outcome else { throw run.unreadableOutcome(of: id) }
        return Settlement(
            recipient: id, outcome: outcome, status: slot.status, reason: try reason(slot, of: id), attempts: slot.attempts,
            latencyMilliseconds: slot.latencyMilliseconds, settledAt: slot.settledAt,
            // Only the service says since when, and only for these.
            invalidSince: outcome == .invalidToken ? try invalidSince(id) : nil)
    }

    /// The reason that a slot names, blank for none.
    func reason(_ slot: OutcomeSlot, of id: Int) throws -> String {
        guard slot.reason != 0 else { return "" }
        guard let reason = reasons[slot.reason] else { throw run.unreadableOutcome(of: id) }
        return reason
    }

    private mutating func load(_ number: Int) throws {
        (block, isThere) = (number, false)
        try select.bind(number, at: 1)
        try select.forEachRow { row in
            guard words.withUnsafeMutableBufferPointer({ OutcomeBlock.read(row.bytes(0), into: $0) }) else {
                throw run.unreadableBlock(number)
            }
            isThere = true
            return false
        }
    }

    private func invalidSince(_ id: Int) throws -> Timestamp? {
        try selectSince.bind(id, at: 1)
        var since: Timestamp?
        try selectSince.forEachRow { row in
            since = try row.moment(0)
            return false
        }
        return since
    }
}

extension RunFile {
    /// Calls `body` with every outcome there is, in the order of ids. Reasons are those of `OutcomeReasons`.
    /// - Parameter ids: a part of the audience; nil for all of it.
    /// - Throws: `Diagnostic` for what no recipient can have.
    func forEachOutcome(
        _ db: Database, in ids: Range<Int>? = nil, _ body: (_ id: Int, OutcomeSlot, Outcome) throws -> Void
    ) throws {
        let blocks = 0...max(0, plan.audience - 1) / OutcomeBlock.slots
        let (first, end) = bounds(of: ids ?? 0..<plan.audience)
        try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: OutcomeBlock.words) { words in
            let select = try PreparedStatement(db, sql: RunSchema.selectOutcomeBlocks)
            try select.bind(first == .min ? first : first / OutcomeBlock.slots, at: 1)
            try select.bind(end == .max ? end : (end - 1) / OutcomeBlock.slots, at: 2)
            try select.forEachRow { row in
                let number = row.number(0)
                guard blocks.contains(number) else { throw RunDiagnostics.damaged(path, what: "an outcome has no recipient") }
                guard OutcomeBlock.read(row.bytes(1), into: words) else { throw unreadableBlock(number) }
                let start = number * OutcomeBlock.slots
                // A part may begin or end within a block.
                for id in max(first, start)..<max(first, start, min(end, start + OutcomeBlock.slots)) {
                    let word = (id - start) * OutcomeSlot.words
                    let slot = OutcomeSlot(high: words[word], low: words[word + 1])
                    if !slot.isEmpty {
                        guard id < plan.audience else { throw RunDiagnostics.damaged(path, what: "an outcome has no recipient") }
                        guard let outcome = slot.outcome else { throw unreadableOutcome(of: id) }
                        try body(id, slot, outcome)
                    }
                }
                return true
            }
        }
    }

    func unreadableOutcome(of id: Int) -> Diagnostic { RunDiagnostics.damaged(path, what: "the outcome of recipient \(id) cannot be read") }

    func unreadableBlock(_ number: Int) -> Diagnostic {
        RunDiagnostics.damaged(path, what: "the outcomes from recipient \(number &* OutcomeBlock.slots) on cannot be read")
    }
}
