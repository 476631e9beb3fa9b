import Base
import Foundation
import TestCommands
import Testing

@Suite("volley support-bundle")
struct SupportBundleTests {
    /// Everything about people and every secret of a project.
    private struct Secrets {
        let tokens = (0..<20).map(ProjectFolder.token)
        let names = (0..<20).flatMap { ["regsecret\($0)", "aliassecret\($0)"] }
        let others = [
            "BEGIN PRIVATE KEY", "MIGHAgEAMBMGByqGSM49", "hunter2passphrase", "proxypassword", "webhookpathsecret",
            "commandsecret",
            "commentsecret",
            "keysecret", "SEKRETINCAPITALS", "querysecret", "curlsecret", "slashsecret", "variablesecret",
            "Annas-iPhone", "clientidsecret",
            "Greetings from Volley",
        ]

        /// Each as text, as bytes of hex, and in base64, also of the bytes that a token's digits
        /// stand for.
        var forms: [[UInt8]] {
            (tokens + names + others).flatMap { secret -> [[UInt8]] in
                let bytes = Array(secret.utf8)
                let raw = stride(from: 0, to: secret.count - 1, by: 2).compactMap { place -> UInt8? in
                    let start = secret.index(secret.startIndex, offsetBy: place)
                    return UInt8(secret[start..<secret.index(start, offsetBy: 2)], radix: 16)
                }
                let hex = bytes.map { TextFormat.hex($0, digits: 2) }.joined()
                var forms = [
                    bytes, Array(secret.uppercased().utf8), Array(hex.utf8),
                    Array(Data(bytes).base64EncodedString().prefix(12).utf8),
                ]
                if raw.count >= 16 { forms += [raw, Array(Data(raw).base64EncodedString().prefix(20).utf8)] }
                return forms
            }
        }
    }

    private func makeProject() throws -> ProjectFolder {
        let export =
            (["device_token,registration_id,alias,tags"]
            + (0..<20).map { "\(ProjectFolder.token($0)),regsecret\($0),aliassecret\($0),news" }).joined(
                separator: "\n") + "\n"
        let folder = try ProjectFolder(export: export)
        try folder.write(
            "volley.yaml",
            """
            # commentsecret
            runs: runs
            proxy: http://user:proxypassword@proxy.example.com:3128
            console:
              public_url: https://push.example.com
              oidc:
                issuer: https://login.example.com
                client_id: clientidsecret
                roles: {claim: groups, map: {group-keysecret: administrator}}
            notices:
              - {webhook: "https://hooks.example.com/x", secret_env: SEKRETINCAPITALS, events: [stopped]}
              - {webhook: "https://hooks.example.com/webhookpathsecret", secret_env: VOLLEY_SECRET, events: [stopped]}
              - {command: [echo, commandsecret], events: [failed]}
              - {command: [sh, -c, "true curl -u user:curlsecret https://hooks.example.com/x"], events: [failed]}
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                columns: {token: device_token}
                test_devices: [{name: Annas-iPhone, token: "\(ProjectFolder.token(3))"}]
              other:
                topic: com.example.other
                environment: sandbox
                key: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}

            """)
        try folder.write("key.p8", "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----\n")
        try folder.writeCampaign(
            audience: "devices: devices.csv\naliases: [aliassecret1, aliassecret2]",
            content: "title: Greetings from Volley")
        return folder
    }

    private func bytes(of bundle: String) throws -> [(name: String, bytes: [UInt8])] {
        let names = FileManager.default.enumerator(atPath: bundle)?.compactMap { $0 as? String } ?? []
        return try names.compactMap { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: bundle + "/" + name, isDirectory: &isFolder)
            return isFolder.boolValue
                ? nil : (name, [UInt8](try Data(contentsOf: URL(fileURLWithPath: bundle + "/" + name))))
        }
    }

    @Test(
        "holds versions, settings, checks, runs and times; and no token, key, passphrase, alias or text of the project in any form"
    )
    func harmless() throws {
        let folder = try makeProject()
        let environment = ["VOLLEY_SECRET": "hunter2passphrase", "no_proxy": "*"]
        #expect(try folder.volley("send", "campaign.yaml", "--yes", environment: environment).status == 0)
        // A stop with a text that quotes secrets, as errors may.
        try folder.editRun(
            "UPDATE run SET state = 'stopped', stop_cause = '{\\\"cause\\\": \\\"described\\\", \\\"words\\\": \\\"aliassecret1 is bad\\\"}'"
        )
        let result = try folder.volley("support-bundle", "support", "--json", environment: environment)
        #expect(result.status == 0, "\(result.errors)")
        let bundle = try #require(try result.json()["bundle"]?.stringValue)
        let files = try bytes(of: bundle)
        #expect(
            files.map(\.name).sorted() == [
                "doctor.json", "runs.json", "schedule.json", "version.json", "volley.yaml.json",
            ])
        for (name, bytes) in files {
            #expect(bytes.count > 20)
            for form in Secrets().forms where bytes.firstRange(of: form) != nil {
                Issue.record("\(name) holds \(String(decoding: form, as: UTF8.self))")
            }
        }
        let settings = try JSONValue(parsing: try #require(files.first { $0.name == "volley.yaml.json" }?.bytes))
        #expect(settings["proxy"]?.stringValue == "http://proxy.example.com:3128")
        #expect(settings["apps"]?["shop"]?["topic"]?.stringValue == "com.example.shop")
        #expect(settings["apps"]?["shop"]?["columns"]?["token"]?.stringValue == "device_token")
        let runs = try JSONValue(parsing: try #require(files.first { $0.name == "runs.json" }?.bytes))
        guard case .array(let list) = runs["runs"], let run = list.first else { throw CommandFailure(what: runs.text) }
        #expect(run["outcomes"]?.int("accepted") == 2 && run["stop"]?["cause"]?.stringValue == "described")
        let doctor = try JSONValue(parsing: try #require(files.first { $0.name == "doctor.json" }?.bytes))
        guard case .array(let apps) = doctor else { throw CommandFailure(what: doctor.text) }
        #expect(
            apps.count == 2 && apps[1]["steps"]?["key"]?.stringValue == "failed"
                && apps.allSatisfy { $0["asked"] == .bool(false) })
    }

    @Test("the search finds what it looks for: the export itself has it")
    func searchFinds() throws {
        let folder = try makeProject()
        let export = [UInt8](try Data(contentsOf: folder.url.appendingPathComponent("devices.csv")))
        #expect(Secrets().forms.count { export.firstRange(of: $0) != nil } >= 60)
    }

    @Test("a volley.yaml with mistakes prevents no bundle; of what cannot be read, only the line is in it")
    func broken() throws {
        let folder = try ProjectFolder()
        try folder.write("volley.yaml", "runs: runs\napps:\n  shop: [hunter2passphrase\n")
        let result = try folder.volley("support-bundle", "support", "--json")
        #expect(result.status == 0, "\(result.errors)")
        let bundle = try #require(try result.json()["bundle"]?.stringValue)
        for (_, bytes) in try bytes(of: bundle) {
            #expect(bytes.firstRange(of: Array("hunter2passphrase".utf8)) == nil)
        }
    }

    @Test("with --with-texts the campaigns are in it, and only then")
    func texts() throws {
        let folder = try makeProject()
        let result = try folder.volley("support-bundle", "support", "--with-texts", "--json")
        let bundle = try #require(try result.json()["bundle"]?.stringValue)
        let campaign = try String(contentsOfFile: bundle + "/campaigns/campaign.yaml", encoding: .utf8)
        #expect(campaign.contains("Greetings from Volley"))
        #expect(!FileManager.default.fileExists(atPath: bundle + "/campaigns/volley.yaml"))
    }
}
