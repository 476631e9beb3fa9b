import Base
import Foundation
import TestCommands
import Testing

/// Campaigns to audiences that Getui keeps, against the strict simulator, with the real binary: an
/// alias and a client id are separate calls, and the simulator's ledger has a line for each name.
@Suite("a campaign whose devices Getui chooses")
struct GetuiAudienceCampaignTests {
    typealias Bench = GetuiCampaignTests.Bench

    /// A simulator, and a folder without an export.
    static func bench(_ audience: String, faults: [String] = [], app: String = "", delivery: String? = nil) throws
        -> Bench
    {
        let bench = try Bench(devices: 0, faults: faults, app: app)
        try FileManager.default.removeItem(at: bench.folder.url.appendingPathComponent("devices.csv"))
        try bench.folder.writeCampaign(audience: "by: getui\n\(audience)", delivery: delivery)
        return bench
    }

    private static let several =
        "tags: [vip, 新用户]\naliases: [u1, 李, u1]\nregistration_ids: [\(Bench.cid(1).uppercased())]"

    @Test("a preview shows each call, warns of devices that several of them reach, and needs no export")
    func preview() throws {
        let bench = try Self.bench(Self.several)
        let shown = try bench.folder.volley("preview", "campaign.yaml")
        #expect(shown.status == 0, "\(shown)")
        for text in [
            "test would go out in 4 calls for shop", "; Getui chooses the devices",
            "  tags vip, 新用户\n  alias u1\n  alias 李\n  1 registration id",
        ] { #expect(shown.output.contains(text), "\(text): \(shown.output)") }
        #expect(
            shown.errors.contains(
                "warning: 2 tags, 2 aliases, 1 registration id are 4 calls to Getui: a device that several"), "\(shown)"
        )
    }

    @Test(
        "each call is made once, also where the app has lists; report and table speak of calls, and Getui is asked about the people"
    )
    func sent() throws {
        let bench = try Self.bench(Self.several, app: "lists: true")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 4, "\(sent)")
        let report = try bench.folder.volley("report", "last").output
        #expect(report.contains("Getui accepted all 4 calls.") && !report.contains("4 devices"), "\(report)")
        let refreshed = try bench.folder.volley("report", "last", "--refresh").output
        #expect(refreshed.contains("5 passed on to phones"), "two tags, two aliases and an id: \(refreshed)")
        let csv = try bench.folder.volley("report", "last", "--format", "csv").output
        #expect(
            csv.contains("aliases/%E6%9D%8E,,,,,accepted") && csv.contains("registration_ids/\(Bench.cid(1)),"),
            "\(csv)")
        let entries = try bench.ledger()
        let kinds = Dictionary(entries.map { ($0["target"]?.stringValue ?? "", $0["target_kind"]?.stringValue ?? "") })
        { $0 + $1 }
        #expect(kinds == ["vip": "tag", "新用户": "tag", "u1": "alias", "李": "alias", Bench.cid(1): "cid"], "\(entries)")
        #expect(Set(entries.compactMap { $0["request_id"]?.stringValue }).count == 4)
    }

    @Test(
        "an alias that no device has, and one whose devices are idle, are refusals of their calls alone, whichever comes first"
    )
    func unknownNames() throws {
        let bench = try Self.bench("aliases: [00020001a, 00000090b, u1, 00020001c]")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        let outcomes = try sent.json()["outcomes"]
        #expect(sent.status == 1 && outcomes?.int("accepted") == 1 && outcomes?.int("rejected") == 3, "\(sent)")
        let report = try bench.folder.volley("report", "last").output
        #expect(
            report.contains(/Getui\s+has\s+no\s+device\s+under\s+these\s+aliases/)
                && report.contains("successed_ignore"), "\(report)")
        let csv = try bench.folder.volley("report", "last", "--format", "csv").output
        #expect(csv.contains("aliases/00020001c,,,,,rejected,400,20001 (target user is invalid)"), "\(csv)")
        let listed = try bench.folder.volley("suppression", "list", "--app", "shop", "--json")
        #expect(listed.status == 0 && !listed.output.contains("aliases"), "\(listed)")
    }

    @Test("a day's pushes to everyone that are used up stop the run, and the next day it is resumed")
    func broadcasts() throws {
        let bench = try Self.bench("everyone: true", faults: ["--broadcasts-per-day", "1"])
        #expect(try bench.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let stopped = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try stopped.status == 3 && stopped.json()["outcomes"]?.int("unsent") == 1, "\(stopped)")
        #expect(
            stopped.errors.contains(/Getui refused the push with 30007 \(403\).*Resume the run tomorrow/), "\(stopped)")
        // The next day begins.
        try bench.restart(["--broadcasts-per-day", "1"])
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect(try resumed.status == 0 && resumed.json()["outcomes"]?.int("accepted") == 1, "\(resumed)")
    }

    @Test("tags that the app has no right to stop the run, and it is resumed once it has")
    func tags() throws {
        let bench = try Self.bench("tags: [vip]\naliases: [u1]", faults: ["--no-tags"])
        let stopped = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(stopped.status == 3 && stopped.errors.contains(/30003 \(403\).*right to send to tags/), "\(stopped)")
        try bench.restart()
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect(try resumed.status == 0 && resumed.json()["outcomes"]?.int("accepted") == 2, "\(resumed)")
    }

    @Test("a run that was killed goes on, and no call reaches anybody twice: Getui recognizes those that had no answer")
    func killed() throws {
        let aliases = (0..<60).map { "u\($0)" }
        let bench = try Self.bench(
            "tags: [vip]\naliases: [\(aliases.joined(separator: ", "))]", faults: ["--latency", "400"],
            delivery: "pace: 20/s")
        let sending = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: bench.folder.url)
        try bench.folder.kill(sending, seconds: 0.8)
        let resumed = try bench.folder.volley("resume", "last", "--json")
        let outcomes = try bench.folder.volley("report", "last", "--format", "json").json()["outcomes"]
        #expect(resumed.status == 0 && outcomes?.int("accepted") == 61 && outcomes?.sum == 61, "\(resumed)")
        #expect(resumed.errors.contains("of 61 calls are unsent"), "\(resumed)")
        #expect(try bench.answers() == Dictionary(uniqueKeysWithValues: (["vip"] + aliases).map { ($0, ["sent"]) }))
    }

    @Test("of ten thousand aliases, preview, plan and page have a line; the table has them all")
    func many() throws {
        let bench = try Self.bench("tags: [vip]\naliases: {file: many.txt}", delivery: "pace: 1000/s")
        try bench.folder.write("many.txt", (0..<10_000).map { "user\($0)\n" }.joined())
        let shown = try bench.folder.volley("preview", "campaign.yaml", "--html", "p.html")
        let text = try bench.folder.volley("preview", "campaign.yaml").output
        let line = "10,000 aliases in 10,000 calls: user0, user1, user2, user3, user4 and 9,995 more"
        #expect(
            shown.status == 0 && text.contains("  tag vip\n  \(line)\n") && text.contains("10 s at 1000/s"), "\(text)")
        #expect(text.split(separator: "\n").count < 25, "\(text)")
        let page = try String(contentsOf: bench.folder.url.appendingPathComponent("p.html"), encoding: .utf8)
        #expect(page.contains(line) && !page.contains("user6"))
        let json = try bench.folder.volley("preview", "campaign.yaml", "--json").json()
        #expect(
            json["calls"]?.text.contains(#"{"selector":"aliases","calls":10000,"count":10000,"first":["user0","#)
                == true)
        let planned = try bench.folder.volley("plan", "campaign.yaml", "--json")
        #expect(try planned.status == 0 && planned.json().int("audience") == 10_001, "\(planned)")
        #expect(
            try bench.folder.volley("report", "last", "--format", "csv").output.split(separator: "\n").count == 10_002)
    }

    @Test(
        "--ask says that Getui checks nothing, and what to do; a name that Getui cannot have is a mistake at its place")
    func mistakes() throws {
        let bench = try Self.bench("aliases: {file: vip.txt}")
        try bench.folder.write("vip.txt", "u1\nbad name\n")
        let checked = try bench.folder.volley("check", "campaign.yaml")
        #expect(
            checked.status == 2
                && checked.errors.contains(
                    "vip.txt:2:1: Getui can have no alias 'bad name'. An alias of Getui has at most 39"),
            "\(checked)")
        try bench.folder.write("vip.txt", "u1\n")
        let asked = try bench.folder.volley("preview", "campaign.yaml", "--ask")
        #expect(
            asked.status == 2
                && asked.errors.contains("campaign.yaml:4:3: Getui checks no pushes without sending them. Omit --ask"),
            "\(asked)")
        #expect(try bench.ledger().isEmpty)
    }
}
