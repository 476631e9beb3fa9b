import Base
import Postgres
import Runs
import Synchronization

/// Copies the blocks of a run file that the store lacks, over several connections: a thread for
/// each packs what it sends.
struct BlockCopy: Sendable {
    /// Threads and connections at most: a server that is shared has few connections.
    private static let mostThreads = 4
    /// Blocks that are committed together: 8 MB or so. What a broken connection undoes is no more
    /// than that.
    private static let blocksTogether = 100
    /// How long copying them may take; seconds.
    private static let copySeconds = 600.0

    private let store: Store
    private let file: RunFile
    private let number: Int
    private let progress: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - run: the run's number in the store.
    ///   - progress: called with recipients so far.
    init(_ store: Store, _ file: RunFile, run: Int, _ progress: @escaping @Sendable (Int) -> Void) {
        (self.store, self.file, number, self.progress) = (store, file, run, progress)
    }

    /// - Throws: `PostgresError`, `Diagnostic`, `CancellationError`: some blocks are still missing
    ///   then.
    func run() throws {
        let blocks = 0..<RecipientBlock.count(of: file.plan.audience)
        let parts = RangeParts(unit: Self.blocksTogether, threads: min(availableCores(), Self.mostThreads)).parts(
            of: blocks)
        let state = BlockCopyState(progress)
        let rangeThreads = RangeThreads<Void>("publish") { part, _ in
            Result { () throws(any Error) in try copy(part, state) }
        }
        _ = try rangeThreads.run(parts)
    }

    private func copy(_ part: Range<Int>, _ state: BlockCopyState) throws {
        let storeConnection = store.storeConnection(answerSeconds: Store.answerSeconds)
        // A reader of its own: those of one connection wait for one another while the file is
        // written to.
        let file = try RunFile(path: file.path, readOnly: true)
        do {
            for start in stride(from: part.lowerBound, to: part.upperBound, by: Self.blocksTogether)
            where !state.hasFailed {
                let blocks = start..<min(start + Self.blocksTogether, part.upperBound)
                try storeConnection.retrying(until: { state.hasFailed }) { try copy(blocks, of: file, $0) }
                state.add(blocks.reduce(0) { $0 + RecipientBlock.ids(of: $1, audience: file.plan.audience).count })
            }
        } catch {
            state.fail()
            throw error
        }
    }

    private func copy(_ blocks: Range<Int>, of file: RunFile, _ connection: PostgresConnection) throws {
        while true {
            let missing = try missing(in: blocks, connection)
            guard !missing.isEmpty else { return }
            do {
                var packer = BlockPacker(file, run: number, missing)
                return try connection.copyIn(
                    "COPY volley_block (run, number, data) FROM STDIN (FORMAT binary)", within: Self.copySeconds
                ) { try packer.next() }
            } catch let error as PostgresError where error.sqlState == "23505" {
                // Another process publishes the run at the same moment: what it was quicker with is
                // there now.
            }
        }
    }

    private func missing(in blocks: Range<Int>, _ connection: PostgresConnection) throws -> [Int] {
        var there: Set<Int> = []
        try connection.run(
            "SELECT number FROM volley_block WHERE run = $1 AND number >= $2 AND number < $3",
            [.int(number), .int(blocks.lowerBound), .int(blocks.upperBound)], within: Store.answerSeconds
        ) { there.insert($0.int(0)) }
        return blocks.filter { !there.contains($0) }
    }
}

/// What the threads share.
private final class BlockCopyState: Sendable {
    private let copied = Mutex(0)
    private let failed = Atomic(false)
    private let progress: @Sendable (Int) -> Void

    init(_ progress: @escaping @Sendable (Int) -> Void) { self.progress = progress }

    var hasFailed: Bool { failed.load(ordering: .relaxed) }

    func fail() { failed.store(true, ordering: .relaxed) }

    func add(_ recipients: Int) {
        copied.withLock { copied in
            copied += recipients
            progress(copied)
        }
    }
}

/// Turns blocks of a run file into rows of `volley_block` in PostgreSQL's binary form of COPY.
/// Source: its manual, COPY, "Binary Format".
struct BlockPacker {
    /// Blocks that are handed over at a time.
    private static let blocksAtATime = 8
    private static let head = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)

    private let file: RunFile
    private let run: Int
    private var blocks: ArraySlice<Int>
    private var hasBegun = false
    private var isEnded = false

    /// - Parameters:
    ///   - run: the run's number in the store.
    ///   - blocks: ascending.
    init(_ file: RunFile, run: Int, _ blocks: [Int]) { (self.file, self.run, self.blocks) = (file, run, blocks[...]) }

    /// The next rows; nil after the last.
    mutating func next() throws -> [UInt8]? {
        guard !isEnded else { return nil }
        var writer = ByteWriter()
        if !hasBegun { writer.put(raw: Self.head) }
        hasBegun = true
        for block in blocks.prefix(Self.blocksAtATime) {
            let ids = RecipientBlock.ids(of: block, audience: file.plan.audience)
            writer.put(bigEndian: Int16(3))
            for field in [run, block] {
                writer.put(bigEndian: Int32(8))
                writer.put(bigEndian: Int64(field))
            }
            // The length is known afterwards.
            let place = writer.count
            writer.put(bigEndian: Int32(0))
            try file.forEachStoredRecipient(in: ids) { _, recipient in writer.put(recipient) }
            writer.replace(at: place, bigEndian: Int32(writer.count - place - 4))
        }
        blocks = blocks.dropFirst(Self.blocksAtATime)
        if blocks.isEmpty {
            isEnded = true
            writer.put(raw: [0xFF, 0xFF])
        }
        return writer.bytes
    }
}

extension ByteWriter {
    fileprivate mutating func put(bigEndian number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { put(raw: $0) }
    }
}
