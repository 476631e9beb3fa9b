import Base
import Foundation
import TestCommands
import Testing

/// Campaigns to an app whose service is Getui, against the strict simulator, with the real binary:
/// the report and the simulator's ledger say the same of every device.
@Suite("a campaign over Getui")
struct GetuiCampaignTests {
    /// A simulator of Getui, its secret, and a folder with an app that goes to it.
    final class Bench {
        let folder: ProjectFolder
        private let simulator: SimulatorProcess
        /// How many tokens were used, once `answers` was read.
        private(set) var usedTokens = 0

        /// - Parameters:
        ///   - firstDigits: the first digits of the devices' client ids, by their number; they
        ///     decide the simulator's answers.
        ///   - faults: options of `volley simulate`.
        ///   - app: further lines of the app, without indentation.
        init(devices: Int, firstDigits: [Int: String] = [:], faults: [String] = [], app: String = "") throws {
            simulator = try SimulatorProcess("getui", faults)
            folder = try ProjectFolder(
                export: "cid,first_name\n"
                    + (0..<devices).map { "\(Self.cid($0, after: firstDigits[$0] ?? "")),Name\($0)\n" }.joined())
            try simulator.introduce(to: folder)
            try writeProject(more: app)
            try folder.writeCampaign(content: "title: Hello {{ first_name }}\nbody: World")
        }

        /// Replaces the simulator by an empty one at the same address.
        func restart(_ faults: [String] = []) throws { try simulator.restart(faults, for: folder) }

        func writeProject(
            appID: String = "SimulatorAppId00000000", appKey: String = "SimulatorAppKey0000000",
            secret: String = "{file: secret.txt}",
            more: String = ""
        ) throws {
            try folder.write(
                "volley.yaml",
                """
                runs: runs
                apps:
                  shop:
                    service: getui
                    app_id: \(appID)
                    app_key: \(appKey)
                    environment: {url: "\(simulator.url)", ca: ca.pem}
                    master_secret: \(secret)
                    columns: {token: cid}
                    \(more)
                """)
        }

        /// The simulator's ledger, once it has ended.
        func ledger() throws -> [JSONValue] {
            usedTokens =
                simulator.stop().firstMatch(of: /([0-9]+) access tokens? used/).flatMap { Int($0.output.1) } ?? 0
            return try simulator.ledger()
        }

        /// What the simulator made of each client id, once it has ended: a code, `sent`, or
        /// `successed_ignore`.
        func answers() throws -> [String: [String]] {
            try ledger().reduce(into: [:]) { answers, entry in
                answers[entry["target"]?.stringValue ?? "", default: []].append(entry["code"]?.stringValue ?? "sent")
            }
        }

        /// A client id, different for each number.
        static func cid(_ number: Int, after digits: String = "") -> String {
            let end = String(number, radix: 16)
            return digits + String(repeating: "c", count: 24 - digits.count)
                + String(repeating: "0", count: 8 - end.count) + end
        }
    }

    @Test("2,000 devices with texts of their own get them once, 200 a request, and report and ledger agree")
    func all() throws {
        let digits = [3: "00000090", 5: "00000200", 250: "00020001", 1999: "00020001"]
        let bench = try Bench(devices: 2000, firstDigits: digits)
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 1, "one device was refused for good: \(sent)")
        let outcomes = try sent.json()["outcomes"]
        #expect(
            outcomes?.int("accepted") == 1997 && outcomes?.int("rejected") == 1 && outcomes?.int("invalid_token") == 2,
            "\(sent)")
        let csv = try bench.folder.volley("report", "last", "--format", "csv").output
        #expect(
            csv.contains("successed_ignore") && csv.contains("20001 (target user is invalid)")
                && csv.contains("getui_request_id"),
            "\(csv.prefix(300))")
        let refreshed = try bench.folder.volley("report", "last", "--refresh").output
        #expect(
            refreshed.contains("1,997 passed on to phones") && refreshed.contains("1,996 received by phones"),
            "\(refreshed)")
        let answers = try bench.answers()
        #expect(answers.count == 2000 && answers.values.filter { $0.last == "sent" }.count == 1997)
        #expect(answers.values.allSatisfy { $0.count { $0 == "sent" } <= 1 })
        #expect(answers[Bench.cid(3, after: "00000090")]?.last == "successed_ignore")
        #expect(answers[Bench.cid(250, after: "00020001")]?.last == "20001")
    }

    @Test("refusals with the status 200 are refusals: what passes is sent again, and arrives")
    func waits() throws {
        let bench = try Bench(devices: 500, firstDigits: [7: "00000002", 300: "00000301"])
        let start = Date()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 500, "\(sent)")
        #expect(Date().timeIntervalSince(start) >= 10)
        let answers = try bench.answers()
        #expect(
            answers.count == 500 && answers.values.allSatisfy { $0.last == "sent" && $0.count { $0 == "sent" } == 1 })
        #expect(
            answers[Bench.cid(7, after: "00000002")] == ["2", "sent"]
                && answers[Bench.cid(300, after: "00000301")] == ["301", "sent"])
    }

    @Test("tokens that end during a run are renewed, and no push fails")
    func renewal() throws {
        let bench = try Bench(devices: 120, faults: ["--token-seconds", "6"], app: "pace: 12/s")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent)")
        let answers = try bench.answers()
        #expect(
            answers.count == 120 && answers.values.allSatisfy { $0 == ["sent"] },
            "no request leaves with a token that has ended")
        #expect(bench.usedTokens >= 2, "\(bench.usedTokens)")
    }

    @Test("a token that is revoked is renewed, and what it was refused for goes out again")
    func revocation() throws {
        let bench = try Bench(devices: 40, faults: ["--messages-per-token", "25"], app: "pace: 20/s")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent)")
        let answers = try bench.answers()
        #expect(
            answers.values.allSatisfy { $0.last == "sent" && $0.count { $0 == "sent" } == 1 } && answers.count == 40)
        #expect(answers.values.contains { $0.first == "10001" } && bench.usedTokens == 2)
    }

    @Test("a message that Getui does not accept stops the run at the first device, and says what to do")
    func badMessage() throws {
        let bench = try Bench(devices: 50)
        // A level is 0 to 4.
        try bench.folder.writeCampaign(
            content: """
                payload: {push_message: {notification: {title: Hi, body: Sale, click_type: none, channel_level: 9}}}
                """)
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 3, "\(sent)")
        #expect(
            try sent.json()["outcomes"]?.int("rejected") == 1 && sent.json()["outcomes"]?.int("unsent") == 49, "\(sent)"
        )
        #expect((sent.errors + sent.output).contains("The message itself is wrong"), "\(sent)")
        #expect(try bench.answers().values.allSatisfy { !$0.contains("sent") })
    }

    @Test("a wrong secret or app is told before anything is sent, with a remedy and without the secret")
    func wrongAccounts() throws {
        let bench = try Bench(devices: 3)
        let secret = try String(contentsOf: bench.folder.url.appendingPathComponent("secret.txt"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        try bench.folder.write("other.txt", "0123456789abcdef01234567")
        try bench.folder.write("empty.txt", "")
        for (appID, given, expected) in [
            ("SimulatorAppId00000000", "{file: other.txt}", "sign is invalid"),
            ("AnotherAppId", "{file: secret.txt}", "appid or appkey"),
            ("SimulatorAppId00000000", "{file: empty.txt}", "empty"),
            ("SimulatorAppId00000000", "{file: missing.txt}", "missing.txt"),
            ("SimulatorAppId00000000", "{env: VOLLEY_TEST_GETUI_SECRET}", "VOLLEY_TEST_GETUI_SECRET"),
            ("com.example.shop", "{file: secret.txt}", "package or bundle id"),
        ] {
            try bench.writeProject(appID: appID, secret: given)
            let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
            let said = sent.errors + sent.output
            #expect(sent.status == 2 && said.contains(expected), "\(expected): \(sent)")
            #expect(!said.contains(secret) && !said.contains("0123456789abcdef01234567"))
        }
        try bench.writeProject(secret: "{env: VOLLEY_TEST_GETUI_SECRET}")
        let sent = try bench.folder.volley(
            "send", "campaign.yaml", "--yes", "--json", environment: ["VOLLEY_TEST_GETUI_SECRET": secret])
        #expect(sent.status == 0, "\(sent)")
        #expect(try bench.answers().values.allSatisfy { $0 == ["sent"] })
    }

    @Test("a wrong app key is named where it is refused, and again when it was corrected after planning")
    func changedAppKey() throws {
        let bench = try Bench(devices: 3)
        try bench.writeProject(appKey: "SimulatorAppKey0000001")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(
            sent.status == 2
                && (sent.errors + sent.output).contains("Check the app's names and its secret in volley.yaml"),
            "\(sent)")
        #expect(try bench.folder.volley("plan", "campaign.yaml").status == 0)
        try bench.writeProject()
        let refused = try bench.folder.volley("send", "--plan", "last", "--yes")
        #expect(
            refused.status == 2
                && refused.errors.contains("the app_key was SimulatorAppKey0000001 and is SimulatorAppKey0000000 now"))
        #expect(!refused.errors.contains("the master_secret was"), "\(refused)")
    }

    @Test("a run that was killed goes on, and each device gets it once: Getui recognizes what comes again")
    func killed() throws {
        let bench = try Bench(devices: 2000, app: "pace: 600/s")
        let sending = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: bench.folder.url)
        try bench.folder.kill(sending, seconds: 0.8)
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect(resumed.status == 0, "\(resumed)")
        let outcomes = try bench.folder.volley("report", "last", "--format", "json").json()["outcomes"]
        #expect(outcomes?.int("accepted") == 2000 && outcomes?.sum == 2000, "\(outcomes?.text ?? "")")
        let answers = try bench.answers()
        #expect(answers.count == 2000 && answers.values.allSatisfy { $0 == ["sent"] })
    }

    @Test("with lists, wrong client ids of a list are found, and all others get their push once")
    func listsWithWrongIDs() throws {
        let digits = [3: "00000090", 700: "00020001", 1999: "00020001", 2500: "00000002"]
        let bench = try Bench(devices: 3000, firstDigits: digits, app: "lists: true")
        try bench.folder.writeCampaign(content: "title: Hello\nbody: World")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        let outcomes = try sent.json()["outcomes"]
        #expect(
            outcomes?.int("accepted") == 2997 && outcomes?.int("rejected") == 1 && outcomes?.int("invalid_token") == 2,
            "\(sent)")
        let refreshed = try bench.folder.volley("report", "last", "--refresh").output
        #expect(refreshed.contains("2,997 passed on to phones"), "lists count for the run's group: \(refreshed)")
        let answers = try bench.answers()
        #expect(answers.count == 3000 && answers.values.allSatisfy { $0.count { $0 == "sent" } <= 1 })
        #expect(answers.values.filter { $0.last == "sent" }.count == 2997)
    }

    @Test("with lists, texts of single devices still share requests, and are recognized")
    func listsOfOwnTexts() throws {
        let bench = try Bench(devices: 1000, app: "lists: true")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 1000, "\(sent)")
        let lines = try bench.ledger()
        #expect(lines.allSatisfy { $0["request_id"]?.stringValue?.utf8.count == 32 }, "none goes as a list")
    }

    @Test("with lists, a used-up quota of the day stops the run, and the rest stays unsent")
    func listQuota() throws {
        let bench = try Bench(devices: 4000, firstDigits: [3990: "00030008"], app: "lists: true")
        try bench.folder.writeCampaign(content: "title: Hello\nbody: World")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 3 && (sent.errors + sent.output).contains("30008"), "\(sent)")
        let outcomes = try sent.json()["outcomes"]
        #expect(outcomes?.sum == 4000 && outcomes?.int("unsent") ?? 0 > 0, "\(sent)")
        // The run ends ten seconds after it stopped, even if answers are still awaited: their
        // devices are unknown.
        let taken = try bench.answers().values.count { $0.contains("sent") }
        let accepted = outcomes?.int("accepted") ?? 0, unknown = outcomes?.int("unknown") ?? 0
        #expect((accepted...accepted + unknown).contains(taken), "\(taken) taken: \(outcomes?.text ?? "")")
    }

    @Test("texts that are too long for Getui are counted before anything is sent")
    func longTexts() throws {
        let bench = try Bench(devices: 3)
        try bench.folder.write(
            "devices.csv",
            "cid,first_name\n\(Bench.cid(0)),Ada\n\(Bench.cid(1)),\(String(repeating: "x", count: 60))\n\(Bench.cid(2)),Bo\n"
        )
        let why = try bench.folder.volley("preview", "campaign.yaml", "--why", Bench.cid(1))
        #expect(
            why.output.contains("for it, the title has 66 characters, and Getui takes at most 50 (campaign.yaml:"),
            "\(why)")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 2, "\(sent)")
        let note = "for 1 device, the title would be longer than the 50 characters that Getui takes"
        #expect(sent.errors.contains(note), "\(sent.errors)")
    }

    @Test("doctor walks the way to a message that Getui would take, and push sends a single one")
    func tools() throws {
        let bench = try Bench(devices: 1)
        let doctor = try bench.folder.volley("doctor", "--json")
        #expect(doctor.status == 0, "\(doctor)")
        let pushed = try bench.folder.volley(
            "push", "--token", Bench.cid(1), "--title", "Hi", "--body", "Sale", "--json")
        #expect(try pushed.status == 0 && pushed.json()["outcome"]?.stringValue == "accepted", "\(pushed)")
        let gone = try bench.folder.volley(
            "push", "--token", Bench.cid(1, after: "00020001"), "--title", "Hi", "--body", "Sale", "--json")
        #expect(
            try gone.status == 1 && gone.json()["reason"]?.stringValue == "20001 (target user is invalid)", "\(gone)")
        let answers = try bench.answers()
        #expect(answers.values.filter { $0 == ["sent"] }.count == 1, "doctor reaches no device")
    }
}
