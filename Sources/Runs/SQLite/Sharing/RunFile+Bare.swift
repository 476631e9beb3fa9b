import Base
import GRDB
import Glibc

/// A run file without recipients, claims and outcomes: what workers on other machines need from a
/// plan other than recipients, and what a run file is made of again where the first one is gone.
extension RunFile {
    /// The tables whose rows are part of the plan.
    private static let planned = ["run", "wave", "leg", "outcome_name", "approval"]

    /// The bytes of the bare file.
    package func bareFile() throws -> [UInt8] {
        let folder = try catalog.scratchFolder()
        let bare = FilePaths.join(folder.path, name: "bare")
        try read { db in
            try RunDiagnostics.translating(bare, .planning) {
                let database = try DatabaseQueue(path: bare)
                try database.write { try Self.copyPlan(of: db, into: $0) }
                try database.close()
            }
        }
        return try Self.contents(of: bare)
    }

    private static func copyPlan(of db: Database, into bare: Database) throws {
        try bare.execute(sql: RunSchema.planTables)
        try bare.execute(sql: RunSchema.approvalTable)
        try bare.execute(sql: RunSchema.sendingTables)
        try bare.execute(sql: RunSchema.outcomeTables)
        if try db.tableExists("wave") { try bare.execute(sql: RunSchema.waveTables) }
        if try db.tableExists("leg") {
            try bare.execute(sql: RunSchema.segmentTable)
            try bare.execute(sql: RunSchema.segmentStateTable)
        }
        for table in planned where try db.tableExists(table) {
            for row in try Row.fetchAll(db, sql: "SELECT * FROM \(table)") {
                let places = repeatElement("?", count: row.count).joined(separator: ", ")
                try bare.execute(
                    sql: "INSERT INTO \(table) VALUES (\(places))", arguments: StatementArguments(row.databaseValues))
            }
        }
        try bare.execute(
            sql: "UPDATE run SET state = ?, stop_cause = '', started_at = NULL, finished_at = NULL",
            arguments: [RunState.planned.rawValue])
        try RunSchema.mark(bare, hasSegments: RunSchema.hasSegments(db))
    }

    /// Opens a bare file from its bytes.
    /// - Parameters:
    ///   - id: of the run whose it should be.
    ///   - folder: where the file is kept, until the folder is removed.
    /// - Throws: `Mistake`: the bytes are damaged; `Diagnostic`: it cannot be kept.
    package convenience init(bare bytes: [UInt8], of id: String, in folder: ScratchFolder) throws {
        let path = FilePaths.join(folder.path, name: "bare" + DatabaseFile.suffix)
        try Self.write(bytes, to: path)
        do { try self.init(path: path) } catch { throw RunFile.damagedBareFile }
        guard plan.id == id, hasDigest else { throw RunFile.damagedBareFile }
    }

    /// Writes a file that only its owner may read.
    static func write(_ bytes: [UInt8], to path: String) throws {
        func failure() -> Diagnostic {
            RunDiagnostics.system("cannot write a run's plan", path: path, errno: errno, activity: .planning)
        }
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0, let file = fdopen(descriptor, "w") else { throw failure() }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw failure() }
    }

    private static func contents(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw RunDiagnostics.missing(path) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: DatabaseFile.size(path))
        guard fread(&bytes, 1, bytes.count, file) == bytes.count else {
            throw RunDiagnostics.damaged(path, what: "it cannot be read")
        }
        return bytes
    }

    /// Calls `body` with what is kept of each recipient with an id in a range, in order. Lent.
    package func forEachStoredRecipient(
        in range: Range<Int>, _ body: (_ id: Int, _ recipient: StoredRecipient) throws -> Void
    ) throws {
        try requireRecipients()
        try read { db in
            let select = try PreparedStatement(db, sql: RunSchema.selectDigestedRows)
            try select.bind(range.lowerBound, at: 1)
            try select.bind(range.upperBound, at: 2)
            var next = range.lowerBound
            try select.forEachRow { row in
                let digested = row.digested
                guard row.number(0) == next else { throw missingRecipient(next) }
                next += 1
                try body(
                    next - 1,
                    StoredRecipient(
                        token: digested.token, registrationID: digested.registrationID, alias: digested.alias,
                        language: digested.language, variant: digested.variant, fields: digested.fields))
                return true
            }
            guard next == range.upperBound else { throw missingRecipient(next) }
        }
    }
}

/// What a run file keeps of a recipient, as bytes that are only lent.
package struct StoredRecipient {
    package var token: UnsafeBufferPointer<UInt8>, registrationID: UnsafeBufferPointer<UInt8>,
        alias: UnsafeBufferPointer<UInt8>
    package var language: UnsafeBufferPointer<UInt8>, variant: UnsafeBufferPointer<UInt8>
    /// A JSON array of strings: the cells of the plan's fields.
    package var fields: UnsafeBufferPointer<UInt8>

    package init(
        token: UnsafeBufferPointer<UInt8>, registrationID: UnsafeBufferPointer<UInt8>,
        alias: UnsafeBufferPointer<UInt8>,
        language: UnsafeBufferPointer<UInt8>, variant: UnsafeBufferPointer<UInt8>, fields: UnsafeBufferPointer<UInt8>
    ) {
        self.token = token
        self.registrationID = registrationID
        self.alias = alias
        self.language = language
        self.variant = variant
        self.fields = fields
    }
}

extension RunFile {
    /// Bytes that are not what `bareFile` makes of the run. The caller knows where they come from.
    static var damagedBareFile: Mistake { Mistake("the plan is damaged") }
}
