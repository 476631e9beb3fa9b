import Base
import Foundation
import TestCommands
import Testing

/// Two runs of a campaign, one of which was planned to replace the other, for the remaining
/// devices.
@Suite("the gate before sending: a run in place of another")
struct GateSupersededTests: GateTesting {
    /// An interrupted run. The first half of its remedy for a changed setting is done: the campaign
    /// leaves out the devices that were reached.
    private func replaced() throws -> (server: LedgeredServer, run: String) {
        let (server, run) = try interrupted(delivery: "unknown: skip")
        try Shell.run("cd '\(server.folder.url.path)'; sed -i s/SIMULATOR1/SIMULATOR2/g volley.yaml")
        let refusal = try expectRefusal(server.folder, ["resume", run], saying: "this file was changed")
        try Shell.run("cd '\(server.folder.url.path)'; sed -i s/SIMULATOR2/SIMULATOR1/g volley.yaml")
        try excludeReached(server.folder, as: refusal)
        return (server, run)
    }

    @Test(
        "what was planned in place of a run and sent is not sent again by going on with that run, nor by a retry of it",
        .enabled(if: hasPython))
    func wentOnAfterwards() throws {
        let (server, run) = try replaced()
        let folder = server.folder
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        let other = try #require(runs(folder).first { $0 != run })
        let refusal = try expectRefusal(folder, ["resume", run], saying: ", \(other), has reached ")
        #expect(
            refusal.contains("of the devices that are left in this run")
                && refusal.contains("`volley cancel \(run)` cancels this one"))
        for id in [run, other] { #expect(refusal.contains("`volley report \(id) --format csv"), "\(refusal)") }
        #expect(try folder.volley("cancel", run).status == 0)
        let retry = try expectRefusal(
            folder, ["retry", run, "--outcome", "unsent", "--yes"], saying: ", \(other), has reached ")
        // Its plan is gone.
        #expect(!retry.contains("volley cancel"), "\(retry)")
        try expectRefusal(folder, ["resume", run], saying: ", \(other), has reached ")
        try expectEverybodyOnce(server)
    }

    @Test("a plan that was made in place of a run is not sent when that run went on after all", .enabled(if: hasPython))
    func wentOnBefore() throws {
        let (server, run) = try replaced()
        let folder = server.folder
        let other = try plan(folder)
        #expect(try folder.volley("resume", run, "--quiet").status == 0)
        let refusal = try expectRefusal(folder, ["send", "--plan", other, "--yes"], saying: ", \(run), has reached ")
        #expect(refusal.contains("`volley cancel \(other)` cancels this one"), "\(refusal)")
        try expectEverybodyOnce(server)
    }

    @Test("who goes on while the run in its place is being sent is told to end that one first", .enabled(if: hasPython))
    func beside() throws {
        let (server, run) = try replaced()
        let folder = server.folder
        let before = server.answeredBytes
        let running = try server.start(["send", "campaign.yaml", "--yes", "--quiet"])
        server.wait {
            server.answeredBytes > before
        } orEndOf: {
            running
        }
        let other = try #require(runs(folder).first { $0 != run })
        let refusal = try expectRefusal(folder, ["resume", run], saying: "another run of 'test', \(other), ")
        #expect(
            refusal.contains(" being sent to ")
                && refusal.contains(
                    "or once \(other), which is still being sent, is over (`volley report \(other)` shows its progress"),
            "\(refusal)")
        #expect(running.finish().status == 0)
        try expectEverybodyOnce(server)
    }

    @Test(
        "of two plans the one that was made before the other was sent is not sent any more; one that is made afterwards is"
    )
    func secondTime() throws {
        let server = try LedgeredServer(devices: 60)
        let folder = server.folder
        try folder.writeCampaign()
        let first = try plan(folder), second = try plan(folder)
        #expect(try folder.volley("send", "--plan", second, "--yes", "--quiet").status == 0)
        let refusal = try expectRefusal(
            folder, ["send", "--plan", first, "--yes"], saying: "has reached 60 of the devices that this plan sends to")
        #expect(refusal.contains("(volley plan ") && refusal.contains(" sends to them again"), "\(refusal)")
        #expect(try folder.volley("send", "--plan", plan(folder), "--yes", "--quiet").status == 0)
        #expect(try server.accepted().allSatisfy { $0.value.count == 2 })
    }

    @Test(
        "a plan of which several runs have reached the devices says all of them: following that reaches nobody twice, and nobody who is excluded",
        .enabled(if: hasPython))
    func halves() throws {
        let server = try LedgeredServer(devices: 60)
        let folder = server.folder
        func write(_ tags: String) throws {
            try folder.writeCampaign(
                audience:
                    "devices: devices.csv\ntags: [\(tags)]\nexclude: {aliases: [nobody-has-this], tags: [unsubscribed]}"
            )
        }
        try write("news, sports")
        let everybody = try plan(folder)
        for tag in ["news", "sports"] {
            try write(tag)
            #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        }
        try write("news, sports")
        let refusal = try expectRefusal(
            folder, ["send", "--plan", everybody, "--yes"],
            saying: "have reached 60 of the devices that this plan sends to")
        try excludeReached(folder, as: refusal)
        _ = try folder.volley("send", "campaign.yaml", "--yes", "--quiet")
        #expect(try server.accepted().count == 60 && server.accepted().allSatisfy { $0.value.count == 1 })
    }

    @Test("plans of one campaign for different devices are all sent")
    func differentDevices() throws {
        let folder = try folder()
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        let plans = try ["news", "sports"].map { tag in
            try folder.write("campaign.yaml", campaign)
            try folder.writeCampaign(
                audience:
                    "devices: devices.csv\ntags: [\(tag)]\nexclude: {tags: [\(tag == "news" ? "sports" : "news")]}")
            return try plan(folder)
        }
        for plan in plans {
            let sent = try folder.volley("send", "--plan", plan, "--yes", "--quiet")
            #expect(sent.status == 0, "\(sent.errors)")
        }
    }
}
