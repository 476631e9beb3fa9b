import Base
import Foundation
import TestCommands
import Testing

@Suite("volley suppression")
struct SuppressionTests {
    private static let gone = "00000410" + String(repeating: "ab", count: 28)
    private static let bad = "00000400" + String(repeating: "cd", count: 28)

    /// An export of 20 devices that work and two that do not.
    private static func export(registeredAt: String) -> String {
        let tokens = (0..<20).map(ProjectFolder.token) + [gone, bad.uppercased()]
        return "device_token,registered_at\n" + tokens.map { "\($0),\(registeredAt)\n" }.joined()
    }

    private func sentFolder() throws -> ProjectFolder {
        let folder = try ProjectFolder(export: Self.export(registeredAt: "2026-01-01"))
        try folder.writeCampaign()
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try sent.json()["outcomes"]?.int("invalid_token") == 2)
        return folder
    }

    @Test(
        "devices that a run found gone are left out of the next plan, until the export says that they registered later")
    func roundTrip() throws {
        let folder = try sentFolder()
        let list = try folder.volley("suppression", "list", "--json")
        #expect(list.status == 0, "\(list.errors)")
        let document = try list.json()
        #expect(document.names == ["app", "environment", "file", "devices", "reasons", "newest"])
        #expect(document.int("devices") == 2 && document["environment"]?.stringValue == "simulator")
        #expect(
            document["reasons"] == .object(pairs: [("BadDeviceToken", .integer(1)), ("Unregistered", .integer(1))]))
        #expect(folder.files(in: "runs").contains("suppressed-shop.sqlite"))

        let again = try folder.volley("preview", "campaign.yaml", "--json").json()
        #expect(again["skipped"] == .object(pairs: [("suppressed", .integer(2))]) && again.int("audience") == 20)
        let resent = try folder.volley("send", "campaign.yaml", "--yes", "--json").json()
        #expect(resent["outcomes"]?.int("accepted") == 20 && resent["skipped"]?.int("suppressed") == 2)
        let limited = try folder.volley("plan", "campaign.yaml", "--json", "--memory", "300M").json()
        #expect(limited["plan_hash"] == again["plan_hash"])

        try folder.write("devices.csv", Self.export(registeredAt: "2099-01-01"))
        let returned = try folder.volley("preview", "campaign.yaml", "--json").json()
        #expect(returned.int("audience") == 22 && returned["skipped"]?.sum == 0)
        // Lists are not runs.
        #expect(try folder.volley("runs", "--json").json()["broken"] == .array([]))
        #expect(
            try folder.volley("report", "suppressed-shop").errors.contains("a list of suppressed devices, not a run"))
    }

    @Test("what the simulator says suppresses nobody elsewhere")
    func environments() throws {
        let folder = try sentFolder()
        try folder.writeProject(app: "environment: sandbox\nkey: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}")
        #expect(try folder.volley("preview", "campaign.yaml", "--json").json().int("audience") == 22)
        #expect(try folder.volley("suppression", "list").output == "No device of shop (sandbox) is suppressed.\n")
    }

    @Test("a list is shown without whole tokens, and exported with them into a file of its owner's")
    func listAndExport() throws {
        let folder = try sentFolder()
        let list = try folder.volley("suppression", "list")
        #expect(list.output.hasPrefix("2 devices of shop (simulator) are suppressed.\n"))
        #expect(
            list.output.contains("  BadDeviceToken  1   50.0 %\n") && list.output.contains("0000…abab  Unregistered"))
        #expect(!list.output.contains("00000410") && !list.output.contains("00000400"))
        let file = folder.url.appendingPathComponent("list.csv")
        try folder.write("list.csv", "something older, for everyone to read")
        let exported = try folder.volley("suppression", "export", "--output", "list.csv")
        #expect(exported.status == 0 && exported.output == "shop (simulator): 2 devices in list.csv\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.first == "device_token,reason,invalid_since,added_at,run" && lines.count == 3)
        #expect(lines[1].hasPrefix(Self.bad + ",BadDeviceToken,2") && lines[2].hasPrefix(Self.gone + ",Unregistered,2"))
        #expect(
            try folder.volley("suppression", "export").output
                == folder.volley("suppression", "export", "--output", "-").output)
        #expect(try folder.volley("suppression", "export", "--json").status == 2)
    }

    @Test("what is exported, removed and imported again is what it was")
    func exportRemoveImport() throws {
        let folder = try sentFolder()
        func export() throws -> [Substring] {
            // Without added_at and run, which an import does not copy.
            try folder.volley("suppression", "export").output.split(separator: "\n").map { line in
                line.split(separator: ",").prefix(3).joined(separator: ",")[...]
            }
        }
        let before = try export()
        try folder.write("list.csv", folder.volley("suppression", "export").output)
        let removed = try folder.volley("suppression", "remove", Self.gone.uppercased())
        #expect(removed.status == 0 && removed.output == "shop (simulator): 1 device removed\n")
        #expect(try folder.volley("preview", "campaign.yaml", "--json").json().int("audience") == 21)
        let twice = try folder.volley("suppression", "remove", Self.gone)
        #expect(twice.status == 2 && twice.errors.contains("0000…abab is not on the list of shop (simulator)"))
        let imported = try folder.volley("suppression", "import", "list.csv", "--app", "shop", "--json").json()
        #expect(imported.int("read") == 2 && imported.int("added") == 1 && imported.int("renewed") == 0)
        #expect(try export() == before && before.count == 3)
        let cleared = try folder.volley("suppression", "remove", "--file", "list.csv", "--json").json()
        #expect(cleared.int("removed") == 2 && cleared.int("not_listed") == 0)
        #expect(try folder.volley("suppression", "list", "--json").json().int("devices") == 0)
    }

    @Test("an import with a line that cannot be read adds nothing, and names the lines")
    func badImport() throws {
        let folder = try ProjectFolder()
        try folder.write("list.txt", "\(Self.gone)\nnothing\n\(Self.bad)\n")
        let imported = try folder.volley("suppression", "import", "list.txt")
        #expect(
            imported.status == 2 && imported.errors.hasPrefix("list.txt:2:1: '…' cannot be a device token"),
            "\(imported.errors)")
        #expect(try folder.volley("suppression", "list", "--json").json().int("devices") == 0)
        try folder.write("list.txt", "\(Self.gone)\n\(Self.bad)\n\(Self.gone)\n")
        let good = try folder.volley("suppression", "import", "list.txt", "--reason", "asked by phone")
        #expect(good.output == "shop (simulator): 2 devices added, 1 known before\n")
        #expect(try folder.volley("suppression", "list", "--json").json()["reasons"]?.int("asked by phone") == 2)
    }

    @Test(
        "an export and a moment in the future suppress nobody; a day of clock error is allowed, and a whole export by name"
    )
    func goodDevices() throws {
        let folder = try ProjectFolder()
        #expect(
            try folder.volley("suppression", "import", "device.csv").errors
                == "device.csv: there is no such file. Did you mean devices.csv?\n")
        let refused = try folder.volley("suppression", "import", "devices.csv")
        #expect(
            refused.status == 2 && refused.errors.contains("devices.csv: this looks like an export")
                && refused.errors.contains("--every-device"))
        try folder.write("future.csv", "device_token,invalid_since\n\(ProjectFolder.token(1)),2099-01-01\n")
        let future = try folder.volley("suppression", "import", "future.csv")
        #expect(
            future.status == 2 && future.errors.hasPrefix("future.csv:2:1: invalid_since is in the future"), "\(future)"
        )
        #expect(try folder.volley("suppression", "list", "--json").json().int("devices") == 0)
        let soon = Int(Date().timeIntervalSince1970) + 80_000
        try folder.write("soon.csv", "device_token,invalid_since\n\(ProjectFolder.token(1)),\(soon)\n")
        #expect(try folder.volley("suppression", "import", "soon.csv", "--json").json().int("added") == 1)
        #expect(
            try folder.volley("suppression", "import", "devices.csv", "--every-device", "--json").json().int("added")
                == 19)
        #expect(
            try folder.volley("suppression", "remove", "--file", "devices.csv", "--json").json().int("removed") == 20)
    }

    @Test("everything goes only when someone says so")
    func removeAll() throws {
        let folder = try sentFolder()
        let asked = try folder.volley("suppression", "remove", "--all")
        #expect(asked.status == 2 && asked.errors.contains("--yes"))
        #expect(
            try folder.volley("suppression", "remove", "--all", "--yes").output
                == "shop (simulator): 2 devices removed\n")
        for arguments in [[], ["--all", Self.gone], ["--yes", Self.gone]] {
            #expect(try VolleyBinary.run(["suppression", "remove"] + arguments, in: folder.url).status == 2)
        }
    }

    @Test("the app is named when there are several, and must be one of them")
    func apps() throws {
        let folder = try ProjectFolder()
        #expect(try folder.volley("suppression", "list", "--app", "shpo").errors.contains("Did you mean 'shop'?"))
        try folder.write(
            "volley.yaml",
            "runs: runs\napps:\n  shop: {topic: com.example.a, environment: simulator}\n  news: {topic: com.example.b, environment: simulator}\n"
        )
        let list = try folder.volley("suppression", "list")
        #expect(list.status == 2 && list.errors.contains("Name one with --app: shop, news."))
        #expect(try folder.volley("suppression", "list", "--app", "news").status == 0)
    }

    @Test("a list that cannot be read stops a plan, and is only a warning when a run has ended")
    func damaged() throws {
        let folder = try ProjectFolder(export: Self.export(registeredAt: ""))
        try folder.writeCampaign()
        let run = try #require(try folder.volley("plan", "campaign.yaml", "--json").json()["run"]?.stringValue)
        try folder.write("runs/suppressed-shop.sqlite", String(repeating: "nothing of the kind\n", count: 100))
        let sent = try folder.volley("send", "--plan", run, "--yes")
        #expect(sent.status == 0 && sent.errors.contains("could not be put on the suppression list"), "\(sent.errors)")
        let planned = try folder.volley("plan", "campaign.yaml")
        #expect(
            planned.status == 2 && planned.errors.contains("suppressed-shop.sqlite: this is not a suppression list"))
        #expect(folder.files(in: "runs") == [run + ".sqlite", "sent.db", "suppressed-shop.sqlite"])
    }

    @Test("a run that is interrupted puts on the list what it has found out")
    func interrupted() throws {
        let tokens = [Self.gone] + (0..<3000).map(ProjectFolder.token)
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 100/s", export: "device_token\n" + tokens.joined(separator: "\n") + "\n"
        )
        try folder.writeCampaign()
        let sending = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: folder.url)
        // The first recipient is the one that is gone: once outcomes are recorded, so is this one.
        let file = folder.url.appendingPathComponent("runs")
        while sending.isRunning, !folder.files(in: "runs").contains(where: { $0.hasSuffix(".sqlite-wal") }) {
            usleep(10_000)
        }
        while sending.isRunning, !hasOutcome(in: file) { usleep(10_000) }
        sending.interrupt()
        #expect(sending.finish().status == 130)
        #expect(try folder.volley("suppression", "list", "--json").json().int("devices") == 1)
    }

    private func hasOutcome(in runs: URL) -> Bool {
        let report = try? VolleyBinary.run(
            ["report", "last", "--format", "json"], in: runs.deletingLastPathComponent())
        return (try? report?.json()["outcomes"]?.int("invalid_token")) == 1
    }

    @Test("a run that stops because most tokens are refused puts only those on the list that are gone for certain")
    func wrongEnvironment() throws {
        let bad = (0..<400).map { "00000400" + ProjectFolder.token($0).suffix(56) }
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 500/s",
            export: "device_token\n" + ([Self.gone] + bad).joined(separator: "\n") + "\n")
        try folder.writeCampaign()
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        let refused = try sent.json()["reasons"]?.int("BadDeviceToken")
        #expect(sent.status == 3 && refused ?? 0 >= 99, "\(sent.errors)")
        #expect(
            try folder.volley("suppression", "list", "--json").json()["reasons"]
                == .object(pairs: [("Unregistered", .integer(1))]))
    }

    @Test("several processes that change a list at once lose nothing")
    func together() throws {
        let folder = try ProjectFolder()
        for part in 0..<4 {
            let tokens = (part * 5000..<(part + 1) * 5000 + 1000).map(ProjectFolder.token)
            try folder.write("\(part).txt", tokens.joined(separator: "\n"))
        }
        let processes = try (0..<4).map {
            try VolleyBinary.start(["suppression", "import", "\($0).txt"], in: folder.url)
        }
        for process in processes {
            let result = process.finish()
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try folder.volley("suppression", "list", "--json").json().int("devices") == 21_000)
        #expect(folder.files(in: "runs") == ["suppressed-shop.sqlite"])
    }
}
