public import Base
import GRDB
import Glibc

/// What `volley schedule` must not forget: `schedule.sqlite` in the folder of runs. One process
/// writes; any number may read at the same time. Every change is on the disk when its call returns.
///
/// Calls throw `Diagnostic`: the file is damaged, of a newer version, not a schedule, not
/// permitted; the disk is full.
///
/// ```swift
/// let schedule = try runs.schedule.open()
/// let lastWeek = try schedule.scheduledRuns(since: .now().adding(seconds: -7 * 86_400))
/// ```
public final class ScheduleStore: Sendable {
    /// The name in a folder of runs.
    public static let fileName = "schedule.sqlite"
    /// "Vols"
    private static let applicationID = 0x566F_6C73
    /// 2: `firing.problem` is JSON with the problem and its values; in format 1 it was a sentence,
    /// and called `reason`. 3: the table `approval`.
    static let version = 3
    private static let format = DatabaseFormat(
        applicationID: applicationID, version: version, name: "the record of a schedule",
        remedy: "Restore it from a backup. Without it Volley does not know which times were sent already.")

    /// Where it is, for messages.
    public var place: String { path }
    let path: String
    private let database: DatabasePool
    /// The file that was opened.
    private let identity: DatabaseFile.Identity?

    /// Opens the file for writing; creates it when it does not exist.
    /// - Parameter folder: of runs; made when missing.
    public init(folder: String) throws {
        let path = FilePaths.join(folder, name: Self.fileName)
        self.path = path
        try DatabaseFile.checkKind(ofDatabase: path, wanted: "the record of a schedule")
        try Self.format.make(path, doing: "cannot write the schedule", .sending, Self.create)
        database = try Self.format.open(path, timeoutSeconds: 10, upgrade: Self.upgrade)
        identity = DatabaseFile.identity(path)
    }

    /// Whether the file is still where it was opened. What is written to a file elsewhere is lost:
    /// commands, and the next process, read the one that is in its place, or none.
    /// - Returns: nil, or what is wrong while no file is there, as when the folder was moved.
    /// - Throws: `Diagnostic`: another was put in its place, as when a backup was put back.
    public func absence() throws -> Diagnostic? {
        let present = DatabaseFile.identity(path), code = errno
        // A file system that does not answer has not lost the file.
        guard present != identity, present != nil || [ENOENT, ENOTDIR].contains(code) else { return nil }
        guard present == nil else {
            throw Diagnostic(
                "the record of the schedule was replaced by another file while it was in use", file: path,
                remedy: "Start `volley schedule` again: it goes by the record that is there now.", [.ask(.startSender)])
        }
        return Diagnostic(
            "the record of the schedule was removed while it was in use; nothing more is sent", file: path,
            remedy:
                "If its folder was moved, move it back: the schedule goes on. To put back a backup, stop volley schedule first."
        )
    }

    /// Leaves one file behind. The store cannot be used afterwards.
    public func close() {
        try? database.close()
        // Opening what is not there would make it.
        if DatabaseFile.identity(path) == identity { try? RunFile.leaveWAL(path) }
    }

    /// What a folder's schedule says, whether or not a process is writing it; nothing when it has
    /// none.
    /// - Parameter since: scheduled runs that ended before this moment and are not open are left
    ///   out.
    public static func read(folder: String, since: Timestamp) throws -> SavedSchedule {
        let path = FilePaths.join(folder, name: fileName)
        try DatabaseFile.checkKind(ofDatabase: path, wanted: "the record of a schedule")
        guard DatabaseFile.kind(path) == .file else { return SavedSchedule() }
        return try format.read(path, timeoutSeconds: 10) { db in
            // One that only reads leaves a file of an older format as it is.
            let approvals = try db.has(table: "approval") ? approvals(db) : []
            return SavedSchedule(
                scheduledRuns: try scheduledRuns(db, since: since), campaigns: try campaigns(db), approvals: approvals)
        }
    }

    /// Firings that are open, or that ended at or after a moment; in the order of their times.
    public func scheduledRuns(since: Timestamp) throws -> [ScheduledRun] {
        try Self.format.translating(path) { try database.read { try Self.scheduledRuns($0, since: since) } }
    }

    /// All campaigns that ever had a schedule here, by name.
    public func campaigns() throws -> [ScheduledCampaign] {
        try Self.format.translating(path) { try database.read(Self.campaigns) }
    }

    /// Writes scheduled runs and campaigns, new or changed, in one transaction. A time belongs to
    /// the run that claimed it first.
    /// - Parameter waits: called whenever another program has held the file for ten seconds:
    ///   whether to keep waiting.
    /// - Returns: the scheduled runs whose times other runs have: these are unchanged.
    @discardableResult
    public func save(
        _ scheduledRuns: [ScheduledRun], _ campaigns: [ScheduledCampaign], waits: () -> Bool = { false }
    ) throws -> Set<ScheduledRun.Key> {
        try Self.format.translating(path) {
            while true {
                do { return try write(scheduledRuns, campaigns) } catch let error as DatabaseError
                    where error.resultCode == .SQLITE_BUSY
                {
                    guard waits() else { throw error }
                }
            }
        }
    }

    private func write(_ scheduledRuns: [ScheduledRun], _ campaigns: [ScheduledCampaign]) throws -> Set<
        ScheduledRun.Key
    > {
        try database.write { db in
            var taken: Set<ScheduledRun.Key> = []
            for scheduledRun in scheduledRuns where try !Self.save(scheduledRun, db) { taken.insert(scheduledRun.key) }
            for campaign in campaigns {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO campaign (name, file, times, decided_through) VALUES (?, ?, ?, ?)",
                    arguments: [
                        campaign.name, campaign.file, campaign.times, campaign.decidedThrough.epochMilliseconds,
                    ])
            }
            return taken
        }
    }

    // MARK: - After a backup was put back

    /// Ends what was open, keeps times up to a moment from firing, and forgets approvals ahead:
    /// what a schedule did between a backup and now, and what was withdrawn, is not known.
    /// - Parameter begun: runs that were begun; what was open with another one is skipped.
    func noteRestored(begun: Set<String>, at now: Timestamp) throws {
        try Self.format.translating(path) {
            try database.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS restored (at INTEGER NOT NULL)  -- epoch milliseconds")
                try db.execute(sql: "INSERT INTO restored VALUES (?)", arguments: [now.epochMilliseconds])
                try db.execute(sql: "DELETE FROM approval")
                for scheduledRun in try Self.scheduledRuns(db, since: now) where scheduledRun.state.isOpen {
                    var ended = scheduledRun
                    ended.state = scheduledRun.run.map(begun.contains) ?? false ? .stopped : .skipped
                    (ended.problem, ended.changedAt) = (.restored, now)
                    _ = try Self.save(ended, db)
                }
            }
        }
    }

    /// The moment at which the record was last put back from a backup: no time up to then fires by
    /// itself. nil if it never was.
    public func restoredAt() throws -> Timestamp? {
        try Self.format.translating(path) {
            try database.read { db in
                guard try db.has(table: "restored") else { return nil }
                return try db.first("SELECT max(at) FROM restored") { row in try row.optional(0, row.moment) } ?? nil
            }
        }
    }

    // MARK: - Approvals ahead

    /// Times that people approved before they are planned.
    public func approvals() throws -> [AdvanceApproval] {
        try Self.format.translating(path) { try database.read(Self.approvals) }
    }

    /// Records an approval of a time, in place of an earlier one of the same time.
    public func save(_ approval: AdvanceApproval) throws {
        try Self.format.translating(path) {
            try database.write { db in
                try db.execute(
                    sql: """
                        INSERT OR REPLACE INTO approval (campaign, occurrence, digest, most_devices, approved_by, approved_at)
                        VALUES (?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        approval.key.campaign, approval.key.occurrence, approval.digest, approval.mostDevices,
                        approval.name,
                        approval.approvedAt.epochMilliseconds,
                    ])
            }
        }
    }

    /// Forgets the approval of a time.
    public func removeApproval(of key: ScheduledRun.Key) throws {
        try Self.format.translating(path) {
            try database.write { db in
                try db.execute(
                    sql: "DELETE FROM approval WHERE campaign = ? AND occurrence = ?",
                    arguments: [key.campaign, key.occurrence])
            }
        }
    }

    private static func approvals(_ db: Database) throws -> [AdvanceApproval] {
        let sql =
            "SELECT campaign, occurrence, digest, most_devices, approved_by, approved_at FROM approval ORDER BY campaign, occurrence"
        return try db.all(sql) { row in
            AdvanceApproval(
                key: .init(campaign: try row.string(0), occurrence: try row.occurrence(1)), digest: try row.string(2),
                mostDevices: try row.audience(3), name: try row.string(4), approvedAt: try row.moment(5))
        }
    }

    private static let approvalTable = """
        CREATE TABLE approval (                                         -- of times that are not planned yet
            campaign TEXT NOT NULL, occurrence TEXT NOT NULL,
            digest TEXT NOT NULL, most_devices INTEGER NOT NULL,        -- of the source that was shown; the largest audience
            approved_by TEXT NOT NULL, approved_at INTEGER NOT NULL,
            PRIMARY KEY (campaign, occurrence)
        ) WITHOUT ROWID;
        """

    /// What a run that is sent by hand finds when it claims its time. Not an enumeration: Swift 6.3
    /// compiled a `switch` that returns the payload of one case and throws for the other so that
    /// the payload is never returned.
    public struct Claim: Hashable, Sendable {
        /// Another run, which has the time; nil if it belongs to the run that asked.
        public var holder: ScheduledRun?
        /// The earlier entry, for restoring if nothing is sent.
        public var before: ScheduledRun?
    }

    /// Claims a time for a scheduled run's run, in one transaction. A skipped time may be claimed,
    /// as nothing was sent for it.
    public func claim(_ scheduledRun: ScheduledRun) throws -> Claim {
        try Self.format.translating(path) {
            try database.write { db in
                let before = try Self.scheduledRun(scheduledRun.key, db)
                if let before, before.run != scheduledRun.run, before.state != .skipped { return Claim(holder: before) }
                try Self.remove(scheduledRun.key, db)
                _ = try Self.save(scheduledRun, db)
                return Claim(before: before)
            }
        }
    }

    /// Restores the entry from before a run claimed its time: nothing of it was sent.
    public func returnTime(_ scheduledRun: ScheduledRun, before: ScheduledRun?) throws {
        try Self.format.translating(path) {
            try database.write { db in
                guard try Self.scheduledRun(scheduledRun.key, db)?.run == scheduledRun.run else { return }
                try Self.remove(scheduledRun.key, db)
                if let before { _ = try Self.save(before, db) }
            }
        }
    }

    /// Cancels the time that a run is being planned for. `volley schedule` then sends nothing of
    /// it.
    /// - Returns: the time; nil when the run is not being planned: it has a plan by now, or has
    ///   none to be made.
    public func cancelPlanning(of run: String, at now: Timestamp) throws -> ScheduledRun? {
        try Self.format.translating(path) {
            try database.write { db in
                guard
                    var time = try db.first(
                        Self.columns + " WHERE run = ? AND state = 'planning'", [run],
                        reading: { try Self.scheduledRun($0) })
                else { return nil }
                (time.state, time.problem, time.changedAt) = (.cancelled, .stopped(.cancelled), now)
                _ = try Self.save(time, db)
                return time
            }
        }
    }

    /// The time of this name; nil if it has not come.
    public func scheduledRun(_ key: ScheduledRun.Key) throws -> ScheduledRun? {
        try Self.format.translating(path) { try database.read { db in try Self.scheduledRun(key, db) } }
    }

    /// Whether a time that `volley schedule` holds open is no longer its own: a person has sent,
    /// resumed or cancelled it.
    public func isTaken(_ time: ScheduledRun) throws -> Bool {
        try scheduledRun(time.key).map { $0.run != time.run || !$0.state.isOpen } ?? false
    }

    private static func scheduledRun(_ key: ScheduledRun.Key, _ db: Database) throws -> ScheduledRun? {
        try db.first(columns + " WHERE campaign = ? AND occurrence = ?", [key.campaign, key.occurrence]) {
            try scheduledRun($0)
        }
    }

    private static func remove(_ key: ScheduledRun.Key, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM firing WHERE campaign = ? AND occurrence = ?", arguments: [key.campaign, key.occurrence])
    }

    /// Of each campaign the last scheduled run whose time has come and that came to an end; times
    /// that were left out beforehand are not yet among them.
    public func lastEnded(at now: Timestamp) throws -> [ScheduledRun] {
        let open = Set(ScheduledRun.State.allCases.filter(\.isOpen))
        return try Self.format.translating(path) {
            try database.read { db in
                try Self.campaigns(db).compactMap { campaign in
                    let latest = Self.columns + " WHERE campaign = ? AND begins_at <= ? ORDER BY begins_at DESC LIMIT 5"
                    return try db.all(latest, [campaign.name, now.epochMilliseconds]) { try Self.scheduledRun($0) }
                        .first { !open.contains($0.state) }
                }
            }
        }
    }

    /// - Returns: false when the time is another run's, or would be opened again: a person has
    ///   taken it over.
    private static func save(_ scheduledRun: ScheduledRun, _ db: Database) throws -> Bool {
        try db.execute(
            sql: """
                INSERT INTO firing (campaign, occurrence, file, run, state, problem, begins_at, ends_at, changed_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (campaign, occurrence) DO UPDATE SET
                    state = excluded.state, problem = excluded.problem, changed_at = excluded.changed_at, run = excluded.run,
                    file = excluded.file, begins_at = excluded.begins_at, ends_at = excluded.ends_at
                WHERE firing.run IS excluded.run AND (firing.state IN (\(openStates)) OR excluded.state NOT IN (\(openStates)))
                """,
            arguments: [
                scheduledRun.key.campaign, scheduledRun.key.occurrence, scheduledRun.file, scheduledRun.run,
                scheduledRun.state.rawValue,
                scheduledRun.problem?.json.text ?? "",
                scheduledRun.begins.epochMilliseconds, scheduledRun.ends.epochMilliseconds,
                scheduledRun.changedAt.epochMilliseconds,
            ])
        return db.changesCount > 0
    }

    private static let openStates = ScheduledRun.State.allCases.filter(\.isOpen).map { "'\($0.rawValue)'" }.joined(
        separator: ", ")
    private static let columns =
        "SELECT campaign, occurrence, file, run, state, problem, begins_at, ends_at, changed_at FROM firing"

    private static func formatNumber(_ db: Database) throws -> Int { try db.pragma("user_version") }

    /// Brings a file of an older format to the present one.
    private static func upgrade(_ db: Database) throws {
        let found = try formatNumber(db)
        if found < 2 { try convertSentences(db) }
        if found < 3 { try db.execute(sql: approvalTable) }
        if found < version { try db.execute(sql: "PRAGMA user_version = \(version)") }
    }

    private static func convertSentences(_ db: Database) throws {
        try db.execute(sql: "ALTER TABLE firing RENAME COLUMN reason TO problem")
        for sentence in try db.all(
            "SELECT DISTINCT problem FROM firing WHERE problem <> ''", reading: { try $0.string(0) })
        {
            let problem = ScheduleProblem(older: sentence)?.json.text ?? ""
            try db.execute(sql: "UPDATE firing SET problem = ? WHERE problem = ?", arguments: [problem, sentence])
        }
    }

    /// What the record keeps of a problem. A newer Volley of the same format may have more: what it
    /// says is shown as it is.
    private static func problem(_ text: String) -> ScheduleProblem? {
        if text.isEmpty { return nil }
        return JSONValue(stored: text).flatMap { ScheduleProblem(json: $0) } ?? .described(text)
    }

    private static func scheduledRuns(_ db: Database, since: Timestamp) throws -> [ScheduledRun] {
        // One that only reads leaves the file as it is.
        let isOlder = try formatNumber(db) == 1
        let columns = isOlder ? columns.replacing(" problem,", with: " reason,") : columns
        let wanted = columns + " WHERE ends_at >= ? OR state IN (\(openStates)) ORDER BY begins_at, campaign"
        return try db.all(wanted, [since.epochMilliseconds]) { try scheduledRun($0, isOlder: isOlder) }
    }

    private static func scheduledRun(_ row: PreparedStatement.Row, isOlder: Bool = false) throws -> ScheduledRun {
        let problem = try row.string(5)
        return ScheduledRun(
            key: .init(campaign: try row.string(0), occurrence: try row.occurrence(1)), file: try row.string(2),
            run: try row.optional(3, row.run), state: try row.word(4),
            problem: isOlder ? ScheduleProblem(older: problem) : self.problem(problem), begins: try row.moment(6),
            ends: try row.moment(7),
            changedAt: try row.moment(8))
    }

    private static func campaigns(_ db: Database) throws -> [ScheduledCampaign] {
        try db.all("SELECT name, file, times, decided_through FROM campaign ORDER BY name") { row in
            ScheduledCampaign(
                name: try row.string(0), file: try row.string(1), times: try row.string(2),
                decidedThrough: try row.moment(3))
        }
    }

    private static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE firing (
                    campaign TEXT NOT NULL, occurrence TEXT NOT NULL,       -- spring-sale, 2026-12-01T09:00
                    file TEXT NOT NULL, run TEXT, state TEXT NOT NULL,
                    problem TEXT NOT NULL,                                  -- {"problem": "noticed_late", "seconds": 7200}; blank for none
                    begins_at INTEGER NOT NULL, ends_at INTEGER NOT NULL, changed_at INTEGER NOT NULL,  -- epoch milliseconds
                    PRIMARY KEY (campaign, occurrence)
                ) WITHOUT ROWID;
                CREATE INDEX firing_by_end ON firing (ends_at);
                CREATE INDEX firing_by_campaign ON firing (campaign, begins_at);
                CREATE TABLE campaign (
                    name TEXT NOT NULL PRIMARY KEY, file TEXT NOT NULL, times TEXT NOT NULL, decided_through INTEGER NOT NULL
                ) WITHOUT ROWID;
                \(approvalTable)
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(version);
                """)
    }
}
