import Base
import Campaigns
import Glibc
import Reports
import Runs
import Synchronization
import Workspace

/// Keeps the files of `monitoring` up to date. Each appears whole or not at all. A file that cannot
/// be written causes one warning.
final class ScheduleMonitoring {
    /// What both files are written from.
    struct Status: Sendable {
        var isUp: Bool
        var campaigns: [String: Scheduler.Campaign]
        var next: [String: Occurrence]
        var open: [ScheduledRun]
        var mistakes: [String: Diagnostics]
        /// The last scheduled run of each campaign that ended.
        var last: [ScheduledRun]
        /// The jobs that show no sign of life.
        var silentJobs: [Watchdog.SilentJob] = []
        /// The services that have taken no push for a minute and more.
        var silentServices: [SendingMetrics.Silence] = []
        /// Why the process ended by itself, or sends nothing; nil for one that works, or that was
        /// told to end.
        var trouble: Diagnostic?
        /// The store that machines share does not answer; nil while it does.
        var storeAbsence: StoreAbsence?
        /// The files that this user cannot read, write or start although the work needs it.
        var obstacles: [Diagnostic] = []
        /// The runs that are paused.
        var paused: Set<String> = []

        func isPaused(_ scheduledRun: ScheduledRun) -> Bool {
            scheduledRun.state == .sending && scheduledRun.run.map(paused.contains) ?? false
        }
    }

    /// Why the store does not answer, since when, and the times that have come and wait for it.
    struct StoreAbsence: Sendable {
        var why: Diagnostic
        var since: Timestamp
        var waiting: [ScheduledRun.Key] = []

        var sentence: String {
            let times =
                switch waiting.count {
                case 0: ""
                case 1: " \(waiting[0]) waits for it."
                default: " \(waiting[0]) and \(TextFormat.counted(waiting.count - 1, one: "other time")) wait for it."
                }
            return "until the store can be reached, no time is sent; it has been away since \(since).\(times) "
                + why.message + (why.remedy.map { ". \($0)" } ?? "")
        }
    }

    private let observer: Observer<Diagnostic>
    let sending: SendingMetrics
    private let prometheus: String?, health: String?
    let catalog: RunsFolder
    let apps: [App]
    let projectFile: String
    private var hasFailed: Set<String> = []
    var figures: [String: RunFigures?] = [:]
    var suppressed = SuppressedCounts()
    /// The last metrics, for scrapers.
    private let latest: LatestMetrics

    /// - Parameters:
    ///   - sending: the results and the state of this process's runs.
    ///   - latest: gets the metrics, too.
    ///   - observer: receives the error of a file that cannot be written.
    package init(
        _ project: Project, _ catalog: RunsFolder, sending: SendingMetrics, latest: LatestMetrics = LatestMetrics(),
        _ observer: Observer<Diagnostic>
    ) {
        func path(_ text: SourceText?) -> String? { text.map { FilePaths.resolve($0.value, besideFile: project.file) } }
        prometheus = path(project.monitoring?.prometheus)
        health = path(project.monitoring?.health)
        self.catalog = catalog
        (apps, projectFile) = (project.apps, project.file)
        self.sending = sending
        self.latest = latest
        self.observer = observer
    }

    /// Checks the files of `monitoring` before work begins.
    /// - Throws: a `Diagnostic` for one that leads to something that is not an output, or would
    ///   replace something that must not be lost.
    static func check(_ project: Project, _ catalog: RunsFolder) throws(Diagnostic) {
        if let refused = ProjectInspection.refusedOutputs(of: project).first { throw refused }
        for output in [project.monitoring?.prometheus, project.monitoring?.health].compactMap(\.self) {
            try check(FilePaths.resolve(output.value, besideFile: project.file), catalog)
        }
    }

    private static func check(_ file: String, _ catalog: RunsFolder) throws(Diagnostic) {
        try ResultFileCheck.check(file, option: "monitoring", what: "file of `monitoring`", runsFolder: catalog.place)
    }

    func write(_ status: Status, at now: Timestamp) {
        if prometheus != nil || latest.isWanted {
            let text = metrics(status, at: now)
            latest.set(text)
            if let prometheus { replace(prometheus, with: text) }
        }
        writeHealth(status, at: now)
    }

    /// Writes the health file alone.
    func writeHealth(_ status: Status, at now: Timestamp) {
        if let health { replace(health, with: Self.document(status, at: now).indentedText + "\n") }
    }

    private func replace(_ file: String, with text: String) {
        do throws(Diagnostic) {
            try Self.check(file, catalog)
            try FilePaths.replace(file, bytes: Array(text.utf8), mode: 0o644)
            hasFailed.remove(file)
        } catch {
            if hasFailed.insert(file).inserted { observer(error) }
        }
    }

    // MARK: - Health

    /// The health file: problems, for people and for programs that watch the machine.
    static func document(_ status: Status, at now: Timestamp) -> JSONValue {
        var problems: [JSONValue] = []
        func problem(_ campaign: String?, file: String, line: Int? = nil, message: String) {
            problems.append(
                .object(pairs: [
                    ("campaign", campaign.map { .string($0) } ?? .null), ("file", .string(TextFormat.printable(file))),
                    ("line", line.map { .integer(Int64($0)) } ?? .null),
                    ("message", .string(TextFormat.printable(message))),
                ]))
        }
        if let trouble = status.trouble {
            let what = status.isUp ? "sends nothing" : "has ended by itself"
            problem(nil, file: trouble.file ?? "", message: "volley schedule \(what): \(trouble.message)")
        }
        if let absence = status.storeAbsence {
            let place = absence.why.position
            problem(nil, file: place?.file ?? absence.why.file ?? "", line: place?.line, message: absence.sentence)
        }
        for obstacle in status.obstacles {
            let file = obstacle.file ?? obstacle.position?.file ?? ""
            problem(
                status.campaigns.values.first { $0.file == file }?.name, file: file, line: obstacle.position?.line,
                message: obstacle.message + (obstacle.remedy.map { ". \($0)" } ?? ""))
        }
        for silence in status.silentJobs {
            let scheduledRun = status.open.first { $0.key == silence.job.key }
            problem(silence.job.key?.campaign, file: scheduledRun?.file ?? "", message: silence.text)
        }
        for silence in status.silentServices {
            problem(silence.campaign, file: status.campaigns[silence.campaign]?.file ?? "", message: silence.sentence)
        }
        for (file, mistakes) in status.mistakes.sorted(by: { $0.key < $1.key }) {
            problem(
                status.campaigns.values.first { $0.file == file }?.name, file: file,
                line: mistakes.all.first?.position?.line,
                message: mistakes.all.first?.description ?? "")
        }
        for scheduledRun in status.open {
            guard let why = scheduledRun.problem?.sentence else { continue }
            problem(
                scheduledRun.key.campaign, file: scheduledRun.file,
                message: "\(scheduledRun.key) will be tried again: \(why)")
        }
        for scheduledRun in status.open where scheduledRun.state == .waiting {
            problem(
                scheduledRun.key.campaign, file: scheduledRun.file,
                message: "\(scheduledRun.key) is waiting for approval")
        }
        for scheduledRun in status.last where scheduledRun.isProblem {
            problem(
                scheduledRun.key.campaign, file: scheduledRun.file,
                message:
                    "\(scheduledRun.key) was \(scheduledRun.state.rawValue): \(scheduledRun.problem?.sentence ?? "")")
        }
        return .object(pairs: [
            ("status", .string(!status.isUp ? "stopped" : problems.isEmpty ? "ok" : "problems")),
            ("time", .string(now.description)),
            ("process", .integer(Int64(getpid()))), ("version", .string(volleyVersion)), ("problems", .array(problems)),
            (
                "open",
                .array(status.open.sorted { $0.begins < $1.begins }.map { $0.json(isPaused: status.isPaused($0)) })
            ),
            (
                "next",
                .object(
                    pairs: status.next.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value.begins.description)) }
                )
            ),
        ])
    }
}

extension ScheduledRun {
    /// Whether it ended without sending to every device, and not because a person wanted it. It
    /// makes no difference whether it was sent at its time or by hand.
    fileprivate var isProblem: Bool {
        switch state {
        case .stopped: true
        case .skipped: !isLeftOut
        case .finished: problem != nil && problem != .sentByHand
        default: false
        }
    }

    /// Whether a person wanted it so.
    var isLeftOut: Bool { if case .leftOut = problem { true } else { false } }

    /// The object that the health file lists under `open`.
    func json(isPaused: Bool) -> JSONValue {
        .object(pairs: [
            ("campaign", .string(key.campaign)), ("occurrence", .string(key.occurrence)),
            ("state", .string(state.rawValue)),
            ("paused", .bool(isPaused)),
            ("run", run.map { .string($0) } ?? .null), ("reason", .string(problem?.sentence ?? "")),
            ("begins", .string(begins.description)),
            ("ends", .string(ends.description)),
        ])
    }
}

/// The metrics as they were last written, for scrapers, which read them on another thread.
public final class LatestMetrics: Sendable {
    /// Without a scraper, no metrics are made.
    let isWanted: Bool
    private let latest = Mutex("")

    /// - Parameter isWanted: whether a scraper fetches them.
    public init(isWanted: Bool = false) { self.isWanted = isWanted }

    /// The text, in Prometheus' format; blank before the first.
    public var text: String { latest.withLock { $0 } }

    func set(_ text: String) { latest.withLock { $0 = text } }
}
