import Base
import Foundation
import TestCommands
import Testing

/// If a person follows the gate's advice exactly, the remaining devices are reached, and none
/// twice.
@Suite("the gate's remedies")
struct GateRemedyTests: GateTesting {
    /// Tries to resume with another key, which is refused, and reverts the change.
    /// - Returns: the message.
    private func refusedResumption(_ folder: ProjectFolder, _ run: String) throws -> String {
        try edit("volley.yaml", of: folder, "SIMULATOR1", "SIMULATOR2")
        defer { try? edit("volley.yaml", of: folder, "SIMULATOR2", "SIMULATOR1") }
        return try expectRefusal(folder, ["resume", run], saying: "this file was changed")
    }

    @Test(
        "a new plan without those who were reached reaches everybody once, whatever the exports call their columns",
        arguments: [
            "token: apns_token", "token: apns_token, registration_id: uid",
            "token: registration_id, registration_id: uid",
        ])
    func otherColumns(names: String) throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        let columns = names.split(separator: ",").map { $0.split(separator: " ")[1] }
        // Every second device has a registration id.
        let rows = (0..<3000).map { "\(ProjectFolder.token($0)),\($0 % 2 == 0 ? "reg\($0)" : "")\n" }
        try folder.write(
            "devices.csv", "\(columns[0]),\(columns.count == 2 ? columns[1] : "registration_id")\n" + rows.joined())
        try edit("volley.yaml", of: folder, "columns: {token: device_token}", "columns: {\(names)}")
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        running.interrupt()
        #expect(running.finish().status == 130)
        try excludeReached(folder, as: refusedResumption(folder, "last"))
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--quiet")
        #expect(sent.status == 0 && !sent.errors.contains("exclusion-not-found"), "\(sent.errors)")
        try expectEverybodyOnce(server)
    }

    @Test(
        "a campaign with a time is sent to those who are left with --now: its time went out, and no remedy leads round in a circle"
    )
    func scheduled() throws {
        let (server, run) = try interrupted(delivery: "unknown: skip", schedule: Self.due)
        let folder = server.folder
        let refusal = try refusedResumption(folder, run)
        let command = try #require(refusal.split(separator: "`").first { $0.hasPrefix("volley send ") }, "\(refusal)")
        #expect(command.hasSuffix(" --now"))
        try excludeReached(folder, as: refusal)
        let sent = try shell(folder, "\(command) --yes --quiet")
        #expect(sent.status == 0, "\(sent.errors)")
        try expectEverybodyOnce(server)
    }

    @Test(
        "the list is found wherever the campaign lies and however its folder is called, and an older one of the same name is not taken for it"
    )
    func otherFolder() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        try Shell.run(
            "cd '\(folder.url.path)'; mkdir \"it's c\"; sed 's#devices.csv#../devices.csv#' campaign.yaml > \"it's c/campaign.yaml\""
        )
        for stale in ["reached.csv", "it's c/reached.csv"] {
            try folder.write(stale, "device_token\n\(ProjectFolder.token(999_999))\n")
        }
        let running = try server.startSending(["send", "it's c/campaign.yaml", "--yes", "--json"])
        running.interrupt()
        #expect(running.finish().status == 130)
        try excludeReached(folder, as: refusedResumption(folder, "last"), campaign: "it's c/campaign.yaml")
        let sent = try folder.volley("send", "it's c/campaign.yaml", "--yes", "--quiet")
        #expect(sent.status == 0, "\(sent.errors)")
        try expectEverybodyOnce(server)
    }

    @Test("where alias_limit left devices out, it is said that they may take the places of those who were reached")
    func aliasLimit() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        let rows = (0..<4500).map { "\(ProjectFolder.token($0)),user\($0 / 15)\n" }.joined()
        try folder.write("devices.csv", "device_token,alias\n" + rows)
        let names = (0..<300).map { "user\($0)" }.joined(separator: ", ")
        try folder.writeCampaign(audience: "devices: devices.csv\naliases: [\(names)]", delivery: "unknown: skip")
        let running = try server.startSending()
        running.interrupt()
        #expect(running.finish().status == 130)
        let said =
            "`alias_limit` left out 1,500 devices, which may now take their places: look at `volley preview` first"
        #expect(try refusedResumption(folder, "last").contains(said))
        #expect(try !refusedResumption(interrupted().server.folder, "last").contains("alias_limit"))
    }

    @Test(
        "of a cancelled run that was retried for some of its devices it is said how the others are sent to, until there are none"
    )
    func unsentBesideRetry() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        kill(running.processID, SIGKILL)
        _ = running.finish()
        #expect(try folder.volley("cancel", "last").status == 0)
        let run = try #require(runs(folder).first)
        let report = try server.report()
        let unsent = try #require(report["outcomes"]?.int("unsent")), unknown = try server.tokens("unknown")
        try #require(unsent > 1000 && !unknown.isEmpty)
        #expect(try folder.volley("retry", run, "--yes", "--quiet").status == 0)

        let said =
            "`volley retry \(run) --outcome unsent` sends to the \(TextFormat.count(unsent)) devices that were never sent to"
        let resumed = try expectRefusal(folder, ["resume", run], saying: said)
        #expect(!resumed.contains("Continue that retry instead"), "\(resumed)")
        try expectRefusal(folder, ["retry", run, "--yes"], saying: said)
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes", "--quiet").status == 0)

        let over = try expectRefusal(folder, ["resume", run], saying: "That retry is over")
        #expect(!over.contains("--outcome unsent"), "\(over)")
        let nobody = try expectRefusal(
            folder, ["retry", run, "--yes"], saying: "no device of this run is failed or unknown")
        #expect(!nobody.contains("--outcome unsent"), "\(nobody)")
        let accepted = try server.accepted()
        #expect(accepted.count == 3000 && Set(accepted.filter { $0.value.count > 1 }.keys).isSubset(of: unknown))
    }
}
