import Base
import Foundation
import TestCommands
import TestServers
import Testing

/// Volley as a service of the system: its messages to systemd, and its output for log collectors.
@Suite("a service of the system")
struct ServiceTests {
    private let folder: ProjectFolder

    init() throws {
        folder = try ProjectFolder(app: "environment: simulator")
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        try folder.write(
            "now.yaml",
            """
            name: now
            app: shop
            audience: {devices: devices.csv, everyone: true}
            content: {title: Hello, body: World}
            schedule: {at: \(formatter.string(from: Date(timeIntervalSinceNow: -180))), timezone: UTC}

            """)
    }

    private func wait(_ running: RunningVolley, _ what: Comment, _ condition: () -> Bool) throws {
        let end = Date(timeIntervalSinceNow: 60)
        while !condition() {
            try #require(running.isRunning, "ended before \(what): \(running.errorsSoFar)")
            try #require(Date() < end, "waited in vain for \(what): \(running.errorsSoFar)")
            usleep(20_000)
        }
    }

    private func end(_ running: RunningVolley) -> VolleyBinary.Result {
        kill(running.processID, SIGTERM)
        let result = running.finish()
        #expect(result.status == 130, "\(result.errors)")
        return result
    }

    @Test(
        "volley schedule says when it is ready, that it is alive, what it does, and that it ends; its programs learn nothing of that"
    )
    func manager() throws {
        let socket = try NotifySocket(folder.url.appendingPathComponent("notify").path)
        let project = folder.url.appendingPathComponent("volley.yaml")
        let text = try String(contentsOf: project, encoding: .utf8)
        try Data((text + "notices: [{command: [sh, -c, \"env > told.txt\"]}]\n").utf8).write(to: project)
        let running = try VolleyBinary.start(
            ["schedule", "."], in: folder.url, environment: ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "4000000"])
        try wait(running, "the end of the run") {
            socket.read().contains { $0.hasPrefix("STATUS=now") && $0.hasSuffix("is finished") }
        }
        try wait(running, "the notice") { folder.files(in: ".").contains("told.txt") }
        let signs = socket.read().count { $0 == "WATCHDOG=1" }
        try wait(running, "signs of life") { socket.read().count { $0 == "WATCHDOG=1" } >= signs + 2 }
        #expect(!socket.lines.contains("STOPPING=1"))
        _ = end(running)
        let lines = socket.read()
        #expect(lines.count { $0 == "READY=1" } == 1)
        #expect(lines.last == "STOPPING=1")
        let environment = try String(contentsOf: folder.url.appendingPathComponent("told.txt"), encoding: .utf8)
        #expect(
            environment.contains("PATH=") && !environment.contains("NOTIFY_SOCKET")
                && !environment.contains("WATCHDOG_USEC"))
    }

    @Test("its threads share one heap a core, and it holds less than 100 MB when a run has ended")
    func memory() throws {
        let socket = try NotifySocket(folder.url.appendingPathComponent("notify").path)
        let running = try VolleyBinary.start(
            ["schedule", "."], in: folder.url, environment: ["NOTIFY_SOCKET": socket.path])
        try wait(running, "the end of the run") {
            socket.read().contains { $0.hasPrefix("STATUS=now") && $0.hasSuffix("is finished") }
        }
        func proc(_ file: String) throws -> String {
            try String(contentsOfFile: "/proc/\(running.processID)/\(file)", encoding: .utf8)
        }
        let resident = try #require(try proc("status").firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Int($0.output.1) })
        // Heaps of threads begin at multiples of 64 MB. Source: HEAP_MAX_SIZE in glibc's
        // malloc/arena.c.
        let heaps = try proc("maps").matches(of: /(?m)^([0-9a-f]+)-[0-9a-f]+ rw-p 00000000 00:00 0 *$/).count {
            (UInt64($0.output.1, radix: 16) ?? 1) % (64 << 20) == 0
        }
        #expect((1...max(2, min(8, ProcessInfo.processInfo.activeProcessorCount))).contains(heaps), "\(heaps) heaps")
        #expect(resident < 100_000, "\(resident) kB")
        _ = end(running)
    }

    @Test(
        "SIGHUP from a manager of services is answered in the log, as often as it comes, and ends nothing; elsewhere it ends the process"
    )
    func hangup() throws {
        let socket = try NotifySocket(folder.url.appendingPathComponent("notify").path)
        let running = try VolleyBinary.start(
            ["schedule", "."], in: folder.url, environment: ["NOTIFY_SOCKET": socket.path])
        try wait(running, "the end of the run") {
            running.errorsSoFar.contains("now (") && running.errorsSoFar.contains("finished")
        }
        for count in 1...2 {
            kill(running.processID, SIGHUP)
            try wait(running, "the answer") {
                running.errorsSoFar.components(separatedBy: "SIGHUP: there is nothing to reload.").count > count
            }
        }
        #expect(!running.errorsSoFar.contains("Interrupted"), "\(running.errorsSoFar)")
        _ = end(running)
        let elsewhere = try VolleyBinary.start(["schedule", "."], in: folder.url)
        try wait(elsewhere, "being at work") { elsewhere.errorsSoFar.contains("now: ") }
        kill(elsewhere.processID, SIGHUP)
        let result = elsewhere.finish()
        #expect(result.status == 130 && !result.errors.contains("SIGHUP"), "\(result.errors)")
    }

    @Test(
        "a log is one event a line, dated, with its level and what it is about, and without tokens",
        arguments: ["json", "text"])
    func log(format: String) throws {
        let running = try VolleyBinary.start(["schedule", ".", "--log-format", format, "--verbose"], in: folder.url)
        try wait(running, "the end of the run") { running.errorsSoFar.contains("finished") }
        let lines = end(running).errors.split(separator: "\n").map(String.init)
        #expect(!lines.contains { line in (0..<3).contains { line.contains(ProjectFolder.token($0).prefix(16)) } })
        guard format == "json" else {
            let head = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (?:debug|info|warning|error) /#
            #expect(lines.allSatisfy { $0.prefixMatch(of: head) != nil }, "\(lines)")
            #expect(lines.contains { $0.contains("[app=shop campaign=now run=") })
            return
        }
        let events = try lines.map { try JSONValue(parsing: $0) }
        #expect(events.allSatisfy { $0["time"] != nil && $0["level"] != nil && $0["message"] != nil })
        let sending = try #require(events.first { $0["message"]?.stringValue?.contains("is being sent as") ?? false })
        #expect(sending["app"] == .string("shop") && sending["campaign"] == .string("now"))
        #expect(sending["run"]?.stringValue?.contains("-now-") ?? false)
        let run = try #require(events.first { $0["level"] == .string("debug") && $0["run"] != nil })
        #expect(run["run"] == sending["run"])
    }

    @Test(
        "how a run ended, and what a notice of it met, is logged with app, campaign, run and figures; one that stopped is a warning"
    )
    func ends() throws {
        let project = folder.url.appendingPathComponent("volley.yaml")
        let text = try String(contentsOf: project, encoding: .utf8)
        try Data((text + "notices: [{command: [sh, -c, 'exit 7']}]\n").utf8).write(to: project)
        // The simulator refuses these as BadDeviceToken, which stops the run.
        let refused = (0..<200).map { "00000400\(TextFormat.hex(UInt32($0), digits: 56))\n" }.joined()
        try folder.write("refused.csv", "device_token\n" + refused)
        let past = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -60)]
        try FileManager.default.setAttributes(past, ofItemAtPath: folder.url.appendingPathComponent("refused.csv").path)
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("now.yaml"), encoding: .utf8)
        try folder.write(
            "bad.yaml", campaign.replacing("name: now", with: "name: bad").replacing("devices.csv", with: "refused.csv")
        )
        let running = try VolleyBinary.start(["schedule", ".", "--log-format", "json"], in: folder.url)
        try wait(running, "both ends") {
            running.errorsSoFar.contains(": finished") && running.errorsSoFar.contains(": stopped")
                && running.errorsSoFar.contains("'finished' of")
        }
        let events = try end(running).errors.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        func event(_ text: String, _ campaign: String) throws -> JSONValue {
            try #require(
                events.first {
                    $0["message"]?.stringValue?.contains(text) ?? false && $0["campaign"] == .string(campaign)
                },
                "\(text), \(events)")
        }
        for (text, campaign, level) in [
            (": finished", "now", "info"), (": stopped", "bad", "warning"), ("'finished' of", "now", "warning"),
            ("'stopped' of", "bad", "warning"),
        ] {
            let event = try event(text, campaign)
            #expect(event["level"] == .string(level) && event["app"] == .string("shop"), "\(event.text)")
            #expect(event["run"]?.stringValue?.contains("-\(campaign)-") ?? false, "\(event.text)")
            let outcomes = Outcome.allCases.compactMap { event[$0.name]?.integerValue }
            let audience = try #require(event["audience"]?.integerValue)
            #expect(
                outcomes.count == Outcome.allCases.count && outcomes.reduce(0, +) == audience && audience > 0,
                "\(event.text)")
        }
    }

    @Test(
        "the last line of a single run has its run, campaign, app and figures, too",
        arguments: ["send", "resume", "retry"])
    func endOfSingleRun(command: String) throws {
        let folder = try ProjectFolder()
        // The simulator refuses these as BadDeviceToken, which stops the run.
        let refused = (0..<200).map { "00000400\(TextFormat.hex(UInt32($0), digits: 56))\n" }.joined()
        try folder.write("refused.csv", "device_token\n" + refused)
        try folder.write(
            "bad.yaml", "name: bad\napp: shop\naudience: {devices: refused.csv, everyone: true}\ncontent: {title: Hi}\n"
        )
        let log = ["--log-format", "json"]
        var result = try VolleyBinary.run(["send", "bad.yaml", "--yes"] + log, in: folder.url)
        if command == "resume" { result = try VolleyBinary.run(["resume", "last"] + log, in: folder.url) }
        if command == "retry" {
            #expect(try VolleyBinary.run(["cancel", "last"], in: folder.url).status == 0)
            result = try VolleyBinary.run(["retry", "last", "--outcome", "unsent", "--yes"] + log, in: folder.url)
        }
        let events = try result.errors.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        let end = try #require(
            events.last { $0["message"]?.stringValue?.hasPrefix("The run stopped") ?? false }, "\(result)")
        #expect(end["app"] == .string("shop") && end["campaign"] == .string("bad"), "\(end.text)")
        #expect(end["run"]?.stringValue?.contains("-bad-") ?? false, "\(end.text)")
        let outcomes = Outcome.allCases.compactMap { end[$0.name]?.integerValue }
        #expect(outcomes.reduce(0, +) == end["audience"]?.integerValue ?? -1, "\(end.text)")
        let others = events.filter { $0["run"] == nil && $0["message"]?.stringValue?.contains("Resuming") ?? false }
        #expect(others.isEmpty, "\(others)")
    }

    private static let promtool = ServerProcess.path(of: "promtool")
    private static let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../docs"
    ).path

    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: #/volley_[a-z_]+/#).map { String($0.output) })
    }

    @Test(
        "metrics on a port: Prometheus' own tool finds no mistake in them, nor in the alert rules; rules and dashboard know no other names",
        .enabled(if: promtool != nil, "promtool is missing; make test gets it"))
    func metrics() throws {
        let promtool = try #require(Self.promtool)
        let running = try VolleyBinary.start(["schedule", ".", "--metrics", "127.0.0.1:0"], in: folder.url)
        try wait(running, "the port") { running.errorsSoFar.contains("/metrics.") }
        let address = try #require(running.errorsSoFar.firstMatch(of: #/http://[^ ]+/metrics/#)).output
        var text = ""
        try wait(running, "the pushes") {
            text = (try? Shell.output("curl --silent --noproxy '*' \(address)")) ?? ""
            return text.contains(
                #/volley_pushes_total\{app="shop",campaign="now",service="apns",outcome="accepted"\} [1-9]/#)
        }
        _ = end(running)
        try folder.write("metrics.txt", text)
        #expect(try Shell.output("'\(promtool)' check metrics < '\(folder.url.path)/metrics.txt' 2>&1") == "")
        let rules = Self.docs + "/monitoring/volley-alerts.yml"
        #expect(try Shell.output("'\(promtool)' check rules '\(rules)' 2>&1").contains("SUCCESS: 10 rules found"))
        let families = Set(text.matches(of: ##/# TYPE (volley_[a-z_]+) /##).map { String($0.output.1) })
        for file in [rules, Self.docs + "/monitoring/grafana-dashboard.json", Self.docs + "/how-to/monitor.md"] {
            let known = families.union(families.map { $0 + "_bucket" })
            let foreign = Self.names(in: try String(contentsOfFile: file, encoding: .utf8)).subtracting(known)
            #expect(foreign.isEmpty, "\(file)")
        }
    }

    @Test(
        "the alerts for missed devices and for lost pushes are about those alone, and say how many",
        .enabled(if: promtool != nil, "promtool is missing; make test gets it"))
    func missedDevices() throws {
        let promtool = try #require(Self.promtool)
        try folder.write(
            "alerts.test.yaml",
            """
            rule_files: ['\(Self.docs)/monitoring/volley-alerts.yml']
            tests:
              - interval: 1m
                input_series:
                  - {series: 'volley_up', values: '1 1'}
                  - {series: 'volley_report_timestamp_seconds', values: '0 60'}
                  - {series: 'volley_last_run_recipients{app="shop",campaign="capped",outcome="unsent"}', values: '60 60'}
                  - {series: 'volley_last_run_missed{app="shop",campaign="capped"}', values: '0 0'}
                  - {series: 'volley_last_run_missed{app="shop",campaign="late"}', values: '40 40'}
                  - {series: 'volley_last_run_recipients{app="shop",campaign="late",outcome="accepted"}', values: '80 80'}
                  - {series: 'volley_last_run_recipients{app="shop",campaign="late",outcome="unknown"}', values: '20 20'}
                  - {series: 'volley_last_run_recipients{app="shop",campaign="cut",outcome="accepted"}', values: '79 79'}
                  - {series: 'volley_last_run_recipients{app="shop",campaign="cut",outcome="failed"}', values: '1 1'}
                  - {series: 'volley_last_run_recipients{app="shop",campaign="cut",outcome="unknown"}', values: '20 20'}
                alert_rule_test:
                  - alertname: VolleyLostPushes
                    eval_time: 1m
                    exp_alerts:
                      - exp_labels: {severity: warning, app: shop, campaign: cut}
                        exp_annotations: {summary: "cut: 21 pushes failed, were rejected or got no answer"}
                  - alertname: VolleyMissedDevices
                    eval_time: 1m
                    exp_alerts:
                      - exp_labels: {severity: warning, app: shop, campaign: late}
                        exp_annotations: {summary: "late: 40 devices were never sent to"}

            """)
        let said = try Shell.output("'\(promtool)' test rules '\(folder.url.path)/alerts.test.yaml' 2>&1")
        #expect(said.contains("SUCCESS"), "\(said)")
    }

    @Test("in the journal each line has its priority; elsewhere, also with the variable of the journal, none")
    func journal() throws {
        let folder = try ProjectFolder()
        try folder.write("bad.yaml", "name: bad\napp: nobody\n")
        // The device and inode of the file that errors go to.
        let script = "JOURNAL_STREAM=$(stat -L -c %d:%i /dev/stderr) exec \"$@\""
        let launcher = ["bash", "-c", script, "bash"]
        let inJournal = try VolleyBinary.start(["check", "bad.yaml"], in: folder.url, launcher: launcher).finish()
        #expect(
            inJournal.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("<3>") || $0.hasPrefix("<4>") },
            "\(inJournal.errors)")
        #expect(inJournal.errors.hasPrefix("<3>"))
        let elsewhere = try VolleyBinary.start(
            ["check", "bad.yaml"], in: folder.url, environment: ["JOURNAL_STREAM": "1:1"]
        ).finish()
        #expect(elsewhere.status == inJournal.status && !elsewhere.errors.contains("<3>"))
    }
}
