import Base
import Foundation
import TestCommands
import Testing

/// A loss of a run's files, or of the record next to them, is noticed, and nothing is sent from the
/// rest.
@Suite("the gate before sending: files that were lost")
struct GateLossTests: GateTesting {
    @Test(
        "a run file that has lost its newest part to a kill is not gone on with",
        .enabled(if: Shell.hasTool("sqlite3") || hasPython))
    func lostNewestPart() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        let run = try #require(runs(folder).first)
        // A typical backup during sending.
        let backup =
            "import sqlite3; a = sqlite3.connect('runs/\(run).sqlite'); b = sqlite3.connect('older.sqlite'); a.backup(b); b.close()"
        let python = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", backup], in: folder.url, environment: [:], input: nil
        )
        .finish()
        try #require(python.status == 0, "\(python.errors)")
        usleep(700_000)
        _ = running.finish(timeout: 0)
        try Shell.run("cd '\(folder.url.path)'; rm runs/\(run).sqlite*; cp older.sqlite runs/\(run).sqlite")
        try expectRefusal(folder, ["resume", run], saying: "older copy")
    }

    @Test(
        "a run that was killed, and of which all is lost that SQLite laid beside the files, is neither begun again nor gone on with",
        arguments: [
            "rm -f runs/*-wal runs/*-shm", "mkdir new; cp runs/*.sqlite runs/sent.db new/; rm -rf runs; mv new runs",
        ])
    func lostLogs(loss: String) throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        // Another run that is still running keeps the record open.
        try folder.writeCampaign(
            "other.yaml", name: "other", audience: "devices: devices.csv\nwhere: tags contains 'news'")
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
        for arguments in [
            ["send", "--plan", run, "--yes"], ["resume", run], ["retry", run, "--outcome", "unsent", "--yes"],
        ] {
            #expect(try VolleyBinary.run(arguments, in: folder.url).status == 2, "\(arguments)")
        }
        try expectRefusal(folder, ["report", run], saying: "older copy")
        // After pruning, it would permanently say that less was sent.
        #expect(try folder.volley("cancel", run).status == 0)
        for option in [[], ["--include-stopped"]] {
            let pruned = try VolleyBinary.run(["prune", "--keep", "0s", "--yes"] + option, in: folder.url)
            #expect(
                pruned.output.contains("its file does not know all that was sent"), "\(pruned.output)\(pruned.errors)")
        }
        try expectRefusal(folder, ["report", run], saying: "older copy")
        let refused = try VolleyBinary.run(["send", "--plan", run, "--yes"], in: folder.url).errors
        #expect(refused.contains("already been sent") || refused.contains("cannot be sent as a plan"), "\(refused)")
    }

    @Test(
        "without the marks of a run that was killed nobody knows how far it was, and it does not go on; with them it does"
    )
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
        "while the record of what was sent cannot be read, nobody knows what a run file lacks: that is said, and it is not pruned"
    )
    func unreadableRecord() throws {
        let (server, run) = try interrupted(delivery: "unknown: skip")
        let folder = server.folder
        try Shell.run("cd '\(folder.url.path)'; cp runs/\(run).sqlite older")
        #expect(try folder.volley("resume", run).status == 0)
        try Shell.run(
            "cd '\(folder.url.path)'; cp older runs/\(run).sqlite; mv runs/sent.db record; head -c 8192 /dev/urandom > runs/sent.db"
        )
        let report = try folder.volley("report", run)
        #expect(
            report.errors.contains("it cannot be checked whether this file has a record of all that was sent"),
            "\(report.errors)")
        let list = try folder.volley("runs")
        #expect(list.errors.contains("figures may be too small") && list.errors.contains("sent.db"), "\(list.errors)")
        let pruned = try folder.volley("prune", "--keep", "0s", "--yes", "--include-stopped")
        #expect(
            pruned.output.contains("it cannot be checked whether its file knows all that was sent"),
            "\(pruned.output)\(pruned.errors)")
        try Shell.run("cd '\(folder.url.path)'; mv record runs/sent.db")
        try expectRefusal(folder, ["report", run], saying: "older copy")
    }

    @Test(
        "another user who may read a run file, and nothing beside it, is not told that less was sent, nor that nobody sends it",
        .enabled(if: getuid() == 0 && Shell.hasTool("setpriv")))
    func otherUser() throws {
        let server = try LedgeredServer(app: "pace: 1000/s", devices: 12_000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending(["send", "campaign.yaml", "--yes"])
        let run = try #require(runs(folder).first)
        try Shell.run(
            "cp '\(VolleyBinary.path)' '\(folder.url.path)/volley'; cd '\(folder.url.path)'; chmod 755 . volley runs; chmod 644 volley.yaml runs/\(run).sqlite*"
        )
        func asOther(_ command: String) throws -> VolleyBinary.Result {
            try RunningVolley(
                executable: "/bin/sh",
                ["-c", "setpriv --reuid=65534 --regid=65534 --clear-groups ./volley \(command) \(run)"],
                in: folder.url,
                environment: [:], input: nil
            ).finish()
        }
        try Shell.run("cd '\(folder.url.path)'; chmod 600 runs/\(run).sqlite.lock runs/sent.db")
        let report = try asOther("report")
        #expect(
            report.output.contains("Running, or cut off") && report.output.contains("you may not read its lock file"),
            "\(report)")
        #expect(
            report.errors.contains("it cannot be checked whether this file has a record of all that was sent"),
            "\(report.errors)")
        running.interrupt()
        #expect(running.finish().status == 130)
    }

    @Test(
        "another user who may not see whether a run of the campaign is being sent sends none beside it, nor a copy of a project that may not be looked into",
        .enabled(if: getuid() == 0 && Shell.hasTool("setpriv")))
    func otherUserBeside() throws {
        let server = try LedgeredServer(app: "pace: 1000/s", devices: 12_000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending(["send", "campaign.yaml", "--yes"])
        let run = try #require(runs(folder).first)
        try Shell.run(
            "cp '\(VolleyBinary.path)' '\(folder.url.path)/volley'; cd '\(folder.url.path)'; chmod -R a+rX .; chmod 777 runs; chmod 666 runs/sent.db; "
                + "chmod 600 runs/\(run).sqlite*")
        func asOther(_ command: String) throws -> VolleyBinary.Result {
            try RunningVolley(
                executable: "/bin/sh", ["-c", "setpriv --reuid=65534 --regid=65534 --clear-groups \(command)"],
                in: folder.url,
                environment: [:], input: nil
            ).finish()
        }
        let sent = try asOther("./volley send campaign.yaml --yes")
        #expect(sent.status == 2 && sent.errors.contains("another process may be sending a run of 'test'"), "\(sent)")
        running.interrupt()
        #expect(running.finish().status == 130)
        try Shell.run(
            "cd '\(folder.url.path)'; mkdir -p ../copy-\(run)/p; cp -a volley volley.yaml campaign.yaml devices.csv *.pem *.p8 runs ../copy-\(run)/p; "
                + "chmod -R a+rwX ../copy-\(run); chmod 700 .")
        let copy = "\(folder.url.path)/../copy-\(run)/p"
        defer { try? Shell.run("rm -r '\(folder.url.path)/../copy-\(run)'") }
        let resumed = try RunningVolley(
            executable: "/bin/sh",
            ["-c", "cd '\(copy)'; setpriv --reuid=65534 --regid=65534 --clear-groups ./volley resume \(run)"],
            in: URL(fileURLWithPath: "/"), environment: [:], input: nil
        ).finish()
        #expect(resumed.status == 2 && resumed.errors.contains("which you may not read"), "\(resumed)")
    }

    @Test(
        "a plan that was noted as begun, and not begun, is noted as cancelled: a copy of it from before is not sent",
        .enabled(if: hasPython))
    func notedOnly() throws {
        let folder = try folder()
        try folder.writeCampaign("other.yaml", name: "other")
        #expect(try folder.volley("send", "other.yaml", "--yes").status == 0)
        let run = try plan(folder)
        try Shell.run("cd '\(folder.url.path)'; cp runs/\(run).sqlite kept")
        try python(
            folder,
            """
            import sqlite3
            c = sqlite3.connect('runs/sent.db')
            c.execute("INSERT INTO beginning VALUES ('\(run)', '', '1-ab', '', 0, 0, 0, '', '', '', '', 1795403000000)")
            c.commit()
            """)
        #expect(try folder.volley("cancel", run).status == 0)
        try Shell.run("cd '\(folder.url.path)'; mv kept runs/\(run).sqlite")
        #expect(try folder.volley("send", "--plan", run, "--yes").status == 2)
    }

    @Test(
        "the files of one run that are put back together as they were while it was sent, marks and all, are an older copy"
    )
    func ownBackup() throws {
        let server = try LedgeredServer(app: "pace: 1000/s", devices: 12_000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending(["send", "campaign.yaml", "--yes"])
        let run = try #require(runs(folder).first)
        try Shell.run("cd '\(folder.url.path)'; mkdir backup; cp -a runs/\(run).* backup")
        let before = claimed(folder, run)
        // The record is updated every two seconds.
        server.wait {
            self.claimed(folder, run) > before + 5000
        } orEndOf: {
            running
        }
        _ = running.finish(timeout: 0)
        try Shell.run("cd '\(folder.url.path)'; rm runs/\(run).*; cp -a backup/* runs")
        try expectRefusal(folder, ["report", run], saying: "older copy")
        try expectRefusal(folder, ["resume", run], saying: "older copy")
    }

    @Test(
        "the record is put back as it was while a run was sent that has finished since: nothing is missing of that run, and the rest is not refused for it"
    )
    func recordDuringARun() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        let folder = server.folder
        try folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending(["send", "campaign.yaml", "--yes"])
        let run = try #require(runs(folder).first)
        let backup =
            "import sqlite3; a = sqlite3.connect('runs/sent.db'); b = sqlite3.connect('older.db'); a.backup(b); b.close()"
        let python = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", backup], in: folder.url, environment: [:], input: nil
        )
        .finish()
        try #require(python.status == 0, "\(python.errors)")
        #expect(running.finish().status == 0)
        try Shell.run("cd '\(folder.url.path)'; rm runs/sent.db*; mv older.db runs/sent.db")
        let report = try folder.volley("report", run)
        #expect(report.status == 0 && !report.errors.contains("older copy"), "\(report.errors)")
        let pruned = try VolleyBinary.run(["prune", "--keep", "0s", "--yes"], in: folder.url)
        #expect(!pruned.output.contains("its file does not know all that was sent"), "\(pruned.output)\(pruned.errors)")
        #expect(try folder.volley("report", run, "--format", "json").json()["outcomes"]?.int("accepted") == 3000)
    }

    @Test("a record of a schedule that was emptied is damaged, and not an empty one")
    func emptiedSchedule() throws {
        let folder = try folder(schedule: Self.due)
        let run = try plan(folder)
        #expect(try folder.volley("send", "--plan", run, "--yes").status == 0)
        try Shell.run("cd '\(folder.url.path)'; : > runs/schedule.sqlite")
        try expectRefusal(folder, ["send", "campaign.yaml", "--yes"], saying: "the record of a schedule is damaged")
        try expectRefusal(folder, ["schedule", "campaign.yaml"], saying: "the record of a schedule is damaged")
        try expectRefusal(
            folder, ["schedule", "campaign.yaml", "--list"], saying: "the record of a schedule is damaged")
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
            sent.status == 3 && sent.errors.contains("was removed or replaced while it was being sent"),
            "\(sent.status) \(sent.errors)")
        server.stop()
        let accepted = server.acceptedSoFar().count
        #expect(accepted < 12_000)
        // Either the account is complete, or it is not shown.
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
        // It cannot check while it is suspended.
        kill(running.processID, SIGSTOP)
        try Shell.run("cd '\(folder.url.path)'; rm runs/\(run).sqlite-wal runs/\(run).sqlite-shm")
        try expectRefusal(folder, ["cancel", run], saying: "older copy")
        try expectRefusal(folder, ["report", run], saying: "older copy")
        kill(running.processID, SIGCONT)
        #expect(running.finish().status == 3)
    }

    @Test(
        "a record in which a column or a row of another run cannot be read lets nothing be sent",
        .enabled(if: hasPython),
        arguments: [
            "ALTER TABLE scope RENAME COLUMN environment TO environmenu",
            "ALTER TABLE life_event RENAME COLUMN run TO rum",
            "UPDATE beginning SET run = 'nonsense'", "UPDATE scope SET environment = 'simulatoz'",
        ])
    func damagedRowOfAnother(edit: String) throws {
        let server = try LedgeredServer(devices: 30)
        let folder = server.folder
        try folder.writeCampaign()
        let first = try plan(folder), second = try plan(folder)
        #expect(try folder.volley("send", "--plan", first, "--yes", "--quiet").status == 0)
        try Shell.run("cd '\(folder.url.path)'; mv runs/\(first).sqlite away")
        try expectRefusal(folder, ["send", "--plan", second, "--yes"], saying: first)
        try python(folder, "import sqlite3; c = sqlite3.connect('runs/sent.db'); c.execute(\"\(edit)\"); c.commit()")
        for arguments in [
            ["send", "--plan", second, "--yes"], ["send", "campaign.yaml", "--yes"], ["resume", second],
        ] {
            try expectRefusal(folder, arguments, saying: "the record of what was sent is damaged")
        }
        let accepted = try server.accepted()
        #expect(accepted.count == 30 && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test(
        "a record of what was sent that was emptied, or holds what it cannot, is damaged, and not an empty one",
        .enabled(if: hasPython))
    func emptiedRecord() throws {
        let folder = try folder(schedule: Self.due)
        let run = try plan(folder)
        try Shell.run("cd '\(folder.url.path)'; cp runs/\(run).sqlite before")
        #expect(try folder.volley("send", "--plan", run, "--yes").status == 0)
        try Shell.run(
            "cd '\(folder.url.path)'; cp runs/\(run).sqlite after; cp runs/sent.db record; rm runs/schedule.sqlite; : > runs/sent.db"
        )
        for arguments in [["resume", run], ["send", "campaign.yaml", "--yes"], ["retry", run, "--yes"]] {
            try expectRefusal(folder, arguments, saying: "the record of what was sent is damaged: it is empty")
        }
        let edits = [
            "claimed = '{}'", "former_life = x'fffe'", "life = x'fffe'", "begun_at = 'x'", "is_over = '-'",
            "campaign = x'ff'",
        ]
        for edit in edits {
            try Shell.run("cd '\(folder.url.path)'; cp record runs/sent.db; cp before runs/\(run).sqlite")
            try python(
                folder,
                "import sqlite3; c = sqlite3.connect('runs/sent.db'); c.execute(\"UPDATE beginning SET \(edit)\"); c.commit()"
            )
            let sent = try folder.volley("send", "--plan", run, "--yes")
            #expect(sent.status == 2, "\(edit): \(sent.errors)")
            #expect(sent.errors.contains("is damaged") || edit.hasPrefix("campaign"), "\(edit): \(sent.errors)")
        }
    }
}
