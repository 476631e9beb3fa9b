public import Base
import GRDB
import Glibc

/// A folder of runs that was just put back from a backup, before anything works with it.
///
/// What was sent after the backup is unknown. So every run that had not ended is held: no process
/// begins it, resumes it or sends it, as with a run file that may have lost its newest part. Times
/// of schedules up to now do not fire, and what was ordered in the console is not done.
public struct RestoredRuns: Sendable {
    /// Runs that are held, by their ids.
    public private(set) var held: [String] = []
    /// Orders of the console that are not done.
    public private(set) var lapsedOrders = 0

    /// What is known of a backup.
    public struct Origin: Sendable {
        /// When the backup began.
        public var backupAt: Timestamp
        /// When it is put back.
        public var restoredAt: Timestamp
        /// Runs that processes were sending during the backup, by their ids.
        public var sending: Set<String>
        /// Whether a person says that nothing was sent after the backup. What was being sent then
        /// is held anyway.
        public var nothingSentSince: Bool

        /// An origin.
        public init(backupAt: Timestamp, restoredAt: Timestamp, sending: Set<String>, nothingSentSince: Bool) {
            self.backupAt = backupAt
            self.restoredAt = restoredAt
            self.sending = sending
            self.nothingSentSince = nothingSentSince
        }
    }

    /// Writes into a folder of runs what follows from its being put back. Runs of older formats are
    /// converted.
    /// - Throws: `Diagnostic`: a file is damaged or of a newer version; the disk is full. The
    ///   folder must not be used then.
    public init(in folder: String, _ origin: Origin) throws {
        let catalog = RunsFolder(folder)
        for list in try RunsInventory(folder).entries where list.kind == .suppression {
            _ = try SuppressionFile.read(FilePaths.join(folder, name: list.name)) { _ in true }
        }
        _ = try catalog.history.entries()
        let listing = try catalog.list()
        // What was damaged when it was copied must not keep the rest from being put back.
        if let newer = listing.broken.first(where: { $0.file.map(Self.isNewer) ?? false }) { throw newer }
        var runs: [HeldRun] = [], begun: Set<String> = []
        for run in listing.runs {
            defer { run.close() }
            let status = try run.status(), hasBegun = status.startedAt != nil
            if hasBegun { begun.insert(run.plan.id) }
            // A plan that was cancelled can never be sent, and of what was pruned nothing can.
            guard run.prunedAt == nil, hasBegun || status.state != .cancelled,
                !origin.nothingSentSince || origin.sending.contains(run.plan.id)
            else { continue }
            let epoch = status.epoch, retryOf = run.plan.retryOf.flatMap { RunID.isPossible($0) ? $0 : nil }
            runs.append(
                HeldRun(
                    id: run.plan.id, retryOf: retryOf, epoch: SendingHistory.isEpoch(epoch) ? epoch : "",
                    isOver: status.state == .finished)
            )
        }
        // What cannot be read now may be readable later.
        runs += Self.unreadable(listing, origin)
        let unended = runs.filter { !$0.isOver }
        if !runs.isEmpty {
            try catalog.history.hold(runs, backupAt: origin.backupAt)
            for run in unended { ClaimCounter.remove(catalog.place(of: run.id)) }
        }
        held = unended.map(\.id)
        if !origin.nothingSentSince { try Self.closeTimes(catalog, begun: begun, at: origin.restoredAt) }
        lapsedOrders = try Self.endOrders(catalog, at: origin.restoredAt)
    }

    private static func unreadable(_ listing: RunListing, _ origin: Origin) -> [HeldRun] {
        listing.broken.compactMap { mistake in
            guard let file = mistake.file, DatabaseFile.isRun(String(DatabaseFile.name(file))) else { return nil }
            let id = String(DatabaseFile.name(file).dropLast(DatabaseFile.suffix.count))
            // Under another name it is no run that could be sent.
            guard RunID.isPossible(id) else { return nil }
            return origin.nothingSentSince && !origin.sending.contains(id)
                ? nil : HeldRun(id: id, retryOf: nil, epoch: "", isOver: false)
        }
    }

    /// Whether a newer Volley wrote a run, by its header. Source: "The Database Header" in SQLite's
    /// file format, offsets 60 and 68.
    private static func isNewer(_ path: String) -> Bool {
        guard let bytes = try? RegularFile.bytes(of: path, atMost: 72), bytes.count >= 72 else { return false }
        func number(at place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        return number(at: 68) == RunSchema.applicationID && number(at: 60) > RunSchema.versionWithSegments
    }

    private static func closeTimes(_ catalog: RunsFolder, begun: Set<String>, at now: Timestamp) throws {
        let store = try catalog.schedule.open()
        defer { store.close() }
        try store.noteRestored(begun: begun, at: now)
    }

    /// - Returns: how many.
    private static func endOrders(_ catalog: RunsFolder, at now: Timestamp) throws -> Int {
        guard catalog.orders.isThere else { return 0 }
        let orders = try catalog.orders.open()
        defer { orders.close() }
        // A damaged one is never done.
        let unended = try orders.unended().orders
        for order in unended {
            if case .taken(let epoch) = order.state {
                _ = try orders.leave(order.order.nonce, of: epoch, as: .left(.unknown(run: order.made, "")), at: now)
            } else {
                _ = try orders.end(order.order.nonce, as: .lapsed, epoch: "", at: now)
            }
        }
        return unended.count
    }
}

/// A run that was put back, and what the record keeps of it.
struct HeldRun {
    let id: String, retryOf: String?, epoch: String
    /// Whether it had finished. Then it is not held, but a retry of it may have been sent that is
    /// not on record.
    let isOver: Bool
}

extension SendingHistory {
    private static let table = "restored"

    /// Records of runs whose progress is not known: the epoch in their files is recorded as not
    /// ended, without a claim counter. Programs that have no support for backups also hold such a
    /// run.
    func hold(_ runs: [HeldRun], backupAt: Timestamp) throws {
        try write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS \(Self.table) (  -- runs that were put back from a backup before they had ended
                        run TEXT NOT NULL PRIMARY KEY, backup_at INTEGER NOT NULL  -- epoch milliseconds
                    ) WITHOUT ROWID
                    """)
            // Of a damaged file, what it calls itself would damage the record. No command begins it
            // under such an id.
            for run in runs where RunID.isPossible(run.id) {
                if !run.isOver { try Self.hold(run, backupAt: backupAt, db) }
                try db.execute(
                    sql: "INSERT OR REPLACE INTO \(Self.table) VALUES (?, ?)",
                    arguments: [run.id, backupAt.epochMilliseconds])
            }
        }
    }

    /// A record with a later epoch than the file stays as it is: it shows that something is
    /// missing, and that must not be lost.
    private static func hold(_ run: HeldRun, backupAt: Timestamp, _ db: Database) throws {
        let known = try db.first("SELECT life FROM beginning WHERE run = ?", [run.id]) { try $0.epoch(0) }
        guard let known else { return try insert(run, backupAt: backupAt, db) }
        guard number(of: known) <= number(of: run.epoch) else { return }
        try db.execute(
            sql: "UPDATE beginning SET life = ?, former_life = NULL, claimed = 0, is_over = 0 WHERE run = ?",
            arguments: [run.epoch, run.id])
    }

    private static func insert(_ run: HeldRun, backupAt: Timestamp, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO beginning (run, retry_of, life, former_life, reached, claimed, is_over, campaign, occurrence, file, real_file, begun_at)
                VALUES (?, ?, ?, NULL, 0, 0, 0, '', '', '', '', ?)
                """, arguments: [run.id, run.retryOf ?? "", run.epoch, backupAt.epochMilliseconds])
    }

    /// When the backups were made from which runs, or one of them, were put back.
    static func backups(_ db: Database, of run: String?) throws -> [String: Timestamp] {
        guard try db.has(table: table) else { return [:] }
        let which = run == nil ? "" : " WHERE run = ?"
        let rows = try db.all("SELECT run, backup_at FROM \(table)\(which)", run.map { [$0] } ?? []) {
            (try $0.run(0), try $0.moment(1))
        }
        return Dictionary(rows) { first, _ in first }
    }
}
