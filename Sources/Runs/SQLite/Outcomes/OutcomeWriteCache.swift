import Base
import GRDB

/// The blocks that a transaction changes: read when first touched, written back by `store`. Settlements of neighbouring
/// recipients come together, so a block is read and written once for many of them.
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
                try upsert.bind(blob: UnsafeRawBufferPointer(rebasing: bytes[start..<start + OutcomeBlock.bytes]), at: 2)
                try upsert.execute()
            }
        }
    }
}
