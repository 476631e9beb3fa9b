import Base
import Foundation
import TestCommands
import Testing

/// The one gate before sending: what was not approved, was changed, was sent before, or is somebody else's to send goes out by no command.
@Suite("the gate before sending")
struct GateTests {
    private static let due = "schedule: {at: 2025-06-01 09:00, timezone: Asia/Tokyo, late: send}\n"

    private func folder(app: String = "environment: simulator", schedule: String = "") throws -> ProjectFolder {
        let folder = try ProjectFolder(app: app)
        try folder.writeCampaign()
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign + schedule)
        return folder
    }

    /// Plans the campaign; returns the run's id.
    private func plan(_ folder: ProjectFolder) throws -> String {
        let planned = try folder.volley("plan", "campaign.yaml", "--json")
        return try #require(try planned.json()["run"]?.stringValue, "\(planned.errors)")
    }

    private func runs(_ folder: ProjectFolder) -> [String] {
        folder.files(in: "runs").filter { $0.hasPrefix("20") && $0.hasSuffix(".sqlite") }.map { String($0.dropLast(7)) }
    }

    /// Expects that a command sends nothing; returns what it says.
    @discardableResult
    private func expectRefusal(
        _ folder: ProjectFolder, _ arguments: [String], saying words: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try VolleyBinary.run(arguments, in: folder.url)
        #expect(result.status == 2, "\(arguments): \(result.output)\(result.errors)", sourceLocation: sourceLocation)
        #expect(result.errors.contains(words), "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
        return result.errors
    }

    /// A run that was interrupted in the middle, and the server that it sends to.
    private func interrupted(delivery: String? = nil, schedule: String = "") throws -> (server: LedgeredServer, run: String) {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        try server.folder.writeCampaign(delivery: delivery)
        if !schedule.isEmpty {
            let campaign = try String(contentsOf: server.folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
            try server.folder.write("campaign.yaml", campaign + schedule)
        }
        let running = try server.startSending()
        running.interrupt()
        #expect(running.finish().status == 130)
        return (server, try #require(runs(server.folder).first))
    }

    /// Expects that everybody was accepted, once.
    private func expectEverybodyOnce(_ server: LedgeredServer, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let accepted = try server.accepted()
        #expect(accepted.count == 3000 && accepted.allSatisfy { $0.value.count == 1 }, sourceLocation: sourceLocation)
    }

    private func attempts(_ folder: ProjectFolder, _ run: String) throws -> Int? {
        try folder.volley("report", run, "--format", "json").json().int("attempts")
    }

    // MARK: - What was never begun

    @Test(
        "a plan that was cancelled goes out neither by resume nor by retry, with approval demanded or not",
        arguments: ["environment: simulator", "environment: simulator\napproval: required"])
    func cancelledPlan(app: String) throws {
        let folder = try folder(app: app)
        let run = try plan(folder)
        #expect(try folder.volley("cancel", run).status == 0)
        try expectRefusal(folder, ["resume", run], saying: "given up before anything of it was sent")
        try expectRefusal(folder, ["retry", run, "--outcome", "unsent", "--yes"], saying: "nothing of this run was ever sent")
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
        for arguments in [["resume", run], ["send", "--plan", run, "--yes"], ["retry", run, "--outcome", "unsent", "--yes"]] {
            #expect(try VolleyBinary.run(arguments, in: folder.url).status == 2, "\(arguments)")
        }
        // As if it had been begun.
        try folder.editRun("UPDATE run SET state = '\(state)', started_at = 1700000000000")
        for arguments in [["resume", run], ["send", "--plan", run, "--yes"], ["retry", run, "--outcome", "unsent", "--yes"]] {
            #expect(try VolleyBinary.run(arguments, in: folder.url).status == 2, "\(arguments)")
        }
        #expect(try attempts(folder, run) == 0)
    }

    @Test("a sent plan whose state is set back is not sent again", .enabled(if: hasPython))
    func setBackBySQL() throws {
        let folder = try folder()
        let run = try plan(folder)
        #expect(try folder.volley("send", "--plan", run, "--yes").status == 0)
        try folder.editRun("UPDATE run SET state = 'planned', started_at = NULL", "DELETE FROM claim", "DELETE FROM outcome_block")
        try expectRefusal(folder, ["send", "--plan", run, "--yes"], saying: "sent already")
        try folder.editRun("UPDATE run SET state = 'stopped'", "DELETE FROM life")
        try expectRefusal(folder, ["resume", run], saying: "older copy")
    }

    // MARK: - What was changed

    @Test("a run does not go on, nor is it retried, when volley.yaml sends elsewhere; with the change taken back it does")
    func changedSettings() throws {
        let (server, _) = try interrupted()
        let folder = server.folder
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", project.replacing("com.example.shop", with: "com.example.other"))
        let refused = try expectRefusal(folder, ["resume", "last"], saying: "the topic was com.example.shop")
        #expect(refused.contains("Take the change back") && refused.contains("exclude:"), "a new plan would reach many again: \(refused)")
        #expect(try folder.volley("cancel", "last").status == 0)
        try expectRefusal(folder, ["retry", "last", "--outcome", "unsent", "--yes"], saying: "the topic was com.example.shop")
        try folder.write("volley.yaml", project)
        #expect(try folder.volley("resume", "last").status == 0)
        try expectEverybodyOnce(server)
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

    // MARK: - Copies

    @Test("a run file under another name is refused: copied, renamed, linked, in another folder", arguments: [false, true])
    func copies(isSent: Bool) throws {
        let folder = try folder()
        let run = try plan(folder), file = folder.url.path + "/runs/\(run).sqlite"
        try Shell.run("cp '\(file)' '\(folder.url.path)/copy.sqlite'; mkdir '\(folder.url.path)/elsewhere'")
        if isSent { #expect(try folder.volley("send", "--plan", run, "--yes").status == 0) }
        try Shell.run("cd '\(folder.url.path)'; cp copy.sqlite runs/second.sqlite; cp copy.sqlite elsewhere/\(run).sqlite")
        try expectRefusal(folder, ["send", "--plan", "runs/second.sqlite", "--yes"], saying: "is a copy of the run \(run), or was renamed")
        try expectRefusal(folder, ["send", "--plan", "elsewhere/\(run).sqlite", "--yes"], saying: "belongs into")
        try expectRefusal(folder, ["approve", "runs/second.sqlite", "--by", "Anna", "--yes"], saying: "is a copy of the run")
        // A symbolic link is the file that it leads to.
        try Shell.run("cd '\(folder.url.path)/runs'; rm second.sqlite; ln -s \(run).sqlite link.sqlite; ln \(run).sqlite ../hard.sqlite")
        if !isSent {
            let linked = try expectRefusal(folder, ["send", "--plan", run, "--yes"], saying: "2 names (hard links)")
            // It is typed in whatever folder.
            #expect(
                linked.contains("`find '/") && linked.contains(" -samefile '/") && linked.contains("/runs/\(run).sqlite'`"), "\(linked)")
            try Shell.run("cd '\(folder.url.path)'; rm hard.sqlite; mv runs/\(run).sqlite runs/renamed.sqlite")
            try expectRefusal(folder, ["send", "--plan", "runs/renamed.sqlite", "--yes"], saying: "was renamed")
            try Shell.run("cd '\(folder.url.path)'; mv runs/renamed.sqlite runs/\(run).sqlite")
            #expect(try folder.volley("send", "--plan", "runs/link.sqlite", "--yes").status == 0)
        }
        try Shell.run("rm -f '\(folder.url.path)/hard.sqlite'")
        try expectRefusal(folder, ["send", "--plan", "runs/link.sqlite", "--yes"], saying: "finished")
        // What stands beside the runs remembers what the copy does not know.
        try Shell.run("cd '\(folder.url.path)'; rm -f hard.sqlite runs/link.sqlite; cp copy.sqlite runs/\(run).sqlite")
        try expectRefusal(folder, ["send", "--plan", run, "--yes"], saying: "sent already")
        try Shell.run("cd '\(folder.url.path)'; rm runs/\(run).sqlite")
        try expectRefusal(folder, ["send", "--plan", "elsewhere/\(run).sqlite", "--yes"], saying: "belongs into")
    }

    @Test("a run whose folder has moved as a whole is sent from where it is now")
    func movedFolder() throws {
        let folder = try folder()
        let run = try plan(folder)
        try Shell.run("cd '\(folder.url.path)'; mv runs archive")
        #expect(try folder.volley("send", "--plan", "archive/\(run).sqlite", "--yes").status == 0)
    }

    @Test("an older copy of a run that went on is neither resumed nor retried")
    func olderCopy() throws {
        let (server, run) = try interrupted(delivery: "unknown: skip")
        let folder = server.folder
        try Shell.run("cd '\(folder.url.path)'; cp runs/\(run).sqlite older.sqlite")
        #expect(try folder.volley("resume", run).status == 0)
        try Shell.run("cd '\(folder.url.path)'; cp older.sqlite runs/\(run).sqlite")
        try expectRefusal(folder, ["resume", run], saying: "older copy")
        #expect(try folder.volley("cancel", run).status == 0)
        try expectRefusal(folder, ["retry", run, "--outcome", "unsent", "--yes"], saying: "older copy")
        try expectEverybodyOnce(server)
    }

    @Test("of a retry whose file is gone nobody knows whom it reached: there is no second one, and the first run does not go on")
    func lostRetry() throws {
        let (server, run) = try interrupted(delivery: "unknown: skip")
        let folder = server.folder
        #expect(try folder.volley("cancel", run).status == 0)
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 0)
        let retry = try #require(runs(folder).first { $0 != run })
        try Shell.run("rm '\(folder.url.path)/runs/\(retry).sqlite'")
        try expectRefusal(folder, ["retry", run, "--outcome", "unsent", "--yes"], saying: "the file of that retry is gone")
        try expectRefusal(folder, ["resume", run], saying: "retried as \(retry)")
    }

    @Test("a retry that was given up before it sent anything keeps nobody from another one, nor the run from going on")
    func givenUpRetry() throws {
        let server = try LedgeredServer(app: "pace: 1500/s\napproval: required", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign()
        let run = try plan(folder)
        #expect(try folder.volley("approve", run, "--by", "Anna", "--yes").status == 0)
        let running = try server.startSending(["send", "--plan", run, "--yes"])
        running.interrupt()
        #expect(running.finish().status == 130)
        #expect(try folder.volley("cancel", run).status == 0)
        // Killed while it asks nobody: the retry is there, and not begun.
        try folder.write(
            "volley.yaml",
            String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8).replacing(
                "pace: 1500/s", with: "pace: 1/s"))
        let retrying = try VolleyBinary.start(["retry", run, "--outcome", "unsent", "--yes"], in: folder.url)
        server.wait {
            self.runs(folder).count == 2
        } orEndOf: {
            retrying
        }
        _ = retrying.finish(timeout: 0)
        let retry = try #require(runs(folder).first { $0 != run })
        try expectRefusal(folder, ["resume", run], saying: "retried as \(retry)")
        let state = try folder.volley("report", retry, "--format", "json").json()["state"]?.stringValue
        #expect(try folder.volley("cancel", retry).status == 0)
        guard state == "planned" else { return }
        let resumed = try folder.volley("resume", run)
        #expect(resumed.status == 0, "\(resumed.errors)")
        try expectEverybodyOnce(server)
    }

    @Test(
        "a retry whose process was killed after it was noted, and before it began, keeps nobody from anything once it is cancelled",
        .enabled(if: hasPython))
    func notedRetry() throws {
        let (server, run) = try interrupted(delivery: "unknown: skip")
        let folder = server.folder
        #expect(try folder.volley("cancel", run).status == 0)
        let project = try demandApproval(folder)
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 2)
        let retry = try #require(runs(folder).first { $0 != run })
        try python(
            folder,
            "import sqlite3; c = sqlite3.connect('runs/sent.db'); "
                + "c.execute(\"INSERT INTO beginning SELECT '\(retry)', '\(run)', '1-a', '', 0, 0, 0, '', '', '', '', 1\"); c.commit()")
        try folder.write("volley.yaml", project)
        try expectRefusal(folder, ["resume", run], saying: "retried as \(retry)")
        #expect(try folder.volley("cancel", retry).status == 0)
        let again = try folder.volley("retry", run, "--outcome", "unsent", "--yes")
        #expect(again.status == 0, "\(again.errors)")
        try expectEverybodyOnce(server)
    }

    private func python(_ folder: ProjectFolder, _ program: String) throws {
        let python = try RunningVolley(executable: "/usr/bin/python3", ["-c", program], in: folder.url, environment: [:], input: nil)
            .finish()
        try #require(python.status == 0, "\(python.errors)")
    }

    @Test("a record of what was sent that was emptied, or holds what it cannot, is damaged, and not an empty one", .enabled(if: hasPython))
    func emptiedRecord() throws {
        let folder = try folder(schedule: Self.due)
        let run = try plan(folder)
        try Shell.run("cd '\(folder.url.path)'; cp runs/\(run).sqlite before")
        #expect(try folder.volley("send", "--plan", run, "--yes").status == 0)
        try Shell.run(
            "cd '\(folder.url.path)'; cp runs/\(run).sqlite after; cp runs/sent.db record; rm runs/schedule.sqlite; : > runs/sent.db")
        for arguments in [["resume", run], ["send", "campaign.yaml", "--yes"], ["retry", run, "--yes"]] {
            try expectRefusal(folder, arguments, saying: "it is empty, and \(run) beside it was begun")
        }
        let edits = ["claimed = '{}'", "former_life = x'fffe'", "life = x'fffe'", "begun_at = 'x'", "is_over = '-'", "campaign = x'ff'"]
        for edit in edits {
            try Shell.run("cd '\(folder.url.path)'; cp record runs/sent.db; cp before runs/\(run).sqlite")
            try python(
                folder, "import sqlite3; c = sqlite3.connect('runs/sent.db'); c.execute(\"UPDATE beginning SET \(edit)\"); c.commit()")
            let sent = try folder.volley("send", "--plan", run, "--yes")
            #expect(sent.status == 2, "\(edit): \(sent.errors)")
            #expect(sent.errors.contains("is damaged") || edit.hasPrefix("campaign"), "\(edit): \(sent.errors)")
        }
    }

    @Test("a run file that has lost its newest part to a kill is not gone on with", .enabled(if: Shell.hasTool("sqlite3") || hasPython))
    func lostNewestPart() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        let run = try #require(runs(folder).first)
        // A backup while it is sent, as one makes it.
        let backup =
            "import sqlite3; a = sqlite3.connect('runs/\(run).sqlite'); b = sqlite3.connect('older.sqlite'); a.backup(b); b.close()"
        let python = try RunningVolley(executable: "/usr/bin/python3", ["-c", backup], in: folder.url, environment: [:], input: nil)
            .finish()
        try #require(python.status == 0, "\(python.errors)")
        usleep(700_000)
        _ = running.finish(timeout: 0)
        try Shell.run("cd '\(folder.url.path)'; rm runs/\(run).sqlite*; cp older.sqlite runs/\(run).sqlite")
        try expectRefusal(folder, ["resume", run], saying: "older copy")
    }

    @Test(
        "a run that was killed, and of which all is lost that SQLite laid beside the files, is neither begun again nor gone on with",
        arguments: ["rm -f runs/*-wal runs/*-shm", "mkdir new; cp runs/*.sqlite runs/sent.db new/; rm -rf runs; mv new runs"])
    func lostLogs(loss: String) throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        // Another run that goes on at the same time keeps the record open.
        try folder.writeCampaign("other.yaml", name: "other", audience: "devices: devices.csv\nwhere: tags contains 'news'")
        try folder.writeCampaign(delivery: "unknown: skip")
        let other = try server.startSending(["send", "other.yaml", "--yes"])
        let run = try plan(folder)
        let bytes = server.answeredBytes
        let running = try server.start(["send", "--plan", run, "--yes"])
        server.wait {
            self.claimed(folder, run) > 300 && server.answeredBytes > bytes + 200_000
        } orEndOf: {
            running
        }
        _ = (running.finish(timeout: 0), other.finish(timeout: 0))
        try Shell.run("cd '\(folder.url.path)'; \(loss)")
        for arguments in [["send", "--plan", run, "--yes"], ["resume", run], ["retry", run, "--outcome", "unsent", "--yes"]] {
            #expect(try VolleyBinary.run(arguments, in: folder.url).status == 2, "\(arguments)")
        }
        try expectRefusal(folder, ["report", run], saying: "older copy")
        let refused = try VolleyBinary.run(["send", "--plan", run, "--yes"], in: folder.url).errors
        #expect(refused.contains("sent already") || refused.contains("cannot be sent as a plan"), "\(refused)")
    }

    @Test("without the marks of a run that was killed nobody knows how far it was, and it does not go on; with them it does")
    func lostMarks() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        _ = running.finish(timeout: 0)
        let run = try #require(runs(folder).first)
        try Shell.run("cd '\(folder.url.path)'; mv runs/\(run).sqlite.claimed away")
        try expectRefusal(folder, ["resume", run], saying: "\(run).sqlite.claimed, which is missing")
        try Shell.run("cd '\(folder.url.path)'; mv away runs/\(run).sqlite.claimed")
        let resumed = try folder.volley("resume", run)
        #expect(resumed.status == 0 || resumed.status == 1, "\(resumed.errors)")
        #expect(folder.files(in: "runs") == ["\(run).sqlite", "sent.db"])
        let accepted = try server.accepted()
        #expect(accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test(
        "what belongs to a run and is removed while it is sent stops it within a moment, and nothing untrue is said of it afterwards",
        arguments: ["20*-wal runs/20*-shm", "20*-wal", "20*-shm", "20*.claimed", "sent.db"])
    func removedWhileSent(files: String) throws {
        let server = try LedgeredServer(app: "pace: 1000/s", devices: 12_000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending(["send", "campaign.yaml", "--yes"])
        let run = try #require(runs(folder).first)
        try Shell.run("cd '\(folder.url.path)'; rm runs/\(files)")
        let sent = running.finish()
        #expect(
            sent.status == 3 && sent.errors.contains("was removed or replaced while it was being sent"), "\(sent.status) \(sent.errors)")
        server.stop()
        let accepted = server.acceptedSoFar().count
        #expect(accepted < 12_000)
        // Either the account is whole, or it is not shown.
        let report = try folder.volley("report", run, "--format", "json")
        if report.status == 0 {
            let outcomes = try report.json()["outcomes"]
            #expect(outcomes?.int("accepted") == accepted, "\(report.output)")
        } else {
            #expect(report.status == 2 && report.errors.contains("older copy"), "\(report.errors)")
            #expect(try folder.volley("runs").output.contains("older copy"))
            #expect(try VolleyBinary.run(["resume", run], in: folder.url).status == 2)
        }
    }

    @Test("a run that has lost its newest part, and is still being sent, is not said to be cancelled")
    func cancelWithoutLog() throws {
        let server = try LedgeredServer(app: "pace: 1000/s", devices: 12_000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending(["send", "campaign.yaml", "--yes"])
        let run = try #require(runs(folder).first)
        // It cannot look while it stands still.
        kill(running.processID, SIGSTOP)
        try Shell.run("cd '\(folder.url.path)'; rm runs/\(run).sqlite-wal runs/\(run).sqlite-shm")
        try expectRefusal(folder, ["cancel", run], saying: "older copy")
        try expectRefusal(folder, ["report", run], saying: "older copy")
        kill(running.processID, SIGCONT)
        #expect(running.finish().status == 3)
    }

    /// From now on the app of volley.yaml demands it.
    /// - Returns: volley.yaml as it was.
    @discardableResult
    private func demandApproval(_ folder: ProjectFolder) throws -> String {
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("volley.yaml", project + "    approval: required\n")
        return project
    }

    /// How many devices of a run are claimed, as stands beside it while it is sent.
    private func claimed(_ folder: ProjectFolder, _ run: String) -> Int {
        let marks = try? String(contentsOf: folder.url.appendingPathComponent("runs/\(run).sqlite.claimed"), encoding: .utf8)
        return marks?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0
    }

    @Test("two retries that did not see one another do not send to the same devices", .enabled(if: hasPython))
    func siblings() throws {
        let (server, run) = try interrupted(delivery: "unknown: skip")
        let folder = server.folder
        #expect(try folder.volley("cancel", run).status == 0)
        try demandApproval(folder)
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 2)
        let first = try #require(runs(folder).first { $0 != run })
        try Shell.run("cd '\(folder.url.path)'; mv runs/\(first).sqlite away.sqlite")
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 2)
        let second = try #require(runs(folder).first { $0 != run })
        for retry in [second, first] {
            if retry == first { try Shell.run("cd '\(folder.url.path)'; mv away.sqlite runs/\(first).sqlite") }
            #expect(try folder.volley("approve", retry, "--by", "Anna", "--yes").status == 0)
        }
        #expect(try folder.volley("send", "--plan", second, "--yes").status == 0)
        try expectRefusal(folder, ["send", "--plan", first, "--yes"], saying: "has sent to devices of this one")
        try expectEverybodyOnce(server)
    }

    @Test("a moved project is judged by the volley.yaml that is there, and a second one does not replace the first")
    func movedProject() throws {
        let folder = try folder()
        let run = try plan(folder)
        try folder.write("other.yaml", String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8))
        try folder.writeProject(app: "environment: simulator\napproval: required")
        try expectRefusal(folder, ["send", "--plan", run, "--yes", "--config", "other.yaml"], saying: "demands approval")
        try Shell.run("cd '\(folder.url.path)'; mkdir moved; mv volley.yaml runs moved/; mv moved ../moved-\(run)")
        let moved = URL(fileURLWithPath: folder.url.path + "/../moved-" + run)
        defer { try? FileManager.default.removeItem(at: moved) }
        let refused = try VolleyBinary.run(["send", "--plan", run, "--yes"], in: moved)
        #expect(refused.status == 2 && refused.errors.contains("demands approval"), "\(refused.errors)")
    }

    @Test("when volley.yaml is not where it was, that of the run's folder counts; where there is none, nothing is sent until it is named")
    func lostProject() throws {
        let folder = try folder()
        let run = try plan(folder)
        let elsewhere = try ProjectFolder()
        try FileManager.default.removeItem(at: elsewhere.url.appendingPathComponent("volley.yaml"))
        let file = folder.url.path + "/runs/\(run).sqlite", config = folder.url.path + "/conf/volley.yaml"
        try Shell.run("cd '\(folder.url.path)'; mkdir conf; mv volley.yaml conf/; echo '    approval: required' >> conf/volley.yaml")
        for command in [["send", "--plan", file, "--yes"], ["approve", file, "--by", "Anna", "--yes"]] {
            try expectRefusal(elsewhere, command, saying: "Name it with --config FILE")
        }
        try expectRefusal(elsewhere, ["send", "--plan", file, "--yes", "--config", config], saying: "demands approval")
        // In a folder above that of the run.
        try Shell.run("cd '\(folder.url.path)'; cp conf/volley.yaml runs/")
        try expectRefusal(elsewhere, ["send", "--plan", file, "--yes"], saying: "demands approval")
        try Shell.run("cd '\(folder.url.path)'; rm runs/volley.yaml")
        #expect(try elsewhere.volley("approve", file, "--by", "Anna", "--yes", "--config", config).status == 0)
        #expect(try elsewhere.volley("send", "--plan", file, "--yes", "--config", config).status == 0)
        // What has begun neither goes on nor is retried.
        let (server, cut) = try interrupted()
        try Shell.run("cd '\(server.folder.url.path)'; mkdir conf; mv volley.yaml conf/")
        let begun = server.folder.url.path + "/runs/\(cut).sqlite"
        try expectRefusal(elsewhere, ["resume", begun], saying: "Name it with --config FILE")
        #expect(try elsewhere.volley("cancel", begun).status == 0)
        try expectRefusal(elsewhere, ["retry", begun, "--outcome", "unsent", "--yes"], saying: "Name it with --config FILE")
    }

    // MARK: - Times

    @Test("a time that was sent goes out by no other plan of it, whatever is done to that plan", .enabled(if: hasPython))
    func oneTime() throws {
        let folder = try folder(schedule: Self.due)
        let run = try plan(folder)
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        let first = try #require(try sent.json()["run"]?.stringValue)
        let refused = try expectRefusal(folder, ["send", "--plan", run, "--yes"], saying: "was fired already")
        #expect(!refused.contains("--now") && refused.contains("volley report \(first)"), "\(refused)")
        #expect(try folder.volley("cancel", run).status == 0)
        try expectRefusal(folder, ["resume", run], saying: "given up before")
        try folder.editRun("UPDATE run SET state = 'stopped', started_at = 1700000000000", id: run)
        try expectRefusal(folder, ["resume", run], saying: "was fired already")
        try folder.editRun("UPDATE run SET state = 'cancelled'", id: run)
        try expectRefusal(folder, ["retry", run, "--outcome", "unsent", "--yes"], saying: "was fired already")
        #expect(try attempts(folder, run) == 0)
        // Neither without the schedule's record nor under another name.
        try Shell.run("rm '\(folder.url.path)'/runs/schedule.sqlite*")
        try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "was fired already")
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign.replacing("name: test", with: "name: renamed"))
        try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "was fired already")
        try expectRefusal(folder, ["plan", "campaign.yaml"], saying: "was fired already")
        // Too late by now, but that is not the point: `--now` would reach everybody a second time.
        try folder.write("campaign.yaml", campaign.replacing("late: send", with: "late: skip after 2h"))
        let late = try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "was fired already")
        #expect(!late.contains("--now"), "\(late)")
    }

    @Test(
        "a time that was sent goes out under no other name of the campaign and no other spelling of its file",
        arguments: [
            ["ops/../c/one.yaml", "./c/one.yaml"], ["l/one.yaml", "c/one.yaml"], ["c/one.yaml", "l/../c/one.yaml"],
            // A folder that is rotated by turning a link.
            ["l/one.yaml", "l/one.yaml", "rm l; cp -r c d; ln -s d l"],
        ])
    func spellings(_ spellings: [String]) throws {
        let folder = try folder()
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try Shell.run("cd '\(folder.url.path)'; mkdir c ops; ln -s c l")
        let text = campaign.replacing("devices.csv", with: "../devices.csv") + Self.due
        try folder.write("c/one.yaml", text)
        #expect(try folder.volley("send", spellings[0], "--yes").status == 0)
        if spellings.count > 2 { try Shell.run("cd '\(folder.url.path)'; \(spellings[2])") }
        try folder.write(spellings[1], text.replacing("name: test", with: "name: renamed"))
        try expectRefusal(folder, ["send", spellings[1], "--yes"], saying: "was fired already")
        try expectRefusal(folder, ["plan", spellings[1]], saying: "was fired already")
        // Neither when only the file tells, as without the schedule's record.
        try Shell.run("rm '\(folder.url.path)'/runs/schedule.sqlite*")
        try expectRefusal(folder, ["send", spellings[1], "--yes"], saying: "was fired already")
    }

    @Test("a time that only a retry was sent for goes out by no other plan, also without the schedule's record", .enabled(if: hasPython))
    func timeOfARetry() throws {
        let folder = try folder(schedule: Self.due)
        let run = try plan(folder)
        // As if it had been sent in part, and never noted as begun.
        try folder.editRun("UPDATE run SET state = 'cancelled', started_at = 1700000000000", id: run)
        let retried = try folder.volley("retry", run, "--outcome", "unsent", "--yes")
        try #require(retried.status == 0, "\(retried.errors)")
        try Shell.run("rm '\(folder.url.path)'/runs/schedule.sqlite*")
        try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "was fired already")
        // A retry of the retry is no other run.
        let retry = try #require(runs(folder).first { $0 != run })
        try folder.editRun("UPDATE run SET state = 'cancelled'", id: retry)
        let again = try folder.volley("retry", retry, "--outcome", "accepted", "--yes")
        #expect(!again.errors.contains("was fired already"), "\(again.errors)")
    }

    @Test(
        "a plan whose process was killed between claiming its time and sending keeps the time, and is sent as it is",
        .enabled(if: hasPython))
    func claimedByAPlan() throws {
        let folder = try folder(schedule: Self.due)
        let run = try plan(folder)
        // Makes the record; then as such a process leaves it.
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("other.yaml", campaign.replacing("name: test", with: "name: other"))
        #expect(try folder.volley("send", "other.yaml", "--yes").status == 0)
        let edit = """
            import sqlite3; c = sqlite3.connect('runs/schedule.sqlite')
            c.execute("UPDATE firing SET campaign = 'test', run = '\(run)', state = 'stopped'"); c.commit()
            """
        let python = try RunningVolley(executable: "/usr/bin/python3", ["-c", edit], in: folder.url, environment: [:], input: nil).finish()
        try #require(python.status == 0, "\(python.errors)")
        try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "`volley send --plan \(run)` sends that plan")
        let sent = try folder.volley("send", "--plan", run, "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try sent.json()["outcomes"]?.int("accepted") == 20)
    }

    @Test("an approved retry of a scheduled run is sent, and no remedy on the way reaches everybody")
    func retryOfATime() throws {
        let (server, run) = try interrupted(schedule: Self.due)
        let folder = server.folder
        #expect(try folder.volley("cancel", run).status == 0)
        try demandApproval(folder)
        let refused = try expectRefusal(folder, ["retry", run, "--outcome", "unsent", "--yes"], saying: "nobody has approved this plan")
        let retry = try #require(runs(folder).first { $0 != run })
        #expect(refused.contains("volley approve \(retry)") && !refused.contains("--now"))
        #expect(try folder.volley("approve", retry, "--by", "Anna", "--yes").status == 0)
        let sent = try folder.volley("send", "--plan", retry, "--yes")
        #expect(sent.status == 0, "\(sent.errors)")
        try expectEverybodyOnce(server)
    }

    // MARK: - What is left behind

    @Test("a lock file that is removed while a run is sent lets nobody else in")
    func removedLock() throws {
        let server = try LedgeredServer(app: "pace: 300/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: resend")
        let running = try server.startSending()
        for _ in 0..<3 {
            try Shell.run("rm -f '\(folder.url.path)'/runs/*.lock")
            try expectRefusal(folder, ["resume", "last"], saying: "is being sent by another volley")
        }
        #expect(running.finish().status == 0)
        try expectEverybodyOnce(server)
        #expect(!folder.files(in: "runs").contains { $0.hasSuffix(".lock") })
    }

    @Test("what a killed planning leaves behind is shown by runs and removed by prune; what is being made is left alone")
    func unfinished() throws {
        let folder = try folder()
        try folder.write("devices.csv", ProjectFolder.export(devices: 400_000))
        let planning = try VolleyBinary.start(["plan", "campaign.yaml"], in: folder.url)
        let deadline = Date().addingTimeInterval(60)
        func partials() -> [String] { folder.files(in: "runs").filter { $0.hasSuffix(".partial") } }
        while partials().isEmpty, planning.isRunning, Date() < deadline { usleep(2_000) }
        kill(planning.processID, SIGSTOP)
        let name = try #require(partials().first)
        let listed = try folder.volley("runs", "--json").json()
        guard case .array(let plans)? = listed["unfinished"], let shown = plans.first else {
            throw Diagnostic("nothing is shown: \(listed)")
        }
        #expect(shown["file"]?.stringValue?.hasSuffix(name) == true && shown["is_being_made"] == .bool(true))
        #expect(try folder.volley("prune", "--keep", "1s", "--yes").status == 0)
        #expect(partials() == [name])
        // Killed: SIGKILL also ends a process that is stopped.
        _ = planning.finish(timeout: 0)
        let text = try folder.volley("runs").output
        #expect(text.contains("1 unfinished plan") && text.contains("`volley prune --keep 90d` removes it"), "\(text)")
        #expect(try folder.volley("prune", "--keep", "30d", "--dry-run").output.contains("would be removed"))
        #expect(partials() == [name])
        let pruned = try folder.volley("prune", "--keep", "30d", "--yes", "--json")
        #expect(pruned.status == 0 && partials().isEmpty, "\(pruned.errors)")
        #expect(try folder.volley("runs", "--json").json()["unfinished"] == .array([]))
    }
}
