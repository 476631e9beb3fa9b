import Base
import Campaigns
import Glibc
import Reports
import Runs
import Scheduling

/// Keeps the files of `monitoring` up to date. Each appears whole or not at all. A file that cannot be written causes one warning.
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
    }

    private let observer: Observer<Diagnostic>
    private let counter: PushCounter
    private let prometheus: String?, health: String?
    private let catalog: any RunCatalog
    private var hasFailed: Set<String> = []
    private var figures: [String: RunFigures?] = [:]

    /// - Parameters:
    ///   - counter: counts the pushes of this process.
    ///   - observer: receives the error of a file that cannot be written.
    package init(_ project: Project, _ catalog: any RunCatalog, counting counter: PushCounter, _ observer: Observer<Diagnostic>) {
        func path(_ text: SourceText?) -> String? { text.map { FilePaths.resolve($0.value, besideFile: project.file) } }
        prometheus = path(project.monitoring?.prometheus)
        health = path(project.monitoring?.health)
        self.catalog = catalog
        self.counter = counter
        self.observer = observer
    }

    func write(_ status: Status, at now: Timestamp) {
        if let prometheus { replace(prometheus, with: metrics(status, at: now)) }
        writeHealth(status, at: now)
    }

    /// Writes the health file alone.
    func writeHealth(_ status: Status, at now: Timestamp) {
        if let health { replace(health, with: Self.document(status, at: now).indentedText + "\n") }
    }

    private func replace(_ file: String, with text: String) {
        do throws(Diagnostic) {
            try ResultFileCheck.check(file, option: "monitoring", what: "file of `monitoring`", runsFolder: catalog.place)
            try FilePaths.replace(file, bytes: Array(text.utf8), mode: 0o644)
            hasFailed.remove(file)
        } catch {
            if hasFailed.insert(file).inserted { observer(error) }
        }
    }

    // MARK: - Health

    /// The health file: what is wrong, for people and for programs that watch the machine.
    static func document(_ status: Status, at now: Timestamp) -> JSONValue {
        var problems: [JSONValue] = []
        func problem(_ campaign: String?, file: String, message: String) {
            problems.append(
                .object(pairs: [
                    ("campaign", campaign.map { .string($0) } ?? .null), ("file", .string(TextFormat.printable(file))),
                    ("message", .string(TextFormat.printable(message))),
                ]))
        }
        for silence in status.silentJobs {
            let scheduledRun = status.open.first { $0.key == silence.job.key }
            problem(silence.job.key?.campaign, file: scheduledRun?.file ?? "", message: silence.text)
        }
        for (file, mistakes) in status.mistakes.sorted(by: { $0.key < $1.key }) {
            problem(status.campaigns.values.first { $0.file == file }?.name, file: file, message: mistakes.all.first?.description ?? "")
        }
        for scheduledRun in status.open {
            guard let why = scheduledRun.problem?.sentence else { continue }
            problem(scheduledRun.key.campaign, file: scheduledRun.file, message: "\(scheduledRun.key) will be tried again: \(why)")
        }
        for scheduledRun in status.open where scheduledRun.state == .waiting {
            problem(scheduledRun.key.campaign, file: scheduledRun.file, message: "\(scheduledRun.key) is waiting for approval")
        }
        // A finished run has a problem when it did not send to every device.
        for scheduledRun in status.last
        where scheduledRun.state == .stopped || scheduledRun.state == .skipped && !scheduledRun.isLeftOut
            || scheduledRun.state == .finished && scheduledRun.problem != nil
        {
            problem(
                scheduledRun.key.campaign, file: scheduledRun.file,
                message: "\(scheduledRun.key) was \(scheduledRun.state.rawValue): \(scheduledRun.problem?.sentence ?? "")")
        }
        return .object(pairs: [
            ("status", .string(!status.isUp ? "stopped" : problems.isEmpty ? "ok" : "problems")), ("time", .string(now.description)),
            ("process", .integer(Int64(getpid()))), ("version", .string(volleyVersion)), ("problems", .array(problems)),
            ("open", .array(status.open.sorted { $0.begins < $1.begins }.map(\.json))),
            (
                "next",
                .object(
                    pairs: status.next.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value.begins.description)) })
            ),
        ])
    }

    // MARK: - Metrics

    /// The metrics file. Source: https://prometheus.io/docs/instrumenting/exposition_formats/.
    func metrics(_ status: Status, at now: Timestamp) -> String {
        var text = MetricsText()
        text.family("volley_up", type: "gauge", help: "Whether volley schedule is at work: 1 if it is, 0 after it ended.")
        text.add("volley_up", [], value: status.isUp ? 1 : 0)
        text.family("volley_report_timestamp_seconds", type: "gauge", help: "When this file was written.")
        text.add("volley_report_timestamp_seconds", [], value: Double(now.epochMilliseconds) / 1000)
        text.family("volley_schedule_files_with_mistakes", type: "gauge", help: "Campaign files with mistakes; nothing is sent from them.")
        text.add("volley_schedule_files_with_mistakes", [], value: Double(status.mistakes.count))
        text.family("volley_schedule_next_timestamp_seconds", type: "gauge", help: "When the campaign is sent next.")
        for (name, time) in status.next.sorted(by: { $0.key < $1.key }) {
            text.add("volley_schedule_next_timestamp_seconds", labels(name, status), value: Double(time.begins.epochSeconds))
        }
        text.family(
            "volley_schedule_open", type: "gauge", help: "Times of schedules that are being planned, wait for approval, or are being sent.")
        for state in ScheduledRun.State.allCases.filter(\.isOpen) {
            text.add("volley_schedule_open", [("state", state.rawValue)], value: Double(status.open.count { $0.state == state }))
        }
        text.family("volley_schedule_last_timestamp_seconds", type: "gauge", help: "The last time of the campaign's schedule that ended.")
        for scheduledRun in status.last {
            text.add(
                "volley_schedule_last_timestamp_seconds", labels(scheduledRun.key.campaign, status),
                value: Double(scheduledRun.begins.epochSeconds))
        }
        text.family("volley_schedule_last_state", type: "gauge", help: "How that last time ended: 1 for its state, 0 for the others.")
        for scheduledRun in status.last {
            for state in ScheduledRun.State.allCases.filter({ !$0.isOpen }) {
                let labels = labels(scheduledRun.key.campaign, status) + [("state", state.rawValue)]
                text.add("volley_schedule_last_state", labels, value: scheduledRun.state == state ? 1 : 0)
            }
        }
        addOutcomes(status, to: &text)
        text.family("volley_pushes_total", type: "counter", help: "Recipients that got an outcome since this process started.")
        for (label, count) in counter.counts {
            text.add(
                "volley_pushes_total", [("app", label.app), ("campaign", label.campaign), ("outcome", label.outcome.name)],
                value: Double(count))
        }
        return text.text
    }

    private func addOutcomes(_ status: Status, to text: inout MetricsText) {
        text.family("volley_last_run_recipients", type: "gauge", help: "Recipients of the campaign's last scheduled run, by outcome.")
        var present: [String: RunFigures?] = [:]
        for scheduledRun in status.last {
            guard let run = scheduledRun.run, scheduledRun.state != .skipped else { continue }
            // The figures of an ended run do not change, so they are read once.
            let known = figures[run] ?? figures(of: run)
            present[run] = .some(known)
            for outcome in Outcome.allCases {
                guard let count = known?.outcomes[outcome] else { continue }
                text.add(
                    "volley_last_run_recipients", labels(scheduledRun.key.campaign, status) + [("outcome", outcome.name)],
                    value: Double(count))
            }
        }
        figures = present
    }

    private func figures(of run: String) -> RunFigures? {
        guard let run = try? catalog.open(run) else { return nil }
        defer { run.close() }
        return try? run.figures()
    }

    private func labels(_ campaign: String, _ status: Status) -> [(String, String)] {
        [("app", status.campaigns[campaign]?.app ?? ""), ("campaign", campaign)]
    }
}

extension ScheduledRun {
    /// Whether a person wanted it so.
    var isLeftOut: Bool { if case .leftOut = problem { true } else { false } }

    /// The object that the health file lists under `open`.
    var json: JSONValue {
        .object(pairs: [
            ("campaign", .string(key.campaign)), ("occurrence", .string(key.occurrence)), ("state", .string(state.rawValue)),
            ("run", run.map { .string($0) } ?? .null), ("reason", .string(problem?.sentence ?? "")),
            ("begins", .string(begins.description)),
            ("ends", .string(ends.description)),
        ])
    }
}
