import Base
import Foundation
import TestCommands
import Testing

@Suite("rules: devices that a run found gone, beside other skipped rows")
struct SuppressedRuleTests {
    @Test(
        "skipped rows are counted by reason, never silent: every reason at once, and rows = audience + the sum of skipped"
    )
    func everyReason() throws {
        let gone = "00000410" + String(repeating: "ab", count: 28)
        let folder = try ProjectFolder(app: "environment: simulator\ndevices: devices.csv")
        let header = "device_token,registration_id,alias,tags,language,name\n"
        let working = (1...8).map { "\(ProjectFolder.token($0)),r\($0),,a,en,Ada\n" }.joined()
        // The first run finds out which devices are gone.
        try folder.write("devices.csv", header + working + "\(gone),r9,,a,en,Ada\n")
        try folder.writeCampaign(audience: "tags: [a]")
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)

        try folder.write(
            "devices.csv",
            header + working + """
                \(gone),r9,,a,en,Ada
                too,few
                \(ProjectFolder.token(20)),r20,,b,en,Ada
                \(ProjectFolder.token(21)),r21,,a,de,Ada
                \(ProjectFolder.token(22)),r22,,a;x,en,Ada
                ,r23,,a,en,Ada
                xyz,r24,,a,en,Ada
                \(ProjectFolder.token(1)),r1,,a,en,Ada
                \(ProjectFolder.token(25)),r25,u,,en,Ada
                \(ProjectFolder.token(26)),r26,u,,en,Ada
                \(ProjectFolder.token(27)),r27,,a,en,
                \(ProjectFolder.token(28)),r28,,a,en,\(String(repeating: "x", count: 5000))

                """)
        try folder.writeCampaign(
            audience:
                "tags: [a]\naliases: [u]\nalias_limit: 1\nwhere: {language: en}\nexclude: {tags: [x]}\nmax_bad_rows: 10%",
            content: "title: \"Hi {{ name }}\"")
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign + "variants:\n  all: {share: 60}\n  holdout: {share: 40}\n")
        let preview = try folder.volley("preview", "campaign.yaml", "--json").json()
        let skipped = try #require(preview["skipped"])
        for reason in [
            "bad_row", "not_matched", "filtered", "excluded", "missing_token", "bad_token", "suppressed",
            "duplicate_token", "alias_limit",
        ] {
            #expect(skipped.int(reason) == 1, "\(reason)")
        }
        // Eleven devices remain, some of them held out, two of them with texts that cannot be sent.
        let others = ["holdout", "render_error", "payload_too_large"].reduce(0) { $0 + (skipped.int($1) ?? 0) }
        #expect((skipped.int("holdout") ?? 0) > 0)
        #expect(others + (preview.int("audience") ?? 0) == 11)
        #expect(preview.int("rows") == 20 && 20 == skipped.sum + (preview.int("audience") ?? 0))
    }
}
