import Base
import Foundation
import TestCommands
import Testing

/// Earlier runs in every place that records them: no run hides another, and a server has one name.
@Suite("what a campaign's last run was")
struct GateLastRunTests: GateTesting {
    private func exports(_ server: LedgeredServer, devices: Int) throws {
        try server.folder.write("devices.csv", ProjectFolder.export(devices: devices))
    }

    private func expectOnce(_ server: LedgeredServer) throws {
        let accepted = try server.accepted()
        #expect(!accepted.isEmpty && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test("a host in capitals is the same server: an older plan is superseded by what was sent there")
    func capitals() throws {
        let server = try LedgeredServer(devices: 20)
        let folder = server.folder
        try folder.writeCampaign()
        let plan = try plan(folder)
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", project.replacing("https://localhost:", with: "https://LOCALHOST:"))
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        try folder.write("volley.yaml", project)
        #expect(try folder.volley("send", "--plan", plan, "--yes").status == 2)
        try expectOnce(server)
    }

    @Test(
        "a run to nobody hides no run before it: neither whom that reached, nor how many it went to, nor that it can go on"
    )
    func nobody() throws {
        let server = try LedgeredServer(devices: 60)
        let folder = server.folder
        try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nshrinks_at_most: 50%")
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        try folder.writeCampaign()
        try exports(server, devices: 0)
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nshrinks_at_most: 50%")
        try exports(server, devices: 2)
        let preview = try folder.volley("preview", "campaign.yaml")
        #expect(preview.errors.contains("to 60 devices; a new run sends it to them again"), "\(preview.errors)")
        let refused = try folder.volley("send", "campaign.yaml", "--yes")
        #expect(refused.status == 2 && refused.errors.contains("fewer than the 60 of"), "\(refused.errors)")
        try expectOnce(server)
    }

    @Test("another app's campaign of the same name is another campaign")
    func otherApp() throws {
        let server = try LedgeredServer(devices: 60)
        let folder = server.folder
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", project.replacing("  shop:", with: "  news:"))
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign.replacing("app: shop", with: "app: news"))
        try exports(server, devices: 3)
        let preview = try folder.volley("preview", "campaign.yaml")
        #expect(
            preview.status == 0 && !preview.errors.contains("[sent-recently]")
                && !preview.errors.contains("audience-dropped"))
    }

    @Test(
        "a run begun only hours ago whose file is gone or cut off is told of: nobody knows whom it reached",
        arguments: [true, false])
    func lostFile(isGone: Bool) throws {
        let server = try LedgeredServer(devices: 60)
        let folder = server.folder
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let run = try #require(runs(folder).first)
        let file = folder.url.appendingPathComponent("runs/\(run).sqlite")
        if isGone {
            try FileManager.default.removeItem(at: file)
        } else {
            try Data(contentsOf: file).prefix(5000).write(to: file)
        }
        let preview = try folder.volley("preview", "campaign.yaml")
        #expect(
            preview.errors.contains("\(run), began") && preview.errors.contains("[sent-recently]"), "\(preview.errors)")
    }

    @Test("a report of a run that was retried names the retry, not a step that is refused")
    func nextStep() throws {
        let (server, run) = try interrupted()
        #expect(try server.folder.volley("cancel", run).status == 0)
        #expect(try server.folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 0)
        let report = try server.folder.volley("report", run)
        #expect(
            report.output.contains("has taken over") && !report.output.contains("volley resume"), "\(report.output)")
    }
}
