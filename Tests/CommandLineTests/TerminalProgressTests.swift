import Base
import Foundation
import TestCommands
import Testing

/// What a person at a terminal reads while a run is being sent.
@Suite("progress at a terminal")
struct TerminalProgressTests {
    @Test("a run with a pace says that it is the pace, and nothing of the line is left behind")
    func pace() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 10/s", export: ProjectFolder.export(devices: 40))
        try folder.writeCampaign()
        let terminal = try VolleyAtTerminal(["send", "campaign.yaml", "--yes"], in: folder.url)
        #expect(terminal.waits(for: "at the pace of 10/s"), "\(terminal.shown)")
        #expect(terminal.finish() == 0)
        // The line is removed before the report comes.
        let lines = terminal.shown.split(separator: "\n").map { $0.split(separator: "\u{1B}[2K").last ?? "" }
        #expect(!lines.contains { $0.contains("at the pace of") }, "\(terminal.shown)")
    }

    @Test("when APNs takes nothing, that is said, and for how long by now")
    func outage() throws {
        let server = try LedgeredServer(devices: 500, faults: ["--internal-error-every", "1"])
        try server.folder.writeCampaign()
        let terminal = try VolleyAtTerminal(["send", "campaign.yaml", "--yes"], in: server.folder.url)
        #expect(terminal.waits(for: "APNs has taken no push for"), "\(terminal.shown)")
        kill(terminal.processID, SIGINT)
        #expect(terminal.finish() == 130)
    }

    @Test(
        "while another program holds the run file, that is what it waits for, and then it goes on",
        .enabled(if: hasPython))
    func lock() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 20/s", export: ProjectFolder.export(devices: 80))
        try folder.writeCampaign()
        let terminal = try VolleyAtTerminal(["send", "campaign.yaml", "--yes"], in: folder.url)
        #expect(terminal.waits(for: "at the pace of 20/s"), "\(terminal.shown)")
        let run = try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") && $0.contains("-test-") })
        let hold =
            "import sqlite3, time; c = sqlite3.connect('runs/\(run)', timeout=30); c.execute('BEGIN IMMEDIATE'); time.sleep(5); c.rollback()"
        let python = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", hold], in: folder.url, environment: [:], input: nil)
        #expect(terminal.waits(for: "waiting for the disk, or a lock on the run file"), "\(terminal.shown)")
        #expect(python.finish().status == 0)
        #expect(terminal.finish() == 0, "\(terminal.shown)")
        #expect(try folder.volley("report", "last", "--json").json()["outcomes"]?.int("accepted") == 80)
    }

    @Test("a run that waits for its time counts down to it, with place and zone")
    func scheduled() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign + "schedule: {at: 2035-06-01 09:00, timezone: Asia/Tokyo}\n")
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let terminal = try VolleyAtTerminal(["send", "--plan", "last", "--yes"], in: folder.url, columns: 160)
        #expect(
            terminal.waits(for: "until 2035-06-01 09:00 in Asia/Tokyo (2035-06-01T00:00:00Z). Ctrl-C"),
            "\(terminal.shown)")
        #expect(terminal.waits(for: "\u{1B}[2Kwaiting  "), "\(terminal.shown)")
        kill(terminal.processID, SIGINT)
        #expect(terminal.finish() == 130)
    }

    @Test("in a narrow terminal the line is cut behind what it waits for, and stays one line")
    func narrow() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 10/s", export: ProjectFolder.export(devices: 40))
        try folder.writeCampaign()
        let terminal = try VolleyAtTerminal(["send", "campaign.yaml", "--yes"], in: folder.url, columns: 80)
        #expect(terminal.waits(for: "at the pace of 10/s"), "\(terminal.shown)")
        #expect(terminal.finish() == 0)
        let shown = terminal.shown.split(separator: "\u{1B}[2K").filter { $0.hasPrefix("sending") }
        #expect(
            !shown.isEmpty
                && shown.allSatisfy { ($0.split(whereSeparator: { "\n\r".contains($0) }).first ?? "").count < 80 })
    }

    @Test("where lines stay, a short run says nothing of its progress")
    func plain() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 50/s", export: ProjectFolder.export(devices: 60))
        try folder.writeCampaign()
        let sent = try folder.volley("send", "campaign.yaml", "--yes")
        #expect(sent.status == 0 && !sent.errors.contains("sending"), "\(sent.errors)")
    }
}
