import Base
import Cryptography
import Foundation
import TestCommands
import Testing

@Suite("the other commands")
struct CommandTests {
    private func emptyFolder() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("volley-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    @Test("init leaves a folder whose campaign can be sent at once, and never overwrites")
    func initialise() throws {
        let folder = try emptyFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try VolleyBinary.run(["init", "shop"], in: folder).status == 0)
        let sent = try VolleyBinary.run(["send", "shop/welcome.yaml", "--yes", "--json"], in: folder)
        #expect(sent.status == 0, "\(sent.errors)")
        #expect((try sent.json()["outcomes"]?.int("accepted") ?? 0) > 50)
        let again = try VolleyBinary.run(["init", "shop"], in: folder)
        #expect(again.status == 2)
        #expect(again.errors.contains("already"))
    }

    @Test(
        "options that other tools have lead to the command",
        arguments: [
            (["send", "spring.yaml", "--dry-run"], "`volley preview spring.yaml`"),
            (["send", "--force", "spring.yaml"], "--yes"),
            (["report", "last", "--html"], "`volley report last --format html`"),
            (["report", "--csv=x", "last"], "--format csv"),
        ])
    func foreignOptions(_ arguments: [String], _ remedy: String) throws {
        let folder = try ProjectFolder()
        let refused = try VolleyBinary.run(arguments, in: folder.url)
        #expect(refused.status == 2 && refused.output.isEmpty)
        #expect(refused.errors.contains(remedy), "\(refused.errors)")
    }

    @Test(
        "with --json standard output is one document also when the command line itself is wrong; what follows -- is no option",
        arguments: [
            (["runs", "--json", "--nosuch"], "Unknown option '--nosuch'"),
            (["preview", "--json"], "Missing expected argument"),
            (["check", "--json", "--nosuch"], "Unknown option '--nosuch'"),
            (["orders", "--json", "--last"], "Missing value for '--last"),
            (["previw", "x.yaml", "--json"], "There is no command 'previw'"),
            (["send", "x.yaml", "--dry-run", "--json"], "has no option --dry-run"),
            (["schedule", ".", "--json"], "--list"), (["serve", ".", "--json"], "Unknown option '--json'"),
        ])
    func documentOfMistakes(_ arguments: [String], _ words: String) throws {
        let folder = try ProjectFolder()
        let refused = try VolleyBinary.run(arguments, in: folder.url)
        #expect(refused.status == 2 && refused.errors.contains(words), "\(refused.errors)")
        guard case .array(let mistakes)? = try refused.json()["errors"], mistakes.count == 1 else {
            throw CommandFailure(what: refused.output)
        }
        let message = try #require(mistakes[0]["message"]?.stringValue)
        #expect(message.contains(words) && !message.hasPrefix("Error") && !message.contains("Usage"), "\(message)")
        #expect(try VolleyBinary.run(["runs", "--", "--json"], in: folder.url).output.isEmpty)
    }

    @Test(
        "a wrong value of an option is reported before a missing file, run or confirmation",
        arguments: [
            (["retry", "nosuch", "--outcome", "lost"], "'lost' is not an outcome"),
            (["schedule", "nosuch.yaml", "--metrics", "nowhere"], "nowhere"),
            (["report", "nosuch", "--format", "xls"], "'xls' is invalid"),
        ])
    func wrongValues(_ arguments: [String], _ words: String) throws {
        let folder = try ProjectFolder()
        let refused = try VolleyBinary.run(arguments, in: folder.url)
        #expect(refused.status == 2 && refused.errors.contains(words), "\(refused.errors)")
    }

    @Test("--quiet prints results and errors only: what was planned, and the report")
    func quiet() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let planned = try folder.volley("plan", "campaign.yaml", "--quiet")
        #expect(planned.status == 0 && planned.output.hasPrefix("Planned as "), "\(planned.output)")
        #expect(planned.output.split(separator: "\n").count == 1 && planned.errors.isEmpty, "\(planned.errors)")
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--quiet")
        #expect(
            sent.status == 0 && !sent.output.contains("would go to") && sent.output.contains("accepted"),
            "\(sent.output)")
        #expect(sent.errors.isEmpty, "\(sent.errors)")
    }

    @Test(
        "words of other tools lead to the command",
        arguments: [
            ("stop", "Did you mean volley pause RUN or volley cancel RUN?"),
            ("validate", "Did you mean volley check FILE?"),
            ("unsubscribe", "Did you mean volley suppression import FILE?"), ("previw", "Did you mean 'preview'?"),
        ])
    func foreignCommands(_ word: String, _ remedy: String) throws {
        let folder = try ProjectFolder()
        let refused = try VolleyBinary.run([word, "last"], in: folder.url)
        #expect(refused.status == 2 && refused.errors.contains(remedy), "\(refused.errors)")
    }

    @Test("check says which files are fine and shows every mistake of the others")
    func check() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        try folder.write("bad.yaml", "name: Bad Name\napp: shp\naudience:\n  tags: [news]\ncontnt:\n  title: x\n")
        let result = try folder.volley("check", "campaign.yaml", "bad.yaml")
        #expect(result.status == 2)
        #expect(result.output == "campaign.yaml: fine\n")
        for part in ["bad.yaml:1:7: ", "bad.yaml:2:6: ", "bad.yaml:5:1: ", "content"] {
            #expect(result.errors.contains(part), "\(result.errors)")
        }
        let document = try folder.volley("check", "campaign.yaml", "bad.yaml", "--json").json()
        guard case .array(let files)? = document["files"] else { Issue.record("no files"); return }
        #expect(files.map { $0["valid"] } == [.bool(true), .bool(false)])
    }

    @Test("check shows a mistake of volley.yaml once, and counts it for each campaign")
    func checkSharedMistake() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        try folder.writeCampaign("other.yaml")
        try folder.write("volley.yaml", "appz: {}\n")
        let result = try folder.volley("check", "campaign.yaml", "other.yaml")
        #expect(
            result.status == 2 && result.errors.matches(of: /volley\.yaml:1:1: unknown key 'appz'/).count == 1,
            "\(result.errors)")
        let document = try folder.volley("check", "campaign.yaml", "other.yaml", "--json").json()
        guard case .array(let files)? = document["files"] else { Issue.record("no files"); return }
        #expect(files.map { $0["valid"] } == [.bool(false), .bool(false)])
    }

    @Test("runs lists what was planned and sent")
    func runs() throws {
        let folder = try ProjectFolder()
        #expect(try folder.volley("runs", "--json").json()["runs"] == .array([]))
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        guard case .array(let runs)? = try folder.volley("runs", "--json").json()["runs"] else {
            Issue.record("no runs"); return
        }
        #expect(runs.map { $0["state"]?.stringValue } == ["planned", "finished"])
        for command in [["runs"], ["orders"], ["prune", "--keep", "30d", "--yes"], ["backup", "."]] {
            let lost = try VolleyBinary.run(command + ["--runs", "run"], in: folder.url)
            #expect(
                lost.status == 2 && lost.output.isEmpty && lost.errors.contains("there is no such folder of runs"),
                "\(command): \(lost)")
        }
        let text = try folder.volley("runs").output
        #expect(text.contains("planned") && text.contains("finished"))
    }

    @Test("push sends one push and shows the answer in words")
    func push() throws {
        let folder = try ProjectFolder()
        let accepted = try folder.volley(
            "push", "--app", "shop", "--token", ProjectFolder.token(1), "--title", "Hello", "--body", "World", "--json")
        #expect(accepted.status == 0, "\(accepted.errors)")
        #expect(try accepted.json()["status"] == .integer(200))
        let refused = try folder.volley(
            "push", "--app", "shop", "--token", "00000410" + String(repeating: "cd", count: 28), "--title", "Hello")
        #expect(refused.status == 1)
        #expect(refused.output.contains("410 Unregistered"))
        try folder.write("payload.json", #"{"aps": {"alert": "Hi", "badge": 3}, "own": [1, 2]}"#)
        #expect(
            try folder.volley("push", "--app", "shop", "--token", ProjectFolder.token(1), "--payload", "payload.json")
                .status == 0)
        let wrong = try folder.volley("push", "--app", "shop", "--token", "not-a-token", "--title", "Hello")
        #expect(wrong.status == 2)
        #expect(
            try folder.volley("push", "--app", "shopp", "--token", ProjectFolder.token(1), "--title", "x").errors
                .contains(
                    "Did you mean 'shop'?"))
    }

    @Test("simulate serves another process's campaign, and its ledger names every device")
    func simulate() throws {
        let folder = try ProjectFolder()
        let simulator = try VolleyBinary.start(
            ["simulate", "--port", "0", "--ledger", "ledger.jsonl", "--json", "--for", VolleyBinary.simulatorSeconds],
            in: folder.url)
        defer { _ = simulator.finish(timeout: 0) }
        while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
        let server = try JSONValue(parsing: simulator.outputSoFar)
        let url = try #require(server["url"]?.stringValue), key = try #require(server["key"]?.stringValue)
        try folder.writeProject(
            app:
                "environment: {url: \"\(url)\", ca: simulator-ca.pem}\nkey: {file: \(key), id: SIMULATOR1, team: VOLLEYTEAM}"
        )
        try folder.writeCampaign()
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        simulator.interrupt()
        #expect(simulator.finish().status == 0)
        let ledger = try String(contentsOf: folder.url.appendingPathComponent("ledger.jsonl"), encoding: .utf8).split(
            separator: "\n")
        let tokens = try Set(ledger.map { try JSONValue(parsing: String($0))["token"]?.stringValue ?? "" })
        #expect(tokens == Set((0..<20).map(ProjectFolder.token)))
    }

    @Test(
        "simulate ends after a number of seconds, and refuses what is none", arguments: ["nan", "inf", "1e300", "-1"])
    func simulateFor(seconds: String) throws {
        let refused = try ProjectFolder().volley("simulate", "--port", "0", "--for=\(seconds)")
        #expect(
            refused.status == 2 && refused.errors.contains("--for takes seconds, up to 4000000000."),
            "\(refused.errors)")
    }

    @Test("simulate takes a certificate of one's own, and says under which name it is to be called")
    func simulateWithCertificate() throws {
        let folder = try ProjectFolder()
        let authority = CertificateAuthority(commonName: "Own")
        try folder.write("server.pem", authority.issueServerCertificate(names: ["apns.test", "localhost"]).pem)
        try folder.write("own-ca.pem", authority.certificatePEM)
        let simulator = try VolleyBinary.start(
            [
                "simulate", "--port", "0", "--certificate", "server.pem", "--json", "--for",
                VolleyBinary.simulatorSeconds,
            ], in: folder.url)
        defer { _ = simulator.finish(timeout: 0) }
        while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
        let server = try JSONValue(parsing: simulator.outputSoFar)
        let url = try #require(server["url"]?.stringValue), key = try #require(server["key"]?.stringValue)
        #expect(url.hasPrefix("https://localhost:"))
        // Its authority, or only the certificate, as the command wrote it.
        for trusted in ["own-ca.pem", "simulator-ca.pem"] {
            try folder.writeProject(
                app:
                    "environment: {url: \"\(url)\", ca: \(trusted)}\nkey: {file: \(key), id: SIMULATOR1, team: VOLLEYTEAM}"
            )
            let pushed = try folder.volley(
                "push", "--app", "shop", "--token", ProjectFolder.token(1), "--title", "Hello")
            #expect(pushed.status == 0, "\(trusted): \(pushed.errors)")
        }
        try folder.write("server.pem", authority.certificatePEM)
        let refused = try folder.volley("simulate", "--port", "0", "--certificate", "server.pem")
        #expect(
            refused.status == 2 && refused.errors.contains("server.pem: the file holds a certificate but no key"),
            "\(refused.errors)")
    }

    @Test(
        "simulate writes a service account for the service that has such, trusts it again, and knows no other services")
    func simulateService() throws {
        let folder = try ProjectFolder()
        func start(_ options: String...) throws -> JSONValue {
            let simulator = try VolleyBinary.start(
                ["simulate", "--service", "fcm", "--port", "0", "--json", "--for", VolleyBinary.simulatorSeconds]
                    + options, in: folder.url)
            defer { _ = simulator.finish(timeout: 0) }
            while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
            return try JSONValue(parsing: simulator.outputSoFar)
        }
        let server = try start()
        let url = try #require(server["url"]?.stringValue)
        let file = folder.url.appendingPathComponent("service-account.json")
        #expect(server["key"] == .string(file.path))
        let text = try String(contentsOf: file, encoding: .utf8)
        let account = try JSONValue(parsing: text)
        #expect(account["type"] == .string("service_account"))
        #expect(account["token_uri"] == .string("\(url)/token"))
        _ = try start("--token-seconds", "60", "--error-details", "none")
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
        try folder.write("service-account.json", "{}")
        let broken = try folder.volley("simulate", "--service", "fcm", "--port", "0", "--for", "1")
        #expect(
            broken.status == 2
                && broken.errors.contains("service-account.json: this is not the file of a service account"))
        let unknown = try folder.volley("simulate", "--service", "mqtt")
        #expect(
            unknown.status == 2 && unknown.errors.contains("There is no simulator for 'mqtt'. --service takes apns"))
        let foreign = try folder.volley("simulate", "--token-seconds", "60")
        #expect(foreign.status == 2 && foreign.errors.contains("are for --service fcm"))
        let unlimited = try folder.volley("simulate", "--limit-per-minute", "60")
        #expect(
            unlimited.status == 2 && unlimited.errors.contains("--limit-per-minute is for --service fcm"),
            "\(unlimited)")
    }

    @Test(
        "simulate makes the file of a credential that volley.yaml names, and trusts the app under the names that it has there"
    )
    func simulateNamed() throws {
        let folder = try ProjectFolder()
        func writeProject(environment: String) throws {
            try folder.write(
                "volley.yaml",
                """
                apps:
                  shop:
                    service: jpush
                    app_key: fedcba9876543210fedcba98
                    environment: \(environment)
                    master_secret: {file: jpush-master-secret.txt}
                """)
        }
        try writeProject(environment: "simulator")
        let simulator = try VolleyBinary.start(
            ["simulate", "--service", "jpush", "--port", "0", "--json", "--for", VolleyBinary.simulatorSeconds],
            in: folder.url)
        while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
        let server = try JSONValue(parsing: simulator.outputSoFar)
        let url = try #require(server["url"]?.stringValue)
        #expect(server["key"] == .null, "it is in volley.yaml")
        try writeProject(environment: "{url: \"\(url)\", ca: simulator-ca.pem}")
        let doctor = try folder.volley("doctor", "shop")
        #expect(doctor.status == 0, "\(doctor)")
        kill(simulator.processID, SIGTERM)
        let end = simulator.finish(timeout: 10)
        #expect(!end.errors.contains("will be refused"), "\(end)")
    }

    @Test("wrong arguments end with 2 and say what is right")
    func arguments() throws {
        let folder = try emptyFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        for arguments in [
            ["sned"], ["send"], ["preview", "x.yaml", "--show", "many"], ["report"],
            ["send", "x.yaml", "--transport", "nghttp2"],
        ] {
            let result = try VolleyBinary.run(arguments, in: folder)
            #expect(result.status == 2, "\(arguments)")
            #expect(!result.errors.isEmpty)
            #expect(result.output.isEmpty)
        }
        let both = try VolleyBinary.run(["send", "x.yaml", "--plan", "last"], in: folder)
        #expect(both.status == 2 && both.errors.contains("not both"), "\(both)")
        #expect(try VolleyBinary.run(["--help"], in: folder).status == 0)
        #expect(try VolleyBinary.run(["--version"], in: folder).output == "1.0.0\n")
    }
}
