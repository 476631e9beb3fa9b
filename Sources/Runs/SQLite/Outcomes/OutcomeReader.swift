import Base
import GRDB

/// Outcomes in a run file, found by recipient; fast when asked in the order of ids. Valid as long
/// as the access that created it.
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
            recipient: id, outcome: outcome, status: slot.status, reason: try reason(slot, of: id),
            attempts: slot.attempts,
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
    /// Calls `body` with every outcome there is, in the order of ids. Reasons are those of
    /// `OutcomeReasons`.
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
                guard blocks.contains(number) else {
                    throw RunDiagnostics.damaged(path, what: "an outcome has no recipient")
                }
                guard OutcomeBlock.read(row.bytes(1), into: words) else { throw unreadableBlock(number) }
                let start = number * OutcomeBlock.slots
                // A part may begin or end within a block.
                for id in max(first, start)..<max(first, start, min(end, start + OutcomeBlock.slots)) {
                    let word = (id - start) * OutcomeSlot.words
                    let slot = OutcomeSlot(high: words[word], low: words[word + 1])
                    if !slot.isEmpty {
                        guard id < plan.audience else {
                            throw RunDiagnostics.damaged(path, what: "an outcome has no recipient")
                        }
                        guard let outcome = slot.outcome else { throw unreadableOutcome(of: id) }
                        try body(id, slot, outcome)
                    }
                }
                return true
            }
        }
    }

    func unreadableOutcome(of id: Int) -> Diagnostic {
        RunDiagnostics.damaged(path, what: "the outcome of recipient \(id) cannot be read")
    }

    func unreadableBlock(_ number: Int) -> Diagnostic {
        RunDiagnostics.damaged(
            path, what: "the outcomes from recipient \(number &* OutcomeBlock.slots) on cannot be read")
    }
}

/// The outcome of one recipient in 16 bytes, high byte first: outcome (4 bits, 0 for none), status
/// (12), number of the reason (16), attempts (16), latency in milliseconds (32), milliseconds since
/// 1970 (48). So each is a whole number of hex digits, which SQL can read.
///
/// Values that do not fit become the largest that do: 65,535 attempts, 49 days of latency.
struct OutcomeSlot: BitwiseCopyable {
    static let bytes = 16
    /// Words of 64 bits of a slot.
    static let words = 2

    /// The words as in the file, in the byte order of this machine.
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// - Parameter reason: the number of the settlement's reason, 0 for none.
    @inline(__always) init(_ settled: borrowing Settlement, reason: Int) {
        let latency = UInt64(UInt32(clamping: settled.latencyMilliseconds))
        high =
            UInt64(settled.outcome.rawValue + 1) << 60 | UInt64(min(max(settled.status, 0), 0xFFF)) << 48
            | UInt64(UInt16(clamping: reason)) << 32 | UInt64(UInt16(clamping: settled.attempts)) << 16 | latency >> 16
        low = (latency & 0xFFFF) << 48 | UInt64(min(max(settled.settledAt.epochMilliseconds, 0), 0xFFFF_FFFF_FFFF))
    }

    /// Nothing is recorded.
    var isEmpty: Bool { high == 0 && low == 0 }

    /// 1 and more; a number that is not an outcome was not written by Volley.
    private var outcomeNumber: Int { Int(high >> 60) }
    var isUnsent: Bool { outcomeNumber == Outcome.unsent.rawValue + 1 }
    /// nil when the file was damaged.
    var outcome: Outcome? { Outcome(rawValue: outcomeNumber - 1) }
    var status: Int { Int(high >> 48 & 0xFFF) }
    var reason: Int { Int(high >> 32 & 0xFFFF) }
    var attempts: Int { Int(high >> 16 & 0xFFFF) }
    var latencyMilliseconds: Int { Int((high & 0xFFFF) << 16 | low >> 48) }
    var settledAt: Timestamp { Timestamp(epochMilliseconds: Int64(low & 0xFFFF_FFFF_FFFF)) }
}

/// Slots of neighbouring recipients, a row of the run file: recipient `id` has slot `id % 250` of
/// block `id / 250`.
///
/// The count is such that a row fills a page of 4,096 bytes: a row for each recipient took four
/// times as long to write.
enum OutcomeBlock {
    static let slots = 250
    static let bytes = slots * OutcomeSlot.bytes
    static let words = slots * OutcomeSlot.words

    /// Reads the words of a row, high byte first; nil when it is not a block.
    @inline(__always) static func read(_ row: UnsafeRawBufferPointer, into words: UnsafeMutableBufferPointer<UInt64>)
        -> Bool
    {
        guard row.count == bytes, words.count == self.words else { return false }
        for index in 0..<self.words {
            words[index] = UInt64(bigEndian: row.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        return true
    }
}

/// The blocks that a transaction changes: read when first touched, written back by `store`.
/// Settlements of neighbouring recipients come together, so a block is read and written once for
/// many of them.
struct OutcomeWriteCache {
    private let run: RunFile
    private let select: PreparedStatement
    private let upsert: PreparedStatement
    /// The blocks that may be touched.
    private let blocks: Range<Int>
    /// Of each of them where it begins in `words`; -1 before it is touched.
    private var places: [Int]
    private var words: [UInt64] = []
    private var touched: [Int] = []

    /// - Parameter ids: those that may be changed, of the run's audience.
    init(_ db: Database, _ run: RunFile, ids: Range<Int>) throws {
        self.run = run
        select = try PreparedStatement(db, sql: RunSchema.selectOutcomeBlock)
        upsert = try PreparedStatement(db, sql: RunSchema.upsertOutcomeBlock)
        blocks = ids.lowerBound / OutcomeBlock.slots..<(ids.upperBound + OutcomeBlock.slots - 1) / OutcomeBlock.slots
        places = [Int](repeating: -1, count: blocks.count)
    }

    /// What is recorded of a recipient, this transaction included.
    @inline(__always) mutating func slot(of id: Int) throws -> OutcomeSlot {
        let place = try place(of: id)
        return OutcomeSlot(high: words[place], low: words[place + 1])
    }

    /// Records a settlement, unless the recipient already has one other than `unsent`.
    /// - Returns: whether it was recorded.
    @inline(__always) mutating func record(_ slot: OutcomeSlot, of id: Int) throws -> Bool {
        let place = try place(of: id)
        let earlier = OutcomeSlot(high: words[place], low: words[place + 1])
        guard earlier.isEmpty || earlier.isUnsent else {
            guard earlier.outcome != nil else { throw run.unreadableOutcome(of: id) }
            return false
        }
        words[place] = slot.high
        words[place + 1] = slot.low
        return true
    }

    /// Removes the outcome of a recipient.
    mutating func clear(_ id: Int) throws {
        let place = try place(of: id)
        words[place] = 0
        words[place + 1] = 0
    }

    @inline(__always) private mutating func place(of id: Int) throws -> Int {
        let block = id / OutcomeBlock.slots - blocks.lowerBound
        if places[block] < 0 { try touch(block) }
        return places[block] + id % OutcomeBlock.slots * OutcomeSlot.words
    }

    private mutating func touch(_ block: Int) throws {
        let (start, number) = (words.count, blocks.lowerBound + block)
        words.append(contentsOf: repeatElement(0, count: OutcomeBlock.words))
        try select.bind(number, at: 1)
        try select.forEachRow { row in
            let isBlock = words.withUnsafeMutableBufferPointer { words in
                OutcomeBlock.read(row.bytes(0), into: UnsafeMutableBufferPointer(rebasing: words[start...]))
            }
            guard isBlock else { throw run.unreadableBlock(number) }
            return false
        }
        places[block] = start
        touched.append(block)
    }

    /// Writes what was touched, in the order of ids.
    mutating func store() throws {
        for index in words.indices { words[index] = words[index].bigEndian }
        try words.withUnsafeBytes { bytes in
            for block in touched.sorted() {
                let start = places[block] * 8
                try upsert.bind(blocks.lowerBound + block, at: 1)
                try upsert.bind(
                    blob: UnsafeRawBufferPointer(rebasing: bytes[start..<start + OutcomeBlock.bytes]), at: 2)
                try upsert.execute()
            }
        }
    }
}

/// The numbers under which a run file keeps reasons: 1 and more, in the order in which they were
/// first seen; 0 means no reason.
struct OutcomeReasons {
    /// Replaces all reasons beyond the limit: a server may invent a new one for each push.
    private static let last = 0xFFFF
    private static let other = OwnReason.other.rawValue

    private let select: PreparedStatement
    private let insert: PreparedStatement
    private let count: PreparedStatement
    private var known: [String: Int] = [:]

    /// Valid within a transaction: a failed transaction loses what it has added.
    init(_ db: Database) throws {
        select = try PreparedStatement(db, sql: "SELECT number FROM reason WHERE reason = ?")
        insert = try PreparedStatement(db, sql: "INSERT INTO reason (number, reason) VALUES (?, ?)")
        count = try PreparedStatement(
            db, sql: "SELECT coalesce(max(number), 0) FROM reason WHERE number < \(Self.last)")
    }

    /// A reason's number; a new one if necessary.
    mutating func number(of reason: String) throws -> Int {
        if reason.isEmpty { return 0 }
        if let number = known[reason] { return number }
        let number = try stored(reason) ?? added(reason)
        known[reason] = number
        return number
    }

    private func stored(_ reason: String) throws -> Int? {
        try select.bind(reason, at: 1)
        return try first(select)
    }

    private func added(_ reason: String) throws -> Int {
        let next = try (first(count) ?? 0) + 1
        guard next < Self.last else {
            if let number = try stored(Self.other) { return number }
            return try add(Self.other, number: Self.last)
        }
        return try add(reason, number: next)
    }

    private func add(_ reason: String, number: Int) throws -> Int {
        try insert.bind(number, at: 1)
        try insert.bind(reason, at: 2)
        try insert.execute()
        return number
    }

    private func first(_ statement: PreparedStatement) throws -> Int? {
        var number: Int?
        try statement.forEachRow { row in
            number = row.number(0)
            return false
        }
        return number
    }

    /// The numbers of some reasons, as far as they are stored.
    static func numbers(of reasons: Set<OwnReason>, _ db: Database) throws -> Set<Int> {
        let names = Set(reasons.map(\.rawValue))
        return names.isEmpty ? [] : Set(try all(db).filter { names.contains($0.value) }.keys)
    }

    /// All reasons by number.
    static func all(_ db: Database) throws -> [Int: String] {
        var reasons: [Int: String] = [:]
        try PreparedStatement(db, sql: "SELECT number, reason FROM reason").forEachRow { row in
            reasons[row.number(0)] = try row.string(1)
            return true
        }
        return reasons
    }
}
