import Base
import Campaigns
import Content
import Foundation
import PushServices
import Runs
import Testing
import Workspace

@testable import Automation
@testable import Sending

@Suite("Monitoring of schedules")
struct ScheduleMonitoringTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-monitoring-\(UUID().uuidString)")
    private let now = Timestamp(epochMilliseconds: 1_796_116_800_500)

    private func monitoring(_ lines: String, sending: SendingMetrics = SendingMetrics()) throws -> ScheduleMonitoring {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("volley.yaml")
        try Data("\(lines)\napps: {shop: {topic: a.b, environment: simulator}}\n".utf8).write(to: file)
        return ScheduleMonitoring(
            try Project.read(file: file.path).0, RunsFolder(folder.path), sending: sending, .silent)
    }

    private func status(isUp: Bool = true, mistakes: [String: Diagnostics] = [:]) throws -> ScheduleMonitoring.Status {
        func scheduledRun(_ campaign: String, _ state: ScheduledRun.State, problem: ScheduleProblem? = nil)
            -> ScheduledRun
        {
            ScheduledRun(
                key: .init(campaign: campaign, occurrence: "2026-12-01T09:00"), file: "/c/\(campaign).yaml",
                run: "run-\(campaign)",
                state: state,
                problem: problem, begins: Timestamp(epochSeconds: 1_796_115_600),
                ends: Timestamp(epochSeconds: 1_796_115_600),
                changedAt: now
            )
        }
        let schedule = Schedule(zone: .named(.utc), repeat: try CronRule("0 9 * * *"))
        let campaigns = ["sale", "tips"].map {
            Scheduler.Campaign(name: $0, app: "shop", file: "/c/\($0).yaml", schedule: schedule)
        }
        return .init(
            isUp: isUp, campaigns: Dictionary(uniqueKeysWithValues: campaigns.map { ($0.name, $0) }),
            next: ["sale": try #require(schedule.next(after: now))], open: [scheduledRun("tips", .waiting)],
            mistakes: mistakes,
            last: [scheduledRun("sale", .skipped, problem: .described("it was noticed too late"))])
    }

    @Test("a paused run is counted and listed as paused, and not as being sent")
    func paused() throws {
        var status = try status()
        status.open[0].state = .sending
        for isPaused in [false, true] {
            status.paused = isPaused ? ["run-tips"] : []
            let text = try monitoring("monitoring: {prometheus: v.prom}").metrics(status, at: now)
            #expect(text.contains("volley_schedule_open{state=\"paused\"} \(isPaused ? 1 : 0)\n"))
            #expect(text.contains("volley_schedule_open{state=\"sending\"} \(isPaused ? 0 : 1)\n"))
            guard case .array(let open)? = ScheduleMonitoring.document(status, at: now)["open"] else {
                Issue.record("no list")
                continue
            }
            #expect(
                open.map { $0["paused"] } == [.bool(isPaused)] && open.map { $0["state"]?.stringValue } == ["sending"])
        }
    }

    @Test(
        "metrics are in Prometheus' text format: every sample below its HELP and TYPE, no sample twice, labels escaped")
    func metrics() throws {
        let text = try monitoring("monitoring: {prometheus: v.prom}").metrics(try status(), at: now)
        var family = "", seen: Set<Substring> = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# HELP ") { family = String(line.split(separator: " ")[2]) }
            if line.hasPrefix("#") {
                let types = ["gauge", "counter", "histogram"].map { "# TYPE \(family) \($0)" }
                #expect(line.hasPrefix("# HELP \(family) ") || types.contains(String(line)))
                continue
            }
            #expect(line.contains(#/^[a-z_]+(\{([a-z]+="[^"\\]*",?)+\})? -?[0-9.e+]+$/#), "\(line)")
            #expect(line.hasPrefix(family + "{") || line.hasPrefix(family + " "), "\(line)")
            #expect(seen.insert(line.prefix { $0 != " " }).inserted, "\(line)")
        }
        #expect(text.contains("volley_up 1\n") && text.hasSuffix("\n"))
        #expect(text.contains("volley_schedule_next_timestamp_seconds{app=\"shop\",campaign=\"sale\"} 1796202000\n"))
        #expect(text.contains("volley_schedule_open{state=\"waiting\"} 1\n"))
        #expect(text.contains("volley_schedule_last_state{app=\"shop\",campaign=\"sale\",state=\"skipped\"} 1\n"))
        #expect(text.contains("volley_schedule_last_state{app=\"shop\",campaign=\"sale\",state=\"finished\"} 0\n"))
        #expect(MetricsText.escaped("a\"b\\c\nd") == #"a\"b\\c\nd"#)
    }

    @Test(
        "devices that were left out on purpose, by `frequency` or by a person who cancelled the run, are not missed",
        arguments: [(ScheduledRun.State.finished, 40), (.stopped, 40), (.cancelled, 0)])
    func leftOut(state: ScheduledRun.State, missed: Int) throws {
        let monitoring = try monitoring("monitoring: {prometheus: v.prom}")
        var status = try status()
        status.last[0].state = state
        var figures = RunFigures()
        figures.outcomes = [.accepted: 900, .unsent: 100]
        figures.reasons = [OwnReason.frequencyCap.rawValue: 60, OwnReason.cancelled.rawValue: 40]
        monitoring.figures = ["run-sale": figures]
        let text = monitoring.metrics(status, at: now)
        #expect(text.contains("volley_last_run_missed{app=\"shop\",campaign=\"sale\"} \(missed)\n"))
    }

    @Test("the health file says what is wrong, and that it has ended")
    func health() throws {
        let mistakes = ["/c/broken.yaml": Diagnostics(Diagnostic("unknown key 'titel'", file: "/c/broken.yaml"))]
        let document = ScheduleMonitoring.document(try status(mistakes: mistakes), at: now)
        #expect(document["status"]?.stringValue == "problems")
        guard case .array(let problems)? = document["problems"] else {
            Issue.record("no problems: \(document.text)")
            return
        }
        let messages = problems.compactMap { $0["message"]?.stringValue }
        #expect(
            messages.count == 3 && messages[0].contains("titel") && messages[1].contains("is waiting for approval")
                && messages[2].contains("too late"))
        #expect(ScheduleMonitoring.document(try status(isUp: false), at: now)["status"]?.stringValue == "stopped")
        var obstructed = try status()
        let campaign = try #require(obstructed.campaigns.values.first)
        obstructed.obstacles = [
            Diagnostic("there is no such file", at: SourcePosition(file: campaign.file, line: 3, column: 28)),
            Diagnostic("you may not write the file", file: "/runs/sent.db"),
        ]
        guard case .array(let found)? = ScheduleMonitoring.document(obstructed, at: now)["problems"] else { return }
        #expect(found[0]["campaign"]?.stringValue == campaign.name && found[0]["line"]?.text == "3")
        #expect(found[1]["campaign"] == .null && found[1]["line"] == .null)
    }

    @Test(
        "a run that finished is a problem when some were never sent to, or many failed or got no answer",
        arguments: [
            [:], [.accepted: 30, .unsent: 30], [.accepted: 30, .unknown: 30], [.accepted: 30, .failed: 30],
            [.accepted: 30, .rejected: 30],
            // A few fail in every campaign.
            [.accepted: 48, .unknown: 6, .failed: 6],
        ] as [[Outcome: Int]])
    func missed(outcomes: [Outcome: Int]) throws {
        var status = try status()
        status.open = []
        var figures = RunFigures()
        figures.outcomes = outcomes
        (status.last[0].state, status.last[0].problem) = (.finished, figures.problem(of: 60))
        let document = ScheduleMonitoring.document(status, at: now)
        let isWell = outcomes[.accepted] != 30
        #expect(document["status"]?.stringValue == (isWell ? "ok" : "problems"))
        #expect(document.text.contains("30 of 60") != isWell)
    }

    @Test(
        "a run that was finished by hand is no problem; one that was stopped by hand is",
        arguments: [ScheduledRun.State.finished, .stopped])
    func byHand(state: ScheduledRun.State) throws {
        var status = try status()
        status.open = []
        (status.last[0].state, status.last[0].problem) = (state, .sentByHand)
        #expect(
            ScheduleMonitoring.document(status, at: now)["status"]?.stringValue
                == (state == .finished ? "ok" : "problems"))
    }

    @Test("a process that ended by itself, or that sends nothing without its record, has a problem")
    func ended() throws {
        var status = try status(isUp: false)
        (status.open, status.last) = ([], [])
        #expect(ScheduleMonitoring.document(status, at: now)["problems"] == .array([]))
        status.trouble = Diagnostic("the record was removed", file: "/r/schedule.sqlite")
        let document = ScheduleMonitoring.document(status, at: now)
        #expect(document["status"]?.stringValue == "stopped")
        #expect(
            document["problems"]?.text.contains("has ended by itself: the record was removed") == true,
            "\(document.text)")
        var working = try self.status(isUp: true)
        working.trouble = status.trouble
        let problems = ScheduleMonitoring.document(working, at: now)["problems"]?.text
        #expect(
            problems?.contains("volley schedule sends nothing: the record was removed") == true, "\(problems ?? "")")
    }

    @Test("a store that is away is a problem, with its place, since when, and which times wait for it")
    func storeAwayIsProblem() throws {
        var status = try status()
        (status.open, status.last) = ([], [])
        #expect(ScheduleMonitoring.document(status, at: now)["status"]?.stringValue == "ok")
        let why = Diagnostic(
            "the store cannot be reached: the server does not answer",
            at: SourcePosition(file: "/v/volley.yaml", line: 2, column: 9), remedy: "Check host and port.")
        let keys = ["sale", "tips", "news"].map { ScheduledRun.Key(campaign: $0, occurrence: "2026-12-01T09:00") }
        for (count, times) in [" ", " \(keys[0]) waits for it. ", " \(keys[0]) and 1 other time wait for it. "]
            .enumerated()
        {
            status.storeAbsence = .init(why: why, since: now, waiting: Array(keys.prefix(count)))
            let document = ScheduleMonitoring.document(status, at: now)
            #expect(document["status"]?.stringValue == "problems")
            guard case .array(let problems)? = document["problems"] else { throw Diagnostic("no problems") }
            #expect(
                problems.map { $0["message"]?.stringValue } == [
                    "until the store can be reached, no time is sent; it has been away since \(now).\(times)"
                        + "the store cannot be reached: the server does not answer. Check host and port."
                ])
            #expect(problems[0]["file"]?.stringValue == "/v/volley.yaml" && problems[0]["line"]?.text == "2")
        }
    }

    @Test("what names hold steers no terminal that shows the health file")
    func controlCharacters() throws {
        let file = "/c/e\u{1B}[2J\u{9B}\u{202E}.yaml"
        let document = ScheduleMonitoring.document(
            try status(mistakes: [file: Diagnostics(Diagnostic("unknown key '\u{7}'", file: file))]), at: now
        ).text
        #expect(!document.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{202E}" })
        #expect(
            try JSONValue(parsing: document)["problems"]?.text.contains("e\\\\u001B[2J\\\\u009B\\\\u202E.yaml") == true)
    }

    @Test("links that another user planted are not written through, and neither is what a link of ours may not replace")
    func plantedLinks() throws {
        let monitoring = try monitoring("monitoring: {prometheus: v.prom, health: health.json}")
        let victim = folder.appendingPathComponent("victim").path
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        for name in ["v.prom", "health.json", "v.prom.\(getpid()).partial", "health.json.\(getpid()).partial"] {
            let link = folder.appendingPathComponent(name).path
            try FileManager.default.createSymbolicLink(
                atPath: link, withDestinationPath: geteuid() == 0 ? victim : victim + ".sqlite")
            if geteuid() == 0 { #expect(lchown(link, 65_534, 65_534) == 0) }
        }
        try FileManager.default.copyItem(atPath: victim, toPath: victim + ".sqlite")
        monitoring.write(try status(), at: now)
        for file in [victim, victim + ".sqlite"] {
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.contains { $0.hasPrefix(".") })
    }

    @Test(
        "a missing folder of monitoring is a warning with what to do, and refuses no work; what a link leads to is refused"
    )
    func missingFolder() throws {
        func written(_ health: String) throws -> Project {
            _ = try monitoring("monitoring: {health: \(health)}")
            return try Project.read(file: folder.appendingPathComponent("volley.yaml").path).0
        }
        let project = try written("gone/health.json"), catalog = RunsFolder(folder.path)
        try ScheduleMonitoring.check(project, catalog)
        var inspection = ProjectInspection(project, catalog)
        let obstacles = inspection.obstacles()
        #expect(obstacles.map(\.severity) == [.warning], "\(obstacles)")
        #expect(
            obstacles.first?.message.hasSuffix("gone does not exist") == true
                && obstacles.first?.remedy?.hasPrefix("Make the folder") == true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.json", withDestinationPath: "gone/health.json")
        let refused = try written("link.json")
        #expect(throws: Diagnostic.self) { try ScheduleMonitoring.check(refused, catalog) }
    }

    @Test("a link of ours leads to its file, which is replaced, and stays")
    func ownLink() throws {
        let monitoring = try monitoring("monitoring: {prometheus: v.prom}")
        let link = folder.appendingPathComponent("v.prom").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "behind.prom")
        for _ in 0..<2 { monitoring.write(try status(), at: now) }
        #expect(
            try String(contentsOf: folder.appendingPathComponent("behind.prom"), encoding: .utf8).contains(
                "volley_up 1\n"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "behind.prom")
    }

    @Test(
        "no file of monitoring replaces a run, a record, a campaign, volley.yaml, an export or a key",
        arguments: [
            "run.sqlite", "sent.db", "schedule.lock", "campaign.yaml", "volley.yaml", "devices.csv", "AuthKey.p8",
            "push.p12",
        ])
    func precious(name: String) throws {
        let contents = ["devices.csv": "device_token,tags\naa00,news\n", "AuthKey.p8": "-----BEGIN PRIVATE KEY-----\n"]
        let monitoring = try monitoring("monitoring: {health: \(name)}")
        let file = folder.appendingPathComponent(name)
        if name != "volley.yaml" { try Data((contents[name] ?? "precious").utf8).write(to: file) }
        let before = try Data(contentsOf: file)
        monitoring.write(try status(), at: now)
        #expect(try Data(contentsOf: file) == before)
    }

    @Test(
        "a service that has taken no push for a minute is a problem with its app, until it answers or the run is paused or ends"
    )
    func silentService() throws {
        let sending = SendingMetrics()
        let plan = RunPlan(
            id: "r", campaign: "tips", app: "shop", campaignFile: "/c/tips.yaml", campaignSource: "",
            projectFile: "volley.yaml",
            seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: now, planHash: "", rows: 10, audience: 10,
            skipped: [:],
            settings: .success(
                RunSettings(
                    environment: .sandbox, topic: "com.example.shop", pushType: .alert,
                    renderingRules: MessageCatalog.renderingRules)),
            preview: .object([]))
        let service = PushServices.standard
        let silent = SilentService(
            service: service, endpoint: "localhost:2197", isConnected: true, seconds: 4, waiting: 7)
        func problem(after seconds: Double) throws -> String? {
            var status = try status()
            (status.open, status.last) = ([], [])
            status.silentServices = sending.longSilences(uptime: Heartbeats.uptime + seconds)
            let document = ScheduleMonitoring.document(status, at: now)
            guard document["status"] != .string("ok") else { return nil }
            return document["problems"]?.text
        }
        sending.note(.silent(silent), of: plan)
        #expect(try problem(after: 50) == nil, "a short silence is none")
        let words = try #require(try problem(after: 116))
        #expect(
            words.contains("(localhost:2197) has taken no push of the app shop for 2 min: 7 devices of the run r wait"),
            "\(words)")
        for end in [RunEvent.answersAgain(service), .paused(run: "r"), .progressOver] {
            sending.note(.silent(silent), of: plan)
            #expect(try problem(after: 90) != nil)
            sending.note(end, of: plan)
            #expect(try problem(after: 90) == nil, "\(end)")
        }
    }

    @Test("that the store is away is said at once and every ten minutes, and that it is back once")
    func storeAbsence() {
        var absence = StoreOutageReports()
        let news = [
            (false, 0.0), (true, 5), (true, 6), (true, 604), (true, 605), (true, 700), (false, 725), (false, 726),
            (true, 800),
        ]
        .compactMap { absence.look(isAway: $0.0, uptime: $0.1) }
        #expect(news == [.away(seconds: 0), .away(seconds: 600), .back(seconds: 720), .away(seconds: 0)])
    }

    @Test("files appear whole beside what they replace, and one that cannot be written harms nothing")
    func files() throws {
        let monitoring = try monitoring("monitoring: {prometheus: v.prom, health: nowhere/health.json}")
        monitoring.write(try status(), at: now)
        monitoring.write(try status(isUp: false), at: now)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["v.prom", "volley.yaml"])
        #expect(
            try String(contentsOf: folder.appendingPathComponent("v.prom"), encoding: .utf8).contains("volley_up 0\n"))
    }
}
