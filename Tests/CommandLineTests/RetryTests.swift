import Base
import Foundation
import Glibc
import TestCommands
import Testing

/// A new run for devices whose pushes failed or whose answers were lost.
@Suite("volley retry")
struct RetryTests {
    @Test("a retry that was killed at its question is named, with what sends it and what gives it up")
    func killedAtItsQuestion() throws {
        let server = try LedgeredServer(devices: 60, faults: ["--reset-every", "20"])
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let first = try #require(
            try server.folder.volley("send", "campaign.yaml", "--yes", "--json").json()["run"]?.stringValue)
        try #require(!server.tokens("unknown").isEmpty)
        let asking = try VolleyAtTerminal(["retry", first, "--outcome", "unknown"], in: server.folder.url)
        #expect(asking.waits(for: "[y/N]"), "\(asking.shown)")
        kill(asking.processID, SIGKILL)
        _ = asking.finish()
        let again = try server.folder.volley("retry", first, "--outcome", "unknown", "--yes")
        let left = try #require(again.errors.firstMatch(of: /in the retry (\S+), of which nothing was sent/)).1
        #expect(again.status == 2 && again.errors.contains("`volley send --plan \(left)`"), "\(again.errors)")
        #expect(try server.folder.volley("cancel", String(left)).status == 0)
        #expect(try server.folder.volley("retry", first, "--outcome", "unknown", "--yes").status == 0)
    }

    @Test("sends again to those who are unknown and to nobody else; both reports show the chain")
    func unknown() throws {
        let server = try LedgeredServer(devices: 300, faults: ["--reset-every", "50"])
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let sent = try server.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 1, "\(sent.errors)")
        let first = try sent.json()
        #expect(first["chain"] == nil)
        let unknown = try server.tokens("unknown")
        try #require(!unknown.isEmpty && unknown.count < 20)
        let id = try #require(first["run"]?.stringValue)

        let retried = try server.folder.volley("retry", id, "--yes", "--json")
        #expect(retried.status == 0, "\(retried.errors)")
        #expect(retried.errors.contains("get it twice"))
        let second = try retried.json()
        #expect(second["retry_of"]?.stringValue == id && second.int("audience") == unknown.count)
        #expect(try server.tokens("accepted") == unknown)
        let chain = try server.folder.volley("report", id, "--format", "json").json()
        #expect(chain["retry_of"] == .null && chain["chain"] == second["chain"])
        guard case .array(let links)? = chain["chain"] else { throw Diagnostic("no chain") }
        #expect(links.map { $0.int("audience") } == [300, unknown.count])
        let text = try server.folder.volley("report", "last").output
        #expect(text.contains("Retry of") && text.contains("together"), "\(text)")
        #expect(text.contains("300 accepted of 300"), "\(text)")

        // Those are handled, and no other device is unknown.
        let again = try server.folder.volley("retry", id, "--yes")
        #expect(again.status == 2 && again.errors.contains("volley retry"), "\(again.errors)")
        let nobody = try server.folder.volley("retry", "last", "--yes")
        #expect(
            nobody.status == 2 && nobody.errors.contains("no device of this run is failed or unknown"),
            "\(nobody.errors)")
        let accepted = try server.accepted()
        #expect(accepted.count == 300 && Set(accepted.filter { $0.value.count > 1 }.keys).isSubset(of: unknown))
    }

    @Test(
        "where nothing can be asked, a command that asks does nothing without --yes, and says so",
        arguments: [
            ["send", "campaign.yaml"], ["send", "--plan", "last"], ["retry", "last"],
            ["retry", "last", "--outcome", "unsent"],
            ["approve", "last", "--by", "Ada"], ["prune", "--keep", "0d"],
            ["suppression", "remove", "--app", "shop", "--all"],
        ])
    func nothingCanBeAsked(command: [String]) throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        let runs = folder.files(in: "runs")
        let refused = try VolleyBinary.run(command, in: folder.url)
        #expect(refused.status == 2 && refused.output.isEmpty, "\(refused.errors)")
        #expect(refused.errors.contains("and standard input is not a terminal. Add --yes"), "\(refused.errors)")
        #expect(folder.files(in: "runs") == runs)
    }

    @Test("a run that can be resumed is not retried, and one that was cancelled and retried is not resumed")
    func resumedOrRetried() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        try server.folder.writeCampaign()
        let running = try server.startSending()
        #expect(try server.folder.volley("retry", "last", "--yes").errors.contains("not over"))
        running.interrupt()
        _ = running.finish()
        let id = try #require(try server.report()["run"]?.stringValue)
        let stopped = try server.folder.volley("retry", id, "--outcome", "unsent", "--yes")
        #expect(stopped.status == 2 && stopped.errors.contains("volley resume \(id)"), "\(stopped.errors)")
        #expect(
            stopped.errors.contains("then `volley retry \(id) --outcome unsent` sends to the rest"), "\(stopped.errors)"
        )
        #expect(try server.folder.volley("cancel", id).status == 0)
        #expect(try server.folder.volley("retry", id, "--outcome", "unsent", "--yes", "--quiet").status == 0)
        let resumed = try server.folder.volley("resume", id)
        #expect(resumed.status == 2 && resumed.errors.contains("retried"), "\(resumed.errors)")
        let accepted = try server.accepted()
        #expect(accepted.count == 3000 && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test(
        "a device that was put on the suppression list after the run gets nothing from its retry, which says how many are left out"
    )
    func suppressed() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign()
        let running = try server.startSending()
        running.interrupt()
        _ = running.finish()
        let id = try #require(try server.report()["run"]?.stringValue)
        #expect(try folder.volley("cancel", id).status == 0)
        let complaints = try server.tokens("unsent").sorted().prefix(2)
        try #require(complaints.count == 2)
        try folder.write("complaints.txt", complaints.joined(separator: "\n") + "\n")
        #expect(try folder.volley("suppression", "import", "complaints.txt", "--reason", "complaint").status == 0)
        let retried = try folder.volley("retry", id, "--outcome", "unsent", "--yes", "--json")
        #expect(
            retried.status == 0 && retried.errors.contains("2 devices are suppressed now, and left out."),
            "\(retried.errors)")
        #expect(try retried.json()["skipped"]?.int("suppressed") == 2)
        let accepted = try server.accepted()
        #expect(accepted.count == 2998 && complaints.allSatisfy { accepted[$0] == nil })
        let again = try folder.volley("retry", id, "--outcome", "unsent", "--yes")
        #expect(
            again.status == 2 && again.errors.contains("all 2 devices that a retry would go to are suppressed"),
            "\(again.errors)")
    }

    @Test("outcomes that are never sent to again are refused, misspelt ones with the nearest name")
    func wrongOutcomes() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        for (outcome, words) in [
            ("accepted", "not sent to again"), ("invalid_token", "not sent to again"),
            ("faild", "Did you mean 'failed'?"),
        ] {
            let result = try folder.volley("retry", "last", "--outcome", outcome, "--yes")
            #expect(result.status == 2 && result.errors.contains(words), "\(result.errors)")
        }
        #expect(folder.files(in: "runs").filter { $0.hasSuffix(".sqlite") }.count == 1)
    }

    @Test("of a retry whose file cannot be read it is said that it cannot be read")
    func unreadableRetry() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        running.interrupt()
        _ = running.finish()
        let run = try #require(try server.report()["run"]?.stringValue)
        #expect(try folder.volley("cancel", run).status == 0)
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 0)
        let retry = try #require(
            folder.files(in: "runs").first { $0.hasPrefix("20") && $0.hasSuffix(".sqlite") && !$0.contains(run) })
        try folder.write("runs/\(retry)", "no database")
        let again = try folder.volley("retry", run, "--outcome", "unsent", "--yes")
        #expect(again.status == 2 && again.errors.contains("what it reached cannot be read"), "\(again.errors)")
        #expect(!again.errors.contains("is gone"))
    }

    @Test("devices that are in their quiet hours are said to be before a retry goes to them")
    func quietHours() throws {
        // Three hours around this one, on the clock of UTC; six hours further east it is a
        // different time of day.
        let hour = Int(Date().timeIntervalSince1970) / 3600 % 24
        let rows = (0..<20).map { "\(ProjectFolder.token($0)),\($0 < 10 ? "Etc/UTC" : "Etc/GMT-6")" }
        let folder = try ProjectFolder(export: "device_token,timezone\n" + rows.joined(separator: "\n") + "\n")
        try folder.writeCampaign()
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        func clock(_ hour: Int) -> String { (hour % 24 < 10 ? "0" : "") + "\(hour % 24):00" }
        try folder.write(
            "campaign.yaml",
            campaign
                + "schedule: {quiet_hours: \(clock(hour + 23))-\(clock(hour + 2)), timezone: recipient, fallback_timezone: Etc/UTC}\n"
        )
        let running = try VolleyBinary.start(["send", "campaign.yaml", "--yes"], in: folder.url)
        func accepted() throws -> Int {
            let report = try folder.volley("report", "last", "--format", "json")
            return report.status == 0 ? try report.json()["outcomes"]?.int("accepted") ?? 0 : 0
        }
        while running.isRunning, try accepted() < 10 { usleep(50_000) }
        #expect(try folder.volley("cancel", "last").status == 0)
        let sent = running.finish()
        #expect(sent.status == 3, "\(sent.errors)")
        let retried = try folder.volley("retry", "last", "--outcome", "unsent", "--yes")
        #expect(
            retried.status == 0 && retried.errors.contains("10 devices are in the quiet hours"), "\(retried.errors)")
        #expect(retried.errors.contains("[sent-in-quiet-hours]"))
    }
}
