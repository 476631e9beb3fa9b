public import Base

extension RunStore {
    /// All run files of a folder, oldest first (then by id), opened for reading, those that could not be opened, and copies under other names of runs that
    /// lie there as well, which count for nothing. Cheap: only what was frozen is read, and no file stays open. Plans that are still being made are no
    /// runs. A folder that is not there yet holds no runs.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public static func all(in folder: String) throws -> (runs: [RunStore], broken: [Diagnostic], copies: [Diagnostic]) {
        var runs: [RunStore] = []
        var (broken, copies): ([Diagnostic], [Diagnostic]) = ([], [])
        for name in try RunFile.names(in: folder) where RunFile.isRun(name) {
            let path = RunFile.join(folder, name)
            do {
                let run = try RunStore(path: path, readOnly: true)
                if let mistake = run.misnamed {
                    let isBeside = RunFile.kind(RunFile.path(run.plan.id, in: folder)) == .file
                    isBeside ? copies.append(mistake) : broken.append(mistake)
                } else {
                    runs.append(run)
                }
            } catch let error as Diagnostic {
                // One that was removed meanwhile is no run any more.
                if RunFile.kind(path) != .missing { broken.append(error) }
            }
        }
        runs.sort { ($0.plan.plannedAt, $0.plan.id) < ($1.plan.plannedAt, $1.plan.id) }
        return (runs, broken, copies)
    }

    /// The file that a command's RUN argument means: a run's id, a path to its file, or `last`, the one planned last.
    /// - Throws: `Diagnostic` when there is none, with the nearest id when it looks misspelt.
    public static func resolve(_ argument: String, in folder: String) throws -> String {
        if argument == "last" { return try last(in: folder) }
        let byID = RunFile.path(argument, in: folder)
        if !argument.contains("/") {
            switch RunFile.kind(byID) {
            // What is no file is refused when it is opened.
            case .file, .other: return byID
            case .folder, .missing, .forbidden: break
            }
            if RunFile.kind(RunFile.join(folder, argument + RunFile.partialSuffix)) == .file {
                throw RunDiagnostics.unfinishedPlan(RunFile.join(folder, argument + RunFile.partialSuffix))
            }
        }
        switch RunFile.kind(argument) {
        case .file, .other: return argument
        case .folder where argument.contains("/"): throw RunDiagnostics.isFolder(argument)
        case .forbidden: throw RunDiagnostics.notPermitted(argument, toWrite: false)
        default: break
        }
        if argument.contains("/") { throw RunDiagnostics.missing(argument) }
        // The name of a file of the folder, as completion or a listing gives it.
        if argument.hasSuffix(RunFile.suffix), RunFile.kind(RunFile.join(folder, argument)) == .file {
            return RunFile.join(folder, argument)
        }
        throw try unknownRun(argument, in: folder)
    }

    private static func last(in folder: String) throws -> String {
        let (runs, broken, _) = try all(in: folder)
        if let newest = runs.last {
            // Ids begin with the moment of planning. Taking an older run for the last one would be worse than taking none.
            if let newer = broken.first(where: { RunID.isLater(RunFile.name($0.file ?? ""), than: RunFile.name(newest.path)) }) {
                throw newer
            }
            return newest.path
        }
        if !broken.isEmpty {
            throw Diagnostic("none of the run files can be opened", file: folder, remedy: "`volley runs` says what is wrong with each.")
        }
        throw noRuns(folder)
    }

    private static func noRuns(_ folder: String) -> Diagnostic {
        Diagnostic("there are no runs yet", file: folder, remedy: "`volley plan` and `volley send` make one; --runs names another folder.")
    }

    private static func unknownRun(_ argument: String, in folder: String) throws -> Diagnostic {
        let ids = try RunFile.names(in: folder).filter(RunFile.isRun).map { String($0.dropLast(RunFile.suffix.count)) }
        if ids.isEmpty { return noRuns(folder) }
        let nearest = nearestName(to: argument, among: ids)
        return Diagnostic(
            "there is no run \"\(argument)\" in \(folder)",
            remedy: nearest.map { "Did you mean \($0)?" } ?? "`volley runs` lists the runs there are.")
    }
}

extension RunStore {
    /// The newest runs of an app's campaign that were begun, newest first. Retries and tests, which go to a part of an audience or to other devices, do not count, and files
    /// that cannot be opened are passed over.
    /// - Parameters:
    ///   - app: several projects may keep their runs in one folder.
    ///   - moment: only runs that were planned before; nil for all.
    ///   - isEmptyCounted: whether runs count in whose audience nobody was.
    ///   - limit: how many at most.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    static func begun(
        of campaign: String, app: String, in folder: String, before moment: Timestamp? = nil, isEmptyCounted: Bool = true, limit: Int
    ) throws -> [RunStore] {
        var found: [RunStore] = []
        for name in try names(ofRunsOf: campaign, in: folder).reversed() where found.count < limit {
            guard let run = try? RunStore(path: RunFile.join(folder, name), readOnly: true), run.misnamed == nil, run.plan.retryOf == nil,
                !run.plan.isTest, run.plan.app == app, isEmptyCounted || run.plan.audience > 0,
                moment.map({ run.plan.plannedAt < $0 }) ?? true, let status = try? run.status(), status.startedAt != nil
            else { continue }
            run.close()
            found.append(run)
        }
        return found
    }

    /// Runs of a campaign that processes are sending just now, or have paused; also retries and tests.
    /// - Throws: `Diagnostic`: the folder cannot be listed; whether one of them is being sent cannot be seen, or which it is.
    public static func beingSent(of campaign: String, in folder: String) throws -> [RunStore] {
        try names(ofRunsOf: campaign, in: folder).compactMap { name -> RunStore? in
            let path = RunFile.join(folder, name)
            switch SendingLock.look(run: path) {
            case .free: return nil
            case .held(let since):
                guard since > 0 else { return nil }
                do { return try RunStore(path: path, readOnly: true) } catch {
                    if RunFile.kind(path) == .missing { return nil }
                    throw mayBeSending(campaign, path)
                }
            case .hidden: throw mayBeSending(campaign, path)
            }
        }.filter { $0.misnamed == nil }
    }

    private static func mayBeSending(_ campaign: String, _ path: String) -> Diagnostic {
        Diagnostic(
            "another run of '\(campaign)' may be being sent: this user may not read its file or its lock", file: path,
            remedy: "Nothing was sent. Ask who owns that file, or send as that user: two runs at once would reach everybody twice.")
    }

    /// Runs of a campaign that were begun, as the record knows or their own files say, or that a process is about to send, oldest first; also retries and
    /// tests. Files that cannot be opened are passed over.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public static func begun(of campaign: String, in folder: String, known: HistorySnapshot) throws -> [RunStore] {
        let begun = known.begun(of: campaign)
        return try names(ofRunsOf: campaign, in: folder).compactMap { name in
            let path = RunFile.join(folder, name)
            guard let run = try? RunStore(path: path, readOnly: true), run.misnamed == nil else { return nil }
            if begun[run.plan.id] != nil || SendingLock.isSending(run: path) { return run }
            // The record may have been put back from a backup, or be gone.
            defer { run.close() }
            return (try? run.hasBegun()) ?? true ? run : nil
        }
    }

    /// Ids of the runs of a campaign that processes are sending just now, or have paused, or may have.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public static func idsBeingSent(of campaign: String, in folder: String) throws -> [String] {
        try names(ofRunsOf: campaign, in: folder).compactMap { name in
            switch SendingLock.look(run: RunFile.join(folder, name)) {
            case .free, .held(since: 0): nil
            case .held, .hidden: String(name.dropLast(RunFile.suffix.count))
            }
        }
    }

    private static func names(ofRunsOf campaign: String, in folder: String) throws -> [String] {
        try RunFile.names(in: folder).filter { name in
            RunFile.isRun(name) && RunID.campaign(of: name.dropLast(RunFile.suffix.count)).map { $0 == campaign } ?? false
        }
    }

    /// The newest runs of an app's campaign that were begun and have an audience, newest first.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public static func begunForSomebody(of campaign: String, app: String, in folder: String, limit: Int = 10) throws -> [RunStore] {
        try begun(of: campaign, app: app, in: folder, isEmptyCounted: false, limit: limit)
    }

    /// Runs of the campaign that were planned before this one, from the same folder, newest first.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public func earlierRuns(limit: Int = 10) throws -> [RunStore] {
        if plan.isTest || plan.retryOf != nil { return [] }
        return try Self.begun(of: plan.campaign, app: plan.app, in: RunDiagnostics.folder(of: path), before: plan.plannedAt, limit: limit)
    }
}
