import Base
import Postgres
package import Runs

/// Plans into the store.
extension Store {
    /// How long copying may take altogether.
    private static let copySeconds = 3600.0
    /// Blocks that are copied at a time.
    private static let blocksAtATime = 8

    /// Copies a plan into the store, unless it is there, and opens it as this machine's.
    /// - Parameter progress: called with recipients that were copied so far.
    /// - Throws: `Diagnostic`: another plan has its id there; it cannot be written. Then nothing of it is in the store.
    package func publish(_ file: SQLiteRun, progress: (Int) -> Void = { _ in }) throws -> SharedLedger {
        let lane = lane(answerSeconds: 60)
        let number = try StoreError.explaining {
            try lane.patiently { connection in
                if let known = try Self.find(file.plan.id, connection) {
                    guard known.digest == file.planDigest else { throw Self.isAnother(file) }
                    if known.isPublished { return known.number }
                    // A process that is gone began to publish it.
                    try connection.run("DELETE FROM volley_run WHERE number = $1 AND NOT is_published", [.int(known.number)], within: 60)
                }
                return try connection.transaction(within: 60) { try copy(file, connection, progress) }
            }
        }
        return SharedLedger(self, run: number, replica: file, scratch: nil)
    }

    /// Opens a run as this machine's, if it was published.
    package func reopen(_ file: SQLiteRun) throws -> SharedLedger? {
        let known = try StoreError.explaining { try looking.once { try Self.find(file.plan.id, $0) } }
        guard let known, known.isPublished, known.digest == file.planDigest else { return nil }
        return SharedLedger(self, run: known.number, replica: file, scratch: nil)
    }

    struct Known {
        var number: Int
        var digest: String
        var isPublished: Bool
    }

    static func find(_ id: String, _ connection: PostgresConnection) throws -> Known? {
        var known: Known?
        try connection.run("SELECT number, digest, is_published FROM volley_run WHERE id = $1", [.text(id)], within: 60) {
            known = Known(number: $0.int(0), digest: $0.text(1), isPublished: $0.int(2) == 1)
        }
        return known
    }

    private static func isAnother(_ file: SQLiteRun) -> Diagnostic {
        Diagnostic(
            "the store has another run with the id \(file.plan.id)", file: file.place,
            remedy: "Two projects share the store, or this file was changed. Plan again: the next plan gets a new id.")
    }

    private func copy(_ file: SQLiteRun, _ connection: PostgresConnection, _ progress: (Int) -> Void) throws -> Int {
        let plan = file.plan
        // The server would end a transaction in which nothing is asked while a block is packed.
        try connection.execute("SET LOCAL idle_in_transaction_session_timeout = '60s'", within: 60)
        var number = 0
        try connection.run(
            """
            INSERT INTO volley_run (id, digest, app, campaign, plan, audience, is_published, state, cause, life, noted, conducts_sending,
                published_in, changes)
            VALUES ($1, $2, $3, $4, $5, $6, true, 'planned', '', '', '', false, $7, 0) RETURNING number
            """,
            [
                .text(plan.id), .text(file.planDigest), .text(plan.app), .text(plan.campaign), .bytes(try file.bareFile()),
                .int(plan.audience), .int(try DatabaseLife.current(connection)),
            ], within: 60
        ) { number = $0.int(0) }
        for leg in plan.legs where !leg.ids.isEmpty {
            try connection.run(
                "INSERT INTO volley_leg (run, first, last, next, is_open, cause) VALUES ($1, $2, $3, $2, false, '')",
                [.int(number), .int(leg.ids.lowerBound), .int(leg.ids.upperBound)], within: 60)
        }
        var packer = BlockPacker(file, run: number)
        try connection.copyIn("COPY volley_block (run, number, data) FROM STDIN (FORMAT binary)", within: Self.copySeconds) {
            let bytes = try packer.next(blocks: Self.blocksAtATime)
            progress(packer.packed)
            return bytes
        }
        return number
    }

    /// Opens a run that another machine published.
    /// - Parameter catalog: where its plan is kept while this process takes part.
    /// - Throws: `Diagnostic`: there is none.
    package func open(_ id: String, in catalog: any RunCatalog) throws -> SharedLedger {
        let lane = lane(answerSeconds: 60)
        var found: (number: Int, bare: [UInt8])?
        try StoreError.explaining {
            try lane.patiently { connection in
                try connection.run("SELECT number, plan FROM volley_run WHERE id = $1 AND is_published", [.text(id)], within: 60) {
                    found = ($0.int(0), Array($0.bytes(1)))
                }
            }
        }
        guard let found else {
            throw Diagnostic("there is no run \(id) in the store", remedy: "`volley work --list` shows what is being sent through it.")
        }
        let scratch = try catalog.scratchFolder()
        return SharedLedger(self, run: found.number, replica: try SQLiteRun(bare: found.bare, in: scratch), scratch: scratch)
    }
}

/// Turns a run file's recipients into rows of `volley_block` in PostgreSQL's binary form of COPY. Source: its manual, COPY, "Binary Format".
struct BlockPacker {
    private let file: SQLiteRun
    private let run: Int
    private var block = 0
    private var isEnded = false
    /// Recipients that were packed so far.
    private(set) var packed = 0

    init(_ file: SQLiteRun, run: Int) { (self.file, self.run) = (file, run) }

    /// The next rows; nil after the last.
    mutating func next(blocks: Int) throws -> [UInt8]? {
        guard !isEnded else { return nil }
        var bytes: [UInt8] = []
        if block == 0 {
            bytes += Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)
        }
        for _ in 0..<blocks {
            guard packed < file.plan.audience else {
                isEnded = true
                bytes += [0xFF, 0xFF]
                break
            }
            let ids = RecipientBlock.ids(of: block, audience: file.plan.audience)
            var writer = ByteWriter()
            writer.reserve(100 * ids.count)
            try file.forEachStoredRecipient(in: ids) { _, recipient in writer.put(recipient) }
            append(writer.bytes, to: &bytes)
            block += 1
            packed = ids.upperBound
        }
        return bytes
    }

    private func append(_ data: [UInt8], to bytes: inout [UInt8]) {
        func put(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        put(Int16(3))
        for field in [run, block] {
            put(Int32(8))
            put(Int64(field))
        }
        put(Int32(data.count))
        bytes.append(contentsOf: data)
    }
}
