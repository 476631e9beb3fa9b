import Base
import Campaigns
import Foundation
import Testing

@Suite("volley.yaml for those who help")
struct ProjectOutlineTests {
    /// The outline of a file.
    private func outline(_ text: String) throws -> JSONValue {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("outline-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        return try ProjectOutline(file: file.path).json
    }

    @Test(
        "a secret in capitals where a variable belongs is left out; what is a variable, or has the form of one, is shown"
    )
    func variables() throws {
        let outline = try outline(
            "notices:\n- {secret_env: SEKRET}\n- {secret_env: JBSWY3DPEHPK3PXP}\n- {secret_env: HOME}\n- {secret_env: VOLLEY_SECRET}\n"
        )
        guard case .array(let notices)? = outline["notices"] else { throw Diagnostic(outline.text) }
        #expect(notices.map { $0["secret_env"]?.stringValue } == ["(removed)", "(removed)", "HOME", "VOLLEY_SECRET"])
    }

    @Test("a topic is shown unless it is rather a secret")
    func topics() throws {
        for (topic, isShown) in [
            ("com.example.shop", true), ("com.example.MyShopAppForAllOfEurope", true), ("com.example.iOSAppDev", true),
            ("AbCdEfGhIjKlMnOpQrStUvWx12", false), ("aBcDeFgHiJkLmNoPqRsTuVwXyZ", false),
        ] {
            let shown = try outline("apps: {shop: {topic: \(topic)}}\n")["apps"]?["shop"]?["topic"]?.stringValue
            #expect(shown == (isShown ? topic : "(removed)"), "\(topic)")
        }
    }

    @Test("keys that Volley does not know, and words of people as keys, are left out; names of apps are shown")
    func keys() throws {
        let outline = try outline(
            """
            secret_SEKRET: x
            token_SEKRET: {runs: y}
            databases: {warehouse_SEKRET: {url_env: WAREHOUSE_URL}}
            console: {oidc: {roles: {claim: groups, map: {group_SEKRET: admin, other_SEKRET: editor}}}}
            apps:
              shop: {environment: sandbox, columns: {token: device_token}}

            """)
        #expect(!outline.text.contains("SEKRET"), "\(outline.text)")
        #expect(outline["apps"]?["shop"]?["columns"]?["token"]?.stringValue == "device_token")
        #expect(outline["databases"]?["(removed)"]?["url_env"]?.stringValue == "WAREHOUSE_URL")
        let map = outline["console"]?["oidc"]?["roles"]?["map"]
        #expect(map?["(removed)"] != nil && map?["(removed) 2"] != nil)
        #expect(outline["(removed) 2"]?["runs"]?.stringValue == "y")
    }

    @Test(
        "of an address that cannot be told from a secret nothing is shown, nor of a secret that was written where a variable is named",
        arguments: [
            "proxy: http://user:pa/slashsecret@proxy.example.com:3128",
            "proxy: http://user:pa#slashsecret@proxy.example.com",
            "proxy: http://user:slashsecret", "x: see http://slashsecret", "secret_env: variablesecret",
            "url_env: \"a variablesecret\"",
        ])
    func disguised(line: String) throws {
        let text = try outline("\(line)\n").text
        #expect(text.contains("(removed)") && !text.contains("secret\"") && !text.contains("slashsecret"), "\(text)")
    }
}
