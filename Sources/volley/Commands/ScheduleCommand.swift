import Workspace
import Base
import Campaigns
import Runs
import Scheduling
import Sending
import Automation

/// `volley schedule`: waits, and sends each campaign at its time.
public enum ScheduleCommand {
    /// Runs until it is interrupted, or its record cannot be read or written.
    /// - Parameter paths: campaign files, and folders of them.
    public static func run(_ paths: [String], options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let (project, catalog) = try project(paths, options)
        let files = try ScheduleFiles(paths, catalog: catalog, in: options.project)
        let lock = try catalog.schedule.lock()
        let observer = console.scheduleObserver
        let rights = AccountRights(nil, files)
        let daemon = try ScheduleDaemon(
            files: files, project: project, lock: lock, rights: { rights.refusal(of: $0) },
            ScheduleAttendance(
                observer: observer, cancellation: Interruption.process,
                context: SendingContext(threads: options.threads, cancellation: Interruption.process),
                memory: options.memory))
        observer(.started(record: catalog.schedule.place))
        switch try daemon.run() {
        case .cancelled: return .interrupted
        case .recordLost: return .stopped
        }
    }

    /// Shows the next times, whether or not `volley schedule` is running.
    public static func list(_ paths: [String], options: CommonOptions, console: Console) throws -> ExitStatus {
        let (project, catalog) = try project(paths, options)
        let files = try ScheduleFiles(paths, catalog: catalog, in: options.project)
        let now = Timestamp.now()
        let saved = try catalog.schedule.read(since: now.adding(seconds: -ScheduleList.daysBack * 86_400))
        let list = ScheduleList(
            files.read(now: now), saved: saved, isAtWork: catalog.schedule.isAtWork, here: ZoneDatabase.system.machineZone, now: now,
            needsApproval: { project.app(named: $0)?.needsApproval ?? false })
        try options.isJSON ? console.out(list.json) : console.out(list.text(colour: console.colour))
        return .done
    }

    /// The volley.yaml that says where runs are kept, where notices go, and what to keep up to date: the one of `--config`, or that of the
    /// first file or folder.
    private static func project(_ paths: [String], _ options: CommonOptions) throws -> (Project, any RunCatalog) {
        guard let first = paths.first, let path = options.project.file ?? Project.find(startingAt: ScheduleFiles.startingFolder(of: first))
        else {
            throw Diagnostic("there is no volley.yaml next to these campaigns or above", remedy: "Name one with --config.")
        }
        let project = try Project.read(file: path).0
        return (project, project.catalog(options.project))
    }
}
