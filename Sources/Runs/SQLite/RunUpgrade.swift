import Base
import GRDB
import GRDBSQLite
import Glibc

/// Converts an older run file to this format, in place and in one transaction, so that all other
/// code handles only one format.
///
/// Format 1 did not know `retry_of`, 2 no variants, digests and approvals, 3 kept a row for each
/// outcome, 4 a sentence about why a run stopped.
enum RunUpgrade {
    /// - Throws: `Diagnostic`: another process sends the run, or the file cannot be written; it
    ///   stays as it was then.
    static func run(_ path: String, _ observer: Observer<RunConversion> = .silent) throws {
        guard access(path, W_OK) == 0, access(RunDiagnostics.folder(of: path), W_OK) == 0 else {
            throw Diagnostic(
                "an older Volley wrote this run, and this one must convert the file before it can read it", file: path,
                remedy: "Copy it to a folder that you may write to.")
        }
        // An older Volley that is sending it cannot read the new format.
        let lock = try lock(path)
        var configuration = Configuration()
        configuration.busyMode = DatabaseWait.mode(path, atMost: 10)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { try upgrade($0, path: path, observer) }
        try database.close()
        // A killed process left SQLite's other files next to it.
        try RunFile.leaveWAL(path)
        _ = consume lock
    }

    /// Other processes that are converting it need a few seconds for each million recipients.
    private static func lock(_ path: String) throws -> SendingLock {
        var retries = Retries(atMost: 100, milliseconds: 50)
        repeat {
            if let lock = try? SendingLock(run: path, isSending: false) { return lock }
        } while retries.pause()
        return try SendingLock(run: path, isSending: false)
    }

    private static func upgrade(_ db: Database, path: String, _ observer: Observer<RunConversion>) throws {
        let version = try db.pragma("user_version")
        guard version < RunSchema.version else { return }
        if version < 4 {
            try upgradeTables(db, of: version)
            try copyOutcomes(db, path: path, observer)
            try db.execute(sql: "DROP TABLE older_outcome")
        }
        try upgradeStopCause(db)
        try RunSchema.mark(db)
    }

    private static func upgradeTables(_ db: Database, of version: Int) throws {
        try db.execute(sql: "DROP VIEW IF EXISTS result")
        if version < 2 { try add("retry_of TEXT NOT NULL DEFAULT ''", to: "run", db) }
        if version < 3 { try add("variant TEXT NOT NULL DEFAULT ''", to: "recipient", db) }
        // Format 3 got these before any version had come out, and kept its number.
        if try !db.columns(in: "run").contains(where: { $0.name == "digest" }) {
            for column in ["preview_text TEXT", "is_test INTEGER", "recipients_digest TEXT", "digest TEXT"] {
                try add(column + " NOT NULL DEFAULT \(column.hasSuffix("TEXT") ? "''" : "0")", to: "run", db)
            }
            try db.execute(sql: RunSchema.approvalTable)
        }
        try db.execute(sql: "ALTER TABLE outcome RENAME TO older_outcome")
        try db.execute(sql: "DROP TABLE outcome_name")
        try RunSchema.seal(db)
    }

    private static func upgradeStopCause(_ db: Database) throws {
        try db.execute(sql: "ALTER TABLE run RENAME COLUMN reason TO stop_cause")
        let cause: StopCause
        switch try db.first("SELECT stop_cause FROM run", reading: { try $0.string(0) }) ?? "" {
        case "": return
        case "interrupted": cause = .interrupted
        case "cancelled": cause = .cancelled
        case let words: cause = .described(words)
        }
        try db.execute(sql: "UPDATE run SET stop_cause = ?", arguments: [RunSchema.text(cause)])
    }

    private static func add(_ column: String, to table: String, _ db: Database) throws {
        try db.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(column)")
    }

    private static func copyOutcomes(_ db: Database, path: String, _ observer: Observer<RunConversion>) throws {
        var progress = RunConversion(
            place: path, done: 0, total: max(1, try db.first("SELECT audience FROM run") { try $0.count(0) } ?? 1))
        // Those without an outcome come last, and take no time.
        defer {
            progress.done = progress.total
            observer(progress)
        }
        let upsert = try PreparedStatement(db, sql: RunSchema.upsertOutcomeBlock)
        var reasons = try OutcomeReasons(db)
        var words = [UInt64](repeating: 0, count: OutcomeBlock.words)
        var block = 0, isTouched = false
        func store() throws {
            guard isTouched else { return }
            try upsert.bind(block, at: 1)
            try words.map(\.bigEndian).withUnsafeBytes { bytes in
                try upsert.bind(blob: bytes, at: 2)
                try upsert.execute()
            }
            for index in words.indices { words[index] = 0 }
            isTouched = false
        }
        let select = try PreparedStatement(
            db,
            sql:
                "SELECT recipient_id, outcome, status, reason, attempts, latency_ms, settled_at FROM older_outcome ORDER BY recipient_id"
        )
        try select.forEachRow { row in
            let id = row.number(0)
            guard id >= 0, let outcome = Outcome(rawValue: try row.int(1)) else {
                throw RunDiagnostics.damaged(path, what: "the outcome of recipient \(id) cannot be read")
            }
            if id - progress.done >= RunConversion.stride {
                progress.done = min(id, progress.total - 1)
                observer(progress)
            }
            if id / OutcomeBlock.slots != block {
                try store()
                block = id / OutcomeBlock.slots
            }
            let reason = try row.string(3)
            let settled = Settlement(
                recipient: id, outcome: outcome, status: try row.count(2), reason: reason, attempts: try row.count(4),
                latencyMilliseconds: try row.count(5), settledAt: try row.moment(6))
            let slot = OutcomeSlot(settled, reason: try reasons.number(of: reason))
            let place = id % OutcomeBlock.slots * OutcomeSlot.words
            (words[place], words[place + 1], isTouched) = (slot.high, slot.low, true)
            return true
        }
        try store()
        try db.execute(
            sql:
                "INSERT INTO invalid_since SELECT recipient_id, invalid_since FROM older_outcome WHERE invalid_since IS NOT NULL"
        )
    }
}

/// How far the conversion of an older run file is. It takes seconds for each million recipients.
public struct RunConversion: Hashable, Sendable {
    /// Where the run is, for messages.
    public var place: String
    /// Recipients that are converted, and of how many, at least 1.
    public var done: Int, total: Int

    /// Whether all are.
    public var isOver: Bool { done >= total }

    /// So often it is said, in recipients.
    static let stride = 20_000
}

/// The formats of the files that this Volley reads and writes in a folder of runs. It reads all
/// older ones, and refuses newer ones.
public enum RunFormats {
    /// The newest format of each kind of file, by the name that documents give it. A run through
    /// one service has the format before the newest.
    public static let newest: [(file: String, format: Int)] = [
        ("run", RunSchema.versionWithSegments), ("sent.db", SendingHistory.version),
        (ScheduleStore.fileName, ScheduleStore.version),
        (OrderStore.fileName, OrderStore.version), ("suppression list", SuppressionSchema.version),
    ]

    /// The version of SQLite that this process runs with: `3.40.1`.
    public static var sqlite: String { String(cString: sqlite3_libversion()) }
}
