import Base
import Foundation
import TestCommands
import Testing

/// Warnings about earlier pushes: to the same devices, or with other texts.
@Suite("warnings about what was sent before")
struct SentBeforeTests {
    /// Another campaign whose audience holds three of five devices that got the first one, and two
    /// others.
    private static func server() throws -> LedgeredServer {
        let server = try LedgeredServer(devices: 5)
        try server.folder.writeCampaign()
        try server.folder.write(
            "others.csv", "device_token\n" + [2, 3, 4, 7, 8].map { ProjectFolder.token($0) + "\n" }.joined())
        try server.folder.writeCampaign("other.yaml", name: "other", audience: "devices: others.csv\neveryone: true")
        #expect(try server.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        return server
    }

    @Test("how many of the devices got another campaign minutes ago is said in preview, plan, JSON and the question")
    func sameDevices() throws {
        let folder = try Self.server().folder
        let run = try #require(try folder.volley("report", "last", "--format", "json").json()["run"]?.stringValue)
        let preview = try folder.volley("preview", "other.yaml", "--json")
        #expect(
            preview.errors.contains(/3 of these 5 devices got or may have got 'test' \d+ (s|min) ago \(run [^ ]+\)/)
                && preview.errors.contains("[sent-recently]"),
            "\(preview.errors)")
        guard case .array(let reached)? = try preview.json()["reached_lately"] else {
            throw Diagnostic("no reached_lately")
        }
        #expect(reached.count == 1 && reached[0]["run"]?.stringValue == run && reached[0].int("devices") == 3)
        #expect(
            try folder.volley("plan", "other.yaml").errors.contains("3 of these 5 devices got or may have got 'test'"))
        let terminal = try VolleyAtTerminal(["send", "--plan", "last"], in: folder.url)
        #expect(terminal.waits(for: "[y/N]"), "\(terminal.shown)")
        #expect(
            terminal.shown.contains("Lately       3 of these devices got or may have got 'test'"), "\(terminal.shown)")
        terminal.type("n\n")
        _ = terminal.finish()
    }

    @Test("devices that a paused run has not come to are not counted as reached, but as still to get its push")
    func paused() throws {
        let server = try LedgeredServer(app: "pace: 5/s", devices: 20)
        let folder = server.folder
        try folder.writeCampaign()
        try folder.writeCampaign("other.yaml", name: "other")
        let running = try server.start(["send", "campaign.yaml", "--yes"])
        server.wait {
            server.acceptedSoFar().count >= 3
        } orEndOf: {
            running
        }
        #expect(try folder.volley("pause", "last").status == 0)
        var accepted = 0
        for _ in 0..<100 {
            let report = try folder.volley("report", "last", "--format", "json").json()
            accepted = report["outcomes"]?.int("accepted") ?? 0
            if report["state"]?.stringValue == "paused", accepted + (report["outcomes"]?.int("unsent") ?? 0) == 20 {
                break
            }
            usleep(100_000)
        }
        try #require((1..<20).contains(accepted))
        let preview = try folder.volley("preview", "other.yaml", "--json")
        #expect(
            preview.errors.contains("\(accepted) of these 20 devices got or may have got 'test' "), "\(preview.errors)")
        #expect(
            preview.errors.contains(
                ", and \(20 - accepted) more \(accepted == 19 ? "is" : "are") still to get 'test' (run "),
            "\(preview.errors)")
        guard case .array(let reached)? = try preview.json()["reached_lately"] else {
            throw Diagnostic("no reached_lately")
        }
        #expect(reached.map { $0.int("devices") } == [accepted])
        #expect(try folder.volley("cancel", "last").status == 0)
        _ = running.finish()
        #expect(try !folder.volley("preview", "other.yaml").errors.contains("still to get"))
    }

    @Test("a push that went out after a plan was made is said before the plan is sent")
    func sincePlanned() throws {
        let server = try LedgeredServer(devices: 5)
        try server.folder.writeCampaign()
        try server.folder.writeCampaign("other.yaml", name: "other")
        let run = try #require(try server.folder.volley("plan", "other.yaml", "--json").json()["run"]?.stringValue)
        #expect(try server.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let terminal = try VolleyAtTerminal(["send", "--plan", run], in: server.folder.url)
        #expect(terminal.waits(for: "[y/N]"), "\(terminal.shown)")
        #expect(
            terminal.shown.contains("Lately       'test' went to 5 devices")
                && terminal.shown.contains("after this was planned"),
            "\(terminal.shown)")
        terminal.type("n\n")
        _ = terminal.finish()
    }

    @Test(
        "a run of another campaign that cannot be read makes the number a minimum: preview, JSON, plan and the question say so",
        arguments: ["damaged", "cut off", "gone", "a pipe", "held"])
    func unreadRun(how: String) throws {
        let folder = try Self.server().folder
        let run = try #require(try folder.volley("report", "last", "--format", "json").json()["run"]?.stringValue)
        let file = folder.url.appendingPathComponent("runs/\(run).sqlite").path
        var holder: RunningVolley?
        defer { holder?.kill() }
        switch how {
        case "damaged": try folder.write("runs/\(run).sqlite", "damaged")
        case "cut off": #expect(truncate(file, 5000) == 0)
        case "held":
            guard hasPython else { return }
            let hold =
                "import sqlite3, sys, time; d = sqlite3.connect(sys.argv[1]); d.execute('BEGIN EXCLUSIVE'); print('held', flush=True); time.sleep(300)"
            let python = try RunningVolley(
                executable: "/usr/bin/python3", ["-c", hold, file], in: folder.url, environment: [:], input: nil)
            while python.isRunning, !python.outputSoFar.contains("held") { usleep(20_000) }
            holder = python
        default:
            try FileManager.default.removeItem(atPath: file)
            if how == "a pipe" { #expect(mkfifo(file, 0o600) == 0) }
        }
        let said =
            "1 run of the last 12 h cannot be read, or not as a whole (\(run)): more of these devices may have got a push than is known"
        let preview = try folder.volley("preview", "other.yaml", "--json")
        #expect(preview.errors.contains(said) && preview.errors.contains("[sent-recently]"), "\(preview.errors)")
        #expect(try preview.json()["reached_lately_unread"] == .array([.string(run)]))
        guard how == "gone" else { return }
        let plan = try folder.volley("plan", "other.yaml", "--json")
        #expect(plan.errors.contains(said), "\(plan.errors)")
        let terminal = try VolleyAtTerminal(
            ["send", "--plan", #require(try plan.json()["run"]?.stringValue)], in: folder.url)
        #expect(terminal.waits(for: "[y/N]"), "\(terminal.shown)")
        #expect(terminal.shown.contains("Lately       1 run of the last 12 h cannot be read"), "\(terminal.shown)")
        terminal.type("n\n")
        _ = terminal.finish()
    }

    @Test(
        "the campaign's own last run is warned of once, with the devices; other devices, silent pushes and damaged runs cause no warning"
    )
    func others() throws {
        let folder = try Self.server().folder
        let own = try folder.volley("preview", "campaign.yaml").errors
        #expect(
            own.contains("a new run sends it to them again: it was or may have been accepted for 5 of these 5 devices"),
            "\(own)")
        #expect(own.components(separatedBy: "[sent-recently]").count == 2)
        try folder.write("fresh.csv", "device_token\n\(ProjectFolder.token(90))\n")
        try folder.writeCampaign("fresh.yaml", name: "fresh", audience: "devices: fresh.csv\neveryone: true")
        #expect(try !folder.volley("preview", "fresh.yaml").errors.contains("sent-recently"))
        try folder.writeCampaign("other.yaml", name: "other", delivery: "frequency: at most 1 per 12 hours")
        #expect(
            try !folder.volley("preview", "other.yaml").errors.contains("sent-recently"), "capped devices are left out")
        try folder.writeCampaign("other.yaml", name: "other")
        let file = try #require(
            folder.files(in: "runs").first { $0.hasSuffix("-test") || $0.contains("-test-") && $0.hasSuffix(".sqlite") }
        )
        try folder.write("runs/\(file)", "damaged")
        let damaged = try folder.volley("preview", "other.yaml")
        #expect(damaged.status == 0 && !damaged.errors.contains("may have got 'test'"), "\(damaged.errors)")
    }

    @Test("a text that changed since the last run, while a language kept its own, is warned of with its devices")
    func partlyChanged() throws {
        let rows = (0..<10).map { "\(ProjectFolder.token($0)),\($0 < 3 ? "en" : "de")\n" }.joined()
        let folder = try ProjectFolder(export: "device_token,language\n" + rows)
        func write(_ title: String, _ german: String, allow: String = "") throws {
            try folder.writeCampaign(content: "title: \(title)\nlanguages: {de: {title: \(german)}}")
            let text = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
            try folder.write("campaign.yaml", text + allow)
        }
        try write("Sale", "Aktion")
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        try write("Bargains", "Aktion")
        let preview = try folder.volley("preview", "campaign.yaml").errors
        #expect(
            preview.contains(
                "the title was changed since the last run, but not for 'de': 7 of these 10 devices get the old one. Change it there too, "
                    + "unless the old one still fits. [partly-changed]"), "\(preview)")
        #expect(
            try folder.volley("check", "campaign.yaml").errors.contains(
                "changed since the last run, but not for 'de'. Change"))
        try write("Bargains", "Aktion", allow: "allow: [{warning: partly-changed, reason: It fits.}]\n")
        #expect(try !folder.volley("preview", "campaign.yaml").errors.contains("partly-changed"))
        try write("Bargains", "Angebote")
        #expect(try !folder.volley("preview", "campaign.yaml").errors.contains("partly-changed"))
    }

    @Test("a list of tags in a file is looked at for names of devices that do not want pushes")
    func optOutsInFile() throws {
        let folder = try ProjectFolder(export: "device_token,tags\n\(ProjectFolder.token(1)),opted-out\n")
        try folder.write("tags.txt", "vip\nopted-out\n")
        try folder.writeCampaign(audience: "devices: devices.csv\ntags: {file: tags.txt}")
        for command in ["check", "preview"] {
            let said = try folder.volley(command, "campaign.yaml").errors
            #expect(said.contains("tags.txt:2") && said.contains("[opt-out-targeted]"), "\(command) \(said)")
        }
        try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nexclude: {tags: {file: tags.txt}}")
        #expect(try !folder.volley("check", "campaign.yaml").errors.contains("opt-out-targeted"))
    }
}
