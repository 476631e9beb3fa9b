import Accounts
import Base
import Foundation
import TestCommands
import Testing

@Suite("volley backup and volley restore")
struct BackupTests {
    private func backUp(_ folder: ProjectFolder, _ options: String...) throws -> (path: String, manifest: JSONValue) {
        let target = "../\(folder.url.lastPathComponent)-backup/\(options.joined())"
        let result = try VolleyBinary.run(["backup", target, "--json"] + options, in: folder.url)
        #expect(result.status == 0, "\(result.errors)")
        let manifest = try result.json()
        return (try #require(manifest["backup"]?.stringValue), manifest)
    }

    private func remove(_ backup: String) {
        try? FileManager.default.removeItem(atPath: (backup as NSString).deletingLastPathComponent)
    }

    private func paths(_ manifest: JSONValue) -> [String] {
        guard case .array(let files) = manifest["files"] else { return [] }
        return files.compactMap { $0["path"]?.stringValue }
    }

    private func permissions(below path: String) -> Set<String> {
        let names =
            (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []).map { path + "/" + $0 }
            + [path]
        return Set(
            names.map { name in
                var status = stat()
                return stat(name, &status) == 0 ? String(status.st_mode & 0o777, radix: 8) : "?"
            })
    }

    @Test("campaigns are in a backup however their keys are written, also where it lies in the project's own folder")
    func keys() throws {
        let folder = try ProjectFolder()
        try folder.write(
            "flow.yaml", "{name: flow, app: shop, audience: {everyone: true}, content: {title: X, body: y}}\n")
        try folder.write(
            "quoted.yaml", "name: quoted\napp: shop\n\"audience\": {everyone: true}\n\"content\": {title: X}\n")
        try folder.write("other.yaml", "password: abc\n")
        for target in [".", "backups"] {
            let result = try VolleyBinary.run(["backup", target, "--json"], in: folder.url)
            #expect(result.status == 0, "\(result.errors)")
            let paths = paths(try result.json())
            #expect(paths.contains("project/flow.yaml") && paths.contains("project/quoted.yaml"), "\(target): \(paths)")
            #expect(
                !paths.contains { $0.contains("other.yaml") || $0.contains("volley-backup") }, "\(target): \(paths)")
        }
    }

    /// A time of a schedule, this number of seconds from now.
    private static func time(in seconds: Double) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        return formatter.string(from: Date(timeIntervalSinceNow: seconds))
    }

    /// A run that began in the second of the backup counts as one from before it.
    private static func waitForAnotherSecond() { usleep(1_000_000) }

    @Test("holds campaigns, their lists, runs and records, for its owner only; neither keys nor what is not Volley's")
    func contents() throws {
        let folder = try ProjectFolder(
            app: "environment: sandbox\nkey: {file: AuthKey_ABC123DEFG.p8, id: ABC123DEFG, team: DEF123GHIJ}")
        try folder.write("AuthKey_ABC123DEFG.p8", "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n")
        try folder.writeCampaign(audience: "devices: devices.csv\naliases: {file: vip.txt}")
        try folder.write("vip.txt", "user1\nuser2\n")
        try folder.write("docker-compose.yml", "services: {db: {environment: {PASSWORD: hunter2}}}\n")
        try folder.write("broken.yaml", "name: [\ncontent:\n  title: x\n")
        try Shell.run(
            "mkdir -p '\(folder.url.path)/old/.archive' && cp '\(folder.url.path)/campaign.yaml' '\(folder.url.path)/old/.archive/a.yaml'"
        )
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let (path, manifest) = try backUp(folder)
        defer { remove(path) }
        let run = try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") })
        #expect(
            paths(manifest) == [
                "project/broken.yaml", "project/campaign.yaml", "project/old/.archive/a.yaml", "project/vip.txt",
                "project/volley.yaml",
                "runs/\(run)",
            ])
        #expect(permissions(below: path) == ["700", "600"])
        guard case .array(let left) = manifest["left_out"] else { throw CommandFailure(what: manifest.text) }
        #expect(left.map { $0["reason"]?.stringValue } == ["keys"])
        let withKeys = try backUp(folder, "--with-keys")
        #expect(paths(withKeys.manifest).contains("project/AuthKey_ABC123DEFG.p8"))
    }

    @Test(
        "campaigns that lie elsewhere are taken along when their folder is named, and come back below that of volley.yaml"
    )
    func elsewhere() throws {
        let folder = try ProjectFolder(), other = try ProjectFolder()
        try FileManager.default.removeItem(at: other.url.appendingPathComponent("volley.yaml"))
        try other.writeCampaign(audience: "devices: devices.csv\naliases: {file: vip.txt}")
        try other.write("vip.txt", "user1\n")
        let target = "../\(folder.url.lastPathComponent)-backup"
        let result = try VolleyBinary.run(["backup", target, other.url.path, "--json"], in: folder.url)
        #expect(result.status == 0, "\(result.errors)")
        let manifest = try result.json(), path = try #require(manifest["backup"]?.stringValue)
        defer { remove(path) }
        let place = FilePaths.named(other.url.path)
        #expect(
            paths(manifest).filter { $0.hasPrefix("elsewhere/") }
                == ["campaign.yaml", "vip.txt"].map { "elsewhere\(place)/\($0)" })
        try Shell.run(
            "rm '\(other.url.path)/campaign.yaml' && rm -rf '\(folder.url.path)/runs' '\(folder.url.path)/volley.yaml'")
        let restored = try VolleyBinary.run(["restore", path], in: folder.url)
        #expect(
            restored.status == 0 && restored.output.contains("move them back"), "\(restored.output) \(restored.errors)")
        #expect(!other.files(in: ".").contains("campaign.yaml"))
        for name in ["campaign.yaml", "vip.txt"] {
            #expect(FileManager.default.fileExists(atPath: "\(folder.url.path)/elsewhere\(place)/\(name)"))
        }
        let nowhere = try VolleyBinary.run(["backup", target + "/2", "no-such-folder"], in: folder.url)
        #expect(nowhere.status == 2 && nowhere.errors.contains("no such folder of campaigns"), "\(nowhere.errors)")
    }

    @Test("links to folders are named, as they are not followed, unless they lead to a folder that is copied")
    func linkedFolders() throws {
        let folder = try ProjectFolder(), other = try ProjectFolder()
        try FileManager.default.removeItem(at: other.url.appendingPathComponent("volley.yaml"))
        try other.writeCampaign(audience: "devices: devices.csv\neveryone: true")
        try Shell.run(
            "cd '\(folder.url.path)' && mkdir -p runs sub && ln -s '\(other.url.path)' sub/team && ln -s . again && ln -s runs sent && ln -s runs .hidden"
        )
        func links(_ further: [String], to target: String? = nil) throws -> [String] {
            let place = target ?? "../\(folder.url.lastPathComponent)-backup"
            let result = try VolleyBinary.run(["backup", place] + further + ["--json"], in: folder.url)
            let manifest = try result.json()
            defer { if target == nil { remove(manifest["backup"]?.stringValue ?? "") } }
            guard case .array(let left) = manifest["left_out"] else { throw CommandFailure(what: manifest.text) }
            let names = left.first { $0["reason"]?.stringValue == "links" }?["names"]
            guard case .array(let links)? = names else { return [] }
            return links.compactMap(\.stringValue)
        }
        #expect(try links([]) == [FilePaths.named(folder.url.path) + "/sub/team"])
        try Shell.run("cd '\(folder.url.path)' && ln -s /tmp/volley-no-such-folder gone && ln -s nowhere .lock")
        #expect(try links([]) == ["gone", "sub/team"].map { "\(FilePaths.named(folder.url.path))/\($0)" })
        try Shell.run("rm '\(folder.url.path)/gone'")
        #expect(try links([other.url.path]).isEmpty, "its folder is copied")
        let target = try ProjectFolder()
        try Shell.run("cd '\(folder.url.path)' && rm sub/team && ln -s '\(target.url.path)' lk")
        for place in ["lk", "lk/sub", target.url.path] {
            #expect(try links([], to: place).isEmpty, "the backup comes into it: \(place)")
        }
    }

    @Test("a list among the runs that a campaign excludes, as remedies propose, comes back among the runs")
    func listAmongRuns() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let list = folder.url.appendingPathComponent("runs/reached.csv").path
        #expect(try folder.volley("report", "last", "--format", "csv", "--output", list).status == 0)
        try folder.writeCampaign(
            "rest.yaml", name: "rest", audience: "devices: devices.csv\neveryone: true\nexclude: {devices: '\(list)'}")
        let (path, manifest) = try backUp(folder)
        defer { remove(path) }
        #expect(
            paths(manifest).contains("runs/reached.csv") && !manifest.text.contains("\"foreign\""), "\(manifest.text)")
        try Shell.run("rm -r '\(folder.url.path)/runs' '\(folder.url.path)/rest.yaml'")
        let restored = try folder.volley("restore", path)
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(FileManager.default.fileExists(atPath: list) && folder.files(in: ".").contains("rest.yaml"))
    }

    @Test("what is put back is what was there, to the byte, and reports the same")
    func putBack() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let report = try folder.volley("report", "last", "--format", "csv").output
        let (path, manifest) = try backUp(folder)
        defer { remove(path) }
        try Shell.run("rm -r '\(folder.url.path)/runs' && rm '\(folder.url.path)/campaign.yaml'")
        let restored = try folder.volley("restore", path, "--json")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try restored.json().int("files") == paths(manifest).count && restored.json()["held"] == .array([]))
        #expect(try folder.volley("report", "last", "--format", "csv").output == report)
        #expect(try folder.volley("check", "campaign.yaml").status == 0)
        let again = try folder.volley("restore", path)
        #expect(
            again.status == 2 && again.errors.contains("does not overwrite")
                && again.errors.contains("Nothing was put back"))
    }

    @Test(
        "a run that had finished or was cancelled is not sent on after it was put back, as that may have been done; unless nothing was sent since"
    )
    func retriedSince() throws {
        let server = try LedgeredServer(app: "pace: 100/s", devices: 300, faults: ["--reset-every", "5"])
        let folder = server.folder, runs = folder.url.appendingPathComponent("runs").path
        try folder.writeCampaign(delivery: "unknown: skip")
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 1)
        try folder.writeCampaign("cancelled.yaml", name: "cancelled", delivery: "unknown: skip")
        let cancelled = try server.start(["send", "cancelled.yaml", "--yes"])
        server.wait {
            folder.files(in: "runs").contains { $0.hasSuffix(".claimed") }
        } orEndOf: {
            cancelled
        }
        #expect(try folder.volley("cancel", "last").status == 0)
        _ = cancelled.finish()
        let (path, _) = try backUp(folder)
        defer { remove(path) }
        func run(of campaign: String) throws -> String {
            let file = folder.files(in: "runs").first { $0.contains("-\(campaign)-") && $0.hasSuffix(".sqlite") }
            return try #require(file.map { String($0.dropLast(7)) })
        }
        let ids = try [run(of: "test"), run(of: "cancelled")]
        try Shell.run("rm -r '\(runs)'")
        let put = try folder.volley("restore", path)
        #expect(put.status == 0, "\(put)")
        for command in [
            ["retry", ids[0], "--outcome", "unknown", "--yes"], ["retry", ids[1], "--outcome", "unsent", "--yes"],
            ["resume", ids[1]],
        ] {
            let refused = try VolleyBinary.run(command, in: folder.url)
            #expect(
                refused.status == 2 && refused.errors.contains("put back from a backup"),
                "\(command): \(refused.errors)")
        }
        // Its figures are as they were.
        let report = try folder.volley("report", ids[0])
        #expect(report.errors == "" && !report.output.contains("volley retry"), "\(report.output)")
        #expect(report.output.contains("no command retries it, as it was put back from a backup"), "\(report.output)")
        #expect(try folder.volley("report", ids[0], "--format", "html").output.contains("Put back from a backup</h2>"))
        try Shell.run("rm -r '\(runs)'")
        #expect(try folder.volley("restore", path, "--nothing-sent-since").status == 0)
        let retried = try folder.volley("retry", ids[0], "--outcome", "unknown", "--yes")
        #expect([0, 1].contains(retried.status), "\(retried.errors)")
    }

    @Test("a run that goes on after the backup is not sent again from what was put back: not by resume, not by retry")
    func whileSending() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 4_000, faults: ["--latency", "30"])
        let folder = server.folder
        try folder.writeCampaign()
        let sending = try server.startSending()
        let (path, manifest) = try backUp(folder)
        defer { remove(path) }
        guard case .array(let ids) = manifest["sending"] else { throw CommandFailure(what: manifest.text) }
        #expect(ids.count == 1 && sending.isRunning)
        #expect(sending.finish().status == 0)
        try Shell.run("mv '\(folder.url.path)/runs' '\(folder.url.path)/lost'")
        let restored = try folder.volley("restore", path, "--json")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try restored.json()["held"] == .array(ids))
        func expectRefusal(_ command: String...) throws {
            let refused = try VolleyBinary.run(command, in: folder.url)
            #expect(
                refused.status == 2 && refused.errors.contains("put back from a backup"),
                "\(command): \(refused.errors)")
        }
        try expectRefusal("resume", "last")
        try expectRefusal("retry", "last", "--outcome", "unsent", "--yes")
        let report = try folder.volley("report", "last")
        #expect(report.errors.contains("what was sent of it since then is not known"), "\(report.errors)")
        try expectTruth(about: folder, campaign: "campaign.yaml")
        // The detour that a stopped run otherwise offers.
        #expect(try folder.volley("cancel", "last").status == 0)
        try expectRefusal("retry", "last", "--outcome", "unsent", "--yes")
        try expectRefusal("resume", "last")
        try expectTruth(about: folder, campaign: "campaign.yaml")
        let accepted = try server.accepted()
        #expect(accepted.count == 4_000 && accepted.allSatisfy { $0.value.count == 1 })
    }

    /// Everything that shows a held run says that it is held and how many may have got the push
    /// since, and nothing suggests a refused command.
    private func expectTruth(about folder: ProjectFolder, campaign: String) throws {
        let report = try folder.volley("report", "last", "--format", "json").json()
        let outcomes = report["outcomes"], unsent = try #require(outcomes?.int("unsent"))
        #expect(unsent > 0 && report["held"]?.int("may_have_been_sent") == unsent, "\(report.text)")
        #expect(report["held"]?["backup_at"]?.stringValue?.hasPrefix("20") == true)
        #expect(report["reasons"]?.int("NotKnownSinceBackup") ?? 0 > 0)
        let list = try folder.volley("runs", "--json").json()
        guard case .array(let runs)? = list["runs"] else { throw CommandFailure(what: list.text) }
        #expect(runs.first?["held"]?.int("may_have_been_sent") == unsent)
        let csv = try folder.volley("report", "last", "--format", "csv").output.split(separator: "\n").filter {
            $0.contains(",unsent,")
        }
        #expect(csv.count == unsent && csv.allSatisfy { $0.contains(",NotKnownSinceBackup,") })
        let texts = try [
            folder.volley("report", "last"), folder.volley("report", "last", "--format", "html"), folder.volley("runs"),
        ].map { $0.output.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        for text in texts {
            #expect(text.lowercased().contains("held"), "\(text)")
            #expect(!text.contains("volley resume") && !text.contains("volley retry"), "\(text)")
            for lie in ["never sent", "not sent yet", "not get it twice"] { #expect(!text.contains(lie), "\(text)") }
        }
        let isPlan = unsent == report.int("audience"), noun = isPlan ? "devices" : "others"
        let others =
            "\(unsent >= 1000 ? "\(unsent / 1000),\(String(format: "%03d", unsent % 1000))" : "\(unsent)") \(noun) may have got"
        #expect(texts[0].contains(others) && texts[1].contains(others), "\(texts[0])")
        let anew = isPlan ? "then plan and send it again:" : "exclude: {devices: /"
        #expect(texts[0].contains("volley restore BACKUP --nothing-sent-since") && texts[0].contains(anew))
        #expect(texts[1].contains("By the backup of "), "\(texts[1])")
        let warned = try folder.volley("preview", campaign).errors
        #expect(
            warned.contains("is held, as it was put back from a backup") && warned.contains("[last-run-unfinished]"),
            "\(warned)")
        #expect(!warned.contains("volley resume") && !warned.contains("[sent-recently]"), "\(warned)")
        let refused = try folder.volley("retry", "last", "--outcome", "unsent", "--yes")
        #expect(
            !refused.errors.contains("cancel the run") && !refused.errors.contains("`volley resume"),
            "\(refused.errors)")
    }

    @Test(
        "who follows the report of a held run sends anew to those that were not reached by the backup, and to no other")
    func anew() throws {
        let server = try LedgeredServer(app: "pace: 500/s", devices: 2_000, faults: ["--latency", "30"])
        let folder = server.folder
        try folder.writeCampaign()
        let sending = try server.startSending()
        let (path, _) = try backUp(folder)
        defer { remove(path) }
        sending.interrupt()
        _ = sending.finish()
        try Shell.run("mv '\(folder.url.path)/runs' '\(folder.url.path)/lost'")
        #expect(try folder.volley("restore", path).status == 0)
        let report = try folder.volley("report", "last"),
            step = "volley report ([^ ]+) --format csv --outcome accepted,unknown --output ([^ ]+)"
        let text = report.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let match = try #require(try Regex(step).firstMatch(in: text), "\(report.output)")
        let (run, file) = (String(match[1].substring ?? ""), String(match[2].substring ?? ""))
        #expect(
            try folder.volley("report", run, "--format", "csv", "--outcome", "accepted,unknown", "--output", file)
                .status == 0)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").count - 1
        #expect(lines > 0)
        try folder.writeCampaign(
            "anew.yaml", audience: "devices: devices.csv\neveryone: true\nexclude: {devices: \(file)}")
        Self.waitForAnotherSecond()
        let sent = try folder.volley("send", "anew.yaml", "--yes", "--json")
        #expect(sent.status == 0 && sent.errors.contains("is held"), "\(sent.errors)")
        #expect(try sent.json().int("audience") == 2_000 - lines)
        // Once another run has reached devices, the held one is history.
        #expect(try !folder.volley("preview", "anew.yaml").errors.contains("is held"))
    }

    @Test("the report of a held run of a campaign with a time says how to send it anew, and that is not refused")
    func anewWithTime() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign + "schedule: {at: 2025-06-01 09:00, timezone: UTC, late: send}\n")
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let (path, _) = try backUp(folder)
        defer { remove(path) }
        #expect(try folder.volley("send", "--plan", "last", "--yes").status == 0)
        try Shell.run("rm -r '\(folder.url.path)/runs'")
        #expect(try folder.volley("restore", path).status == 0)
        let text = try folder.volley("report", "last").output.split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        let step = try #require(text.firstMatch(of: #/volley send ([^ ]*campaign\.yaml) --now/#), "\(text)")
        let sent = try folder.volley("send", String(step.1), "--now", "--yes")
        #expect(sent.status == 0, "\(sent.errors)")
    }

    @Test("a plan that was sent after the backup is not sent again; with --nothing-sent-since it can be sent")
    func plan() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let (path, _) = try backUp(folder)
        defer { remove(path) }
        #expect(try folder.volley("send", "--plan", "last", "--yes").status == 0)
        try Shell.run("rm -r '\(folder.url.path)/runs'")
        #expect(try folder.volley("restore", path).output.contains("They are not sent"))
        let refused = try folder.volley("send", "--plan", "last", "--yes")
        #expect(refused.status == 2 && refused.errors.contains("put back from a backup"), "\(refused.errors)")
        try expectTruth(about: folder, campaign: "campaign.yaml")
        try Shell.run("rm -r '\(folder.url.path)/runs'")
        #expect(try folder.volley("restore", path, "--nothing-sent-since").status == 0)
        #expect(try folder.volley("send", "--plan", "last", "--yes").status == 0)
    }

    @Test(
        "planning tells of a held run until another one has reached devices after the backup, and goes on where it cannot be read"
    )
    func heldUntilSent() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let held = String(try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") }).dropLast(7))
        // By the backup: the plan may also have been sent since then.
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let (path, _) = try backUp(folder)
        defer { remove(path) }
        try Shell.run("rm -r '\(folder.url.path)/runs'")
        #expect(try folder.volley("restore", path).status == 0)
        func preview() throws -> String {
            let result = try folder.volley("preview", "campaign.yaml")
            #expect(result.status == 0, "\(result.errors)")
            return result.errors
        }
        let warned = try preview()
        #expect(warned.contains("\(held) of this campaign is held"), "\(warned)")
        try folder.editRun("UPDATE run SET settings = 'x' || settings", id: held)
        #expect(try !preview().contains("is held"))
        try folder.editRun("UPDATE run SET settings = substr(settings, 2)", id: held)
        #expect(try preview().contains("is held"))
        Self.waitForAnotherSecond()
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        #expect(try !preview().contains("is held"))
    }

    @Test("a time that passed between the backup and now is skipped, with the reason, and not sent again")
    func times() throws {
        let folder = try ProjectFolder()
        let at = Self.time(in: -180)
        try folder.write(
            "now.yaml",
            "name: now\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: A, body: B}\nschedule: {at: \(at), timezone: UTC}\n"
        )
        let (path, _) = try backUp(folder)
        defer { remove(path) }
        #expect(try folder.volley("restore", path).status == 0)
        try Shell.run("touch -d '1 hour ago' '\(folder.url.path)/devices.csv'")
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        let end = Date(timeIntervalSinceNow: 60)
        while running.isRunning, Date() < end, !running.errorsSoFar.contains("put back from a backup") {
            usleep(20_000)
        }
        running.interrupt()
        let result = running.finish()
        #expect(
            result.errors.contains("the runs were put back from a backup, and it may have been sent before"),
            "\(result.errors)")
        #expect(folder.files(in: "runs").allSatisfy { !$0.contains("-now-") })
    }

    @Test("while a schedule is at work its record is copied, and the schedule goes on")
    func whileScheduling() throws {
        let folder = try ProjectFolder(), at = Self.time(in: 86_400)
        try folder.write(
            "later.yaml",
            "name: later\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: A, body: B}\nschedule: {at: \(at), timezone: UTC}\n"
        )
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        let end = Date(timeIntervalSinceNow: 60)
        while running.isRunning, Date() < end, !running.errorsSoFar.contains("later: next") { usleep(20_000) }
        let (path, manifest) = try backUp(folder)
        defer { remove(path) }
        #expect(running.isRunning)
        running.interrupt()
        #expect(running.finish().status == 130)
        #expect(paths(manifest) == ["project/later.yaml", "project/volley.yaml", "runs/schedule.sqlite"])
        let restored = try folder.volley("restore", path, "--into", "new", "--json")
        #expect(restored.status == 0, "\(restored.errors)")
        let list = try folder.volley("schedule", "new", "--list", "--json")
        #expect(list.output.contains(at.prefix(10)) && list.output.contains("later"), "\(list.output)")
    }

    @Test(
        "a damaged, incomplete or newer backup is refused before anything is put back",
        arguments: ["byte", "missing", "newer", "list"])
    func refused(flaw: String) throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let (path, _) = try backUp(folder)
        defer { remove(path) }
        let run = "\(path)/runs/\(try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") }))",
            list = path + "/volley-backup.json"
        let sentence: String
        switch flaw {
        case "byte":
            try Shell.run("printf x | dd of='\(run)' bs=1 seek=5000 conv=notrunc 2>/dev/null")
            sentence = "is not as it was when the backup was made"
        case "missing":
            try Shell.run("rm '\(run)'")
            sentence = "is missing"
        case "newer":
            try Shell.run(
                "sed -i 's/\"format\": 2/\"format\": 3/; s/\"volley\": \"[^\"]*\"/\"volley\": \"9.1.0\"/' '\(list)'")
            sentence = "the backup was made by a newer Volley (9.1.0; format 3, and this one reads 2)"
        default:
            try Shell.run("sed -i 's|runs/2|runs/../../2|' '\(list)'")
            sentence = "the list of a backup's files is damaged"
        }
        let result = try folder.volley("restore", path, "--into", "new")
        #expect(result.status == 2 && result.errors.contains(sentence), "\(result.errors)")
        #expect(folder.files(in: "new").isEmpty)
    }

    @Test("a campaign that differs from the one in the backup is not overwritten, and nothing else is put back")
    func differing() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let (path, _) = try backUp(folder)
        defer { remove(path) }
        try Shell.run("rm -r '\(folder.url.path)/runs' && echo '# edited' >> '\(folder.url.path)/campaign.yaml'")
        let result = try folder.volley("restore", path)
        #expect(result.status == 2 && result.errors.contains("campaign.yaml: this file differs"), "\(result.errors)")
        #expect(folder.files(in: ".").sorted() == ["campaign.yaml", "devices.csv", "volley.yaml"])
    }

    @Test("Ctrl-C and a kill leave no backup, and the next one removes what a killed one left", .enabled(if: hasPython))
    func ended() throws {
        let folder = try ProjectFolder()
        try Shell.run("mkdir '\(folder.url.path)/runs'")
        let large =
            "import sqlite3; c = sqlite3.connect('runs/big.sqlite'); c.execute('CREATE TABLE t (b BLOB)'); [c.execute('INSERT INTO t VALUES (zeroblob(5000000))') for _ in range(60)]; c.commit()"
        #expect(
            try RunningVolley(
                executable: "/usr/bin/python3", ["-c", large], in: folder.url, environment: [:], input: nil
            ).finish().status
                == 0)
        let target = "backups"
        for isKill in [false, true] {
            let running = try VolleyBinary.start(["backup", target], in: folder.url)
            while running.isRunning, !folder.files(in: target).contains(where: { $0.hasSuffix(".unfinished") }) {
                usleep(1_000)
            }
            isKill ? _ = kill(running.processID, SIGKILL) : running.interrupt()
            let result = running.finish()
            #expect(result.status == (isKill ? 128 + SIGKILL : 130), "\(result)")
            if !isKill { #expect(result.errors.contains("No backup was made")) }
            #expect(folder.files(in: target).count == (isKill ? 1 : 0))
        }
        #expect(try folder.volley("backup", target).status == 0)
        let names = folder.files(in: target)
        #expect(names.count == 1 && names[0].hasPrefix("volley-backup-"), "\(names)")
    }

    @Test("of two backups at the same moment both are whole, under different names")
    func together() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let results = try (0..<2).map { _ in try VolleyBinary.start(["backup", "backups"], in: folder.url) }.map {
            $0.finish()
        }
        #expect(results.allSatisfy { $0.status == 0 }, "\(results)")
        let names = folder.files(in: "backups")
        #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix("volley-backup-") }, "\(names)")
        for name in names {
            let restored = try folder.volley("restore", "backups/\(name)", "--into", "from-\(name)")
            #expect(restored.status == 0, "\(restored.errors)")
        }
    }

    /// A backup of a project with several campaigns and a run, and the files after it was put back,
    /// by paths below the folder of volley.yaml.
    private func backUpSeveral(_ folder: ProjectFolder) throws -> (path: String, files: Set<String>) {
        for number in 0..<8 { try folder.writeCampaign("c\(number).yaml") }
        #expect(try folder.volley("send", "c0.yaml", "--yes").status == 0)
        let (path, manifest) = try backUp(folder)
        let files = paths(manifest).map { $0.hasPrefix("project/") ? String($0.dropFirst(8)) : $0 }
        // The record of the schedule keeps the moment of the backup.
        return (path, Set(files).union(["runs/schedule.sqlite"]))
    }

    private func files(below folder: String) -> Set<String> {
        let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return Set(
            paths.filter {
                FileManager.default.isReadableFile(atPath: "\(folder)/\($0)") && !isFolder("\(folder)/\($0)")
            })
    }

    private func isFolder(_ path: String) -> Bool {
        var isFolder = ObjCBool(false)
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    @Test(
        "of two that restore into one folder one puts back everything, and the other says that something is there, and touches nothing"
    )
    func restoredTogether() throws {
        let folder = try ProjectFolder()
        let (path, files) = try backUpSeveral(folder)
        defer { remove(path) }
        for round in 0..<12 {
            let place = "r\(round)"
            let results = try (0..<2).map { _ in
                try VolleyBinary.start(["restore", path, "--into", place], in: folder.url)
            }.map {
                $0.finish()
            }
            #expect(results.map(\.status).sorted() == [0, 2], "\(results)")
            #expect(self.files(below: folder.url.appendingPathComponent(place).path) == files)
        }
    }

    @Test(
        "a restore that is killed at any moment leaves no volley.yaml without all runs; the next one puts everything back, or says why not"
    )
    func killedRestore() throws {
        let folder = try ProjectFolder()
        let (path, files) = try backUpSeveral(folder)
        defer { remove(path) }
        for round in 0..<16 {
            let place = folder.url.appendingPathComponent("k\(round)").path
            let running = try VolleyBinary.start(["restore", path, "--into", "k\(round)"], in: folder.url)
            while running.isRunning, !FileManager.default.fileExists(atPath: place) { usleep(500) }
            usleep(UInt32(round) * 1_000)
            kill(running.processID, SIGKILL)
            _ = running.finish()
            let left = self.files(below: place)
            if left.contains("volley.yaml") { #expect(left.isSuperset(of: files), "\(left)") }
            // What has its name is whole.
            for name in files.intersection(left) where !name.hasPrefix("runs/") {
                #expect(
                    FileManager.default.contentsEqual(atPath: "\(path)/project/\(name)", andPath: "\(place)/\(name)"),
                    "\(name)")
            }
            guard left.contains(where: { $0.hasPrefix("runs/") }) else {
                #expect(try folder.volley("restore", path, "--into", "k\(round)").status == 0)
                #expect(self.files(below: place) == files)
                continue
            }
            let again = try folder.volley("restore", path, "--into", "k\(round)")
            #expect(again.status == 2 && again.errors.contains("Nothing was put back"), "\(again)")
            #expect(
                left.isSuperset(of: files) || again.errors.contains("a restore into this folder was cut off"),
                "\(again)")
            // As the remedy says. The next restore removes the files that the killed one had
            // staged.
            try FileManager.default.moveItem(atPath: "\(place)/runs", toPath: "\(place)-runs")
            #expect(try folder.volley("restore", path, "--into", "k\(round)").status == 0)
            #expect(self.files(below: place) == files)
        }
    }

    @Test(
        "where a restore was cut off, the next one says so; one that finds something in a file's place writes nothing")
    func cutOff() throws {
        let folder = try ProjectFolder()
        let (path, _) = try backUpSeveral(folder)
        defer { remove(path) }
        #expect(try folder.volley("restore", path, "--into", "whole").status == 0)
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("whole/runs/.project"), withIntermediateDirectories: false)
        let again = try folder.volley("restore", path, "--into", "whole")
        #expect(again.status == 2 && again.errors.contains("a restore into this folder was cut off"), "\(again)")
        // A link to nowhere has the name of a file.
        try Shell.run("mkdir '\(folder.url.path)/taken' && ln -s nowhere '\(folder.url.path)/taken/c3.yaml'")
        let taken = try folder.volley("restore", path, "--into", "taken")
        #expect(taken.status == 2 && taken.errors.contains("c3.yaml: a file of the backup comes here"), "\(taken)")
        #expect(folder.files(in: "taken") == ["c3.yaml"], "nothing was written")
    }

    @Test("a file that cannot be copied is named, and everything else is backed up, with exit code 1")
    func unreadable() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        try folder.write("runs/20260101-000000-x-0000.sqlite", String(repeating: "no database ", count: 100))
        try folder.writeCampaign("pipe.yaml", name: "pipe", audience: "devices: devices.csv\naliases: {file: pipe.txt}")
        try Shell.run("mkfifo '\(folder.url.path)/pipe.txt'")
        let result = try folder.volley("backup", "backups", "--json")
        #expect(
            result.status == 1 && result.errors.contains("20260101-000000-x-0000.sqlite: this is not a database"),
            "\(result.errors)")
        #expect(result.errors.contains("pipe.txt: the file cannot be read: this is a named pipe"), "\(result.errors)")
        #expect(try paths(result.json()).count { $0.hasPrefix("runs/") } == 1)
        // What was emptied could not be put back with the rest.
        let emptied = ["20260101-000000-y-0000.sqlite", "suppressed-shop.sqlite", "console/accounts.sqlite"]
        try Shell.run(
            "cd '\(folder.url.path)/runs'; mkdir console; for name in \(emptied.joined(separator: " ")); do : > $name; done"
        )
        let rest = try folder.volley("backup", "more", "--json")
        #expect(rest.status == 1, "\(rest.errors)")
        for name in emptied {
            #expect(rest.errors.contains("\(name): the file is damaged: it is empty"), "\(rest.errors)")
        }
        let made = try #require(rest.json()["backup"]?.stringValue)
        let put = try folder.volley("restore", made, "--into", "put")
        #expect(put.status == 0, "\(put.errors)")
        let inside = try folder.volley("backup", "runs/backups")
        #expect(inside.status == 2 && inside.errors.contains("a backup cannot be in the folder of runs"))
    }

    @Test("accounts come back with their passwords, and without sessions and invitations")
    func accounts() throws {
        let folder = try ProjectFolder()
        let runs = folder.url.appendingPathComponent("runs").path
        try Shell.run("mkdir '\(runs)'")
        let store = try AccountStore(beside: runs)
        _ = try store.inviteFirstAdministrator(try AccountName("anna"), try DisplayName("Anna"), at: .now())
        let activities = try store.activities().activities.count
        let (path, manifest) = try backUp(folder)
        defer { remove(path) }
        store.close()
        #expect(paths(manifest).contains("runs/console/accounts.sqlite"))
        for (change, isIn) in [(":", true), ("printf '%0999d' 1 > '\(runs)/console/accounts.sqlite'", false)] {
            try Shell.run(change)
            let made = try folder.volley("backup", path + "-\(isIn)")
            #expect(
                made.output.contains("It holds device tokens\(isIn ? ", and the console's accounts" : "")."), "\(made)")
        }
        try Shell.run("rm -r '\(runs)'")
        let put = try folder.volley("restore", path)
        #expect(put.status == 0, "\(put)")
        let restored = try AccountStore(beside: runs)
        #expect(try restored.activities().activities.count == activities && activities > 0)
        #expect(try restored.openInvitations(at: .now()).isEmpty)
        restored.close()
    }
}
