import Base
import Foundation
import TestCommands
import Testing

@Suite("volley send --test")
struct TestSendTests {
    private static let anna = "aa11" + String(repeating: "0", count: 56) + "ab01"
    private static let plain = "bb22" + String(repeating: "0", count: 56) + "cd02"
    private static let app = """
        environment: simulator
        approval: required
        test_devices:
          - {name: Anna's iPhone, token: "\(anna)", language: de, cells: {first_name: Anna}}
          - "\(plain)"
        """
    private static let campaign = """
        name: test
        app: shop
        audience: {devices: devices.csv, everyone: true}
        content:
          title: Hi {{ first_name }}
          body: long
          languages:
            de: {title: "Hallo {{ first_name }}", body: lang}
        variants:
          short: {share: 40, content: {body: short, languages: {de: {body: kurz}}}}
          long: {share: 40}
          holdout: {share: 20}
        delivery: {collapse: test}

        """

    /// A server, and a campaign of which half the audience reads German.
    private func server() throws -> LedgeredServer {
        let server = try LedgeredServer(devices: 1)
        let rows = (0..<200).map {
            "\(ProjectFolder.token($0)),\($0 % 2 == 0 ? "de" : "en"),\($0 % 2 == 0 ? "Gerda" : "Emma")"
        }
        try server.folder.write(
            "devices.csv", (["device_token,language,first_name"] + rows).joined(separator: "\n") + "\n")
        try server.folder.write("campaign.yaml", Self.campaign)
        let project = try String(contentsOf: server.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let devices = Self.app.split(separator: "\n").dropFirst().map { "    \($0)\n" }.joined()
        try server.folder.write("volley.yaml", project + devices)
        return server
    }

    @Test(
        "goes to the test devices and nobody else, every text once, with cells of their own or of a recipient; nobody is asked"
    )
    func sent() throws {
        let server = try server()
        let sent = try server.folder.volley("send", "campaign.yaml", "--test", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        let report = try sent.json()
        #expect(report["test"] == .bool(true) && report.int("audience") == 6)
        guard case .array(let pushes)? = report["test_pushes"] else { throw Diagnostic("no pushes") }
        let texts = pushes.map {
            "\($0["device"]?.stringValue ?? "") \($0["variant"]?.stringValue ?? "") \($0["language"]?.stringValue ?? "")"
        }
        #expect(
            texts == [
                "Anna's iPhone short de", "Anna's iPhone long de", "device 2 short ", "device 2 short de",
                "device 2 long ",
                "device 2 long de",
            ])
        #expect(pushes.allSatisfy { $0["outcome"]?.stringValue == "accepted" })
        for words in ["Hallo Anna", "Hallo Gerda", "Hi Emma"] {
            #expect(sent.errors.contains("\"\(words)\""), "\(words): \(sent.errors)")
        }
        #expect(
            !sent.errors.contains("Hi Gerda") && !sent.errors.contains("Hallo Emma"),
            "a text with cells of another language")
        #expect(!(sent.output + sent.errors).contains(Self.anna) && (sent.output + sent.errors).contains("aa11…ab01"))

        #expect(try server.folder.volley("report", "last").output.contains("test [test]"))
        let page = try server.folder.volley("report", "last", "--format", "html").output
        for words in [
            "The test devices of shop", "One of 4 texts", "Hallo {{ first_name }}", "This was a test.",
            "data-environment=\"server\"",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        let runs = try server.folder.volley("runs").output
        #expect(runs.contains("finished [test]"), "\(runs)")
        #expect(try server.folder.volley("retry", "last", "--yes").errors.contains("the run is a test"))
        let accepted = try server.accepted()
        #expect(Set(accepted.keys) == [Self.anna, Self.plain])
        #expect(accepted[Self.anna]?.count == 2 && accepted[Self.plain]?.count == 4)
    }

    @Test("a text that a test device's cells cannot fill is not sent, and said; the rest is")
    func blank() throws {
        let folder = try ProjectFolder(
            app:
                "environment: simulator\ntest_devices: [{token: \(Self.anna), cells: {first_name: \"\"}}, {token: \(Self.plain), cells: {first_name: Ben}}]"
        )
        try folder.writeCampaign(content: "title: Hi {{ first_name }}\nbody: World")
        let sent = try folder.volley("send", "campaign.yaml", "--test", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try sent.json().int("audience") == 1)
        #expect(
            sent.errors.contains("device 1 (aa11…ab01) is not sent the text")
                && sent.errors.contains("first_name is blank"),
            "\(sent.errors)")
    }

    @Test("test devices whose tokens are dead are not suppressed, and need not be in the audience")
    func dead() throws {
        let dead = "00000410" + String(repeating: "ab", count: 28)
        let folder = try ProjectFolder(app: "environment: simulator\ntest_devices: [\"\(dead)\"]")
        try folder.writeCampaign()
        let sent = try folder.volley("send", "campaign.yaml", "--test")
        #expect(sent.output.contains("invalid_token (Unregistered)"), "\(sent.output)")
        #expect(!folder.files(in: "runs").contains { $0.hasPrefix("suppressed") })
    }

    @Test("an app without test devices says how to add some, and a plan has no test of its own")
    func mistakes() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let none = try folder.volley("send", "campaign.yaml", "--test")
        #expect(
            none.status == 2 && none.errors.contains("volley.yaml:3:3: the app 'shop' has no test devices"),
            "\(none.errors)")
        #expect(none.errors.contains("test_devices: ["))
        #expect(try folder.volley("send", "--plan", "last", "--test").status == 2)
        #expect(folder.files(in: "runs").isEmpty)
    }
}
