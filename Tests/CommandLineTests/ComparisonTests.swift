import Base
import TestCommands
import Testing

@Suite("comparison with the last run")
struct ComparisonTests {
    @Test("the audience of the campaign's last run is told, and a change beyond a third is worth a warning")
    func compared() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        func preview() throws -> (document: JSONValue, errors: String) {
            let result = try folder.volley("preview", "campaign.yaml", "--json")
            return (try result.json(), result.errors)
        }
        #expect(try preview().document["compared_with"] == nil)
        // A plan that was not sent is not a run.
        #expect(try folder.volley("plan", "campaign.yaml", "--quiet").status == 0)
        #expect(try preview().document["compared_with"] == nil)
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        let run = try #require(try folder.volley("report", "last", "--format", "json").json()["run"]?.stringValue)
        let same = try preview()
        #expect(
            same.document["compared_with"]
                == .object(pairs: [
                    ("run", .string(run)), ("audience", .integer(20)), ("change", .integer(0)),
                    ("skipped", .object(pairs: [])),
                ]))
        #expect(same.errors.isEmpty)

        try folder.write("devices.csv", ProjectFolder.export(devices: 25))
        #expect(try preview().document["compared_with"]?["change"] == .double(0.25))
        #expect(try preview().errors.isEmpty)
        #expect(
            try folder.volley("preview", "campaign.yaml").output.contains(
                "Last run      25.0 % more than the 20 of \(run)"))

        try folder.writeCampaign(audience: "devices: devices.csv\ntags: [news]")
        let fewer = try preview()
        #expect(fewer.document["compared_with"]?["change"] == .double(-0.35))
        #expect(
            fewer.document["compared_with"]?["skipped"]
                == .object(pairs: [("not_matched", .object(pairs: [("then", .integer(0)), ("now", .integer(12))]))]))
        #expect(
            fewer.errors.contains(
                "warning: the audience changed a lot: 35.0 % fewer than the 20 of \(run) (not_matched: 12 rows now, 0 then)"
            )
                && fewer.errors.contains("[audience-changed]"), "\(fewer.errors)")
        let sent = try folder.volley("send", "campaign.yaml", "--yes")
        #expect(sent.status == 0 && sent.errors.contains("[audience-changed]"))
        #expect(sent.output.contains("Last run      35.0 % fewer than the 20 of \(run)"))

        // Another campaign has its own runs, even if its name begins in the same way.
        try folder.writeCampaign(name: "test-2")
        #expect(try preview().document["compared_with"] == nil)
    }
}
