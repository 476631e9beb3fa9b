import Base
import Foundation
import TestCommands
import Testing

@Suite("volley send")
struct SendTests {
    @Test("a campaign reaches every device, and report, CSV and simulator agree")
    func endToEnd() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(sent.errors.contains("the report agrees"))
        let report = try sent.json()
        #expect(
            report.names == [
                "run", "campaign", "app", "state", "audience", "skipped", "outcomes", "reasons", "attempts",
                "started_at", "finished_at",
                "rate", "latency_ms", "planned_at", "rows", "languages", "attempts_by_count", "latency_histogram",
                "timeline",
            ])
        #expect(report["state"]?.stringValue == "finished")
        #expect(report.int("audience") == 20)
        #expect(report["outcomes"]?.names == ["accepted", "invalid_token", "rejected", "failed", "unknown", "unsent"])
        #expect(report["outcomes"]?.int("accepted") == 20)
        #expect(report["outcomes"]?.sum == report.int("audience"))

        let again = try folder.volley("report", "last", "--format", "json")
        #expect(try again.json() == report)
        let csv = try folder.volley("report", "last", "--format", "csv")
        let lines = csv.output.split(separator: "\n")
        #expect(
            lines.first
                == "device_token,registration_id,alias,language,variant,outcome,status,reason,attempts,apns_id,latency_ms,settled_at"
        )
        #expect(lines.count == 21)
        #expect(lines.dropFirst().allSatisfy { $0.contains(",accepted,200,,1,") })
    }

    @Test("a campaign that was sent a short while ago is warned of, with the time; in the simulator it is not")
    func sentRecently() throws {
        let server = try LedgeredServer(devices: 5)
        try server.folder.writeCampaign()
        #expect(try !server.folder.volley("preview", "campaign.yaml").errors.contains("sent-recently"))
        #expect(try server.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let again = try server.folder.volley("preview", "campaign.yaml").errors
        #expect(
            again.contains("this campaign was sent")
                && again.contains("to 5 devices; a new run sends it to them again"), "\(again)")
        #expect(again.contains("[sent-recently]"))
        let simulated = try ProjectFolder()
        try simulated.writeCampaign()
        #expect(try simulated.volley("send", "campaign.yaml", "--yes").status == 0)
        #expect(try !simulated.volley("preview", "campaign.yaml").errors.contains("sent-recently"))
    }

    @Test("refusals end in their outcomes, and only failed pushes change the exit code")
    func outcomes() throws {
        let tokens = ["00000410", "00000400", "00000429", "00000503"].map { $0 + String(repeating: "ab", count: 28) }
        let export = "device_token\n" + (tokens + (0..<150).map(ProjectFolder.token)).joined(separator: "\n") + "\n"
        let folder = try ProjectFolder(export: export)
        try folder.writeCampaign()
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        let report = try sent.json()
        #expect(report["outcomes"]?.int("accepted") == 152)
        #expect(report["outcomes"]?.int("invalid_token") == 2)
        #expect(report["reasons"] == .object(pairs: [("BadDeviceToken", .integer(1)), ("Unregistered", .integer(1))]))
        #expect(report.int("attempts") == 156)
    }

    @Test("a run that passes the campaign's own limits stops within its first hundred pushes, and says why everywhere")
    func stopWhen() throws {
        let dead = (0..<30).map { "00000410" + String(ProjectFolder.token($0).dropFirst(8)) }
        let tokens = dead + (0..<500).map(ProjectFolder.token)
        let folder = try ProjectFolder(export: "device_token\n" + tokens.joined(separator: "\n") + "\n")
        try folder.writeCampaign(delivery: "stop_when: {invalid_token: 20%, after: 100}")
        // Before the dead ones are known and left out, and in another folder, so that it is not an
        // older plan of the same devices.
        let plan = try #require(
            try folder.volley("plan", "campaign.yaml", "--json", "--runs", "other").json()["run"]?.stringValue)
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 3, "\(sent.errors)")
        #expect(sent.errors.contains("30.0 % of the answers so far were invalid_token (30 of 100)"), "\(sent.errors)")
        let report = try sent.json()
        #expect(report["state"]?.stringValue == "stopped")
        #expect(
            report["stopped_because"]?.stringValue?.contains("delivery.stop_when in the campaign allows 20%") == true)
        #expect(report["outcomes"]?.int("accepted") == 70)
        #expect(report["outcomes"]?.int("unsent") == 430)
        let text = try folder.volley("report", "last")
        #expect(text.output.contains("30 of 100"), "\(text.output)")
        // A plan made earlier is judged like its campaign.
        #expect(try folder.volley("send", "--plan", plan, "--yes", "--json", "--runs", "other").status == 3)
    }

    @Test(
        "a run that passed a limit keeps it when it is resumed; the new plan that its report names sends the rest, to each device once"
    )
    func otherLimit() throws {
        let tokens = (0..<600).map {
            $0 % 3 == 0 ? "00000410" + String(ProjectFolder.token($0).dropFirst(8)) : ProjectFolder.token($0)
        }
        let folder = try ProjectFolder(export: "device_token\n" + tokens.joined(separator: "\n") + "\n")
        try folder.writeCampaign(delivery: "stop_when: {invalid_token: 15%, after: 100}")
        let run = try #require(try folder.volley("send", "campaign.yaml", "--yes", "--json").json()["run"]?.stringValue)
        let delivery = "stop_when: {invalid_token: 90%, after: 100}"
        try folder.writeCampaign(delivery: delivery)
        let resumed = try folder.volley("resume", run, "--json")
        #expect(try resumed.status == 3 && resumed.json()["state"]?.stringValue == "stopped", "\(resumed)")
        let said = try folder.volley("report", run).output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        #expect(
            said.contains("with the limit of its plan")
                && said.contains("write it as delivery.stop_when in the campaign"), "\(said)")
        let reached = "runs/reached-\(run).csv",
            listing = ["report", run, "--format", "csv", "--outcome", "accepted,unknown", "--output", reached]
        #expect(said.contains("volley report \(run) --format csv --outcome accepted,unknown --output"), "\(said)")
        #expect(try VolleyBinary.run(listing, in: folder.url).status == 0)
        try folder.writeCampaign(
            audience: "devices: devices.csv\neveryone: true\nexclude: {devices: \(reached)}", delivery: delivery)
        let rest = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(rest.status == 0, "\(rest)")
        let accepted = try [resumed, rest].map { try $0.json()["outcomes"]?.int("accepted") ?? 0 }
        #expect(accepted.reduce(0, +) == 400 && accepted.allSatisfy { $0 > 0 }, "\(accepted)")
        // What is left of the first run has its push: neither of the ways to go on with it is
        // offered.
        let retried = try folder.volley("retry", run, "--outcome", "unsent", "--yes")
        #expect(
            retried.status == 2 && retried.errors.contains("of the devices that are left in this run"), "\(retried)")
        #expect(!retried.errors.contains("volley resume") && !retried.errors.contains("volley retry"), "\(retried)")
    }

    @Test("without --yes and without a terminal nothing is planned or sent")
    func asksOnlyOnATerminal() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let sent = try folder.volley("send", "campaign.yaml", input: "y\n")
        #expect(sent.status == 2)
        #expect(sent.errors.contains("--yes"))
        #expect(folder.files(in: "runs").isEmpty)
    }

    @Test("a plan is sent exactly as it was made, once")
    func plan() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let planned = try folder.volley("plan", "campaign.yaml", "--json")
        #expect(planned.status == 0, "\(planned.errors)")
        let run = try #require(try planned.json()["run"]?.stringValue)
        #expect(try folder.volley("report", run, "--format", "json").json()["state"]?.stringValue == "planned")
        // The export changes after the plan was made; the plan does not.
        try folder.write("devices.csv", ProjectFolder.export(devices: 3))
        let sent = try folder.volley("send", "--plan", run, "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try sent.json().int("audience") == 20)
        let twice = try folder.volley("send", "--plan", run, "--yes", "--json")
        #expect(twice.status == 2)
        #expect(twice.errors.contains("finished"))
    }

    @Test("the pace of the app is never exceeded")
    func pace() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 100/s", export: ProjectFolder.export(devices: 250))
        try folder.writeCampaign(delivery: "pace: 5000/s")
        let report = try folder.volley("send", "campaign.yaml", "--yes", "--json").json()
        #expect(report["outcomes"]?.int("accepted") == 250)
        #expect((report["rate"]?.int("peak_per_second") ?? .max) <= 100)
        #expect((report["rate"]?.int("mean_per_second") ?? 0) >= 60)
    }

    @Test("Ctrl-C ends in good order: what was not sent is unsent, and the exit code says so")
    func interrupt() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 50/s", export: ProjectFolder.export(devices: 1000))
        try folder.writeCampaign()
        let running = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: folder.url)
        // The run file gets its name when everything is planned; a second of sending follows.
        while running.isRunning, !folder.files(in: "runs").contains(where: { $0.hasSuffix(".sqlite") }) {
            usleep(20_000)
        }
        usleep(1_000_000)
        running.interrupt()
        let sent = running.finish()
        #expect(sent.status == 130, "\(sent.errors)")
        let report = try sent.json()
        #expect(report["state"]?.stringValue == "stopped")
        #expect((report["outcomes"]?.int("accepted") ?? 0) > 0)
        #expect((report["outcomes"]?.int("unsent") ?? 0) > 800)
        #expect(report["outcomes"]?.int("unknown") == 0)
        #expect(report["outcomes"]?.sum == 1000)
    }

    @Test(
        "while another program holds a file, a line says so within ten seconds, and a signal ends the command within ten more",
        .enabled(if: hasPython), arguments: [["send", "campaign.yaml", "--yes"], ["preview", "campaign.yaml"]])
    func heldList(arguments: [String]) throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        try folder.write("gone.txt", ProjectFolder.token(9))
        #expect(try folder.volley("suppression", "import", "gone.txt").status == 0)
        let hold = """
            import sqlite3, time; c = sqlite3.connect('runs/suppressed-shop.sqlite', isolation_level=None)
            c.execute('BEGIN EXCLUSIVE'); print('held', flush=True); time.sleep(300)
            """
        let holder = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", hold], in: folder.url, environment: [:], input: nil)
        defer { holder.kill() }
        while holder.isRunning, !holder.outputSoFar.contains("held") { usleep(20_000) }
        let running = try VolleyBinary.start(arguments, in: folder.url), begun = ContinuousClock.now
        while running.isRunning, !running.errorsSoFar.contains("Another process is using"),
            ContinuousClock.now - begun < .seconds(15)
        {
            usleep(50_000)
        }
        #expect(running.errorsSoFar.contains("suppressed-shop.sqlite. Volley waits for it."), "\(running.errorsSoFar)")
        let asked = ContinuousClock.now
        running.interrupt()
        let result = running.finish()
        #expect(result.status == 130 && ContinuousClock.now - asked < .seconds(10), "\(result.status) \(result.errors)")
    }

    @Test("a killed run knows whom it reached: only what was claimed without an answer is unknown, and that is little")
    func killed() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 100/s", export: ProjectFolder.export(devices: 1000))
        try folder.writeCampaign()
        let running = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: folder.url)
        while running.isRunning, !folder.files(in: "runs").contains(where: { $0.hasSuffix(".sqlite") }) {
            usleep(20_000)
        }
        usleep(1_500_000)
        _ = running.finish(timeout: 0)
        let report = try folder.volley("report", "last", "--format", "json").json()
        #expect(report["state"]?.stringValue == "stopped")
        #expect(report["outcomes"]?.sum == 1000)
        #expect((report["outcomes"]?.int("accepted") ?? 0) > 20)
        #expect((report["outcomes"]?.int("unknown") ?? .max) <= 60)
    }

    @Test(
        "a run file of an older version that was edited stops the run before anybody behind the damage is claimed",
        .enabled(if: hasPython))
    func editedRunFile() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(content: "title: \"Hi {{ first_name | default: 'there' }}\"\nbody: World")
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        // Older versions had no digests.
        try folder.editRun("UPDATE recipient SET fields = '[]' WHERE id = 12", "UPDATE run SET digest = ''")
        let sent = try folder.volley("send", "--plan", "last", "--yes", "--json")
        #expect(sent.status == 3, "\(sent.errors)")
        #expect(sent.errors.contains("recipient 12"), "\(sent.errors)")
        let report = try sent.json()
        #expect(report["state"]?.stringValue == "stopped")
        #expect(report["outcomes"]?.int("unsent") == 20)
    }

    @Test("an audience of nobody finishes with a warning")
    func nobody() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(audience: "devices: devices.csv\ntags: [nothing]")
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(sent.errors.contains("nothing to send"))
        #expect(try sent.json().int("audience") == 0)
    }

    @Test("one device whose payload is too large is skipped, and the rest is sent")
    func payloadTooLarge() throws {
        let long = String(repeating: "x", count: 5000)
        let export = "device_token,first_name\n\(ProjectFolder.token(1)),Ada\n\(ProjectFolder.token(2)),\(long)\n"
        let folder = try ProjectFolder(export: export)
        try folder.writeCampaign(content: "title: Hi {{ first_name }}\nbody: World")
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        let report = try sent.json()
        #expect(report.int("audience") == 1)
        #expect(report["skipped"] == .object(pairs: [("payload_too_large", .integer(1))]))
    }

    @Test("standard output that closes early does not stop a run")
    func closedOutput() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let shell = try RunningVolley(
            executable: "/bin/sh", ["-c", "\(VolleyBinary.path) send campaign.yaml --yes | true"], in: folder.url,
            environment: [:],
            input: nil)
        _ = shell.finish()
        let report = try folder.volley("report", "last", "--format", "json").json()
        #expect(report["outcomes"]?.int("accepted") == 20)
        let piped = try RunningVolley(
            executable: "/bin/bash",
            ["-c", "set -o pipefail; \(VolleyBinary.path) report last --format csv | head -1"], in: folder.url,
            environment: [:],
            input: nil
        ).finish()
        #expect(piped.status == 0, "\(piped.errors)")
    }
}
