import Base
import Foundation
import TestServers
import TestCommands
import Testing

@Suite("volley schedule")
struct ScheduleTests {
    /// A campaign whose time was a few minutes ago, so that it is sent at once.
    private static func campaign(
        _ name: String, minutesAgo: Int = 3, devices: String = "devices.csv", schedule: String = "",
        delivery: String = "unknown: skip"
    ) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        let time = formatter.string(from: Date(timeIntervalSinceNow: Double(-60 * minutesAgo)))
        return """
            name: \(name)
            app: shop
            audience: {devices: \(devices), everyone: true}
            content: {title: Hello, body: World}
            delivery: {\(delivery)}
            schedule: {at: \(time), timezone: UTC\(schedule)}

            """
    }

    private static func monitored(_ folder: ProjectFolder) throws -> ProjectFolder {
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", "monitoring: {health: health.json}\n" + project)
        return folder
    }

    private func states(_ folder: ProjectFolder) throws -> [String: String] {
        let list = try folder.volley("schedule", ".", "--list", "--json")
        guard case .array(let times)? = try list.json()["times"] else { return [:] }
        return Dictionary(
            times.compactMap { time in time["campaign"]?.stringValue.map { ($0, time["state"]?.stringValue ?? "") } },
            uniquingKeysWith: { $1 })
    }

    /// Waits until a condition holds; fails after a minute.
    private func wait(_ running: RunningVolley, _ what: Comment, _ condition: () throws -> Bool) throws {
        let end = Date(timeIntervalSinceNow: 60)
        while try !condition() {
            try #require(running.isRunning, "ended before \(what): \(running.errorsSoFar)")
            try #require(Date() < end, "waited in vain for \(what): \(running.errorsSoFar)")
            usleep(20_000)
        }
    }

    private func stop(_ running: RunningVolley) {
        kill(running.processID, SIGTERM)
        let result = running.finish()
        #expect(result.status == 130, "\(result.errors)")
    }

    @Test("a record of the schedule that another program holds for long is waited for", .enabled(if: hasPython))
    func heldRecord() throws {
        let folder = try ProjectFolder()
        try folder.write("later.yaml", Self.campaign("later", minutesAgo: -600))
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        try wait(running, "being at work") { running.errorsSoFar.contains("later: next") }
        let holder = try RunningVolley(
            executable: "/usr/bin/python3",
            [
                "-c",
                "import sqlite3, time; c = sqlite3.connect('runs/schedule.sqlite', isolation_level=None); c.execute('BEGIN IMMEDIATE'); print('held', flush=True); time.sleep(100)",
            ], in: folder.url, environment: [:], input: nil)
        while holder.isRunning, !holder.outputSoFar.contains("held") { usleep(20_000) }
        try Shell.run("touch -d '1 hour ago' '\(folder.url.path)/devices.csv'")
        try folder.write("now.yaml", Self.campaign("now"))
        try wait(running, "waiting for the record") { running.errorsSoFar.contains("Another program holds") }
        kill(holder.processID, SIGKILL)
        _ = holder.finish()
        try wait(running, "sending") { try states(folder)["now"] == "finished" }
        stop(running)
    }

    /// A schedule whose only time is hours away.
    private func atWork() throws -> (ProjectFolder, RunningVolley) {
        let folder = try Self.monitored(ProjectFolder())
        try folder.write("later.yaml", Self.campaign("later", minutesAgo: -600))
        let running = try VolleyBinary.start(["schedule", ".", "--log-format", "json"], in: folder.url)
        try wait(running, "being at work") { running.errorsSoFar.contains("later: next") }
        return (folder, running)
    }

    private func health(_ folder: ProjectFolder) -> String {
        (try? String(contentsOf: folder.url.appendingPathComponent("health.json"), encoding: .utf8)) ?? ""
    }

    @Test("sends nothing while its record is away, says so in log and health, and goes on when it is back")
    func recordMovedAway() throws {
        let (folder, running) = try atWork()
        try Shell.run("mv '\(folder.url.path)/runs' '\(folder.url.path)/lost'")
        try wait(running, "its noticing") { running.errorsSoFar.contains("was removed while it was in use") }
        try folder.write("now.yaml", Self.campaign("now"))
        try Shell.run("touch -d '1 hour ago' '\(folder.url.path)/devices.csv'")
        try wait(running, "its health file") { health(folder).contains("volley schedule sends nothing") }
        #expect(
            !running.errorsSoFar.contains("now (") && !folder.files(in: ".").contains("runs"), "\(running.errorsSoFar)")
        try Shell.run("mv '\(folder.url.path)/lost' '\(folder.url.path)/runs'")
        try wait(running, "the end") { (try? states(folder)["now"]) == "finished" }
        running.interrupt()
        let result = running.finish()
        #expect(result.status == 130 && result.errors.contains("is in its place again"), "\(result)")
    }

    @Test("ends with an error when another record is in the place of its own, as when a backup was put back")
    func recordReplaced() throws {
        let (folder, running) = try atWork()
        let backups = "../\(folder.url.lastPathComponent)-backup"
        defer { try? Shell.run("rm -rf '\(folder.url.path)/\(backups)'") }
        #expect(try folder.volley("backup", backups).status == 0)
        try Shell.run("mv '\(folder.url.path)/runs' '\(folder.url.path)/lost'")
        let backup = try #require(folder.files(in: backups).first)
        #expect(try folder.volley("restore", "\(backups)/\(backup)").status == 0)
        let end = Date(timeIntervalSinceNow: 60)
        while running.isRunning, Date() < end { usleep(20_000) }
        try #require(!running.isRunning)
        let result = running.finish()
        #expect(result.status == 3, "\(result.errors)")
        let last = try result.errors.split(separator: "\n").map { try JSONValue(parsing: String($0)) }.last {
            $0["message"]?.stringValue?.contains("cannot continue without its record") ?? false
        }
        #expect(last?["level"]?.stringValue == "error", "\(result.errors)")
        let health = try JSONValue(parsing: health(folder))
        #expect(
            health["status"]?.stringValue == "stopped"
                && health["problems"]?.text.contains("while it was in use") == true, "\(health.text)"
        )
        #expect(folder.files(in: "runs").contains("schedule.sqlite"))
    }

    @Test("a campaign whose run was resumed by hand after a kill, and finished, is no problem")
    func finishedByHand() throws {
        let folder = try Self.monitored(
            ProjectFolder(app: "environment: simulator\npace: 30/s", export: ProjectFolder.export(devices: 120)))
        try folder.write("now.yaml", Self.campaign("now"))
        try Shell.run("touch -d '1 hour ago' '\(folder.url.path)/devices.csv'")
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        try wait(running, "an answer") {
            let report = try? folder.volley("report", "last", "--format", "json").json()
            return report?["outcomes"]?.int("accepted") ?? 0 > 0
        }
        kill(running.processID, SIGKILL)
        _ = running.finish()
        let resumed = try folder.volley("resume", "last")
        #expect([0, 1].contains(resumed.status), "\(resumed.errors)")
        try? FileManager.default.removeItem(at: folder.url.appendingPathComponent("health.json"))
        let again = try VolleyBinary.start(["schedule", "."], in: folder.url)
        try wait(again, "its health file") { folder.files(in: ".").contains("health.json") }
        let health = try JSONValue(
            parsing: String(contentsOf: folder.url.appendingPathComponent("health.json"), encoding: .utf8))
        #expect(health["problems"] == .array([]), "\(health.text)")
        #expect(try states(folder)["now"] == "finished")
        stop(again)
    }

    @Test(
        "a run that a person resumed and stopped is not continued by the schedule, now or later",
        arguments: [SIGINT, SIGKILL])
    func takenOver(signal: Int32) throws {
        let folder = try Self.monitored(
            ProjectFolder(app: "environment: simulator\npace: 20/s", export: ProjectFolder.export(devices: 400)))
        try folder.write("now.yaml", Self.campaign("now"))
        try Shell.run("touch -d '1 hour ago' '\(folder.url.path)/devices.csv'")
        func report() -> JSONValue? { try? folder.volley("report", "last", "--format", "json").json() }
        func accepted() -> Int { report()?["outcomes"]?.int("accepted") ?? 0 }
        let first = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = first.finish(timeout: 0) }
        try wait(first, "an answer") { accepted() > 0 }
        #expect(try folder.volley("pause", "last").status == 0)
        try wait(first, "the pause") { report()?["state"]?.stringValue == "paused" }
        let run = try #require(
            folder.volley("runs", "--json").json()["runs"].flatMap {
                if case .array(let runs) = $0 { runs.first } else { nil }
            }?["run"]?
            .stringValue)
        try wait(first, "its health file") { health(folder).contains("\"paused\": true") }
        stop(first)
        let again = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = again.finish(timeout: 0) }
        try wait(again, "the paused run") { again.errorsSoFar.contains("is paused as \(run)") }
        #expect(try folder.volley("schedule", ".", "--list").output.contains("paused as \(run)"))
        let before = accepted()
        let resumed = try VolleyBinary.start(["resume", run], in: folder.url)
        try wait(resumed, "a further answer") { accepted() > before }
        #expect(try states(folder)["now"] == "stopped", "not the person's before it is sent")
        kill(resumed.processID, signal)
        _ = resumed.finish()
        try wait(again, "leaving it alone") { again.errorsSoFar.contains("leaves it alone") }
        let after = accepted()
        // Longer than the schedule takes to look again, and to send.
        usleep(2_500_000)
        #expect(accepted() == after && report()?["state"]?.stringValue == "stopped")
        stop(again)
        let third = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = third.finish(timeout: 0) }
        try wait(third, "being at work") { third.errorsSoFar.contains("no further time") }
        usleep(2_500_000)
        #expect(try accepted() == after && states(folder)["now"] == "stopped")
        stop(third)
    }

    @Test("a time that waits for its export is cancelled by the run that the list names, and not sent later")
    func cancelledBeforePlan() throws {
        let folder = try ProjectFolder()
        try folder.write("a.yaml", Self.campaign("a"))
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        // The export has just been written.
        try wait(running, "the wait") { running.errorsSoFar.contains(" waits: ") }
        guard case .array(let times)? = try folder.volley("schedule", ".", "--list", "--json").json()["times"],
            let run = times.first?["run"]?.stringValue
        else {
            Issue.record("no run is named")
            return
        }
        let cancelled = try folder.volley("cancel", run, "--json")
        #expect(
            try cancelled.status == 0 && cancelled.json()["state"]?.stringValue == "cancelled", "\(cancelled.errors)")
        try wait(running, "its noticing") { running.errorsSoFar.contains("leaves it alone") }
        stop(running)
        try Shell.run("touch -d '1 hour ago' '\(folder.url.path)/devices.csv'")
        let again = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = again.finish(timeout: 0) }
        try wait(again, "being at work") { again.errorsSoFar.contains("no further time") }
        #expect(
            try states(folder) == ["a": "cancelled"] && !again.errorsSoFar.contains("planning"), "\(again.errorsSoFar)")
        stop(again)
        let unknown = try folder.volley("cancel", "20261129-090000-a-0000")
        #expect(unknown.status == 2, "\(unknown.errors)")
    }

    @Test("sends what is due, records what is too late, and takes files that come, change and go; one process a folder")
    func files() throws {
        let hook = try TestWebhook()
        let folder = try ProjectFolder(app: "environment: simulator\nnotices: [{webhook: \"\(hook.url())\"}]")
        try folder.write("now.yaml", Self.campaign("now"))
        try folder.write("late.yaml", Self.campaign("late", minutesAgo: 600))
        try folder.write("broken.yaml", Self.campaign("broken").replacing("title:", with: "titel:"))
        try folder.write(
            "by-hand.yaml",
            Self.campaign("by-hand").split(separator: "\n").filter { !$0.hasPrefix("schedule") }.joined(separator: "\n")
        )
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "the first") { try states(folder)["now"] == "finished" }
        #expect(try states(folder) == ["now": "finished", "late": "skipped"])
        let second = try folder.volley("schedule", "now.yaml")
        #expect(second.status == 2 && second.errors.contains("(process \(running.processID))"), "\(second.errors)")
        #expect(second.errors.contains("or end the other one") && !second.errors.contains("--runs"), "\(second.errors)")
        #expect(
            running.errorsSoFar.contains("./broken.yaml:4:") && running.errorsSoFar.contains("titel"),
            "\(running.errorsSoFar)")
        // The corrected one is sent; the new one is sent; the renamed one is not sent again.
        try folder.write("broken.yaml", Self.campaign("broken"))
        try folder.write("new.yaml", Self.campaign("new"))
        try wait(running, "those that came") {
            try states(folder)["broken"] == "finished" && states(folder)["new"] == "finished"
        }
        try folder.write(
            "now.yaml",
            String(contentsOf: folder.url.appendingPathComponent("now.yaml"), encoding: .utf8).replacing(
                "name: now", with: "name: renamed")
        )
        try wait(running, "the renamed one") { try states(folder)["renamed"] == "skipped" }
        stop(running)
        let runs = try folder.volley("runs", "--json").json()
        guard case .array(let list)? = runs["runs"], list.count == 3 else {
            Issue.record("not three runs: \(runs)")
            return
        }
        let events = try hook.requests.map { try JSONValue(parsing: $0.body) }
        func told(_ campaign: String) -> [String] {
            events.filter { $0["campaign"]?.stringValue == campaign }.compactMap { $0["event"]?.stringValue }
        }
        #expect(
            told("now") == ["started", "finished"] && told("late") == ["skipped"] && told("renamed") == ["skipped"])
        #expect(
            events.contains {
                $0["event"]?.stringValue == "invalid" && $0["file"]?.stringValue?.hasSuffix("/broken.yaml") == true
            })
        #expect(
            events.first { $0["event"]?.stringValue == "finished" }?["occurrence"]?.stringValue?.hasSuffix("Z") == false
        )
        #expect(folder.files(in: "runs").filter { $0.hasPrefix("schedule") } == ["schedule.lock", "schedule.sqlite"])
    }

    @Test("waits for an approval, and tells whom it may concern; a cancelled plan is not sent")
    func approval() throws {
        let hook = try TestWebhook()
        let folder = try ProjectFolder(
            app:
                "environment: simulator\napproval: required\nnotices: [{webhook: \"\(hook.url())\", events: [approval_needed]}]"
        )
        try folder.write("a.yaml", Self.campaign("approved"))
        try folder.write("b.yaml", Self.campaign("cancelled"))
        let running = try VolleyBinary.start(["schedule", "a.yaml", "b.yaml"], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "both plans") {
            try states(folder) == ["approved": "waiting", "cancelled": "waiting"] && hook.requests.count == 2
        }
        let runs = try hook.requests.map { try #require(try JSONValue(parsing: $0.body)["run"]?.stringValue) }
        let approved = try #require(runs.first { $0.contains("-approved-") }),
            cancelled = try #require(runs.first { $0 != approved })
        let pause = try folder.volley("pause", cancelled)
        #expect(
            pause.status == 2 && pause.errors.contains("`volley cancel \(cancelled)` keeps it from being sent"),
            "\(pause.errors)")
        #expect(try folder.volley("cancel", cancelled).status == 0)
        #expect(try folder.volley("approve", approved, "--by", "Anna", "--yes").status == 0)
        try wait(running, "the end of both") {
            try states(folder) == ["approved": "finished", "cancelled": "cancelled"]
        }
        stop(running)
        // The time of the cancelled plan is over; the messages do not lead in circles between
        // retries and plans.
        let count = folder.files(in: "runs").count
        for arguments in [["send", "b.yaml", "--yes"], ["plan", "b.yaml"]] {
            let again = try VolleyBinary.run(arguments, in: folder.url)
            #expect(
                again.status == 2 && again.errors.contains("was cancelled before any of it was sent. Give"),
                "\(again.errors)")
        }
        #expect(folder.files(in: "runs").count == count, "a plan that could never go out")
    }

    @Test(
        "when a campaign goes while its plan waits, the log names the plan, and that it is still sent; its cancellation keeps it back"
    )
    func goneWhileWaiting() throws {
        let folder = try ProjectFolder(app: "environment: simulator\napproval: required")
        try folder.write("a.yaml", Self.campaign("a"))
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "the plan") { try states(folder) == ["a": "waiting"] }
        let plan = try #require(folder.files(in: "runs").first { $0.hasPrefix("20") && $0.hasSuffix(".sqlite") })
        let run = String(plan.dropLast(".sqlite".count))
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("a.yaml"))
        try wait(running, "the news") { running.errorsSoFar.contains("a is gone, or has no times any more") }
        #expect(
            running.errorsSoFar.contains(
                "Its plan \(run) is still sent once it is approved; `volley cancel \(run)` cancels it."),
            "\(running.errorsSoFar)")
        #expect(try folder.volley("cancel", run).status == 0)
        try wait(running, "the end") { try states(folder) == ["a": "cancelled"] }
        stop(running)
    }

    @Test(
        "an export that comes late is waited for, and its failure told once; dates in its path are those of the schedule"
    )
    func export() throws {
        let folder = try ProjectFolder()
        try folder.write("a.yaml", Self.campaign("a", devices: "\"devices-{{ date }}.csv\""))
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "the failure") { running.errorsSoFar.contains("cannot be planned") }
        #expect(
            running.errorsSoFar.contains("there is no file ") && running.errorsSoFar.contains("/devices-20"),
            "\(running.errorsSoFar)")
        stop(running)
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withFullDate]
        for offset in [0.0, 3600] {
            try folder.write(
                "devices-\(formatter.string(from: Date(timeIntervalSinceNow: offset))).csv",
                ProjectFolder.export(devices: 5))
        }
        let again = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = again.finish(timeout: 0) }
        try wait(again, "the end") { try states(folder) == ["a": "finished"] }
        stop(again)
    }

    @Test("when its record fails it ends as something that stopped: 2 would say that nothing was sent")
    func failingRecord() throws {
        let folder = try ProjectFolder(app: "environment: simulator")
        try folder.write("a.yaml", Self.campaign("a"))
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "the first") { try states(folder)["a"] == "finished" }
        let edit =
            "import sqlite3; c = sqlite3.connect('runs/schedule.sqlite'); c.execute('DROP TABLE campaign'); c.commit()"
        let python = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", edit], in: folder.url, environment: [:], input: nil
        ).finish()
        try #require(python.status == 0, "\(python.errors)")
        try folder.write("b.yaml", Self.campaign("b"))
        let result = running.finish()
        #expect(
            result.status == 3 && result.errors.contains("cannot continue without its record"),
            "\(result.status): \(result.errors)")
    }

    @Test("killed at any moment and started again, it sends each device once, and every campaign")
    func kills() throws {
        let server = try LedgeredServer(app: "pace: 4000/s", devices: 3_000, faults: ["--latency", "5"])
        let folder = server.folder
        for name in ["one", "two", "three"] { try folder.write("\(name).yaml", Self.campaign(name)) }
        var random = SystemRandomNumberGenerator()
        var kills = 0
        while kills < 12, try Set(states(folder).values) != ["finished"] {
            let running = try VolleyBinary.start(["schedule", ".", "--quiet"], in: folder.url)
            usleep(.random(in: 50_000...1_200_000, using: &random))
            kill(running.processID, SIGKILL)
            _ = running.finish()
            kills += 1
        }
        let last = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = last.finish(timeout: 0) }
        try wait(last, "the end of all") {
            try states(folder) == ["one": "finished", "two": "finished", "three": "finished"]
        }
        stop(last)
        var known: Set<String> = []
        var accepted = 0, unknown = 0
        let list = try folder.volley("runs", "--json").json()
        guard case .array(let runs)? = list["runs"] else {
            Issue.record("no runs: \(list)")
            return
        }
        #expect(runs.count == 3, "\(folder.files(in: "runs"))")
        for run in runs {
            let id = try #require(run["run"]?.stringValue)
            #expect(known.insert(try #require(run["campaign"]?.stringValue)).inserted)
            let report = try folder.volley("report", id, "--format", "json").json()
            accepted += report["outcomes"]?.int("accepted") ?? 0
            unknown += report["outcomes"]?.int("unknown") ?? 0
            #expect(report.int("audience") == 3_000)
        }
        #expect(accepted + unknown == 9_000)
        // Each device at most once for each campaign; missing ones are unknown.
        let ledger = try server.accepted()
        #expect(ledger.values.allSatisfy { $0.count <= 3 && Set($0).count == $0.count })
        let total = ledger.values.reduce(0) { $0 + $1.count }
        #expect(
            total >= accepted && total <= accepted + unknown,
            "\(total) in the ledger, \(accepted) accepted, \(unknown) unknown")
    }

    @Test(
        "a run that a killed process left goes on with a word of how many devices are unknown, and whether they are sent to again",
        arguments: ["resend", "skip"])
    func killedInDoubt(policy: String) throws {
        let server = try LedgeredServer(app: "pace: 400/s", devices: 2_000, faults: ["--latency", "300"])
        let folder = server.folder
        try Shell.run("touch -d '1 hour ago' '\(folder.url.path)/devices.csv'")
        try folder.write("now.yaml", Self.campaign("now", delivery: "unknown: \(policy)"))
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = running.finish(timeout: 0) }
        try wait(running, "some pushes") {
            guard running.errorsSoFar.contains("is being sent as") else { return false }
            return try folder.volley("report", "last", "--format", "json").json()["outcomes"]?.int("accepted") ?? 0
                > 100
        }
        kill(running.processID, SIGKILL)
        let first = running.finish()
        #expect(!first.errors.contains("Resuming"), "\(first.errors)")
        let before = try folder.volley("report", "last", "--format", "json").json()
        let unknown = try #require(before["outcomes"]?.int("unknown")),
            unsent = try #require(before["outcomes"]?.int("unsent"))
        try #require(unknown > 1)
        let again = try VolleyBinary.start(["schedule", "."], in: folder.url)
        defer { _ = again.finish(timeout: 0) }
        try wait(again, "the end") { try states(folder) == ["now": "finished"] }
        stop(again)
        let log = again.errorsSoFar
        #expect(log.contains(": \(TextFormat.count(unsent)) of 2,000 devices are unsent."), "\(log)")
        let fate =
            policy == "resend"
            ? "They are sent again under the same apns-id, so that some may show twice (delivery.unknown: resend)."
            : "They are not sent again (delivery.unknown: skip)."
        #expect(
            log.contains(
                "\(unknown) devices are unknown: their pushes went out, or were about to, and no answer was recorded. \(fate)"
            ),
            "\(log)")
    }

    @Test("what comes is listed for people and for programs, with zones, gaps and quiet hours")
    func list() throws {
        let folder = try ProjectFolder()
        try folder.write(
            "a.yaml",
            Self.campaign("a", minutesAgo: 600).replacing(
                "timezone: UTC",
                with:
                    "timezone: recipient, fallback_timezone: Asia/Tokyo, repeat: \"0 22 * * *\", quiet_hours: 21:00-08:00"
            ))
        let list = try folder.volley("schedule", "a.yaml", "--list", environment: ["TZ": "America/New_York"])
        #expect(list.status == 0, "\(list.errors)")
        #expect(
            list.output.contains("HERE (America/New_York)")
                && list.output.contains("on each person's clock; quiet hours until 08:00"),
            "\(list.output)")
        #expect(list.output.contains("is not at work"))
        let document = try folder.volley(
            "schedule", "a.yaml", "--list", "--json", environment: ["TZ": "America/New_York"]
        ).json()
        guard case .array(let times)? = document["times"], let first = times.last else {
            Issue.record("no times: \(document)")
            return
        }
        #expect((29...32).contains(times.count))
        #expect(
            first["timezone"]?.stringValue == "recipient"
                && first["occurrence"]?.stringValue?.hasSuffix("T22:00") == true)
        #expect(try folder.volley("schedule", "a.yaml", "--json").status == 2)
        #expect(try folder.volley("schedule", "nowhere").errors.contains("no such file or folder"))
    }
}
