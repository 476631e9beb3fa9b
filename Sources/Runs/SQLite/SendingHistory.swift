public import Base
import GRDB
import Glibc
import Synchronization

/// Every run that was ever begun from a folder of runs: `sent.db`, next to them. A run file records
/// its progress; this shows that it is not an older copy of itself, restored from a backup or put
/// back to be sent again.
///
/// Each time a run is started or resumed, it gets a new *epoch*, a number and a random name that
/// are kept here and in the run file. A file that holds an earlier one is not the file that was
/// sent from last. The scheduled time of a run is kept here too, so that it is known without
/// `schedule.sqlite`. A missing file is an empty record. Every change is on the disk when its call
/// returns, and in the file itself: it is never in WAL mode, so that nothing is lost with the files
/// that SQLite creates next to it.
///
/// Calls throw `Diagnostic`: the file is damaged, of a newer version, not a record, not permitted;
/// the disk is full.
public struct SendingHistory: Sendable {
    /// The name in a folder of runs.
    public static let fileName = "sent.db"

    /// What is known of a run.
    public struct Entry: Hashable, Sendable {
        /// The run that it retries; nil for a run that is not a retry.
        public var retryOf: String?
        /// Its last epoch.
        public var epoch: String
        /// The epoch before, which counts until it is known that the file has the last one; nil
        /// afterwards. Until then nothing is pushed in the last epoch.
        public var previousEpoch: String?
        /// Recipients that the run had reached, or may have, when its last epoch ended, or the one
        /// before while the last epoch has not ended.
        public var reached: Int
        /// Claims that were made (`RunClaims.made`), kept up while it is sent (`ClaimCounter`): a
        /// file with fewer has lost its newest part. nil when it is not known.
        public var claimed: Int?
        /// When its last epoch began.
        public var begunAt: Timestamp
        /// The time of the schedule that it is sent for; nil without one.
        public var occurrence: String?
        /// Its target; nil where an older version recorded it.
        public var scope: Scope?

        /// Whether this is the run's last epoch.
        public func names(_ epoch: String) -> Bool { epoch == self.epoch || epoch == previousEpoch }

        /// Whether a file with this `epoch` and these numbers of reached recipients and claims is
        /// older than what is known here. It may also be this record that is the older one,
        /// restored from a backup: then the file records more.
        public func isNewer(thanEpoch epoch: String, reached: Int, claimed: Int) -> Bool {
            if SendingHistory.number(of: epoch) > SendingHistory.number(of: self.epoch) { return false }
            guard let known = self.claimed else { return true }
            return !names(epoch) || reached < self.reached || claimed < known
        }

        /// The same for a run's file. If it says that the last epoch ended, nothing came after it.
        public func isNewer(than run: RunFile, epoch: String, reached: Int, claimed: Int) throws -> Bool {
            try isNewer(thanEpoch: epoch, reached: reached, claimed: claimed)
                && !(epoch == self.epoch && run.isComplete())
        }
    }

    /// A time of a campaign's schedule.
    public struct Time: Hashable, Sendable {
        /// The campaign's name, and the time on its schedule's clock.
        public var campaign: String, occurrence: String
        /// The campaign's file, under its name and with symbolic links resolved: a campaign of
        /// another name is the same when either is, because a link may be changed to another file,
        /// and a file may have several names. Absolute paths.
        public var file: String, realFile: String

        /// A time.
        public init(campaign: String, occurrence: String, file: String, realFile: String) {
            self.campaign = campaign
            self.occurrence = occurrence
            self.file = file
            self.realFile = realFile
        }
    }

    /// The result of a beginning.
    public enum Beginning: Hashable, Sendable {
        case noted
        /// The record has more than the file; nothing was changed.
        case isOutdated
        /// Another run was begun for the time; nothing was changed.
        case timeIsTaken(by: String)
        /// A retry of it, the run that it retries, or another retry of that began since they were
        /// read; nothing was changed.
        case isOvertaken
    }

    /// The epoch that follows another one.
    public static func epoch(after former: String) -> String {
        let seed = RunSeed.random()
        return "\(number(of: former) + 1)-\(String(seed.high, radix: 16))\(String(seed.low, radix: 16))"
    }

    /// Whether a text can be an epoch, or is blank.
    static func isEpoch(_ text: String) -> Bool {
        if text.isEmpty { return true }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int(parts[0]), (0...1 << 48).contains(number) else { return false }
        return !parts[1].isEmpty
            && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// A number that no run reaches is that of a damaged file: it must not overflow.
    static func number(of epoch: String) -> Int { min(Int(epoch.prefix { $0 != "-" }) ?? 0, 1 << 48) }

    let path: String

    /// A record; nothing is opened or created.
    /// - Parameter folder: of runs.
    public init(folder: String) { path = FilePaths.join(folder, name: Self.fileName) }

    /// Equal stamps mean that nothing was recorded in between: all of it is in one file, always.
    /// nil while nothing is on record.
    public var stamp: FileStamp? { FileStamp(path: path) }

    /// What is known of a run; nil when it was never begun here.
    public func entry(of run: String) throws -> Entry? {
        try read { try entry(of: run, $0) } ?? nil
    }

    /// What a run file is missing of its own run.
    public enum Gap: Hashable, Sendable {
        /// It is an older copy, or has lost its newest part: it records less than was sent.
        case certain
        /// How far the run was when its process ended is not known.
        case possible
        /// It is a copy of a plan, made before the plan was cancelled.
        case cancelled
        /// This record, or what the file says of its epochs, cannot be read, so this is not known.
        case unreadable(Diagnostic)

        /// Whether something is missing for certain.
        public var isKnown: Bool { self == .certain || self == .cancelled }
    }

    /// What a run's file is missing; nil when it has everything that is known here, or was pruned.
    public static func gap(of run: RunFile) -> Gap? { HistorySnapshot(of: run).gap(of: run) }

    /// Runs that were begun, plans that were cancelled, and when the backups were made from which
    /// runs were put back.
    typealias Entries = (begun: [String: Entry], cancelled: Set<String>, backups: [String: Timestamp])

    /// All that is known about the runs of the folder, or about one.
    func entries(of run: String? = nil) throws -> Entries {
        try read { try entries(of: run, $0) } ?? ([:], [], [:])
    }

    func entries(of run: String?, _ db: Database) throws -> Entries {
        let runs = try run.map { [$0] } ?? db.all("SELECT run FROM beginning") { try $0.run(0) }
        let begun = try Dictionary(runs.compactMap { run in try entry(of: run, db).map { (run, $0) } }) { first, _ in
            first
        }
        let cancelled = try run.map { try Self.cancelled(db, which: "WHERE run = ?", [$0]) } ?? Self.cancelled(db)
        return (begun, Set(cancelled), try Self.backups(db, of: run))
    }

    /// Records that a plan was cancelled before it began: older copies of it are then not sent.
    /// - Parameter time: its scheduled time; nil when it has none, or other runs may have it.
    public func noteCancelled(_ run: String, having time: Time?) throws {
        try checkNames([run], epochs: [])
        try write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS cancelled (  -- plans of which nothing was begun, each with a time of the schedule that was its own; blank without one
                        run TEXT NOT NULL PRIMARY KEY, campaign TEXT NOT NULL, occurrence TEXT NOT NULL, file TEXT NOT NULL, real_file TEXT NOT NULL
                    ) WITHOUT ROWID
                    """)
            try db.execute(
                sql: "INSERT OR REPLACE INTO cancelled VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    run, time?.campaign ?? "", time?.occurrence ?? "", time?.file ?? "", time?.realFile ?? "",
                ])
        }
    }

    /// Whether a plan is on record as cancelled.
    public func isCancelled(_ run: String) throws -> Bool { try read { try Self.isCancelled(run, $0) } ?? false }

    private static func isCancelled(_ run: String, _ db: Database) throws -> Bool {
        try !Self.cancelled(db, which: "WHERE run = ?", [run]).isEmpty
    }

    /// Plans that were cancelled.
    private static func cancelled(_ db: Database, which: String = "", _ arguments: StatementArguments = []) throws
        -> [String]
    {
        guard try db.has(table: "cancelled") else { return [] }
        return try db.all("SELECT run, campaign, occurrence, file, real_file FROM cancelled \(which)", arguments) {
            row in
            try checkTime(row, from: 1)
            return try row.run(0)
        }
    }

    /// Checks a time of a schedule in the columns campaign, occurrence, file and real_file, which
    /// may be blank.
    private static func checkTime(_ row: PreparedStatement.Row, from column: CInt) throws {
        for place in [column, column + 2, column + 3] { _ = try row.string(place) }
        _ = try row.unlessBlank(column + 1, row.occurrence)
    }

    /// Runs that were begun and that retry `run`, in the order in which they began.
    public func retries(of run: String) throws -> [String] {
        try read { try Self.retries(of: run, $0) } ?? []
    }

    private static func retries(of run: String, _ db: Database) throws -> [String] {
        try db.all("SELECT run FROM beginning WHERE retry_of = ? ORDER BY begun_at, run", [run]) { try $0.run(0) }
    }

    /// The run that was begun for a time, or cancelled before it began, other than one run and its
    /// retries; nil when no such run exists.
    public func run(having time: Time, besides run: String) throws -> String? {
        try read { try Self.run(having: time, besides: run, $0) } ?? nil
    }

    private static func run(having time: Time, besides run: String, _ db: Database) throws -> String? {
        let isSame = "occurrence = ? AND (campaign = ? OR file IN (?, ?) OR real_file IN (?, ?))"
        let same: StatementArguments = [
            time.occurrence, time.campaign, time.file, time.realFile, time.file, time.realFile,
        ]
        let begun = try db.first(
            """
            WITH RECURSIVE own (run) AS (SELECT ? UNION SELECT beginning.run FROM beginning JOIN own ON retry_of = own.run AND own.run <> '')
            SELECT run FROM beginning
            WHERE \(isSame) AND run NOT IN (SELECT run FROM own) ORDER BY begun_at LIMIT 1
            """, [run] + same, reading: { try $0.run(0) })
        return try begun ?? cancelled(db, which: "WHERE \(isSame) AND run <> ? LIMIT 1", same + [run]).first
    }

    /// Notes that a run is about to begin or continue.
    public func begin(_ plan: RunPlan, _ new: NewEpoch, at now: Timestamp) throws -> Beginning {
        try checkNames([plan.id] + (plan.retryOf.map { [$0] } ?? []), epochs: [new.seen, new.epoch])
        return try write { db in
            let known = try entry(of: plan.id, db)
            if try Self.isCancelled(plan.id, db) { return .isOutdated }
            if let known, known.isNewer(thanEpoch: new.seen, reached: new.reached, claimed: new.claimed) {
                return .isOutdated
            }
            if let time = new.time, plan.retryOf == nil, let other = try Self.run(having: time, besides: plan.id, db) {
                return .timeIsTaken(by: other)
            }
            if try isTakenOver(plan.id, givenUp: new.givenUp, db) { return .isOvertaken }
            if let parent = plan.retryOf {
                let others = try Self.retries(of: parent, db).filter { $0 != plan.id }
                if !Set(others).isSubset(of: new.siblings) { return .isOvertaken }
                if let parentEpoch = new.parentEpoch, let entry = try entry(of: parent, db), !entry.names(parentEpoch) {
                    return .isOvertaken
                }
            }
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO beginning
                        (run, retry_of, life, former_life, reached, claimed, is_over, campaign, occurrence, file, real_file, begun_at)
                    VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    plan.id, plan.retryOf ?? "", new.epoch, new.seen, new.reached, new.claimed,
                    new.time?.campaign ?? "",
                    new.time?.occurrence ?? "", new.time?.file ?? "", new.time?.realFile ?? "", now.epochMilliseconds,
                ])
            try EpochSequence.note(db, run: plan.id, epoch: new.epoch, isEnd: false, at: now)
            try Scope(app: plan.app, environment: new.environment, isTest: plan.isTest).note(db, run: plan.id)
            return .noted
        }
    }

    /// Keeps what a damaged run file calls itself out of the record: it would damage that for all
    /// runs.
    private func checkNames(_ runs: [String], epochs: [String]) throws {
        guard runs.allSatisfy(RunID.isPossible), epochs.allSatisfy(Self.isEpoch) else {
            throw RunDiagnostics.damaged(
                DatabaseFile.path(runs[0], in: RunDiagnostics.folder(of: path)),
                what: "an id or a life in it cannot be one")
        }
    }

    /// Records that the run's file has its last epoch: the one before no longer counts. Must return
    /// before anything is pushed in that epoch: a file without it is then an older one, whatever
    /// was lost.
    /// - Parameter givenUp: as in `begin`.
    /// - Returns: false, and nothing is noted, when a retry of it has begun since.
    public func confirm(_ run: String, givenUp: Set<String> = []) throws -> Bool {
        try write { db in
            guard try !isTakenOver(run, givenUp: givenUp, db) else { return false }
            try db.execute(sql: "UPDATE beginning SET former_life = NULL WHERE run = ?", arguments: [run])
            return true
        }
    }

    /// Whether a retry of a run was begun, except retries that were abandoned before they began.
    private func isTakenOver(_ run: String, givenUp: Set<String>, _ db: Database) throws -> Bool {
        try Self.retries(of: run, db).contains { try !givenUp.contains($0) || entry(of: $0, db)?.previousEpoch == nil }
    }

    /// Notes how many claims of a run were made so far in an epoch of it: what lies next to the
    /// run, the claim counter included, may be put back to what it was. Does not wait for others
    /// that hold the record, and ignores errors: the next call records more.
    func note(claimed: Int, of run: String, in epoch: String) {
        guard (try? isThere()) ?? false else { return }
        try? write(timeoutSeconds: 0, isDecision: false) {
            try $0.execute(
                sql: "UPDATE beginning SET claimed = ? WHERE run = ? AND life = ? AND claimed < ? AND is_over = 0",
                arguments: [claimed, run, epoch, claimed])
        }
    }

    /// Notes how far a run is as an epoch of it ends. Does nothing when another one has begun
    /// since.
    /// - Parameters:
    ///   - epoch: nil where none began.
    ///   - made: the claims that the process has made: a file with fewer is not as the process left
    ///     it.
    /// - Returns: whether it was noted.
    func end(_ run: RunFile, epoch: String?, made: Int) throws -> Bool {
        guard try isThere() else {
            throw RunDiagnostics.system(
                "cannot write the record of what was sent", path: path, errno: ENOENT, activity: .sending)
        }
        let (reached, claimed): (Int, Int)
        do { (reached, claimed) = (try run.reached(), max(made, try run.claims().made)) } catch {
            if let epoch { note(claimed: made, of: run.plan.id, in: epoch) }
            throw error
        }
        return try write { db in
            try db.execute(
                sql:
                    "UPDATE beginning SET reached = ?, claimed = max(claimed, ?), is_over = 1 WHERE run = ? AND life = ?",
                arguments: [reached, claimed, run.plan.id, epoch])
            if db.changesCount > 0 {
                try EpochSequence.note(db, run: run.plan.id, epoch: epoch ?? "", isEnd: true, at: .now())
                return true
            }
            guard let epoch,
                let known = try db.first(
                    "SELECT life FROM beginning WHERE run = ?", [run.plan.id], reading: { try $0.epoch(0) }),
                Self.number(of: known) > Self.number(of: epoch)
            else { throw damaged("the sending of \(run.plan.id) that has just ended is no longer in it") }
            return false
        }
    }

    private func entry(of run: String, _ db: Database) throws -> Entry? {
        let columns =
            "retry_of, life, former_life, reached, claimed, begun_at, is_over, campaign, occurrence, file, real_file"
        let folder = RunDiagnostics.folder(of: path)
        return try db.first("SELECT \(columns) FROM beginning WHERE run = ?", [run]) { row in
            let (epoch, former) = (try row.epoch(1), try row.optional(2, row.epoch))
            let (claimed, isOver) = (try row.count(4), try row.flag(6))
            try Self.checkTime(row, from: 7)
            // Until the beginning is confirmed nothing more is claimed; afterwards the claim
            // counter records the progress.
            let isCounting = !isOver && former == nil
            let marked = isCounting ? ClaimCounter.claimed(DatabaseFile.path(run, in: folder), epoch: epoch) : claimed
            return Entry(
                retryOf: try row.unlessBlank(0, row.run), epoch: epoch, previousEpoch: former,
                reached: try row.count(3),
                claimed: marked.map { max($0, claimed) }, begunAt: try row.moment(5),
                occurrence: try row.unlessBlank(8, row.occurrence),
                scope: try Scope(db, run: run))
        }
    }
}
