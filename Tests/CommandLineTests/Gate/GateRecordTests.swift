import Base
import Foundation
import TestCommands
import Testing

/// No copy, older file or second retry sends again what was sent.
@Suite("the gate before sending: what was begun")
struct GateRecordTests: GateTesting {
    @Test(
        "a run file under another name is refused: copied, renamed, linked, in another folder",
        arguments: [false, true])
    func copies(isSent: Bool) throws {
        let folder = try folder()
        let run = try plan(folder), file = folder.url.path + "/runs/\(run).sqlite"
        try Shell.run("cp '\(file)' '\(folder.url.path)/copy.sqlite'; mkdir '\(folder.url.path)/elsewhere'")
        if isSent { #expect(try folder.volley("send", "--plan", run, "--yes").status == 0) }
        try Shell.run(
            "cd '\(folder.url.path)'; cp copy.sqlite runs/second.sqlite; cp copy.sqlite elsewhere/\(run).sqlite")
        try expectRefusal(
            folder, ["send", "--plan", "runs/second.sqlite", "--yes"],
            saying: "is a copy of the run \(run), or was renamed")
        try expectRefusal(folder, ["send", "--plan", "elsewhere/\(run).sqlite", "--yes"], saying: "belongs in")
        try expectRefusal(
            folder, ["approve", "runs/second.sqlite", "--by", "Anna", "--yes"], saying: "is a copy of the run")
        // A symbolic link is the file that it leads to.
        try Shell.run(
            "cd '\(folder.url.path)/runs'; rm second.sqlite; ln -s \(run).sqlite link.sqlite; ln \(run).sqlite ../hard.sqlite"
        )
        if !isSent {
            let linked = try expectRefusal(folder, ["send", "--plan", run, "--yes"], saying: "2 names (hard links)")
            // From any folder.
            #expect(
                linked.contains("`find '/") && linked.contains(" -samefile '/")
                    && linked.contains("/runs/\(run).sqlite'`"), "\(linked)")
            try Shell.run("cd '\(folder.url.path)'; rm hard.sqlite; mv runs/\(run).sqlite runs/renamed.sqlite")
            try expectRefusal(folder, ["send", "--plan", "runs/renamed.sqlite", "--yes"], saying: "was renamed")
            try Shell.run("cd '\(folder.url.path)'; mv runs/renamed.sqlite runs/\(run).sqlite")
            #expect(try folder.volley("send", "--plan", "runs/link.sqlite", "--yes").status == 0)
        }
        try Shell.run("rm -f '\(folder.url.path)/hard.sqlite'")
        try expectRefusal(folder, ["send", "--plan", "runs/link.sqlite", "--yes"], saying: "finished")
        // The files next to the runs have what the copy lacks.
        try Shell.run("cd '\(folder.url.path)'; rm -f hard.sqlite runs/link.sqlite; cp copy.sqlite runs/\(run).sqlite")
        try expectRefusal(folder, ["send", "--plan", run, "--yes"], saying: "already been sent")
        try Shell.run("cd '\(folder.url.path)'; rm runs/\(run).sqlite")
        try expectRefusal(folder, ["send", "--plan", "elsewhere/\(run).sqlite", "--yes"], saying: "belongs in")
    }

    @Test("an approved plan that was cancelled is sent by no copy of its file from before")
    func cancelledCopy() throws {
        let folder = try folder(app: "environment: simulator\napproval: required")
        let run = try plan(folder)
        #expect(try folder.volley("approve", run, "--by", "Anna", "--yes").status == 0)
        try Shell.run("cd '\(folder.url.path)'; cp runs/\(run).sqlite before")
        let cancelled = try folder.volley("cancel", run)
        #expect(cancelled.status == 0 && !cancelled.errors.contains("record"), "\(cancelled.errors)")
        #expect(try folder.volley("report", run).output.contains("Cancelled"))
        try Shell.run("cd '\(folder.url.path)'; cp before runs/\(run).sqlite")
        for arguments in [["send", "--plan", run, "--yes"], ["report", run]] {
            try expectRefusal(folder, arguments, saying: "was cancelled, and this file is an older copy")
        }
        try expectRefusal(folder, ["resume", run], saying: "the run has not begun yet")
        let again = try folder.volley("cancel", run)
        #expect(again.status == 0 && again.errors == "", "\(again.errors)")
        // Another plan of the campaign is allowed.
        let other = try plan(folder)
        #expect(try folder.volley("approve", other, "--by", "Anna", "--yes").status == 0)
        #expect(try folder.volley("send", "--plan", other, "--yes").status == 0)
    }

    @Test("a copy of a run file beside the runs is no run: it is said, and neither a report nor `frequency` counts it")
    func copyBeside() throws {
        let (server, run) = try interrupted(delivery: "unknown: skip\nfrequency: at most 2 per day")
        let folder = server.folder
        #expect(try folder.volley("cancel", run).status == 0)
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 0)
        let retry = try #require(runs(folder).first { $0 != run })
        func chain() throws -> JSONValue? { try folder.volley("report", run, "--format", "json").json()["chain"] }
        let before = try chain()
        try Shell.run(
            "cd '\(folder.url.path)/runs'; cp \(run).sqlite \(run)-backup.sqlite; cp \(retry).sqlite 30001231-235959-test-ffff.sqlite"
        )
        #expect(try chain() == before)
        let list = try folder.volley("runs", "--json").json()
        guard case .array(let listed)? = list["runs"], case .array(let broken)? = list["broken"] else {
            Issue.record("\(list)")
            return
        }
        #expect(listed.count == 2 && broken.count == 2, "\(list)")
        #expect(try folder.volley("report", "last", "--format", "json").json()["run"]?.stringValue == retry)
        // Each device got one of two.
        #expect(try folder.volley("preview", "campaign.yaml", "--json").json().int("audience") == 3000)
        // Without the run itself, the only safe answer is to refuse.
        try Shell.run("rm '\(folder.url.path)'/runs/\(retry).sqlite")
        try expectRefusal(
            folder, ["preview", "campaign.yaml"], saying: "is a copy of the run \(retry), or was renamed")
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

    @Test(
        "of a retry whose file is gone nobody knows whom it reached: there is no second one, and the first run does not go on"
    )
    func lostRetry() throws {
        let (server, run) = try interrupted(delivery: "unknown: skip")
        let folder = server.folder
        #expect(try folder.volley("cancel", run).status == 0)
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 0)
        let retry = try #require(runs(folder).first { $0 != run })
        try Shell.run("rm '\(folder.url.path)/runs/\(retry).sqlite'")
        try expectRefusal(
            folder, ["retry", run, "--outcome", "unsent", "--yes"], saying: "but that retry's file is gone")
        try expectRefusal(folder, ["resume", run], saying: "retried as \(retry)")
    }

    @Test(
        "a retry whose file is an older copy counts for nothing in the report of the run that it retries",
        .enabled(if: hasPython))
    func olderRetry() throws {
        let (server, run) = try interrupted(delivery: "unknown: skip")
        let folder = server.folder
        #expect(try folder.volley("cancel", run).status == 0)
        #expect(try folder.volley("retry", run, "--outcome", "unsent", "--yes").status == 0)
        let retry = try #require(runs(folder).first { $0 != run })
        func accepted() throws -> JSONValue? {
            guard case .array(let links) = try folder.volley("report", run, "--format", "json").json()["chain"] else {
                return nil
            }
            return links.last?["accepted"]
        }
        #expect(try (accepted()?.integerValue ?? 0) > 0)
        try folder.editRun("DELETE FROM life", id: retry)
        try expectRefusal(folder, ["report", retry], saying: "older copy")
        #expect(try accepted() == .null)
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
        // Killed before the question: the retry exists, but was not begun.
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
                + "c.execute(\"INSERT INTO beginning SELECT '\(retry)', '\(run)', '1-a', '', 0, 0, 0, '', '', '', '', 1\"); c.commit()"
        )
        try folder.write("volley.yaml", project)
        try expectRefusal(folder, ["resume", run], saying: "retried as \(retry)")
        #expect(try folder.volley("cancel", retry).status == 0)
        let again = try folder.volley("retry", run, "--outcome", "unsent", "--yes")
        #expect(again.status == 0, "\(again.errors)")
        try expectEverybodyOnce(server)
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
        try expectRefusal(folder, ["send", "--plan", first, "--yes"], saying: "has sent to devices of this retry")
        try expectEverybodyOnce(server)
    }
}
