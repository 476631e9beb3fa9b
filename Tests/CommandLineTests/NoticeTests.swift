import Base
import Cryptography
import Foundation
import TestServers
import TestCommands
import Testing

@Suite("Notices of the command line")
struct NoticeTests {
    private func folder(_ notices: String, app: String = "environment: simulator") throws -> ProjectFolder {
        let folder = try ProjectFolder(app: app)
        let file = folder.url.appendingPathComponent("volley.yaml")
        try folder.write("volley.yaml", "notices: \(notices)\n" + String(contentsOf: file, encoding: .utf8))
        try folder.writeCampaign()
        return folder
    }

    private func documents(_ server: TestWebhook) throws -> [JSONValue] {
        try server.requests.map { try JSONValue(parsing: $0.body) }
    }

    @Test("a run's beginning and its end are told, with its figures and without tokens")
    func run() throws {
        let server = try TestWebhook()
        let folder = try folder("[{webhook: \"\(server.url())\", secret_env: VOLLEY_SECRET}]")
        let sent = try folder.volley(
            "send", "campaign.yaml", "--yes", "--json", environment: ["VOLLEY_SECRET": "s3cret"])
        #expect(sent.status == 0, "\(sent.errors)")
        let told = try documents(server)
        #expect(told.map { $0["event"]?.stringValue } == ["started", "finished"])
        let end = try #require(told.last), report = try sent.json()
        for member in ["campaign", "app", "run", "state", "audience", "outcomes"] {
            #expect(end[member] == report[member], "\(member)")
        }
        #expect(end["report"]?["attempts"] == report["attempts"])
        #expect(end["text"]?.stringValue == "test was sent to 20 devices: 20 accepted.")
        #expect(
            !server.requests.contains {
                $0.body.contains(ProjectFolder.token(0).prefix(10)) || $0.body.contains("s3cret")
            })
    }

    @Test("who cannot be told is a warning, and the run goes its way")
    func failure() throws {
        let server = try TestWebhook(answers: ["403 No", "403 No"])
        let folder = try folder(
            "[{webhook: \"\(server.url("/s3cret-path"))\"}, {command: [/bin/sh, -c, \"echo heard $VOLLEY_EVENT; exit 9\"]}]"
        )
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0)
        #expect(try sent.json()["state"]?.stringValue == "finished")
        #expect(sent.errors.contains("was not delivered to the webhook at 127.0.0.1:\(server.port)"), "\(sent.errors)")
        #expect(sent.errors.contains("it answered 403") && !sent.errors.contains("s3cret-path"), "\(sent.errors)")
        #expect(
            sent.errors.contains("/bin/sh: heard finished") && sent.errors.contains("it ended with exit code 9"),
            "\(sent.errors)")
    }

    @Test("a hook gets no variable of a hook that started Volley")
    func outerHook() throws {
        let folder = try folder(
            "[{command: [/bin/sh, -c, 'env | grep ^VOLLEY_ | grep -v ^VOLLEY_TEST_ | cut -d= -f1 | sort | tr \"\\\\n\" \" \"']}]"
        )
        let names = ["EVENT", "ID", "CAMPAIGN", "APP", "RUN", "STATE", "OCCURRENCE", "TEXT"].map { "VOLLEY_\($0)" }
        let outer = Dictionary(uniqueKeysWithValues: (names + ["VOLLEY_OTHER"]).map { ($0, "outer") })
        let tried = try folder.volley("notify", environment: outer)
        #expect(
            tried.status == 0 && tried.errors == "/bin/sh: VOLLEY_EVENT VOLLEY_ID VOLLEY_OTHER VOLLEY_TEXT \n",
            "\(tried)")
    }

    @Test("a plan that waits for approval, a run that stops, and no test")
    func others() throws {
        let server = try TestWebhook()
        let folder = try folder(
            "[{webhook: \"\(server.url())\"}]",
            app: "environment: simulator\napproval: required\ntest_devices: [\"\(ProjectFolder.token(1))\"]")
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 2)
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        #expect(try folder.volley("send", "campaign.yaml", "--test").status == 0)
        #expect(try documents(server).map { $0["event"]?.stringValue } == ["approval_needed", "approval_needed"])
        #expect(try documents(server)[0]["text"]?.stringValue?.contains("volley approve ") == true)
        // If each token is refused as belonging to another environment, the run stops.
        let wrong = try TestWebhook()
        let stopped = try self.folder("[{webhook: \"\(wrong.url())\", events: [stopped]}]")
        let tokens = (0..<300).map { "00000400" + String(repeating: "0", count: 50) + String(100_000 + $0) }
        try stopped.write("devices.csv", "device_token\n" + tokens.joined(separator: "\n") + "\n")
        let sent = try stopped.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 3, "\(sent.errors)")
        let told = try #require(try documents(wrong).first)
        #expect(told["event"]?.stringValue == "stopped" && told["state"]?.stringValue == "stopped")
        #expect(told["reason"] == (try sent.json()["stopped_because"]))
    }

    @Test("volley notify tries everybody once, and says who was not told")
    func notify() throws {
        let good = try TestWebhook(), bad = try TestWebhook(answers: ["500 No"])
        let folder = try folder(
            "[{webhook: \"\(good.url())\", events: [skipped]}, {webhook: \"\(bad.url())\"}, {webhook: \"\(good.url())\", secret_env: NOT_SET}]"
        )
        let tried = try folder.volley("notify", "--json")
        #expect(tried.status == 2)
        let document = try tried.json()
        #expect(document["ok"] == .bool(false))
        guard case .array(let notices)? = document["notices"] else {
            Issue.record("no notices: \(tried.output)")
            return
        }
        #expect(notices.map { $0["ok"] } == [.bool(true), .bool(false), .bool(false)])
        #expect(
            notices[1]["message"]?.stringValue
                == "it answered 500. Its server could not handle the notice now: its log says why")
        #expect(notices[2]["message"]?.stringValue?.contains("the environment variable NOT_SET") == true)
        #expect(try documents(good).map { $0["event"]?.stringValue } == ["test"])
        let unknown = try folder.volley("notify", "shpo")
        #expect(unknown.status == 2 && unknown.errors.contains("Did you mean 'shop'?"))
        let nobody = try ProjectFolder().volley("notify")
        #expect(nobody.status == 2 && nobody.errors.contains("there are no notices to send"))
    }

    @Test(
        "a webhook's certificate is checked, against an authority of its own where one is named",
        .enabled(if: hasPython))
    func certificates() throws {
        let server = try TestWebhook()
        let folder = try ProjectFolder()
        let authority = CertificateAuthority(commonName: "Ours"), other = CertificateAuthority(commonName: "Others")
        let certificate = authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"])
        try folder.write("front.pem", certificate.pem)
        try folder.write("ours.pem", authority.certificatePEM)
        try folder.write("others.pem", other.certificatePEM)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/tls_front.py").path
        let front = try ServerProcess.onFreePort("/usr/bin/python3") {
            [script, String($0), String(server.port), folder.url.appendingPathComponent("front.pem").path, "60"]
        }
        for (lines, isTold) in [(", ca: ours.pem", true), (", ca: others.pem", false), ("", false)] {
            let before = server.requests.count
            try folder.writeProject(
                app: "environment: simulator\nnotices: [{webhook: \"https://localhost:\(front.port)/x\"\(lines)}]")
            let tried = try folder.volley("notify", "shop", "--json")
            #expect(tried.status == (isTold ? 0 : 2), "\(lines): \(tried.output)")
            #expect(server.requests.count == before + (isTold ? 1 : 0))
            #expect(isTold || tried.output.contains("certificate"), "\(tried.output)")
        }
    }

    /// The example of docs/reference/notices.md in one language.
    private func documented(_ language: String) throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("docs/reference/notices.md")
        let blocks = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n```")
        return String(
            try #require(blocks.first { $0.hasPrefix(language + "\n") && $0.contains("v1") }).dropFirst(
                language.count + 1))
    }

    @Test(
        "the documented ways to check a signature take a genuine notice, and none that was tampered with",
        .enabled(if: hasPython))
    func signature() throws {
        let server = try TestWebhook()
        let folder = try folder("[{webhook: \"\(server.url())\", secret_env: VOLLEY_SECRET}]")
        #expect(try folder.volley("notify", environment: ["VOLLEY_SECRET": "s3cret"]).status == 0)
        let request = try #require(server.requests.first), signature = try #require(request.headers["volley-signature"])
        let call = "\nimport sys\nsys.exit(0 if is_genuine(sys.argv[1], sys.stdin.buffer.read(), b's3cret') else 1)\n"
        try folder.write("check.py", try documented("python") + call)
        try folder.write("check.sh", try documented("sh"))
        let later = signature.replacing(/t=\d/) { _ in "t=9" }
        let cases = [
            (signature, request.body, true), (signature, request.body.replacing("test", with: "tset"), false),
            (later, request.body, false),
            (signature.replacing("v1=", with: "v1=0"), request.body, false),
        ]
        for (signature, body, isGenuine) in cases {
            for command in [["/usr/bin/python3", "check.py"], ["/bin/sh", "check.sh"]] {
                let checked = try RunningVolley(
                    executable: command[0], [command[1], signature], in: folder.url,
                    environment: ["VOLLEY_SECRET": "s3cret"], input: body
                ).finish()
                #expect((checked.status == 0) == isGenuine, "\(command): \(signature) \(checked.errors)")
            }
        }
    }
}
