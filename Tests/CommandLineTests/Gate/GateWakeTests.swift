import Base
import Foundation
import TestCommands
import Testing

/// What is checked for a run that its process has paused, and for one that is sent at the same time
/// as others.
@Suite("the gate before sending: paused runs, and runs beside one another")
struct GateWakeTests: GateTesting {
    @Test(
        "a paused run goes on only if it might begin now: with unchanged settings, and approved where that is demanded since"
    )
    func paused() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        let run = try #require(runs(folder).first)
        #expect(try folder.volley("pause", run).status == 0)
        for (old, new) in [("com.example.shop", "com.example.new"), ("SIMULATOR1", "SIMULATOR2")] {
            try edit("volley.yaml", of: folder, old, new)
            let refused = try expectRefusal(folder, ["resume", run], saying: "this file was changed")
            // A list of the devices reached so far would be valid only at this moment.
            #expect(
                refused.contains("once \(run), which is still being sent, is over") && !refused.contains("exclude:"),
                "\(refused)")
            try edit("volley.yaml", of: folder, new, old)
        }
        try demandApproval(folder)
        try expectRefusal(folder, ["resume", run], saying: "nobody has approved this run")
        let approved = try folder.volley("approve", run, "--by", "Anna", "--yes")
        #expect(approved.status == 0, "\(approved.errors)")
        let resumed = try folder.volley("resume", run)
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(running.finish().status == 0)
        try expectEverybodyOnce(server)
    }

    @Test(
        "while a run of a campaign is sent or paused, no second one begins, and the plan that was made for it is gone")
    func beside() throws {
        let server = try LedgeredServer(app: "pace: 300/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign()
        let plan = try plan(folder)
        let running = try server.startSending()
        let run = try #require(runs(folder).first { $0 != plan })
        for command in [
            ["send", "campaign.yaml", "--yes"], ["send", "campaign.yaml", "--now", "--yes"],
            ["send", "--plan", plan, "--yes"],
        ] {
            let refused = try expectRefusal(
                folder, command, saying: "another run of 'test', \(run), is being sent")
            #expect(refused.contains("`volley report \(run)`"), "\(refused)")
            #expect(Set(runs(folder)) == [plan, run])
        }
        #expect(try folder.volley("pause", run).status == 0)
        let paused = try expectRefusal(folder, ["send", "--plan", plan, "--yes"], saying: "\(run), is paused")
        #expect(paused.contains("`volley resume \(run)`") && paused.contains("`volley cancel \(run)`"), "\(paused)")
        running.interrupt()
        _ = running.finish()
        #expect(try server.accepted().allSatisfy { $0.value.count == 1 })
    }

    @Test("of two that send one campaign at the same moment one begins")
    func together() throws {
        // So slow that the first is still being sent when a busy machine starts the second.
        let server = try LedgeredServer(app: "pace: 10/s", devices: 200)
        let folder = server.folder
        try folder.writeCampaign()
        let both = try (0..<2).map { _ in try server.start(["send", "campaign.yaml", "--yes"]) }
        let results = both.map { $0.finish() }
        #expect(results.map(\.status).sorted() == [0, 2], "\(results.map(\.errors))")
        #expect(results.contains { $0.errors.contains("is being sent") }, "\(results.map(\.errors))")
        let accepted = try server.accepted()
        #expect(accepted.count == 200 && accepted.allSatisfy { $0.value.count == 1 })
        #expect(runs(folder).count == 1)
    }
}
