import Base
import Foundation
import TestCommands
import Testing

/// Campaigns to an app whose service is FCM, against the strict simulator, with the real binary:
/// the report and the simulator's ledger say the same of every device.
@Suite("a campaign over FCM")
struct FCMCampaignTests {
    /// A simulator of FCM, its account file, and a folder with an app that goes to it.
    final class Bench {
        let folder: ProjectFolder
        private let server: ProjectFolder
        private let simulator: RunningVolley
        /// How many access tokens were used, once `answers` was read.
        private(set) var usedTokens = 0

        /// - Parameters:
        ///   - firstDigits: the first digits of the devices' tokens, by their number; they decide
        ///     the simulator's answers.
        ///   - faults: options of `volley simulate`.
        init(devices: Int, firstDigits: [Int: String] = [:], faults: [String] = []) throws {
            server = try ProjectFolder()
            try FileManager.default.removeItem(at: server.url.appendingPathComponent("volley.yaml"))
            simulator = try VolleyBinary.start(
                [
                    "simulate", "--service", "fcm", "--port", "0", "--for", VolleyBinary.simulatorSeconds, "--key",
                    "account.json", "--ledger",
                    "ledger.jsonl",
                    "--json",
                ]
                    + faults, in: server.url)
            let limit = Date().addingTimeInterval(30)
            while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n"), Date() < limit { usleep(20_000) }
            let said = try JSONValue(parsing: simulator.outputSoFar)
            folder = try ProjectFolder(
                export: "device_token\n"
                    + (0..<devices).map { Self.token($0, after: firstDigits[$0] ?? "") + "\n" }.joined())
            try folder.write("account.json", try Data(contentsOf: server.url.appendingPathComponent("account.json")))
            try folder.write("ca.pem", try Data(contentsOf: server.url.appendingPathComponent("simulator-ca.pem")))
            try writeProject(url: try #require(said["url"]?.stringValue))
            try folder.writeCampaign()
        }

        deinit { stop() }

        func writeProject(
            url: String, project: String = "volley-simulator", account: String = "{file: account.json}",
            more: String = ""
        ) throws {
            try folder.write(
                "volley.yaml",
                """
                runs: runs
                apps:
                  shop:
                    service: fcm
                    project: \(project)
                    environment: {url: "\(url)", ca: ca.pem}
                    service_account: \(account)
                    columns: {token: device_token}
                    \(more)
                """)
        }

        /// Where the app goes, as volley.yaml says.
        func url() throws -> String {
            let text = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
            return String(text.firstMatch(of: /https:\/\/localhost:[0-9]+/)?.output ?? "")
        }

        func stop() {
            kill(simulator.processID, SIGTERM)
            let said = simulator.finish(timeout: 10).errors
            usedTokens = said.firstMatch(of: /([0-9]+) access tokens? used/).flatMap { Int($0.output.1) } ?? 0
        }

        /// The answers to each target so far, once the simulator has ended.
        func answers() throws -> [String: [Int]] {
            stop()
            let text = try String(contentsOf: server.url.appendingPathComponent("ledger.jsonl"), encoding: .utf8)
            return try text.split(separator: "\n").reduce(into: [:]) { answers, line in
                let entry = try JSONValue(parsing: String(line))
                answers[entry["target"]?.stringValue ?? "", default: []].append(entry.int("status") ?? 0)
            }
        }

        /// A registration token, different for each number.
        static func token(_ number: Int, after digits: String = "") -> String {
            let end = String(number)
            let start = digits + String(repeating: "c", count: 22 - digits.count)
            return start + ":APA91b" + String(repeating: "0", count: 134 - end.count) + end
        }
    }

    @Test("report --refresh asks the Data API by the run's label, and says what its figures cannot tell")
    func deliveryData() throws {
        let bench = try Bench(devices: 30, firstDigits: [3: "00000404"])
        let app = "android_app: 1:1234567890:android:0a1b2c3d4e5f67890"
        try bench.writeProject(url: bench.url(), more: app)
        try bench.folder.writeCampaign()
        let plain = try bench.folder.volley("send", "campaign.yaml", "--yes")
        #expect(plain.status == 0, "\(plain)")
        let unlabelled = try bench.folder.volley("report", "last", "--refresh")
        #expect(unlabelled.status == 2 && unlabelled.errors.contains("does not track them"), "\(unlabelled)")
        try bench.folder.writeCampaign(delivery: "track: true")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes")
        #expect(sent.status == 0, "\(sent)")
        let text = try bench.folder.volley("report", "last", "--refresh")
        #expect(
            text.status == 0 && text.output.contains(/29\s+counted\s+on\s+Android,\s+29\s+delivered\s+\(about\)/),
            "\(text)")
        #expect(text.output.contains(/Google\s+counts\s+messages\s+to\s+Android\s+devices/), "\(text)")
        let said = try bench.folder.volley("report", "last", "--format", "json").json()["statistics"]?.text ?? ""
        #expect(
            said.contains(#""counts":{"countMessagesAccepted":29,"delivered":29}"#)
                && said.contains("never say which device"), "\(said)")
        // Without the app in volley.yaml there is nothing to ask about; what was said stays.
        try bench.writeProject(url: bench.url())
        let unknown = try bench.folder.volley("report", "last", "--refresh")
        #expect(unknown.status == 2 && unknown.errors.contains("android_app: \"1:"), "\(unknown)")
    }

    @Test("every device gets it once, and report and ledger agree, however the simulator hesitates")
    func all() throws {
        let bench = try Bench(
            devices: 300, firstDigits: [3: "00000404", 5: "00000400", 250: "00000404"],
            faults: ["--go-away-every", "70"])
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent)")
        let outcomes = try sent.json()["outcomes"]
        #expect(outcomes?.int("accepted") == 297 && outcomes?.int("invalid_token") == 3, "\(sent)")
        let answers = try bench.answers()
        #expect(answers.count == 300 && answers.values.filter { $0.contains(200) }.count == 297)
        #expect(answers.values.allSatisfy { $0.count { $0 == 200 } <= 1 })
        #expect(answers[Bench.token(3, after: "00000404")] == [404])
        let csv = try bench.folder.volley("report", "last", "--format", "csv").output
        #expect(csv.contains("UNREGISTERED") && csv.contains("fcm_request_id"), "\(csv.prefix(300))")
    }

    @Test("what is refused for now waits at least ten seconds, as Google asks")
    func waits() throws {
        let bench = try Bench(devices: 20, firstDigits: [7: "00000503"])
        let start = Date()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0 && Date().timeIntervalSince(start) >= 10, "\(sent)")
        #expect(try bench.answers()[Bench.token(7, after: "00000503")] == [503, 200])
    }

    @Test("access tokens that end during a run are renewed, and no push fails")
    func renewal() throws {
        let bench = try Bench(devices: 100, faults: ["--token-seconds", "3"])
        try bench.writeProject(url: bench.url(), more: "pace: 15/s")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent)")
        let answers = try bench.answers()
        #expect(
            answers.count == 100 && answers.values.allSatisfy { $0 == [200] },
            "no message leaves with a token that has ended")
        #expect(bench.usedTokens >= 3, "\(bench.usedTokens)")
    }

    @Test("a token that is revoked is renewed, and what it was refused for goes out again")
    func revocation() throws {
        let bench = try Bench(devices: 40, faults: ["--messages-per-token", "25"])
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent)")
        let answers = try bench.answers()
        #expect(answers.values.allSatisfy { $0.last == 200 && $0.count { $0 == 200 } == 1 } && answers.count == 40)
        #expect(answers.values.contains { $0.first == 401 } && bench.usedTokens == 2)
    }

    @Test("a quota that is used up holds the run, and what was beyond it arrives after the hold")
    func quota() throws {
        let bench = try Bench(devices: 30, firstDigits: [20: "00000429"], faults: ["--retry-after", "3"])
        let start = Date()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0 && Date().timeIntervalSince(start) >= 3, "\(sent)")
        #expect(try sent.json().int("attempts") == 30, "a hold is no attempt: \(sent)")
        let answers = try bench.answers()
        #expect(answers.count == 30 && answers.values.allSatisfy { $0.last == 200 && $0.count { $0 == 200 } == 1 })
        #expect(answers[Bench.token(20, after: "00000429")] == [429, 200])
    }

    @Test(
        "a quota that is used up for hours stops the run at once, and says when to resume it; resumed before, it waits and sends nothing"
    )
    func quotaOfTheDay() throws {
        let bench = try Bench(devices: 30, firstDigits: [20: "00000429"], faults: ["--retry-after", "7200"])
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(
            sent.status == 3 && sent.errors.contains("is used up (429 QUOTA_EXCEEDED), and it takes nothing before 20"),
            "\(sent)")
        let report = try sent.json()
        #expect(report["state"]?.stringValue == "stopped" && report["outcomes"]?.int("failed") == 0, "\(report)")
        let unsent = try #require(report["outcomes"]?.int("unsent"))
        #expect(unsent > 0)
        let resumed = try VolleyBinary.start(["resume", "last"], in: bench.folder.url)
        Thread.sleep(forTimeInterval: 2)
        resumed.interrupt()
        #expect(resumed.finish().status == 130)
        let after = try bench.folder.volley("report", "last", "--format", "json").json()
        #expect(after["outcomes"]?.int("unsent") == unsent)
        #expect(try bench.answers().values.flatMap(\.self).count { $0 == 200 } == 30 - unsent)
    }

    @Test("a message that FCM does not accept stops the run at the first device, and says what to do")
    func badMessage() throws {
        let bench = try Bench(devices: 50)
        // A label may have 50 characters, and the content of a cell is not known when the campaign
        // is checked.
        try bench.folder.write(
            "campaign.yaml",
            """
            name: labels
            app: shop
            audience: {devices: devices.csv, everyone: true}
            content:
              payload: {message: {notification: {title: Hi}, fcm_options: {analytics_label: "{{ device_token }}"}}}
            """)
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 3, "\(sent)")
        #expect(
            try sent.json()["outcomes"]?.int("rejected") == 1 && sent.json()["outcomes"]?.int("unsent") == 49, "\(sent)"
        )
        #expect(
            sent.errors.contains("The message itself is wrong") || sent.output.contains("The message itself is wrong"),
            "\(sent)")
        #expect(try bench.answers().count == 1)
    }

    @Test("a wrong service account is told before anything is sent, with a remedy and without the secret")
    func wrongAccounts() throws {
        let bench = try Bench(devices: 3), url = try bench.url()
        let account = try String(contentsOf: bench.folder.url.appendingPathComponent("account.json"), encoding: .utf8)
        let secret = try #require(account.firstMatch(of: /PRIVATE KEY-----\\n(.{40})/)?.output.1)
        let other = try Bench(devices: 1)
        let strange = try String(contentsOf: other.folder.url.appendingPathComponent("account.json"), encoding: .utf8)
        for (text, expected) in [
            (String(account.prefix(300)), "the service account is damaged"),
            (
                account.replacing("volley-simulator\"", with: "other-shop\""),
                "is for the project 'other-shop', but the app names 'volley-simulator'"
            ),
            ("<html><body>Sign in</body></html>", "this is a web page"), ("", "empty"), (strange, "invalid_grant"),
        ] {
            try bench.folder.write("account.json", text)
            let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
            let said = sent.errors + sent.output
            #expect(sent.status == 2 && said.contains(expected), "\(expected): \(sent)")
            #expect(!said.contains(secret))
            #expect(
                bench.folder.files(in: "runs").filter { $0.hasSuffix(".sqlite") }.isEmpty || expected == "invalid_grant"
            )
        }
        try bench.writeProject(url: url, account: "{env: VOLLEY_TEST_ACCOUNT}")
        let missing = try bench.folder.volley("send", "campaign.yaml", "--yes")
        #expect(
            missing.status == 2 && missing.errors.contains("the environment variable VOLLEY_TEST_ACCOUNT"), "\(missing)"
        )
        let sent = try bench.folder.volley(
            "send", "campaign.yaml", "--yes", "--json", environment: ["VOLLEY_TEST_ACCOUNT": account])
        #expect(sent.status == 0, "\(sent)")
        #expect(try bench.answers().count == 3)
    }

    @Test(
        "a run that was killed goes on, and nobody gets it twice: what had no answer is unknown, as FCM would show a second message"
    )
    func killed() throws {
        let bench = try Bench(devices: 200)
        try bench.writeProject(url: bench.url(), more: "pace: 100/s")
        let sending = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: bench.folder.url)
        try bench.folder.kill(sending, seconds: 0.6)
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect([0, 1].contains(resumed.status), "\(resumed)")
        let outcomes = try bench.folder.volley("report", "last", "--format", "json").json()["outcomes"]
        #expect(outcomes?.sum == 200 && outcomes?.int("unsent") == 0)
        let answers = try bench.answers()
        #expect(answers.values.allSatisfy { $0.count { $0 == 200 } == 1 })
        #expect(answers.count >= outcomes?.int("accepted") ?? 201)
    }

    @Test("a slip in the service's name is one mistake")
    func typo() throws {
        let bench = try Bench(devices: 1)
        let file = try String(contentsOf: bench.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try bench.folder.write("volley.yaml", file.replacing("service: fcm", with: "service: fmc"))
        let checked = try bench.folder.volley("check", "campaign.yaml", "--json")
        guard case .array(let files)? = try checked.json()["files"], case .array(let errors)? = files.first?["errors"]
        else {
            Issue.record("\(checked)")
            return
        }
        #expect(
            checked.status == 2 && errors.count == 1 && errors[0]["remedy"]?.stringValue == "Did you mean 'fcm'?",
            "\(checked)")
    }

    @Test("doctor walks the way to a valid message, and push sends a single one")
    func tools() throws {
        let bench = try Bench(devices: 1)
        let doctor = try bench.folder.volley("doctor", "--json")
        #expect(doctor.status == 0 && doctor.output.contains("access token"), "\(doctor)")
        let pushed = try bench.folder.volley("push", "--token", Bench.token(1), "--title", "Hi", "--json")
        #expect(try pushed.status == 0 && pushed.json()["outcome"]?.stringValue == "accepted", "\(pushed)")
        let gone = try bench.folder.volley(
            "push", "--token", Bench.token(1, after: "00000404"), "--title", "Hi", "--json")
        #expect(try gone.status == 1 && gone.json()["reason"]?.stringValue == "UNREGISTERED", "\(gone)")
        #expect(try bench.answers().count == 2, "doctor leaves no message")
    }
}
