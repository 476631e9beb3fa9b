import Base
import Foundation
import TestCommands
import Testing

/// What `volley prune` removes by default: nothing that could still be resumed or retried.
@Suite("volley prune")
struct PruneTests {
    /// A run that was interrupted in the middle and cancelled.
    private func cancelled() throws -> (server: LedgeredServer, run: String) {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        running.interrupt()
        #expect(running.finish().status == 130)
        let run = try #require(server.folder.files(in: "runs").first { $0.hasPrefix("20") && $0.hasSuffix(".sqlite") })
        #expect(try server.folder.volley("cancel", "last").status == 0)
        return (server, String(run.dropLast(7)))
    }

    private func prune(_ folder: ProjectFolder, _ options: String...) throws -> String {
        sleep(2)
        return try VolleyBinary.run(["prune", "--keep", "1s", "--yes"] + options, in: folder.url).output
    }

    @Test("a run whose retry was given up before it began can be resumed, and stays")
    func retryGivenUp() throws {
        let (server, run) = try cancelled()
        let folder = server.folder
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", project + "    approval: required\n")
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 2)
        #expect(try folder.volley("cancel", "last").status == 0)
        #expect(try prune(folder).contains("\(run)  it can be resumed"))
        try folder.write("volley.yaml", project)
        #expect(try folder.volley("resume", run).status == 0)
        let accepted = try server.accepted()
        #expect(accepted.count == 3000 && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test(
        "a run of whose devices a retry took only some can be retried again, and stays until all are taken over",
        .enabled(if: hasPython))
    func retriedInPart() throws {
        let (server, run) = try cancelled()
        let folder = server.folder
        // Some are unknown: claimed, without an outcome.
        let accepted = server.acceptedSoFar().count
        #expect(accepted < 2900)
        try folder.editRun(
            "INSERT INTO claim SELECT max(last_id) + 1, max(last_id) + 20, max(claimed_at) FROM claim",
            "DELETE FROM figures", id: run)
        let retried = try folder.volley("retry", run, "--outcome", "unknown", "--yes")
        #expect(retried.status == 0, "\(retried.errors)")
        #expect(try prune(folder).contains("\(run)  some of its devices can be retried"))
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 0)
        #expect(try !prune(folder).contains("can be retried"))
        #expect(try server.accepted().allSatisfy { $0.value.count == 1 })
    }

    @Test(
        "a run stays as long as an older one of its campaign is to go on, which asks whom it has reached",
        .enabled(if: hasPython))
    func neededBeside() throws {
        let server = try LedgeredServer(devices: 60)
        let folder = server.folder
        try folder.writeCampaign()
        let planned = try folder.volley("plan", "campaign.yaml", "--json")
        let plan = try #require(try planned.json()["run"]?.stringValue)
        try folder.writeCampaign(audience: "devices: devices.csv\ntags: [news]")
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        let run = try #require(try sent.json()["run"]?.stringValue)
        #expect(try prune(folder).contains("\(run)  an older run of its campaign can still be sent or resumed"))
        let refused = try folder.volley("send", "--plan", plan, "--yes")
        #expect(
            refused.status == 2 && refused.errors.contains("\(run), has reached 30 of the devices"), "\(refused.errors)"
        )
        #expect(try folder.volley("cancel", plan).status == 0)
        #expect(try prune(folder).contains("\(run)  'sent-recently' warns about its devices until"))
        #expect(try prune(folder, "--include-stopped").contains("\(run)  30 recipients"))
        #expect(try folder.volley("report", run, "--format", "csv").status == 2)
    }
}
