import Base
import Foundation
import TestCommands
import Testing

/// Campaigns to audiences that JPush keeps, against the strict simulator, with the real binary: no
/// export is read, the recipients are calls, and the simulator's ledger has a line for each name.
@Suite("a campaign whose devices JPush chooses")
struct OwnAudienceCampaignTests {
    typealias Bench = JPushCampaignTests.Bench

    /// A simulator, and a folder without an export.
    private static func bench(_ audience: String, content: String = "title: Hello\nbody: World", faults: [String] = [])
        throws -> Bench
    {
        let bench = try Bench(devices: 0, faults: faults)
        try FileManager.default.removeItem(at: bench.folder.url.appendingPathComponent("devices.csv"))
        try bench.folder.writeCampaign(audience: audience, content: content)
        return bench
    }

    private static let three = "by: jpush\ntags: [vip, 新用户]\naliases: [u1, u2, u1]\nregistration_ids: [\(Bench.id(1))]"

    @Test("a preview shows the calls, warns of devices that several of them reach, and needs no export")
    func preview() throws {
        let bench = try Self.bench(Self.three)
        let shown = try bench.folder.volley("preview", "campaign.yaml")
        #expect(shown.status == 0, "\(shown)")
        for text in [
            "test would go out in 3 calls for shop", "; JPush chooses the devices", "tags vip, 新用户\n",
            "aliases u1, u2\n",
            "1 registration id", "Sample for tags vip, 新用户", "Payload ",
        ] { #expect(shown.output.contains(text), "\(text): \(shown.output)") }
        #expect(!shown.output.contains("rows"), "\(shown.output)")
        #expect(
            shown.errors.contains(
                "campaign.yaml:4:3: warning: 2 tags, 2 aliases, 1 registration id are 3 calls to JPush: a device that several of them reach gets the push from each."
            ) && shown.errors.contains("[may-get-it-twice]"), "\(shown.errors)")
        let json = try bench.folder.volley("preview", "campaign.yaml", "--json").json()
        #expect(json.int("audience") == 3 && json["by"] == .string("jpush"))
        #expect(
            json["calls"]?.text
                == #"[{"selector":"tags","calls":1,"count":2,"first":["vip","新用户"]},{"selector":"aliases","calls":1,"count":2,"first":["u1","u2"]},{"selector":"registration_ids","calls":1,"count":1,"first":["\#(Bench.id(1).prefix(4))…\#(Bench.id(1).suffix(4))"]}]"#
        )
        let page = try bench.folder.volley("preview", "campaign.yaml", "--html", "p.html")
        let html = try String(contentsOf: bench.folder.url.appendingPathComponent("p.html"), encoding: .utf8)
        #expect(
            page.status == 0 && html.contains("calls to JPush, which chooses the devices")
                && html.contains("tags vip, 新用户"))
        #expect(!html.contains("From the rows of the export"))
    }

    @Test(
        "registration ids of a list are in the table of recipients and nowhere else in a run", .enabled(if: hasPython))
    func tables() throws {
        let bench = try Self.bench("by: jpush\nregistration_ids: {file: ids.txt}")
        try bench.folder.write("ids.txt", "#\(Bench.id(8))\n#\(Bench.id(9))\n\(Bench.id(1))\n")
        let planned = try bench.folder.volley("plan", "campaign.yaml", "--json")
        #expect(planned.status == 0, "\(planned)")
        #expect(
            !(planned.output + planned.errors).contains(Bench.id(8)) && planned.errors.contains("comment-in-list"),
            "\(planned)")
        let script = """
            import glob, sqlite3
            c = sqlite3.connect(glob.glob('runs/2*.sqlite')[0])
            for (table,) in c.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                print(table, c.execute('SELECT * FROM ' + table).fetchall())
            """
        let python = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", script], in: bench.folder.url, environment: [:], input: nil
        ).finish()
        let holding = python.output.split(separator: "\n").filter { $0.contains(Bench.id(1)) }.map {
            $0.prefix { $0 != " " }
        }
        #expect(python.status == 0 && holding == ["recipient"], "\(python)")
    }

    @Test("everyone is one call, and one call is no warning")
    func everyone() throws {
        let bench = try Self.bench("by: jpush\neveryone: true")
        let checked = try bench.folder.volley("check", "campaign.yaml")
        #expect(checked.status == 0 && !checked.errors.contains("may-get-it-twice"), "\(checked)")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 1, "\(sent)")
        #expect(!sent.errors.contains("may-get-it-twice"))
        #expect(try bench.entries().map { [$0.target, "\($0.status)"] } == [["all", "200"]])
    }

    @Test("each call is made once; report and page speak of calls, and JPush is asked about the people")
    func sent() throws {
        let bench = try Self.bench(Self.three)
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 3, "\(sent)")
        let report = try bench.folder.volley("report", "last").output
        #expect(report.contains("JPush accepted all 3 calls.") && !report.contains("3 devices"), "\(report)")
        #expect(
            report.contains(/3 calls: JPush chooses the devices,\s+and it alone knows how many they are/), "\(report)")
        let refreshed = try bench.folder.volley("report", "last", "--refresh").output
        #expect(refreshed.contains("received over JPush's own channel"), "\(refreshed)")
        let csv = try bench.folder.volley("report", "last", "--format", "csv").output
        #expect(
            csv.contains("tags/vip:%E6%96%B0%E7%94%A8%E6%88%B7,,,,,accepted") && csv.split(separator: "\n").count == 4,
            "\(csv)")
        let page = try bench.folder.volley("report", "last", "--format", "html").output
        #expect(
            page.contains("JPush accepted") && page.contains("3</span> calls") && !page.contains("3</span> devices"),
            "\(page.prefix(9000))"
        )
        let entries = try bench.entries()
        #expect(
            Set(entries.map(\.target)) == ["vip", "新用户", "u1", "u2", Bench.id(1)]
                && entries.allSatisfy { $0.status == 200 })
        #expect(Set(entries.map(\.message)).count == 3)
    }

    @Test("the report, its page and a comparison speak of calls alone, and have no outcome that no call has")
    func words() throws {
        let bench = try Self.bench(Self.three)
        for _ in 0..<2 { #expect(try bench.folder.volley("send", "campaign.yaml", "--yes").status == 0) }
        let runs = try FileManager.default.contentsOfDirectory(
            atPath: bench.folder.url.appendingPathComponent("runs").path)
        let ids = runs.filter { $0.hasSuffix(".sqlite") && $0.first?.isNumber == true }.map { String($0.dropLast(7)) }
            .sorted()
        let report = try bench.folder.volley("report", "last").output
        #expect(report.contains("unsent") && !report.contains("invalid_token"), "\(report)")
        let compared = try bench.folder.volley("report", ids[1], "--compare", ids[0]).output
        #expect(compared.contains("Both were 3 calls."), "\(compared)")
        #expect(!compared.contains("device") && !compared.contains("invalid_token"), "\(compared)")
        let json = try bench.folder.volley("report", ids[1], "--compare", ids[0], "--format", "json").json()
        #expect(json["differences"]?["outcomes/invalid_token"] != nil)
        let page = try bench.folder.volley("report", ids[1], "--compare", ids[0], "--format", "html").output
        #expect(!page.contains("devices") && !page.contains("outcomes/invalid_token"), "\(page)")
    }

    @Test("a day's pushes to everyone that are used up stop the run, and the next day it is resumed")
    func broadcasts() throws {
        let bench = try Self.bench("by: jpush\neveryone: true", faults: ["--broadcasts-per-day", "1"])
        #expect(try bench.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let stopped = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try stopped.status == 3 && stopped.json()["outcomes"]?.int("unsent") == 1, "\(stopped)")
        #expect(
            stopped.errors.contains(/JPush refused the push with 2008 \(403\).*Resume the run tomorrow\./), "\(stopped)"
        )
        let report = try bench.folder.volley("report", "last").output
        #expect(report.contains("volley resume"), "\(report)")
        let again = try bench.folder.volley("resume", "last")
        #expect(again.status == 3, "\(again)")
        // The next day begins.
        try bench.restart(["--broadcasts-per-day", "1"])
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect(try resumed.status == 0 && resumed.json()["outcomes"]?.int("accepted") == 1, "\(resumed)")
    }

    @Test("tags that JPush gives only to apps that pay stop the run, and it is resumed once the app may have them")
    func tags() throws {
        let bench = try Self.bench("by: jpush\ntags: [vip]\naliases: [u1]", faults: ["--no-tags"])
        let stopped = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(stopped.status == 3, "\(stopped)")
        #expect(
            stopped.errors.contains(
                /JPush refused the push with 2006 \(403\).*JPush offers this only to apps that pay/), "\(stopped)")
        #expect(try bench.folder.volley("report", "last").output.contains("volley resume"))
        try bench.restart()
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect(try resumed.status == 0 && resumed.json()["outcomes"]?.int("accepted") == 2, "\(resumed)")
    }

    @Test("names that no device has are a refusal of their call: the others go out, and nothing is suppressed")
    func unknownNames() throws {
        let bench = try Self.bench("by: jpush\ntags: [00001011a]\naliases: [u1]")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        let outcomes = try sent.json()["outcomes"]
        #expect(sent.status == 1 && outcomes?.int("accepted") == 1 && outcomes?.int("rejected") == 1, "\(sent)")
        let report = try bench.folder.volley("report", "last").output
        #expect(report.contains(/JPush\s+has\s+no\s+device\s+under\s+these\s+names/), "\(report)")
        let listed = try bench.folder.volley("suppression", "list", "--app", "shop", "--json")
        #expect(listed.status == 0 && !listed.output.contains("tags"), "\(listed)")
    }

    @Test(
        "a run that was killed goes on, and no call is made twice: JPush recognizes those that had no answer by their cids"
    )
    func killed() throws {
        let tags = (0..<200).map { "t\($0)" }
        let bench = try Self.bench("by: jpush\ntags: [\(tags.joined(separator: ", "))]", faults: ["--latency", "400"])
        try bench.writeProject(more: "pace: 2/s")
        let sending = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: bench.folder.url)
        try bench.folder.kill(sending, seconds: 0.8)
        let resumed = try bench.folder.volley("resume", "last", "--json")
        let outcomes = try bench.folder.volley("report", "last", "--format", "json").json()["outcomes"]
        #expect(resumed.status == 0 && outcomes?.int("accepted") == 10, "\(resumed)")
        #expect(resumed.errors.contains("of 10 calls are unsent"), "\(resumed)")
        let accepted = try bench.entries().filter { $0.status == 200 }
        let messages = Dictionary(grouping: accepted, by: \.target).mapValues { Set($0.map(\.message)) }
        #expect(Set(messages.keys) == Set(tags) && messages.values.allSatisfy { $0.count == 1 })
    }

    @Test("a plan keeps its calls, and is sent only to the account that it was made for")
    func planned() throws {
        let bench = try Self.bench("by: jpush\naliases: {file: vip.txt}")
        try bench.folder.write("vip.txt", (0..<1500).map { "u\($0)\n" }.joined())
        let planned = try bench.folder.volley("plan", "campaign.yaml", "--json")
        #expect(try planned.status == 0 && planned.json().int("audience") == 2, "\(planned)")
        #expect(!planned.errors.contains("may-get-it-twice"), "a device has one alias: \(planned.errors)")
        try bench.folder.write("vip.txt", "nobody\n")
        let project = try String(contentsOf: bench.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try bench.folder.write(
            "volley.yaml", project.replacing("0123456789abcdef01234567", with: "76543210fedcba9876543210"))
        let changed = try bench.folder.volley("send", "--plan", "last", "--yes")
        #expect(
            changed.status == 2 && changed.errors.contains("the app_key was 0123456789abcdef01234567"), "\(changed)")
        try bench.folder.write("volley.yaml", project)
        let sent = try bench.folder.volley("send", "--plan", "last", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 2, "\(sent)")
        #expect(Set(try bench.entries().map(\.target)).count == 1500)
    }

    @Test("--ask lets JPush check each call, and nothing is sent")
    func asks() throws {
        let bench = try Self.bench("by: jpush\ntags: [vip]\naliases: [00001011a]")
        let asked = try bench.folder.volley("preview", "campaign.yaml", "--ask")
        #expect(asked.status == 1, "\(asked)")
        #expect(
            asked.output.contains(
                "Checked by the service; nothing was sent\n  tag vip: accepted\n  alias 00001011a: 400 1011: JPush has no"
            ), "\(asked)")
        try bench.folder.writeCampaign(audience: "by: jpush\ntags: [vip]")
        let fine = try bench.folder.volley("preview", "campaign.yaml", "--ask", "--json")
        #expect(
            try fine.status == 0 && fine.json()["asked"]?.text.contains(#""call":"tag vip","accepted":true"#) == true,
            "\(fine)")
        try bench.folder.writeCampaign()
        let wrong = try bench.folder.volley("preview", "campaign.yaml", "--ask")
        #expect(wrong.status == 2, "\(wrong)")
        #expect(try bench.entries().isEmpty)
    }

    @Test("--ask is refused where Volley chooses the devices, with what to do")
    func asksNobody() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let asked = try folder.volley("preview", "campaign.yaml", "--ask")
        #expect(
            asked.status == 2
                && asked.errors.contains(
                    "Volley chooses the devices of this campaign, so no service can check it. Omit --ask"),
            "\(asked)")
    }

    @Test(
        "a text that differs from device to device, and a name of a list that JPush cannot have, are mistakes at their place"
    )
    func mistakes() throws {
        let bench = try Self.bench(
            "by: jpush\naliases: {file: vip.txt}", content: "title: Hello {{ first_name }}\nbody: World")
        try bench.folder.write("vip.txt", "u1\nbad name\n")
        let checked = try bench.folder.volley("check", "campaign.yaml")
        #expect(checked.status == 2)
        #expect(
            checked.errors.contains(
                "campaign.yaml:7:19: 'first_name' differs from device to device, but JPush chooses the devices. Write"),
            "\(checked.errors)")
        #expect(
            checked.errors.contains(
                "vip.txt:2:1: JPush can have no alias 'bad name'. An alias of JPush has at most 40 bytes"),
            "\(checked.errors)")
        try bench.folder.writeCampaign(audience: "by: jpush\naliases: {file: vip.txt}")
        let planned = try bench.folder.volley("plan", "campaign.yaml")
        #expect(
            planned.status == 2 && planned.errors.contains("vip.txt:2:1: JPush can have no alias 'bad name'"),
            "\(planned)")
        let why = try bench.folder.volley("preview", "campaign.yaml", "--why", "u1")
        #expect(why.status == 2 && why.errors.contains("JPush chooses the devices of this campaign"), "\(why)")
    }

    @Test("a test goes to the app's test devices, as pushes to devices")
    func test() throws {
        let bench = try Self.bench("by: jpush\ntags: [vip]")
        try bench.writeProject(more: "test_devices: [\(Bench.id(7))]")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--test", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 1, "\(sent)")
        #expect(try bench.entries().map(\.target) == [Bench.id(7)])
    }

    @Test("quiet hours count by the schedule's clock, and the built-in simulator takes the calls")
    func scheduled() throws {
        let folder = try ProjectFolder()
        try folder.write(
            "volley.yaml",
            "runs: runs\napps:\n  shop: {service: jpush, app_key: 0123456789abcdef01234567, environment: simulator, frequency: 1 per day}\n"
        )
        try folder.writeCampaign(audience: "by: jpush\ntags: [vip]\naliases: [u1, u2]")
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign + "schedule: {timezone: Asia/Shanghai, quiet_hours: 22:00-08:00}\n")
        let shown = try folder.volley("preview", "campaign.yaml", "--json")
        #expect(
            try shown.status == 0
                && shown.json()["in_words"]?["frequency"] == .string("no limit, as JPush chooses the devices"),
            "\(shown)"
        )
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--now", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 2, "\(sent)")
        #expect(!(sent.output + sent.errors).contains("defect"), "\(sent)")
        let report = try folder.volley("report", "last").output
        #expect(
            report.contains(/2 calls: JPush chooses the devices/) && !report.contains("--refresh"),
            "the simulator is gone: \(report)")
    }
}
