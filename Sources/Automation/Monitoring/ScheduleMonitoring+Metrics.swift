import Base
import Campaigns
import Delivery
import PushServices
import Reports
import Runs
import Sending
import Workspace

/// What Prometheus is told. Source: https://prometheus.io/docs/instrumenting/exposition_formats/.
extension ScheduleMonitoring {
    /// The metrics, for a file or for scrapers.
    func metrics(_ status: Status, at now: Timestamp) -> String {
        var text = MetricsText()
        text.gauge(
            "volley_up", "Whether volley schedule is at work: 1 if it is, 0 after it ended.",
            [([], status.isUp ? 1 : 0)])
        text.gauge(
            "volley_report_timestamp_seconds", "When this was written.", [([], Double(now.epochMilliseconds) / 1000)])
        addSchedule(status, to: &text)
        addOutcomes(status, to: &text)
        addPushes(to: &text)
        addRuns(to: &text)
        addSuppressed(at: now, to: &text)
        return text.text
    }

    private func addSchedule(_ status: Status, to text: inout MetricsText) {
        text.gauge(
            "volley_schedule_files_with_mistakes", "Campaign files with mistakes; nothing is sent from them.",
            [([], Double(status.mistakes.count))])
        text.gauge(
            "volley_schedule_next_timestamp_seconds", "When the campaign is sent next.",
            status.next.sorted { $0.key < $1.key }.map {
                (labels($0.key, status), Double($0.value.begins.epochSeconds))
            })
        text.gauge(
            "volley_schedule_open",
            "Times of schedules that are being planned, wait for approval, are being sent, or are paused.",
            ScheduledRun.State.allCases.filter(\.isOpen).map { state in
                ([("state", state.rawValue)], Double(status.open.count { $0.state == state && !status.isPaused($0) }))
            } + [([("state", "paused")], Double(status.open.count(where: status.isPaused)))])
        text.gauge(
            "volley_schedule_last_timestamp_seconds", "The last time of the campaign's schedule that ended.",
            status.last.map { (labels($0.key.campaign, status), Double($0.begins.epochSeconds)) })
        text.gauge(
            "volley_schedule_last_state",
            "How that last time ended: 1 for its state, 0 for the others; a person had it left out: left_out.",
            status.last.flatMap { scheduledRun -> [MetricsText.Sample] in
                let ended = scheduledRun.isLeftOut ? "left_out" : scheduledRun.state.rawValue
                let words = ScheduledRun.State.allCases.filter { !$0.isOpen }.map(\.rawValue) + ["left_out"]
                return words.map { state in
                    (labels(scheduledRun.key.campaign, status) + [("state", state)], state == ended ? 1 : 0)
                }
            })
        text.gauge(
            "volley_schedule_lateness_seconds", "By how much the sending of the campaign's last time began too late.",
            sending.lateness.map { ([("app", $0.label.app), ("campaign", $0.label.campaign)], $0.seconds) })
    }

    private func addOutcomes(_ status: Status, to text: inout MetricsText) {
        var present: [String: RunFigures?] = [:], samples: [MetricsText.Sample] = [], missed: [MetricsText.Sample] = []
        for scheduledRun in status.last {
            guard let run = scheduledRun.run, scheduledRun.state != .skipped else { continue }
            // The figures of an ended run do not change, so they are read once.
            let known = figures[run] ?? figures(of: run)
            present[run] = .some(known)
            for outcome in Outcome.allCases {
                guard let count = known?.outcomes[outcome] else { continue }
                samples.append((labels(scheduledRun.key.campaign, status) + [("outcome", outcome.name)], Double(count)))
            }
            guard let known else { continue }
            // A person that cancels a run wants its devices to get nothing.
            let count = scheduledRun.state == .cancelled ? 0 : known.missed
            missed.append((labels(scheduledRun.key.campaign, status), Double(count)))
        }
        figures = present
        text.gauge(
            "volley_last_run_recipients", "Recipients of the campaign's last scheduled run, by outcome.", samples)
        text.gauge(
            "volley_last_run_missed",
            "Recipients of the campaign's last scheduled run that were never sent to, without those left out on purpose.",
            missed)
    }

    private func figures(of run: String) -> RunFigures? {
        guard let run = try? catalog.open(run) else { return nil }
        defer { run.close() }
        return try? run.figures()
    }

    private func labels(_ campaign: String, _ status: Status) -> [(String, String)] {
        [("app", status.campaigns[campaign]?.app ?? ""), ("campaign", campaign)]
    }

    private func addPushes(to text: inout MetricsText) {
        text.counter(
            "volley_pushes_total", "Recipients that got an outcome since this process started.",
            sending.outcomes.flatMap { label, counts in
                counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { outcome, count in
                    (
                        [
                            ("app", label.app), ("campaign", label.campaign), ("service", label.service),
                            ("outcome", outcome.name),
                        ],
                        Double(count)
                    )
                }
            })
        text.histogram(
            "volley_push_latency_seconds", "How long services took to answer since this process started.",
            bounds: SendingMetrics.Latencies.bounds,
            sending.latencies.map {
                ([("app", $0.label.app), ("service", $0.label.service)], $0.latencies.counts, $0.latencies.seconds)
            })
    }

    private func addRuns(to text: inout MetricsText) {
        let runs = sending.runs
        func ofRuns(_ name: String, _ help: String, _ value: (RunProgress) -> Double) {
            text.gauge(
                name, help,
                runs.map {
                    ([("app", $0.label.app), ("campaign", $0.label.campaign), ("run", $0.id)], value($0.progress))
                })
        }
        ofRuns("volley_run_audience", "Recipients of a run that is being sent.") { Double($0.total) }
        ofRuns("volley_run_claimed", "Recipients that were claimed so far, of a run that is being sent.") {
            Double($0.claimed)
        }
        ofRuns("volley_run_settled", "Recipients that have an outcome, of a run that is being sent.") {
            Double($0.done)
        }
        ofRuns("volley_run_pushes_per_second", "Recipients that got an outcome in the last seconds, per second.") {
            $0.rate
        }
        func ofSegments(_ name: String, _ help: String, _ value: (SegmentProgress) -> Double?) {
            text.gauge(
                name, help,
                runs.flatMap { run in
                    run.progress.segments.compactMap { segment in
                        value(segment).map {
                            ([("app", run.label.app), ("run", run.id), ("service", segment.service.name)], $0)
                        }
                    }
                })
        }
        ofSegments("volley_sending_connections", "Open connections to a service.") { Double($0.connections) }
        ofSegments(
            "volley_sending_in_flight", "Pushes that have left, or wait for another attempt, without an outcome."
        ) {
            Double($0.inFlight)
        }
        ofSegments("volley_sending_unrecorded", "Outcomes that are not on the disk yet.") { Double($0.unrecorded) }
        ofSegments(
            "volley_sending_throttle_per_second", "The rate to which the overload of a service slows it down.",
            \.throttle)
    }

    private func addSuppressed(at now: Timestamp, to text: inout MetricsText) {
        let counts = suppressed.counts(of: apps, projectFile: projectFile, in: catalog, at: now)
        text.gauge(
            "volley_suppressed_devices", "Devices that get no more pushes, as their app is gone or a person said so.",
            counts.map {
                ([("app", $0.app), ("service", $0.service), ("environment", $0.environment)], Double($0.devices))
            })
    }
}

/// How many devices are suppressed, counted once a minute.
struct SuppressedCounts {
    /// The devices of a list.
    struct Count {
        var app: String, service: String, environment: String, devices: Int
    }

    private static let seconds = 60.0
    private var last: (at: Timestamp, counts: [Count])?

    /// - Returns: the counts; an app with a mistake in its settings, and an unreadable list, have
    ///   none.
    mutating func counts(of apps: [App], projectFile: String, in catalog: RunsFolder, at now: Timestamp) -> [Count] {
        if let last, now >= last.at, now < last.at.adding(seconds: Self.seconds) { return last.counts }
        let counts = apps.flatMap { app in
            let services = (try? RunSettings(app, projectFile: projectFile, pushType: .alert).services) ?? []
            return services.compactMap { settings -> Count? in
                let list = catalog.suppression(
                    app: app.name.value, service: settings.service, environment: settings.listName)
                guard let devices = try? list.count() else { return nil }
                return Count(
                    app: app.name.value, service: settings.serviceName, environment: settings.environment.name,
                    devices: devices)
            }
        }
        last = (now, counts)
        return counts
    }
}

/// Lines in the text format of Prometheus.
struct MetricsText {
    /// Labels with their values, and the value of a sample.
    typealias Sample = (labels: [(String, String)], value: Double)

    private(set) var text = ""

    mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) { add(name, type: "gauge", help, samples) }

    mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, type: "counter", help, samples)
    }

    /// - Parameters:
    ///   - bounds: the upper bounds of the buckets, rising.
    ///   - samples: labels, the number of values in each bucket that fit into no smaller one, and
    ///     the sum of all values.
    mutating func histogram(
        _ name: String, _ help: String, bounds: [Double],
        _ samples: [(labels: [(String, String)], counts: [Int], sum: Double)]
    ) {
        begin(name, type: "histogram", help)
        for sample in samples {
            var sum = 0
            for (place, count) in sample.counts.enumerated() {
                sum += count
                let bound = place < bounds.count ? JSONValue.double(bounds[place]).text : "+Inf"
                add("\(name)_bucket", sample.labels + [("le", bound)], Double(sum))
            }
            add("\(name)_sum", sample.labels, sample.sum)
            add("\(name)_count", sample.labels, Double(sum))
        }
    }

    private mutating func add(_ name: String, type: String, _ help: String, _ samples: [Sample]) {
        begin(name, type: type, help)
        for sample in samples { add(name, sample.labels, sample.value) }
    }

    private mutating func begin(_ name: String, type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func add(_ name: String, _ labels: [(String, String)], _ value: Double) {
        let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += "\(name)\(list.isEmpty ? "" : "{\(list)}") \(JSONValue.double(value).text)\n"
    }

    static func escaped(_ value: String) -> String {
        value.replacing(scalar: "\\", with: "\\\\").replacing(scalar: "\"", with: "\\\"").replacing(
            scalar: "\n", with: "\\n")
    }
}
