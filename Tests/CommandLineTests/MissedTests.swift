import Base
import Foundation
import TestServers
import TestCommands
import Testing

/// A run reached its end, and some of its pushes expired, or were too late, before their turn.
@Suite("missed devices")
struct MissedTests {
    /// Twenty a second, which expire after a second: most of them never get their turn.
    private func sent(devices: Int, _ arguments: String...) throws -> (
        folder: ProjectFolder, sent: VolleyBinary.Result, hook: TestWebhook
    ) {
        let hook = try TestWebhook()
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 20/s\nnotices: [{webhook: \"\(hook.url())\", events: [finished]}]",
            export: ProjectFolder.export(devices: devices))
        try folder.writeCampaign(delivery: "expires: 1s")
        return (folder, try VolleyBinary.run(["send", "campaign.yaml", "--yes"] + arguments, in: folder.url), hook)
    }

    @Test("exit code 1, and report, page, list and notice begin with it")
    func everywhere() throws {
        let (folder, sent, hook) = try sent(devices: 60)
        #expect(sent.status == 1, "\(sent.errors)")
        let report = try folder.volley("report", "last", "--format", "json").json()
        let unsent = try #require(report["outcomes"]?.int("unsent"))
        #expect(
            report["state"]?.stringValue == "finished" && report["reasons"]?.int("Expired") == unsent && unsent > 10)
        let beginning = "\(unsent) of 60 pushes ("
        let text = try folder.volley("report", "last").output.replacing("\n", with: " ")
        #expect(
            text.hasPrefix(beginning)
                && text.contains("were never sent, as they expired before their turn came. APNs accepted"), "\(text)")
        #expect(sent.output.replacing("\n", with: " ").contains(text.prefix(80)), "\(sent.output)")
        let page = try folder.volley("report", "last", "--format", "html").output
        #expect(
            page.contains(
                "id=\"headline\">\(unsent) devices were never sent to: the push expired before their turn came."),
            "\(page)")
        #expect(page.contains("class=\"lead missed\"") && page.contains("--outcome unsent</code>"))
        #expect(
            try folder.volley("runs").output.contains(
                #/finished \*.*\n\n\* Some devices were missed/#.dotMatchesNewlines()))
        let notice = try JSONValue(parsing: try #require(hook.requests.last?.body))
        #expect(
            notice["text"]?.stringValue?.hasPrefix("test was not sent to all devices: " + beginning) == true,
            "\(notice.text)")
    }

    @Test("a time of a schedule that was sent by hand and missed devices says so in the schedule's list")
    func byHand() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 20/s", export: ProjectFolder.export(devices: 60))
        try folder.writeCampaign(delivery: "expires: 1s")
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        let time = Timestamp.now().adding(seconds: -300).description.prefix(16).replacing("T", with: " ")
        try folder.write("campaign.yaml", campaign + "schedule: {at: \(time), timezone: UTC, late: send}\n")
        let sent = try folder.volley("send", "campaign.yaml", "--yes")
        #expect(sent.status == 1, "\(sent.errors)")
        let list = try folder.volley("schedule", ".", "--list").output.split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        #expect(
            list.contains("of 60 pushes (") && list.contains("were never sent") && !list.contains("sent by hand"),
            "\(list)")
    }

    @Test("a single one is enough, and the remedy that the page names sends to it")
    func one() throws {
        let folder = try ProjectFolder(
            app: "environment: simulator\npace: 1/s", export: ProjectFolder.export(devices: 4))
        try folder.writeCampaign(delivery: "expires: 2s")
        var rounds = 0
        var command = ["send", "campaign.yaml", "--yes", "--json"]
        while rounds < 6 {
            let sent = try VolleyBinary.run(command, in: folder.url)
            let unsent = try #require(try sent.json()["outcomes"]?.int("unsent"))
            #expect(sent.status == (unsent > 0 ? 1 : 0), "\(sent.errors)")
            rounds += 1
            if unsent == 0 { break }
            command = ["retry", "last", "--outcome", "unsent", "--yes", "--json"]
        }
        #expect(rounds > 1)
        #expect(try folder.volley("report", "last").output.contains("4 accepted of 4"))
    }
}
