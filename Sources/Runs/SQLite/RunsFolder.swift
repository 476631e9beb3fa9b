public import Base
public import PushServices
import Glibc

/// The folder in which a project's runs are kept, with what belongs to all of them: the record of
/// what was sent, the schedule, orders, and the lists of suppressed devices. Above this module a
/// run is named by its id, or by the argument that a command was given for it; only the folder uses
/// the file.
///
/// ```swift
/// let runs = RunsFolder("runs")
/// let last = try runs.open(named: "last", readOnly: true)
/// for run in try runs.list().runs { print(run.plan.id) }
/// ```
public struct RunsFolder: Sendable {
    /// The folder's path: plans remember it as their home, and messages name it. It is never used
    /// to open anything.
    public let place: String

    private let observer: Observer<RunConversion>
    let marks: RunOverviewCache

    /// - Parameters:
    ///   - path: of the folder. One that does not exist yet holds no runs.
    ///   - observer: is told how far the conversion of older runs is.
    public init(_ path: String, observer: Observer<RunConversion> = .silent) {
        self.init(path, observer: observer, RunOverviewCache())
    }

    fileprivate init(_ path: String, observer: Observer<RunConversion> = .silent, _ marks: RunOverviewCache) {
        (place, self.observer, self.marks) = (path, observer, marks)
    }

    /// Whether there is such a folder, or anything else under its name; without it, there are no
    /// runs.
    public var isThere: Bool { FilePaths.isTaken(place) }

    /// The path that a run's file has, or would have, for messages.
    public func place(of run: String) -> String { DatabaseFile.path(run, in: place) }

    /// Whether something exists under the name of a run's file, readable or not.
    public func holds(_ run: String) -> Bool { FilePaths.isTaken(place(of: run)) }

    /// Whether there is certainly no file of a run: a folder that cannot be looked into may hold
    /// it, and so may a disk that is not mounted.
    public func isRemoved(_ run: String) -> Bool {
        access(place(of: run), F_OK) != 0 && [ENOENT, ENOTDIR].contains(errno)
            && FileKind.deadLink(place(of: run)) == nil
    }

    /// Opens a run by its id. A file under its name that is another run is refused, unless that
    /// run's own file is also there: then it is a copy, which the caller recognises by its id.
    /// - Parameter timeoutSeconds: how long to wait, each time it is read, for another program that
    ///   holds the file.
    /// - Throws: `Diagnostic`: missing, not a run, damaged, of a newer version, not permitted.
    public func open(_ run: String, readOnly: Bool = true, timeoutSeconds: Double = 10) throws -> RunFile {
        try opened(run, readOnly: readOnly, timeoutSeconds: timeoutSeconds)
    }

    /// Opens a run for reading, and closes it again: twice as fast as `open` where little is read.
    /// - Parameter body: reads it from this thread only.
    /// - Throws: as `open`; what `body` throws.
    public func withRun<Value>(_ id: String, _ body: (RunFile) throws -> Value) throws -> Value {
        let run = try opened(id, readOnly: true, staysOpen: true)
        defer { run.close() }
        return try body(run)
    }

    private func opened(_ id: String, readOnly: Bool, timeoutSeconds: Double = 10, staysOpen: Bool = false) throws
        -> RunFile
    {
        let path = place(of: id), stamp = FileStamp(path: path)
        let run = try RunFile(
            path: path, readOnly: readOnly, observer: observer, marks: marks, timeoutSeconds: timeoutSeconds,
            staysOpen: staysOpen)
        if let mistake = run.misnamed, !run.isCopyNextToRun { throw mistake }
        if let stamp, !run.isMisnamed, let mark = RunOverview(run.plan) { marks.note(mark, of: path, stamp) }
        return run
    }

    /// Opens the run that a command's argument means: its id, `last` for the one planned last, the
    /// path of its file, or the file's name in the folder.
    /// - Throws: `Diagnostic` when no run matches, with the nearest id when it looks misspelt;
    ///   otherwise as `open` does.
    public func open(named argument: String, readOnly: Bool) throws -> RunFile {
        try RunFile(path: file(named: argument), readOnly: readOnly, observer: observer, marks: marks)
    }

    /// Begins to write a run into the folder, which is created if it is missing.
    /// - Parameters:
    ///   - variants: what determines devices' variants; nil when all get the same.
    ///   - sorter: brings recipients into the order of segments; nil when all go out together
    ///     through one service, in the order in which they come.
    /// - Throws: `Diagnostic`: nothing can be written there; there is a run of that id.
    public func create(_ run: String, variants: VariantNames? = nil, sorter: SegmentSorter? = nil) throws -> RunWriter {
        try RunWriter(folder: place, id: run, variants: variants, sorter: sorter)
    }

    /// Makes a folder in this one, hidden from listings, for files that last as long as one
    /// command.
    /// - Throws: `Diagnostic`: nothing can be made there.
    public func scratchFolder() throws -> ScratchFolder { try ScratchFolder(besideRuns: place) }

    /// Plans that are being written, or that a process that is gone left behind.
    /// - Throws: `Diagnostic`: they cannot be listed.
    public func unfinishedPlans() throws -> [UnfinishedPlan] { try UnfinishedPlan.all(in: place) }

    /// Removes what a process that is gone left of a run's plan.
    public func removeUnfinishedPlan(of run: String) throws {
        for plan in try unfinishedPlans() where plan.id == run { try plan.remove() }
    }

    /// What was ever begun to be sent from here: `sent.db` in the folder.
    public var history: SendingHistory { SendingHistory(folder: place) }

    /// The times of schedules whose runs are kept here: `schedule.sqlite` in the folder.
    public var schedule: ScheduleRecords { ScheduleRecords(folder: place) }

    /// What people ordered in the console for the runs that are kept here: `orders.sqlite` in the
    /// folder.
    public var orders: OrderRecords { OrderRecords(folder: place) }

    /// The devices of an app that get no more pushes: `suppressed-APP.sqlite` in the folder.
    /// - Parameters:
    ///   - service: says what a target looks like.
    ///   - environment: which of the app's lists: `ServiceSettings.listName`.
    public func suppression(app: String, service: any PushService, environment: String) -> SuppressionList {
        SuppressionList(app: app, service: service, environment: environment, folder: place)
    }

    /// All runs, oldest first (then by id), opened for reading. Cheap: only what was frozen is
    /// read, and no file stays open. Plans that are still being made are not runs.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public func list() throws -> RunListing {
        var found = RunListing()
        for name in try DatabaseFile.names(in: place) where DatabaseFile.isRun(name) {
            let path = FilePaths.join(place, name: name)
            do {
                let run = try Self.listed(path, observer, marks)
                if let mistake = run.misnamed {
                    run.isCopyNextToRun ? found.copies.append(mistake) : found.broken.append(mistake)
                } else {
                    found.runs.append(run)
                }
            } catch let error as Diagnostic {
                // One that was removed in between is no longer a run.
                if DatabaseFile.kind(path) != .missing {
                    found.broken.append(error)
                } else if let misencoded = FilePaths.misencoded(path) {
                    found.broken.append(misencoded)
                }
            }
        }
        found.runs.sort { ($0.plan.plannedAt, $0.plan.id) < ($1.plan.plannedAt, $1.plan.id) }
        return found
    }

    /// Opens a run that may be of no concern.
    private static func listed(_ path: String, _ observer: Observer<RunConversion>, _ marks: RunOverviewCache) throws
        -> RunFile
    {
        try DatabaseWait.once(path) {
            try RunFile(path: path, readOnly: true, observer: observer, marks: marks, timeoutSeconds: $0)
        }
    }

    /// The file that a command's RUN argument means: a run's id, a path to its file, or `last`, the
    /// one planned last.
    /// - Throws: `Diagnostic` when no run matches, with the nearest id when it looks misspelt.
    func file(named argument: String) throws -> String {
        if argument == "last" { return try last() }
        let byID = place(of: argument)
        if !argument.contains("/") {
            switch DatabaseFile.kind(byID) {
            // Anything that is not a file is refused when it is opened.
            case .file, .other, .deadLink: return byID
            case .folder, .missing, .forbidden: break
            }
            if DatabaseFile.kind(FilePaths.join(place, name: argument + DatabaseFile.partialSuffix)) == .file {
                throw RunDiagnostics.unfinishedPlan(FilePaths.join(place, name: argument + DatabaseFile.partialSuffix))
            }
        }
        switch DatabaseFile.kind(argument) {
        case .file, .other, .deadLink: return argument
        case .folder where argument.contains("/"): throw RunDiagnostics.isFolder(argument)
        case .forbidden: throw RunDiagnostics.notPermitted(argument, toWrite: false)
        default: break
        }
        if argument.contains("/") { throw RunDiagnostics.missing(argument) }
        // The name of a file of the folder, as completion or a listing gives it.
        if argument.hasSuffix(DatabaseFile.suffix), DatabaseFile.kind(FilePaths.join(place, name: argument)) == .file {
            return FilePaths.join(place, name: argument)
        }
        throw try unknownRun(argument)
    }

    private func last() throws -> String {
        let listing = try list()
        let broken = listing.broken
        if let newest = listing.runs.last {
            // Ids begin with the moment of planning. Taking an older run for the last one would be
            // worse than taking none.
            if let newer = broken.first(where: {
                RunID.isLater(DatabaseFile.name($0.file ?? ""), than: DatabaseFile.name(newest.place))
            }) {
                throw newer
            }
            return newest.place
        }
        if !broken.isEmpty {
            throw Diagnostic(
                "none of the run files can be opened", file: place,
                remedy: "`volley runs` says what is wrong with each.", [.seeProblems])
        }
        throw noRuns
    }

    private var noRuns: Diagnostic {
        Diagnostic(
            "there are no runs yet", file: place,
            remedy: "`volley plan` and `volley send` make one; --runs names another folder.",
            [.planAgain])
    }

    private func unknownRun(_ argument: String) throws -> Diagnostic {
        let ids = try DatabaseFile.names(in: place).filter(DatabaseFile.isRun).map {
            String($0.dropLast(DatabaseFile.suffix.count))
        }
        if ids.isEmpty { return noRuns }
        let nearest = nearestName(to: argument, among: ids)
        return Diagnostic(
            "there is no run \"\(argument)\" in \(place)",
            remedy: nearest.map { "Did you mean \($0)?" } ?? "`volley runs` lists the runs.",
            nearest == nil ? [.seeRuns] : [])
    }
}

/// What a folder of runs holds.
public struct RunListing: Sendable {
    /// Oldest first, then by id.
    public var runs: [RunFile] = []
    /// What is wrong with runs that could not be opened.
    public var broken: [Diagnostic] = []
    /// What is wrong with copies, under other names, of runs that are also there: they do not
    /// count.
    public var copies: [Diagnostic] = []

    /// Nothing.
    public init() {}
}

extension RunsFolder {
    /// The newest runs of an app's campaign that were begun, newest first. Retries and tests, which
    /// go to a part of an audience or to other devices, do not count; files that cannot be opened
    /// are skipped.
    /// - Parameters:
    ///   - app: several projects may keep their runs in one folder.
    ///   - moment: only runs that were planned before; nil for all.
    ///   - isEmptyCounted: whether runs with an empty audience count.
    ///   - limit: how many at most.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    func started(
        of campaign: String, app: String, before moment: Timestamp? = nil, isEmptyCounted: Bool = true, limit: Int
    ) throws -> [RunFile] {
        var found: [RunFile] = []
        for name in try names(ofRunsOf: campaign).reversed() where found.count < limit {
            guard let run = try? RunFile(path: FilePaths.join(place, name: name), readOnly: true, marks: marks),
                !run.isMisnamed,
                run.plan.retryOf == nil,
                !run.plan.isTest, run.plan.app == app, isEmptyCounted || run.plan.audience > 0,
                moment.map({ run.plan.plannedAt < $0 }) ?? true, let status = try? run.status(), status.startedAt != nil
            else { continue }
            run.close()
            found.append(run)
        }
        return found
    }

    /// Runs of a campaign that processes are sending now, or have paused; also retries and tests.
    /// - Throws: `Diagnostic`: the folder cannot be listed; or it cannot be determined whether, or
    ///   which, one of them is being sent.
    public func sendingNow(of campaign: String) throws -> [RunFile] {
        try names(ofRunsOf: campaign).compactMap { name -> RunFile? in
            let path = FilePaths.join(place, name: name)
            switch SendingLock.inspect(run: path) {
            case .free: return nil
            case .held(let since):
                guard since > 0 else { return nil }
                do { return try RunFile(path: path, readOnly: true, marks: marks) } catch {
                    if DatabaseFile.kind(path) == .missing { return nil }
                    throw Self.isSending(campaign, path: path, Diagnostic(explaining: error))
                }
            case .hidden: throw Self.mayBeSending(campaign, path: path)
            }
        }.filter { !$0.isMisnamed }
    }

    private static func isSending(_ campaign: String, path: String, _ why: Diagnostic) -> Diagnostic {
        Diagnostic(
            "another process is sending a run of '\(campaign)', and its file cannot be read: \(why.message)",
            file: path,
            remedy:
                "Nothing was sent: two runs at once would reach every device twice. Wait until that process has ended.")
    }

    private static func mayBeSending(_ campaign: String, path: String) -> Diagnostic {
        Diagnostic(
            "another process may be sending a run of '\(campaign)': you may not read the run's file or lock",
            file: path,
            remedy:
                "Nothing was sent. Find out who owns that file, or send as that user: two runs at once would reach every device twice."
        )
    }

    /// Runs of a campaign that were begun, as the record or their own files say, or that a process
    /// is about to send, oldest first; also retries and tests. Files that cannot be opened are
    /// skipped.
    /// - Parameter isWanted: leaves out others, as `runs(of:where:)` does.
    /// - Throws: `Diagnostic`: the folder cannot be listed, or the record could not be read.
    public func started(of campaign: String, known: HistorySnapshot, where isWanted: (RunOverview) -> Bool) throws
        -> [RunFile]
    {
        let begun = try known.begun(of: campaign)
        return try runs(of: campaign, where: isWanted).filter { run in
            if begun[run.plan.id] != nil || SendingLock.isSending(run: run.place) { return true }
            // The record may have been restored from a backup, or be missing.
            defer { run.close() }
            return (try? run.hasBegun()) ?? true
        }
    }

    /// Ids of the runs of a campaign that processes are sending now, or have paused, or may have.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public func idsSendingNow(of campaign: String) throws -> [String] {
        try names(ofRunsOf: campaign).compactMap { name in
            switch SendingLock.inspect(run: FilePaths.join(place, name: name)) {
            case .free, .held(since: 0): nil
            case .held, .hidden: String(name.dropLast(DatabaseFile.suffix.count))
            }
        }
    }

    func names(ofRunsOf campaign: String) throws -> [String] {
        try DatabaseFile.names(in: place).filter { name in
            DatabaseFile.isRun(name)
                && RunID.campaign(of: name.dropLast(DatabaseFile.suffix.count)).map { $0 == campaign } ?? false
        }
    }

    /// The newest runs of an app's campaign that were begun and have an audience, newest first.
    /// - Parameter limit: how many at most.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public func lastStarted(of campaign: String, app: String, limit: Int) throws -> [RunFile] {
        try started(of: campaign, app: app, isEmptyCounted: false, limit: limit)
    }

    /// Runs of an app that may have reached a device since a moment, oldest first. Tests, and plans
    /// that were never started, reach no device; plans whose recipients are gone (`volley prune`)
    /// no longer know any. Files that cannot be read are in the second list, unless the record next
    /// to them says that they are about something else.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public func runs(ofApp app: String, reachingSince since: Timestamp) throws -> (
        runs: [RunFile], broken: [Diagnostic]
    ) {
        let listing = try list()
        var broken = listing.broken
        let runs = try listing.runs.filter { run in
            guard run.plan.app == app, !run.plan.isTest else { return false }
            // Nothing stays open: there may be more runs than a process may open files.
            defer { run.close() }
            do { return try run.unlessRemoved { try $0.mayHaveReached(since: since) } ?? false } catch let mistake
                as Diagnostic
            {
                broken.append(mistake)
                return false
            }
        }
        if !broken.isEmpty, let begun = try? history.entries().begun, let order = try? history.order() {
            broken.removeAll { mistake in
                guard let file = mistake.file,
                    case let id = String(DatabaseFile.name(file).dropLast(DatabaseFile.suffix.count)),
                    let entry = begun[id],
                    let scope = entry.scope, case .free = SendingLock.inspect(run: file)
                else { return false }
                return scope.app != app || scope.isTest || order.end(of: id).map { $0 < since } ?? false
            }
        }
        return (runs, broken)
    }
}

extension RunFile {
    /// Where the run is, for messages: nothing is opened by it.
    public var place: String { path }

    /// The folder that the file lies in.
    public var catalog: RunsFolder { RunsFolder(RunDiagnostics.folder(of: path), marks) }

    /// Runs of the campaign that were planned before this one, from the same folder, newest first;
    /// none of a test or a retry.
    /// - Parameter limit: how many at most.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public func earlierRuns(limit: Int = 10) throws -> [RunFile] {
        if plan.isTest || plan.retryOf != nil { return [] }
        return try catalog.started(
            of: plan.campaign, app: plan.app, before: plan.plannedAt, limit: limit)
    }

    /// What `body` finds out about a run that was listed; nil if the run has been removed since: a
    /// plan that was refused, and has reached no device.
    /// - Throws: what `body` throws about a run that is still there.
    public func unlessRemoved<Value>(_ body: (_ run: RunFile) throws -> Value) throws -> Value? {
        do { return try body(self) } catch {
            guard catalog.isRemoved(plan.id) else { throw error }
            return nil
        }
    }
}
