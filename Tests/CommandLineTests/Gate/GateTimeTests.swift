import Base
import Foundation
import TestCommands
import Testing

/// A time of a schedule is sent once, by any plan, retry or spelling.
@Suite("the gate before sending: times")
struct GateTimeTests: GateTesting {
    @Test(
        "a time that was sent goes out by no other plan of it, whatever is done to that plan", .enabled(if: hasPython))
    func oneTime() throws {
        let folder = try folder(schedule: Self.due)
        let run = try plan(folder)
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        let first = try #require(try sent.json()["run"]?.stringValue)
        let refused = try expectRefusal(folder, ["send", "--plan", run, "--yes"], saying: "has already used its time")
        #expect(!refused.contains("--now") && refused.contains("volley report \(first)"), "\(refused)")
        // Every device got it, so that no device is left to send to again.
        #expect(!refused.contains("volley retry"), "\(refused)")
        #expect(try folder.volley("cancel", run).status == 0)
        try expectRefusal(folder, ["resume", run], saying: "cancelled before")
        try folder.editRun("UPDATE run SET state = 'stopped', started_at = 1700000000000", id: run)
        try expectRefusal(folder, ["resume", run], saying: "has already used its time")
        try folder.editRun("UPDATE run SET state = 'cancelled'", id: run)
        try expectRefusal(folder, ["retry", run, "--outcome", "unsent", "--yes"], saying: "has already used its time")
        #expect(try attempts(folder, run) == 0)
        // Neither without the schedule's record nor under another name.
        try Shell.run("rm '\(folder.url.path)'/runs/schedule.sqlite*")
        try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "has already used its time")
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign.replacing("name: test", with: "name: renamed"))
        try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "has already used its time")
        try expectRefusal(folder, ["plan", "campaign.yaml"], saying: "has already used its time")
        // It is also too late, but `--now` would reach every device a second time.
        try folder.write("campaign.yaml", campaign.replacing("late: send", with: "late: skip after 2h"))
        let late = try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "has already used its time")
        #expect(!late.contains("--now"), "\(late)")
    }

    @Test(
        "a time that a person cancelled is not planned anew when the record of the schedule is gone, before or after; one of a plan made by hand is free",
        arguments: [false, true])
    func cancelledTime(isGoneBefore: Bool) throws {
        let folder = try folder(app: "environment: simulator\napproval: required", schedule: Self.due)
        let byHand = try plan(folder)
        #expect(try folder.volley("cancel", byHand).status == 0)
        // A schedule plans from exports only after they were left alone for ten seconds.
        try Shell.run("touch -d '1 hour ago' '\(folder.url.path)/devices.csv'")
        let running = try VolleyBinary.start(["schedule", "campaign.yaml"], in: folder.url)
        while running.isRunning, !running.errorsSoFar.contains("is waiting for approval") { usleep(20_000) }
        let run = try #require(runs(folder).first { $0 != byHand })
        func cancel() throws { #expect(try folder.volley("cancel", run).status == 0) }
        if !isGoneBefore { try cancel() }
        running.interrupt()
        _ = running.finish()
        try Shell.run("rm '\(folder.url.path)'/runs/schedule.sqlite*")
        if isGoneBefore { try cancel() }
        try folder.writeProject(app: "environment: simulator")
        try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "has already used its time")
        try expectRefusal(folder, ["plan", "campaign.yaml"], saying: "has already used its time")
        #expect(runs(folder).count == 2)
    }

    @Test(
        "a time that was sent goes out no second time where all records of it are gone, or put back: the run's own file says which it was",
        arguments: [false, true])
    func byItsFile(isPutBack: Bool) throws {
        let folder = try folder(schedule: Self.due)
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("other.yaml", campaign.replacing("name: test", with: "name: other"))
        #expect(try folder.volley("send", "other.yaml", "--yes").status == 0)
        let run = try plan(folder)
        try Shell.run("cd '\(folder.url.path)'; mkdir kept; cp -a runs/sent.db* runs/schedule.sqlite* kept")
        let first = try #require(
            try folder.volley("send", "campaign.yaml", "--yes", "--json").json()["run"]?.stringValue)
        try Shell.run(
            "cd '\(folder.url.path)'; rm runs/sent.db* runs/schedule.sqlite*; \(isPutBack ? "cp -a kept/* runs" : "true")"
        )
        for command in [
            ["send", "--plan", run, "--yes"], ["send", "campaign.yaml", "--yes"], ["plan", "campaign.yaml"],
        ] {
            let refused = try expectRefusal(folder, command, saying: "has already used its time")
            #expect(refused.contains(first), "\(refused)")
        }
    }

    @Test(
        "a campaign that was renamed and moved at once goes out no second time; one beside it that differs in its name only goes out"
    )
    func renamedAndMoved() throws {
        let folder = try folder(schedule: Self.due)
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        try folder.write("moved.yaml", campaign.replacing("name: test", with: "name: moved"))
        let run = try plan(folder, "moved.yaml")
        try Shell.run("rm '\(folder.url.path)/campaign.yaml'")
        for command in [["send", "--plan", run, "--yes"], ["send", "moved.yaml", "--yes"], ["plan", "moved.yaml"]] {
            try expectRefusal(folder, command, saying: "has already used its time")
        }
        try folder.write("campaign.yaml", campaign)
        #expect(try folder.volley("send", "--plan", run, "--yes").status == 0)
    }

    @Test(
        "a campaign that was edited in its place is not taken for the former name of another one with its former text")
    func editedBeside() throws {
        let folder = try folder(schedule: Self.due)
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("other.yaml", campaign.replacing("name: test", with: "name: other"))
        let (first, other) = (try plan(folder), try plan(folder, "other.yaml"))
        try folder.write("campaign.yaml", campaign + "# corrected\n")
        #expect(try folder.volley("cancel", first).status == 0)
        let sent = try folder.volley("send", "--plan", other, "--yes")
        #expect(sent.status == 0, "\(sent.errors)")
    }

    @Test(
        "a campaign that was renamed and moved to another folder goes out no second time, also when its former file holds another one; one of the same text for other devices goes out",
        arguments: ["\n", "\r\n"], [true, false])
    func movedElsewhere(lineEnd: String, isSameDevices: Bool) throws {
        let folder = try folder()
        let text =
            try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8) + Self.due
        let campaign = text.split(separator: "\n").joined(separator: lineEnd) + lineEnd, isReplaced = isSameDevices
        try Shell.run(
            "cd '\(folder.url.path)'; mkdir de fr; cp devices.csv de; cp devices.csv fr\(isSameDevices ? "" : "; sed -i s/^a/b/ fr/devices.csv")"
        )
        try folder.write("de/news.yaml", campaign)
        try folder.write("fr/news.yaml", campaign.replacing("name: test", with: "name: moved"))
        #expect(try folder.volley("send", "de/news.yaml", "--yes").status == 0)
        if isReplaced {
            try folder.write("de/news.yaml", campaign.replacing("name: test", with: "name: next"))
        } else {
            try Shell.run("rm -r '\(folder.url.path)/de'")
        }
        if isSameDevices {
            try expectRefusal(folder, ["send", "fr/news.yaml", "--yes"], saying: "has already used its time")
        } else {
            let sent = try folder.volley("send", "fr/news.yaml", "--yes")
            #expect(sent.status == 0, "\(sent.errors)")
        }
    }

    @Test("a plan of a time is sent also when the campaign was sent at once meanwhile, as each time goes out once")
    func besideAtOnce() throws {
        let folder = try folder(schedule: Self.due)
        let run = try plan(folder)
        #expect(try folder.volley("send", "campaign.yaml", "--now", "--yes").status == 0)
        let sent = try folder.volley("send", "--plan", run, "--yes")
        #expect(sent.status == 0, "\(sent.errors)")
    }

    @Test(
        "a time that was sent goes out under no other name of the campaign and no other spelling of its file",
        arguments: [
            ["ops/../c/one.yaml", "./c/one.yaml"], ["l/one.yaml", "c/one.yaml"], ["c/one.yaml", "l/../c/one.yaml"],
            // A folder that is rotated by changing a link.
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
        try expectRefusal(folder, ["send", spellings[1], "--yes"], saying: "has already used its time")
        try expectRefusal(folder, ["plan", spellings[1]], saying: "has already used its time")
        // Nor if only the file has the fact, as when the schedule's record is missing.
        try Shell.run("rm '\(folder.url.path)'/runs/schedule.sqlite*")
        try expectRefusal(folder, ["send", spellings[1], "--yes"], saying: "has already used its time")
    }

    @Test(
        "a time that only a retry was sent for goes out by no other plan, also without the schedule's record",
        .enabled(if: hasPython))
    func timeOfARetry() throws {
        let folder = try folder(schedule: Self.due)
        let run = try plan(folder)
        // As if it had been sent in part, and never noted as begun.
        try folder.editRun("UPDATE run SET state = 'cancelled', started_at = 1700000000000", id: run)
        let retried = try folder.volley("retry", run, "--outcome", "unsent", "--yes")
        try #require(retried.status == 0, "\(retried.errors)")
        try Shell.run("rm '\(folder.url.path)'/runs/schedule.sqlite*")
        try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "has already used its time")
        // A retry of the retry is not another run.
        let retry = try #require(runs(folder).first { $0 != run })
        try folder.editRun("UPDATE run SET state = 'cancelled'", id: retry)
        let again = try folder.volley("retry", retry, "--outcome", "accepted", "--yes")
        #expect(!again.errors.contains("has already used its time"), "\(again.errors)")
    }

    @Test(
        "a plan whose process was killed between claiming its time and sending keeps the time, and is sent as it is",
        .enabled(if: hasPython))
    func claimedByAPlan() throws {
        let folder = try folder(schedule: Self.due)
        let run = try plan(folder)
        // Makes the record, then changes it to the state that such a process leaves.
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("other.yaml", campaign.replacing("name: test", with: "name: other"))
        #expect(try folder.volley("send", "other.yaml", "--yes").status == 0)
        let edit = """
            import sqlite3; c = sqlite3.connect('runs/schedule.sqlite')
            c.execute("UPDATE firing SET campaign = 'test', run = '\(run)', state = 'stopped'"); c.commit()
            """
        let python = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", edit], in: folder.url, environment: [:], input: nil
        ).finish()
        try #require(python.status == 0, "\(python.errors)")
        try expectRefusal(
            folder, ["send", "campaign.yaml", "--yes"], saying: "`volley send --plan \(run)` sends that plan")
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
        let refused = try expectRefusal(
            folder, ["retry", run, "--outcome", "unsent", "--yes"], saying: "nobody has approved this plan")
        let retry = try #require(runs(folder).first { $0 != run })
        #expect(refused.contains("volley approve \(retry)") && !refused.contains("--now"))
        #expect(try folder.volley("approve", retry, "--by", "Anna", "--yes").status == 0)
        let sent = try folder.volley("send", "--plan", retry, "--yes")
        #expect(sent.status == 0, "\(sent.errors)")
        try expectEverybodyOnce(server)
    }
}
