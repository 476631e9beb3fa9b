import Base
import Foundation
import TestCommands
import Testing

/// Typical mistakes in a campaign or volley.yaml. Each is refused with the place, a helpful word,
/// and no run.
@Suite("bad campaign files")
struct BadCampaignTests {
    private static let head = "name: test\napp: shop\n"
    private static let tail = "audience:\n  devices: devices.csv\n  everyone: true\ncontent:\n  title: Hi\n"

    @Test(
        "are refused with place and remedy, and nothing is planned",
        arguments: [
            ("", "campaign.yaml", "empty"),
            ("- a\n- b\n", "campaign.yaml:1:1: ", "list"),
            ("name: test\n\tapp: shop\n", "campaign.yaml:2:1: ", "tab"),
            (head + "description: \"never closed\n" + tail, "campaign.yaml:3:14: ", "quote"),
            (head + "titel: x\n" + tail, "campaign.yaml:3:1: ", "titel"),
            (head + "audiense:\n  everyone: true\n" + tail, "campaign.yaml:3:1: ", "'audience'"),
            (head + "name: again\n" + tail, "campaign.yaml:3:1: ", "name"),
            (
                head + "audience:\n  devices: devices.csv\n  tags: {one: x}\ncontent:\n  title: Hi\n",
                "campaign.yaml:5:10: ", "one"
            ),
            (head + tail + "  badge: many\n", "campaign.yaml:8:10: ", "badge"),
            (head + tail + "  badge: \"+1\"\n", "campaign.yaml:8:10: ", "add"),
            (head + tail + "delivery:\n  expires: 4 parsecs\n", "campaign.yaml:9:12: ", "4h"),
            (head + tail + "delivery:\n  pace: 0/s\n", "campaign.yaml:9:9: ", "pace"),
            ("name: test\napp: shp\n" + tail, "campaign.yaml:2:6: ", "'shop'"),
            (head + tail + "variants:\n  a: {share: 50}\n", "campaign.yaml:9:3: ", "add up to 50"),
            (head + tail + "schedule:\n  at: 2026-12-01 09:00\n", "campaign.yaml:9:3: ", "timezone"),
            (head + tail + "  languages:\n    german: {title: Hallo}\n", "campaign.yaml:9:5: ", "'de'"),
            (head + tail + "  body: \"{{ frist_name }}\"\n", "campaign.yaml:8:", "first_name"),
            (head + tail + "  body: \"{{ first_name | upkase }}\"\n", "campaign.yaml:8:26: ", "upcase"),
            (head + "audience:\n  devices: devices.csv\ncontent:\n  title: Hi\n", "campaign.yaml:", "everyone"),
            (
                head + "audience:\n  devices: devices.csv\n  everyone: true\n  tags: [a]\ncontent:\n  title: Hi\n",
                "campaign.yaml:",
                "everyone"
            ),
            (
                head + "audience:\n  devices: nowhere.csv\n  everyone: true\ncontent:\n  title: Hi\n",
                "campaign.yaml:4:12: ", "nowhere.csv"
            ),
            (
                head + "audience:\n  devices: devices.csv\n  aliases: {file: nobody.txt}\ncontent:\n  title: Hi\n",
                "campaign.yaml:5:",
                "nobody.txt"
            ),
            (
                head + "audience:\n  devices: ~x/a.csv\n  everyone: true\ncontent:\n  title: Hi\n",
                "campaign.yaml:4:12: ", "'~'"
            ),
            (
                head
                    + "audience:\n  devices: devices.csv\n  everyone: true\n  exclude: {devices: ~x/a.csv}\ncontent:\n  title: Hi\n",
                "campaign.yaml:6:22: ", "'~'"
            ),
            (
                head + "audience:\n  devices: devices.csv\n  aliases: {file: ~x/a.txt}\ncontent:\n  title: Hi\n",
                "campaign.yaml:5:19: ",
                "'~'"
            ),
            (head + tail + "  image: http://example.com/a.png\n", "campaign.yaml:8:10: ", "https"),
            (
                head
                    + "audience:\n  devices: devices.csv\n  everyone: true\n  where: {colour: red}\ncontent:\n  title: Hi\n",
                "campaign.yaml:6:", "colour"
            ),
        ])
    func mistake(text: String, place: String, word: String) throws {
        let folder = try ProjectFolder()
        try folder.write("campaign.yaml", text)
        let previewed = try folder.preview(isJSON: true)
        #expect(try previewed.json()["errors"] != nil)
        for result in try [folder.plan(), folder.check(), previewed] {
            #expect(result.status == 2, "\(result.errors)")
            #expect(result.errors.contains(place), "\(result.errors)")
            #expect(result.errors.contains(word), "\(result.errors)")
            #expect(result.output.isEmpty || result.output == previewed.output, "\(result.output)")
        }
        #expect(folder.files(in: "runs").isEmpty)
    }

    @Test("do not hide a broken certificate in a file of authorities, wherever volley.yaml names it")
    func authorities() throws {
        let folder = try ProjectFolder()
        try folder.write("campaign.yaml", Self.head + Self.tail)
        try folder.write("ca.pem", "# Example\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let server = "environment: {url: \"https://localhost:2197\", ca: ca.pem}"
        for place in [
            "notices: [{webhook: \"https://hooks.example.com/v\", ca: ca.pem}]\n",
            "console: {oidc: {issuer: \"https://a.example\", client_id: v, ca: ca.pem, roles: {claim: g, map: {m: administrator}}}}\n",
            "  other: {topic: a.b, \(server), key: {file: k.p8, id: ABC123DEFG, team: DEF123GHIJ}}\n",
        ] {
            try folder.write("volley.yaml", project + (project.hasSuffix("\n") ? "" : "\n") + place)
            let result = try folder.check()
            #expect(
                result.status == 2 && result.errors.contains("ca.pem:2:1: the certificate that begins here is damaged"),
                "\(result.errors)")
        }
    }

    @Test("that are not UTF-8 are refused")
    func encoding() throws {
        let folder = try ProjectFolder()
        try folder.write("campaign.yaml", Data("name: t".utf8) + Data([0xFC, 0x72, 0x0A]))
        let result = try folder.check()
        #expect(result.status == 2)
        #expect(result.errors.contains("UTF-8"), "\(result.errors)")
    }

    @Test("that do not exist are named")
    func missing() throws {
        let folder = try ProjectFolder()
        for file in ["nothing.yaml", "."] {
            let result = try folder.preview(file)
            #expect(result.status == 2)
            #expect(result.errors.contains(file), "\(result.errors)")
        }
    }

    @Test("without a volley.yaml anywhere say where it was looked for")
    func noProject() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("volley.yaml"))
        let result = try folder.preview()
        #expect(result.status == 2)
        #expect(result.errors.contains("volley.yaml"), "\(result.errors)")
    }

    @Test("with mistakes in several places show them all at once")
    func allAtOnce() throws {
        let folder = try ProjectFolder()
        try folder.write(
            "campaign.yaml",
            "name: Bad Name\napp: shp\naudience:\n  everyone: maybe\ncontent:\n  titel: Hi\ndelivery:\n  pace: fast\n")
        let result = try folder.check()
        for place in [":1:7: ", ":2:6: ", ":4:13: ", ":6:3: ", ":8:9: "] {
            #expect(result.errors.contains("campaign.yaml\(place)"), "\(place) \(result.errors)")
        }
    }
}
