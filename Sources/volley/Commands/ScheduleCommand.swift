import Workspace
import Base
import Campaigns
import Runs
import Sending
import Automation

/// `volley schedule`: waits, and sends each campaign at its time.
public enum ScheduleCommand {
    /// Runs until it is interrupted, or its record cannot be read or written.
    /// - Parameters:
    ///   - paths: campaign files, and folders of them.
    ///   - address: where Prometheus fetches metrics; nil for nowhere.
    public static func run(
        _ paths: [String], metricsAt address: String? = nil, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        try HangupSignal.expect(console)
        Interruption.install()
        let metrics = LatestMetrics(isWanted: address != nil)
        let port = try address.map { try MetricsPort($0) { metrics.text } }
        defer { port?.close() }
        let (project, catalog) = try project(paths, options)
        let files = try ScheduleFiles(paths, catalog: catalog, in: options.project)
        let lock = try sayingObstacles(project, catalog, console) { try catalog.schedule.lock() }
        let terminal = ScheduleTerminal.observer(console), manager = ServiceManager()
        let observer = ScheduleObserver { event in
            terminal(event)
            tell(manager, of: event)
            if case .tick = event { HangupSignal.answer(console) }
        }
        let rights = AccountRights(nil, files)
        let stageOptions = ScheduleOptions(
            observer: observer, cancellation: Interruption.process,
            context: SendingContext(threads: options.threads, cancellation: Interruption.process),
            memory: options.memory, metrics: metrics)
        let daemon = try sayingObstacles(project, catalog, console) {
            try ScheduleDaemon(
                files: files, project: project, lock: lock, rights: { rights.refusal(of: $0) },
                confines: { rights.confines(file: $0) }, stageOptions)
        }
        if let flaw = manager.flaw { console.warn(flaw) }
        observer(.started(record: catalog.schedule.place))
        if let port { console.say("Metrics are at http://\(port.address)/metrics.") }
        switch try daemon.run() {
        case .cancelled: return .interrupted
        case .recordLost: return .stopped
        }
    }

    /// If the record cannot be used, first lists the files of another user: the error itself names
    /// one file, and no owner.
    private static func sayingObstacles<Value>(
        _ project: Project, _ catalog: RunsFolder, _ console: Console, _ body: () throws -> Value
    ) throws -> Value {
        do { return try body() } catch {
            let said = Diagnostic(explaining: error).message
            var inspection = ProjectInspection(project, catalog)
            console.show(inspection.obstacles().filter { $0.message != said })
            throw error
        }
    }

    private static func tell(_ manager: ServiceManager, of event: ScheduleEvent) {
        switch event {
        case .started: manager.ready()
        case .tick: manager.alive()
        case .next(let campaign, _, let next?, _): manager.status("\(campaign) is next at \(next.begins)")
        case .sending(let key, let run): manager.status("sending \(key) as \(run)")
        case .ended(let key, let state, _): manager.status("\(key) is \(state.rawValue)")
        case .ending, .recordLost: manager.stopping()
        default: break
        }
    }

    /// Shows the next times, whether or not `volley schedule` is running.
    public static func list(_ paths: [String], options: CommonOptions, console: Console) throws -> ExitStatus {
        let (project, catalog) = try project(paths, options)
        let files = try ScheduleFiles(paths, catalog: catalog, in: options.project)
        let now = Timestamp.now()
        let saved = try catalog.schedule.read(since: now.adding(seconds: -ScheduleList.daysBack * 86_400))
        let list = ScheduleList(
            files.read(now: now), saved: saved, isAtWork: catalog.schedule.isAtWork,
            here: ZoneDatabase.system.displayZone, now: now,
            needsApproval: { project.app(named: $0)?.needsApproval ?? false }, isPaused: { isPaused($0, in: catalog) })
        try options.isJSON ? console.out(list.json) : console.out(list.text(colour: console.colour))
        return .done
    }

    /// Whether a run is paused, as far as its file can be read.
    private static func isPaused(_ id: String, in catalog: RunsFolder) -> Bool {
        guard let run = try? catalog.open(id) else { return false }
        defer { run.close() }
        return (try? run.status().state) == .paused
    }

    /// The volley.yaml with the folder of runs, the receivers of notices, and the files of
    /// `monitoring`: the one of `--config`, or that of the first file or folder.
    private static func project(_ paths: [String], _ options: CommonOptions) throws -> (Project, RunsFolder) {
        guard let first = paths.first,
            let path = options.project.file ?? Project.find(startingAt: ScheduleFiles.startingFolder(of: first))
        else {
            throw Diagnostic(
                "there is no volley.yaml next to these campaigns or above", remedy: "Name one with --config.")
        }
        let project = try Project.read(file: path).0
        return (project, project.catalog(options.project))
    }
}
