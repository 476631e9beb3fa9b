import Base
import Foundation
import TestCommands
import Testing

/// The gate before sending: no command sends a run that was not approved, was changed, goes
/// elsewhere, or belongs to another process.
@Suite("the gate before sending")
struct GateTests: GateTesting {
    @Test(
        "a plan that was cancelled goes out neither by resume nor by retry, with approval demanded or not",
        arguments: ["environment: simulator", "environment: simulator\napproval: required"])
    func cancelledPlan(app: String) throws {
        let folder = try folder(app: app)
        let run = try plan(folder)
        #expect(try folder.volley("cancel", run).status == 0)
        try expectRefusal(folder, ["resume", run], saying: "cancelled before any of it was sent")
        try expectRefusal(
            folder, ["retry", run, "--outcome", "unsent", "--yes"], saying: "no push of this run was ever sent")
        #expect(runs(folder) == [run])
        #expect(try attempts(folder, run) == 0)
    }

    @Test(
        "a state that was set behind Volley's back opens no way round the gate", .enabled(if: hasPython),
        arguments: ["stopped", "running", "paused", "cancelled", "finished"])
    func stateBySQL(state: String) throws {
        let folder = try folder(app: "environment: simulator\napproval: required")
        let run = try plan(folder)
        try folder.editRun("UPDATE run SET state = '\(state)'")
        for arguments in [
            ["resume", run], ["send", "--plan", run, "--yes"], ["retry", run, "--outcome", "unsent", "--yes"],
        ] {
            #expect(try VolleyBinary.run(arguments, in: folder.url).status == 2, "\(arguments)")
        }
        // As if it had been begun.
        try folder.editRun("UPDATE run SET state = '\(state)', started_at = 1700000000000")
        for arguments in [
            ["resume", run], ["send", "--plan", run, "--yes"], ["retry", run, "--outcome", "unsent", "--yes"],
        ] {
            #expect(try VolleyBinary.run(arguments, in: folder.url).status == 2, "\(arguments)")
        }
        #expect(try attempts(folder, run) == 0)
    }

    @Test("a sent plan whose state is set back is not sent again", .enabled(if: hasPython))
    func setBackBySQL() throws {
        let folder = try folder()
        let run = try plan(folder)
        #expect(try folder.volley("send", "--plan", run, "--yes").status == 0)
        try folder.editRun(
            "UPDATE run SET state = 'planned', started_at = NULL", "DELETE FROM claim", "DELETE FROM outcome_block")
        try expectRefusal(folder, ["send", "--plan", run, "--yes"], saying: "already been sent")
        try folder.editRun("UPDATE run SET state = 'stopped'", "DELETE FROM life")
        try expectRefusal(folder, ["resume", run], saying: "older copy")
    }

    @Test(
        "a run does not go on, nor is it retried, when volley.yaml sends elsewhere; with the change taken back it does")
    func changedSettings() throws {
        let (server, _) = try interrupted()
        let folder = server.folder
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", project.replacing("com.example.shop", with: "com.example.other"))
        let refused = try expectRefusal(folder, ["resume", "last"], saying: "the topic was com.example.shop")
        #expect(
            refused.contains("Undo the change") && refused.contains("exclude:"),
            "a new plan would reach many again: \(refused)")
        #expect(try folder.volley("cancel", "last").status == 0)
        try expectRefusal(
            folder, ["retry", "last", "--outcome", "unsent", "--yes"], saying: "the topic was com.example.shop")
        try folder.write("volley.yaml", project)
        #expect(try folder.volley("resume", "last").status == 0)
        try expectEverybodyOnce(server)
    }

    @Test("who starts a campaign anew whose last run was interrupted is told that `resume` reaches the others only")
    func startedAnew() throws {
        let (server, run) = try interrupted()
        let preview = try server.folder.volley("preview", "campaign.yaml")
        #expect(
            preview.errors.contains("\(run), ended before it was finished")
                && preview.errors.contains("[last-run-unfinished]"))
        #expect(preview.errors.contains("`volley resume \(run)`"), "\(preview.errors)")
        #expect(preview.errors.contains("sends again to devices that it has reached"), "\(preview.errors)")
        // A campaign that leaves out the devices of the run's report is not said to send to them
        // again.
        let campaign = try String(
            contentsOf: server.folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        #expect(campaign.contains("audience:\n"))
        _ = try server.folder.volley("report", run, "--format", "csv", "--output", "reached.csv")
        #expect(server.folder.files(in: "").contains("reached.csv"))
        try server.folder.write(
            "without.yaml", campaign.replacing("audience:\n", with: "audience:\n  exclude: {devices: reached.csv}\n"))
        let without = try server.folder.volley("preview", "without.yaml").errors
        #expect(without.contains("do not leave out") && !without.contains("devices that it has reached"), "\(without)")
        #expect(try server.folder.volley("resume", run).status == 0)
        #expect(try !server.folder.volley("preview", "campaign.yaml").errors.contains("[last-run-unfinished]"))
    }

    @Test("a run begun before approval was demanded waits for it, and goes on once it is approved")
    func approvalSince() throws {
        let (server, _) = try interrupted()
        let folder = server.folder
        try demandApproval(folder)
        let refused = try expectRefusal(folder, ["resume", "last"], saying: "nobody has approved this run")
        #expect(refused.contains("volley approve"))
        let approved = try folder.volley("approve", "last", "--by", "Anna", "--yes")
        #expect(approved.status == 0 && approved.output.contains("volley resume"), "\(approved.errors)")
        #expect(try folder.volley("resume", "last").status == 0)
        try expectEverybodyOnce(server)
    }

    @Test("a moved project is judged by the volley.yaml that is there, and a second one does not replace the first")
    func movedProject() throws {
        let folder = try folder()
        let run = try plan(folder)
        try folder.write(
            "other.yaml", String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8))
        try folder.writeProject(app: "environment: simulator\napproval: required")
        try expectRefusal(
            folder, ["send", "--plan", run, "--yes", "--config", "other.yaml"], saying: "requires approval")
        try Shell.run("cd '\(folder.url.path)'; mkdir moved; mv volley.yaml runs moved/; mv moved ../moved-\(run)")
        let moved = URL(fileURLWithPath: folder.url.path + "/../moved-" + run)
        defer { try? FileManager.default.removeItem(at: moved) }
        let refused = try VolleyBinary.run(["send", "--plan", run, "--yes"], in: moved)
        #expect(refused.status == 2 && refused.errors.contains("requires approval"), "\(refused.errors)")
    }

    @Test(
        "the approval that the campaign's own volley.yaml demands binds whichever file --config names, also through a link to the campaign"
    )
    func approvalOfOwnProject() throws {
        let folder = try folder()
        try Shell.run(
            "cd '\(folder.url.path)'; mkdir other; cp volley.yaml other/; ln -s ../campaign.yaml ../devices.csv other/")
        let other = ["--config", "other/volley.yaml"]
        let project = try demandApproval(folder)
        for file in [["campaign.yaml"] + other, ["other/campaign.yaml"]] {
            let refused = try expectRefusal(folder, ["send"] + file + ["--yes"], saying: "requires approval in ")
            #expect(refused.contains("/volley.yaml, and nobody has approved this plan"), "\(refused)")
            let planned = try VolleyBinary.run(["plan"] + file, in: folder.url)
            #expect(planned.status == 0 && planned.output.contains("volley approve"), "\(planned.output)")
            try expectRefusal(folder, ["send", "--plan", "last", "--yes"] + other, saying: "requires approval in ")
            #expect(
                try VolleyBinary.run(["approve", "last", "--by", "Anna", "--yes"] + other, in: folder.url).status == 0)
            #expect(try VolleyBinary.run(["send", "--plan", "last", "--yes"] + other, in: folder.url).status == 0)
        }
        // Planned before approval was required.
        try folder.write("volley.yaml", project)
        let planned = try VolleyBinary.run(["plan", "campaign.yaml", "--json"] + other, in: folder.url)
        let run = try #require(try planned.json()["run"]?.stringValue, "\(planned.errors)")
        try demandApproval(folder)
        try expectRefusal(folder, ["send", "--plan", run, "--yes"] + other, saying: "requires approval in ")
        // A volley.yaml without this app does not concern the campaign.
        try folder.write("volley.yaml", project.replacing("shop:", with: "shoe:") + "    approval: required\n")
        let sent = try VolleyBinary.run(["send", "campaign.yaml", "--yes"] + other, in: folder.url)
        #expect(sent.status == 0, "\(sent.errors)")
    }

    @Test(
        "when volley.yaml is not where it was, that of the run's folder counts; where there is none, nothing is sent until it is named"
    )
    func lostProject() throws {
        let folder = try folder()
        let run = try plan(folder)
        let elsewhere = try ProjectFolder()
        try FileManager.default.removeItem(at: elsewhere.url.appendingPathComponent("volley.yaml"))
        let file = folder.url.path + "/runs/\(run).sqlite", config = folder.url.path + "/conf/volley.yaml"
        try Shell.run(
            "cd '\(folder.url.path)'; mkdir conf; mv volley.yaml conf/; echo '    approval: required' >> conf/volley.yaml"
        )
        for command in [["send", "--plan", file, "--yes"], ["approve", file, "--by", "Anna", "--yes"]] {
            try expectRefusal(elsewhere, command, saying: "Name the file with --config FILE")
        }
        try expectRefusal(
            elsewhere, ["send", "--plan", file, "--yes", "--config", config], saying: "requires approval")
        // In a folder above that of the run.
        try Shell.run("cd '\(folder.url.path)'; cp conf/volley.yaml runs/")
        try expectRefusal(elsewhere, ["send", "--plan", file, "--yes"], saying: "requires approval")
        try Shell.run("cd '\(folder.url.path)'; rm runs/volley.yaml")
        #expect(try elsewhere.volley("approve", file, "--by", "Anna", "--yes", "--config", config).status == 0)
        #expect(try elsewhere.volley("send", "--plan", file, "--yes", "--config", config).status == 0)
        // A run that has begun is neither resumed nor retried.
        let (server, cut) = try interrupted()
        try Shell.run("cd '\(server.folder.url.path)'; mkdir conf; mv volley.yaml conf/")
        let begun = server.folder.url.path + "/runs/\(cut).sqlite"
        try expectRefusal(elsewhere, ["resume", begun], saying: "Name the file with --config FILE")
        #expect(try elsewhere.volley("cancel", begun).status == 0)
        try expectRefusal(
            elsewhere, ["retry", begun, "--outcome", "unsent", "--yes"], saying: "Name the file with --config FILE")
    }

    @Test("a lock file that is removed while a run is sent lets nobody else in")
    func removedLock() throws {
        let server = try LedgeredServer(app: "pace: 300/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: resend")
        let running = try server.startSending()
        for _ in 0..<3 {
            try Shell.run("rm -f '\(folder.url.path)'/runs/*.lock")
            try expectRefusal(folder, ["resume", "last"], saying: "another volley process is sending this run")
        }
        #expect(running.finish().status == 0)
        try expectEverybodyOnce(server)
        #expect(!folder.files(in: "runs").contains { $0.hasSuffix(".lock") })
    }

    @Test(
        "what a killed planning leaves behind is shown by runs and removed by prune; what is being made is left alone")
    func unfinished() throws {
        let folder = try folder()
        try folder.write("devices.csv", ProjectFolder.export(devices: 400_000))
        let planning = try VolleyBinary.start(["plan", "campaign.yaml"], in: folder.url)
        let deadline = Date().addingTimeInterval(60)
        func partials() -> [String] { folder.files(in: "runs").filter { $0.hasSuffix(".partial") } }
        // Its content was written after its owner locked it.
        func isWritten() throws -> Bool {
            try partials().contains { try !Data(contentsOf: folder.url.appendingPathComponent("runs/\($0)")).isEmpty }
        }
        while try !isWritten(), planning.isRunning, Date() < deadline { usleep(2_000) }
        kill(planning.processID, SIGSTOP)
        let name = try #require(partials().first)
        let listed = try folder.volley("runs", "--json").json()
        guard case .array(let plans)? = listed["unfinished"], let shown = plans.first else {
            throw Diagnostic("nothing is shown: \(listed)")
        }
        #expect(shown["file"]?.stringValue?.hasSuffix(name) == true && shown["is_being_made"] == .bool(true))
        #expect(try folder.volley("prune", "--keep", "1s", "--yes").status == 0)
        #expect(partials() == [name])
        // Killed: SIGKILL also ends a stopped process.
        _ = planning.finish(timeout: 0)
        let text = try folder.volley("runs").output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("1 unfinished plan") && text.contains("`volley prune --keep 90d` removes it"), "\(text)")
        #expect(try folder.volley("prune", "--keep", "30d", "--dry-run").output.contains("would be removed"))
        #expect(partials() == [name])
        let pruned = try folder.volley("prune", "--keep", "30d", "--yes", "--json")
        #expect(pruned.status == 0 && partials().isEmpty, "\(pruned.errors)")
        #expect(try folder.volley("runs", "--json").json()["unfinished"] == .array([]))
    }
}
