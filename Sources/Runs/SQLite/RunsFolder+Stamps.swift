public import Base
import Synchronization

extension RunsFolder {
    /// The stamps of all runs by their ids, for callers that remember what they read of runs.
    /// Cheap: no file is opened. Files that turn out not to be runs also have a stamp.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public func stamps() throws -> [String: RunStamp] {
        var stamps: [String: RunStamp] = [:]
        for name in try DatabaseFile.names(in: place) where DatabaseFile.isRun(name) {
            let path = FilePaths.join(place, name: name)
            // One that was removed in between is no longer a run.
            guard let file = FileStamp(path: path) else { continue }
            stamps[String(name.dropLast(DatabaseFile.suffix.count))] = RunStamp(
                file: file, log: FileStamp(path: path + "-wal"))
        }
        return stamps
    }
}

/// What tells, without opening a run's file again, whether a run may concern another one. A plan
/// never changes it.
public struct RunOverview: Hashable, Sendable {
    /// The run's id.
    public var id: String
    /// The run that it retries; nil for a run that is not a retry.
    public var retryOf: String?
    /// The time of the schedule that it was planned for; nil for none.
    public var occurrence: String?

    /// nil if the settings cannot be read.
    init?(_ plan: RunPlan) {
        guard let settings = try? plan.settings.get() else { return nil }
        (id, retryOf, occurrence) = (plan.id, plan.retryOf, settings.schedule?.occurrence.map { "\($0)" })
    }
}

/// The marks of the run files that a process has opened, by path, for as long as their stamps stay
/// the same.
final class RunOverviewCache: Sendable {
    private let known = Mutex<[String: (file: FileStamp, mark: RunOverview)]>([:])

    /// The mark of a file; nil if it is not known, or the file has changed.
    func mark(of path: String, _ stamp: FileStamp?) -> RunOverview? {
        known.withLock { $0[path].flatMap { $0.file == stamp ? $0.mark : nil } }
    }

    func note(_ mark: RunOverview, of path: String, _ stamp: FileStamp) {
        known.withLock { known in
            // Those of files that were pruned go with all others.
            if known.count > 100_000 { known = [:] }
            known[path] = (stamp, mark)
        }
    }
}

extension RunsFolder {
    /// The runs whose marks are wanted, oldest first (then by id), opened for reading; nothing
    /// stays open. Runs that cannot be opened are left out; runs whose settings cannot be read are
    /// always there.
    ///
    /// Opens only files that were not opened before through this folder or its runs, that were
    /// changed since, or whose marks are wanted: `volley schedule` looks through all runs whenever
    /// it sends one, for months.
    /// - Parameters:
    ///   - campaign: nil for all campaigns.
    ///   - isWanted: may be called twice for a run.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public func runs(of campaign: String?, where isWanted: (RunOverview) -> Bool) throws -> [RunFile] {
        let names = try campaign.map(names(ofRunsOf:)) ?? DatabaseFile.names(in: place).filter(DatabaseFile.isRun)
        var found: [RunFile] = []
        for name in names {
            let path = FilePaths.join(place, name: name), stamp = FileStamp(path: path)
            if let known = marks.mark(of: path, stamp), !isWanted(known) { continue }
            guard let run = try? RunFile(path: path, readOnly: true, marks: marks), !run.isMisnamed else { continue }
            if let stamp, let mark = RunOverview(run.plan) {
                marks.note(mark, of: path, stamp)
                if !isWanted(mark) { continue }
            }
            found.append(run)
        }
        return found.sorted { ($0.plan.plannedAt, $0.plan.id) < ($1.plan.plannedAt, $1.plan.id) }
    }
}

/// What reading all pages of the runs of a folder found. What was damaged in the middle of a file
/// is found only so, and it takes 4 s for 1 GB: it is done once for each state of a file, on a
/// thread for which nothing waits.
public final class RunPages: Sendable {
    private let known = Mutex<[String: (stamp: RunStamp, damage: Diagnostic?)]>([:])

    /// Nothing was read before.
    init() {}

    /// Reads the runs that were not read as they are now, the newest first. One that is being sent
    /// changes all the time, and is read once.
    /// - Parameters:
    ///   - endedOnly: leaves out runs that may begin or continue, which would have to wait for the
    ///     reading; their pages are read then.
    ///   - seconds: after this time no other file is begun.
    /// - Returns: the runs that are left, by their ids.
    public func read(
        _ folder: RunsFolder, endedOnly: Bool = false, atMost seconds: Double = .infinity,
        until cancellation: Cancellation
    ) -> [String] {
        let begun = ContinuousClock.now, stamps = (try? folder.stamps()) ?? [:]
        var unread = stamps.keys.filter { run in
            guard let last = known.withLock({ $0[folder.place(of: run)] }) else { return true }
            return last.stamp != stamps[run] && !SendingLock.isSending(run: folder.place(of: run))
        }.sorted()
        while !cancellation.isRequested, (ContinuousClock.now - begun) / .seconds(1) < seconds,
            let run = unread.popLast()
        {
            let path = folder.place(of: run)
            if endedOnly, !Self.hasEnded(path) { continue }
            let damage = RunFile.pageDamage(path)
            known.withLock { $0[path] = stamps[run].map { ($0, damage) } }
        }
        return unread
    }

    private static func hasEnded(_ path: String) -> Bool {
        guard let run = try? RunFile(path: path, readOnly: true) else { return false }
        defer { run.close() }
        return (try? run.status().state.hasEnded) ?? false
    }

    /// What was found, if the file is still as it was then.
    func damage(ofFile path: String) -> Diagnostic? {
        guard let last = known.withLock({ $0[path] }), let damage = last.damage else { return nil }
        return FileStamp(path: path) == last.stamp.file ? damage : nil
    }
}

/// What was found when obstacles were looked for before, so that files are not read again each
/// minute.
public struct KnownObstacles: Sendable {
    /// Runs that have ended, by the names of their files.
    var ended: Set<String> = []
    /// What is wrong with records and runs that were read.
    var damage = KnownDamage()
    /// What reading all pages of runs found.
    public let pages = RunPages()

    /// Nothing was looked for before.
    /// - Parameter schedule: the record of the schedule, if this process has it open: it was found
    ///   whole then.
    public init(schedule: ScheduleStore? = nil) {
        if let schedule { damage.noteWhole(schedule.path) }
    }
}

/// Which files of the folder this user may not use although sending needs them: a command that root
/// ran leaves files that only root may write to. Nothing is opened for writing, so a process that
/// uses them is not disturbed; a record or a run is read once, and again when another file is in
/// its place. Only `RunPages` reads whole files.
extension RunsFolder {
    /// What keeps runs from being planned and sent, and runs that are damaged; empty if nothing
    /// does. A run that has ended counts only if it cannot be read.
    /// - Parameter known: what the call before found; filled by each call. Once a record was read,
    ///   its stamp says what is to be said of it.
    public func obstacles(_ known: inout KnownObstacles) -> [Diagnostic] {
        guard isThere else { return [folderObstacle].compactMap(\.self) }
        if let obstacle = Self.problem(place, purpose: "the folder of runs") { return [obstacle] }
        do throws(FileError) {
            var found: [Diagnostic] = []
            for name in try Folder.names(in: place) {
                if let purpose = Self.purpose(ofRecord: name) {
                    let problem = Self.problem(FilePaths.join(place, name: name), purpose: purpose)
                    found += [problem ?? damage(ofRecord: name, &known)].compactMap(\.self)
                } else if DatabaseFile.isRun(name) {
                    found += [obstacle(ofRun: name, &known.ended) ?? damage(ofRun: name, &known)].compactMap(\.self)
                }
            }
            return found
        } catch { return [error.diagnostic("the folder of runs cannot be listed", file: place)] }
    }

    /// Why a file of the folder, or the folder, cannot be read and written; a link that leads
    /// nowhere is not the same as none.
    private static func problem(_ path: String, purpose: String) -> Diagnostic? {
        FileKind.deadLink(path) ?? FileAccess.problem(path, .writing, purpose: purpose)
    }

    /// Why a folder that does not exist cannot be made.
    private var folderObstacle: Diagnostic? {
        var above = FilePaths.folder(of: place)
        while !FilePaths.exists(above), above != "/", above != "." { above = FilePaths.folder(of: above) }
        return FileAccess.problem(above, .writing, purpose: "in which the folder of runs has to be made")
    }

    /// What a file is that all runs share, with the files that SQLite keeps next to it; nil for
    /// other files.
    private static func purpose(ofRecord name: String) -> String? {
        let database =
            ["-wal", "-shm", "-journal"].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) } ?? name
        switch database {
        case "sent.db": return "the record of what was sent"
        case ScheduleStore.fileName, "schedule.lock": return "the record of the schedule"
        case OrderStore.fileName: return "the record of orders"
        default:
            return database.hasPrefix(SuppressionList.prefix) && database.hasSuffix(DatabaseFile.suffix)
                ? "a list of suppressed devices" : nil
        }
    }

    /// What is wrong with a list or a record: planning and sending need them, so that is said
    /// before a time comes.
    private func damage(ofRecord name: String, _ known: inout KnownObstacles) -> Diagnostic? {
        let path = FilePaths.join(place, name: name)
        return known.damage.damage(of: path) {
            switch name {
            case SendingHistory.fileName: HistorySnapshot(of: self).failure
            case ScheduleStore.fileName: Self.failure { _ = try schedule.read() }
            case OrderStore.fileName: Self.failure { _ = try orders.read() }
            default: SuppressionList.isNamed(name) ? SuppressionFile.damage(path) : nil
            }
        }
    }

    private static func failure(_ body: () throws -> Void) -> Diagnostic? {
        do { try body() } catch { return Diagnostic(explaining: error) }
        return nil
    }

    /// What is wrong with a run, which `volley runs` also says: it may be one that has not ended.
    private func damage(ofRun name: String, _ known: inout KnownObstacles) -> Diagnostic? {
        let path = FilePaths.join(place, name: name)
        if FileKind.isLink(path), FileKind(path: path) == nil { return RunFile.damage(path) }
        return known.damage.damage(of: path) { RunFile.damage(path) } ?? known.pages.damage(ofFile: path)
    }

    private func obstacle(ofRun name: String, _ ended: inout Set<String>) -> Diagnostic? {
        guard !ended.contains(name) else { return nil }
        let path = FilePaths.join(place, name: name)
        let problems = ["", "-wal", "-shm", "-journal", ".lock", ".claimed"].compactMap {
            Self.problem(path + $0, purpose: "a run that has not ended")
        }
        guard let problem = problems.first else { return nil }
        // A copy, or a file of another program, is said by `volley runs`.
        guard let run = try? RunFile(path: path, readOnly: true), let state = try? run.status().state else {
            return FileKind.deadLink(path) ?? FileAccess.problem(path, .reading, purpose: "a run") ?? problem
        }
        run.close()
        guard state == .finished || state == .cancelled else { return problem }
        ended.insert(name)
        return nil
    }
}

/// Tells whether a run was written to: if two stamps are equal, nothing was planned, approved,
/// claimed, recorded or ordered in between. It does not tell whether a process holds the right to
/// send.
public struct RunStamp: Hashable, Sendable {
    /// What the run is kept in.
    let file: FileStamp
    /// What was written and is not in it yet; nil when all is.
    let log: FileStamp?

    /// A stamp.
    init(file: FileStamp, log: FileStamp?) { (self.file, self.log) = (file, log) }
}
