import Base
import Foundation
import TestCommands
import Testing

/// Campaigns to an app whose service is RongCloud, against the strict simulator, with the real
/// binary: the report and the simulator's ledger say the same of every user.
@Suite("a campaign over RongCloud")
struct RongCloudCampaignTests {
    /// A simulator of RongCloud, its app secret, and a folder with an app that goes to it.
    final class Bench {
        let folder: ProjectFolder
        let url: String
        private let server: ProjectFolder
        private let simulator: RunningVolley

        /// - Parameters:
        ///   - users: the export's.
        ///   - faults: options of `volley simulate`.
        init(users: [String], faults: [String] = []) throws {
            server = try ProjectFolder()
            try FileManager.default.removeItem(at: server.url.appendingPathComponent("volley.yaml"))
            simulator = try VolleyBinary.start(
                [
                    "simulate", "--service", "rongcloud", "--port", "0", "--for", VolleyBinary.simulatorSeconds,
                    "--key", "secret.txt",
                    "--ledger", "ledger.jsonl",
                    "--json",
                ] + faults, in: server.url)
            let limit = Date().addingTimeInterval(30)
            while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n"), Date() < limit { usleep(20_000) }
            url = try #require(try JSONValue(parsing: simulator.outputSoFar)["url"]?.stringValue)
            folder = try ProjectFolder(export: "user_id,first_name\n" + users.map { "\($0),Ada\n" }.joined())
            try folder.write("secret.txt", try Data(contentsOf: server.url.appendingPathComponent("secret.txt")))
            chmod(folder.url.appendingPathComponent("secret.txt").path, 0o600)
            try folder.write("ca.pem", try Data(contentsOf: server.url.appendingPathComponent("simulator-ca.pem")))
            try writeProject()
            try folder.writeCampaign()
        }

        deinit { stop() }

        func writeProject(appKey: String = "volleysimulator", secret: String = "{file: secret.txt}", more: String = "")
            throws
        {
            try folder.write(
                "volley.yaml",
                """
                runs: runs
                apps:
                  shop:
                    service: rongcloud
                    app_key: \(appKey)
                    environment: {url: "\(url)", ca: ca.pem}
                    app_secret: \(secret)
                    columns: {token: user_id}
                    \(more)
                """)
        }

        func stop() {
            kill(simulator.processID, SIGTERM)
            _ = simulator.finish(timeout: 10)
        }

        /// The lines of the ledger, once the simulator has ended.
        func ledger() throws -> [JSONValue] {
            stop()
            let text = try String(contentsOf: server.url.appendingPathComponent("ledger.jsonl"), encoding: .utf8)
            return try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        }

        /// The statuses of the answers to each user so far, once the simulator has ended.
        func answers() throws -> [String: [Int]] {
            try ledger().reduce(into: [:]) {
                $0[$1["target"]?.stringValue ?? "", default: []].append($1.int("status") ?? 0)
            }
        }
    }

    private static func users(_ count: Int) -> [String] { (0..<count).map { "user_\($0)" } }

    @Test(
        "3,000 users get it once each at 100 a second, though the run is killed; whoever had no answer then is unknown")
    func paced() throws {
        let bench = try Bench(users: Self.users(3000), faults: ["--latency", "100"])
        let start = Date()
        let sending = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: bench.folder.url)
        try bench.folder.kill(sending, seconds: 7)
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect([0, 1].contains(resumed.status), "\(resumed)")
        #expect(Date().timeIntervalSince(start) >= 27, "the pace is RongCloud's, as nobody sets one")
        let outcomes = try bench.folder.volley("report", "last", "--format", "json").json()["outcomes"]
        let (accepted, unknown) = (outcomes?.int("accepted") ?? 0, outcomes?.int("unknown") ?? 0)
        #expect(accepted + unknown == 3000 && (1...100).contains(unknown), "\(outcomes?.text ?? "")")
        let lines = try bench.ledger(), taken = lines.filter { $0.int("status") == 200 }
        let users = Set(taken.compactMap { $0["target"]?.stringValue })
        #expect(users.count == taken.count && users.count >= accepted, "nobody gets it twice")
        let seconds = Dictionary(grouping: taken) { ($0.int("time_ms") ?? 0) / 1000 }
        #expect(seconds.values.allSatisfy { $0.count <= 100 }, "\(seconds.mapValues(\.count))")
        // A request that came a moment too late for its second is refused, and sent again.
        #expect(lines.filter { $0.int("code") == 1008 }.count <= 150)
        let csv = try bench.folder.volley("report", "last", "--format", "csv").output
        #expect(csv.contains("rongcloud_request_id"), "\(csv.prefix(300))")
    }

    @Test("with a pace that the app bought, calls have a hundred users of one text, and a refusal is for a whole call")
    func full() throws {
        let refused = "00001005x"
        let users = Self.users(1000)
        let bench = try Bench(
            users: users[..<500] + [refused] + users[500...], faults: ["--limit-per-minute", "600000"])
        try bench.writeProject(more: "pace: 4000/s")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        let outcomes = try sent.json()["outcomes"]
        let lost = outcomes?.int("rejected") ?? 0
        #expect(sent.status == 1 && outcomes?.int("accepted") == 1001 - lost && (2...100).contains(lost), "\(sent)")
        #expect(outcomes?.int("invalid_token") == 0)
        let lines = try bench.ledger()
        let calls = Dictionary(grouping: lines.filter { $0.int("status") == 200 }) { $0["id"]?.stringValue ?? "" }
        #expect(calls.values.map(\.count).max() == 100 && calls.count <= 30, "\(calls.values.map(\.count))")
        #expect(lines.filter { $0.int("code") == 1005 }.count == lost)
        // No user is left out of later campaigns: a user is not a device that is gone.
        let listed = try bench.folder.volley("suppression", "list", "--app", "shop", "--json")
        #expect(listed.status == 0 && !listed.output.contains(refused), "\(listed)")
        let csv = try bench.folder.volley("report", "last", "--format", "csv").output
        #expect(csv.contains("1005"))
    }

    @Test("user IDs of any length are planned, and a pace of the campaign is held within what RongCloud takes")
    func short() throws {
        let bench = try Bench(users: ["0", "7", "42", "00", "u12", "u333", "user_1234"])
        try bench.folder.writeCampaign(delivery: "pace: 5000/s")
        let preview = try bench.folder.volley("preview", "campaign.yaml")
        #expect(
            preview.status == 0 && preview.output.contains("7 devices") && preview.output.contains("at 100/s"),
            "\(preview)")
        #expect(!preview.output.contains("u333") && !preview.output.contains("user_1234"), "\(preview)")
        try bench.writeProject(more: "pace: 4000/s")
        let bought = try bench.folder.volley("preview", "campaign.yaml")
        #expect(bought.output.contains("at 4,000/s") || bought.output.contains("at 4000/s"), "\(bought)")
    }

    @Test("texts of their own share calls with the users who have the same text alone")
    func personal() throws {
        let bench = try Bench(users: [], faults: ["--limit-per-minute", "600000"])
        let names = ["Ada", "Bo", "Cy"]
        try bench.folder.write(
            "devices.csv", "user_id,first_name\n" + (0..<90).map { "user_\($0),\(names[$0 % 3])\n" }.joined())
        try bench.folder.writeCampaign(content: "body: Hello {{ first_name }}")
        try bench.writeProject(more: "pace: 4000/s")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 90, "\(sent)")
        let calls = Dictionary(grouping: try bench.ledger()) { $0["id"]?.stringValue ?? "" }
        for call in calls.values {
            let texts = Set(
                call.compactMap { $0["target"]?.stringValue.flatMap { Int($0.dropFirst(5)) }.map { $0 % 3 } })
            #expect(texts.count == 1)
        }
    }

    @Test("what came too often waits for a second and costs no attempt; an internal error waits for ten")
    func waits() throws {
        let bench = try Bench(users: Self.users(20) + ["00001008x"])
        let quick = Date()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 21, "\(sent)")
        #expect((1..<30).contains(Date().timeIntervalSince(quick)))
        #expect(try bench.answers()["00001008x"] == [429, 200])
        let slow = try Bench(users: ["00001000x"]), start = Date()
        let again = try slow.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(again.status == 0 && Date().timeIntervalSince(start) >= 10, "\(again)")
        #expect(try slow.answers()["00001000x"] == [500, 200])
    }

    @Test("a wrong app key, secret or message stops the run at the first call, and says what to do")
    func stops() throws {
        let bench = try Bench(users: Self.users(30))
        for (key, secret, code) in [
            ("unknownappkey", "{file: secret.txt}", "1001"), ("volleysimulator", "{env: WRONG}", "1004"),
        ] {
            try bench.writeProject(appKey: key, secret: secret)
            let sent = try bench.folder.volley(
                "send", "campaign.yaml", "--yes", "--json", environment: ["WRONG": "AnotherSecret1"])
            #expect(sent.status == 3, "\(sent)")
            let said = sent.output + sent.errors
            #expect(said.contains(code) && said.contains("app_secret") && !said.contains("AnotherSecret1"), "\(sent)")
            #expect(
                try sent.json()["outcomes"]?.int("accepted") == 0 && sent.json()["outcomes"]?.int("unsent") ?? 0 > 0)
        }
        let missing = try { () throws in
            try bench.writeProject(secret: "{env: VOLLEY_NO_SECRET}")
            return try bench.folder.volley("send", "campaign.yaml", "--yes")
        }()
        #expect(missing.status == 2 && missing.errors.contains("VOLLEY_NO_SECRET"), "\(missing)")
        let bad = try Bench(users: ["00001002x"])
        let sent = try bad.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 3 && (sent.output + sent.errors).contains("does not accept a value"), "\(sent)")
    }

    @Test("what RongCloud does not carry is a mistake at its place, and so are the wrong cells of an export")
    func badInput() throws {
        let bench = try Bench(users: Self.users(3) + [String(repeating: "u", count: 65), "anna@example.com", ""])
        try bench.folder.writeCampaign(
            content: "title: Hello\nsubtitle: Now\nbody: World\nsound: bell.caf\nbadge: 10000",
            delivery: "expires: 4h\npriority: high")
        let checked = try bench.folder.volley("check", "campaign.yaml")
        #expect(checked.status == 2)
        let said = checked.output + checked.errors
        for key in ["subtitle", "sound", "expires", "priority"] {
            #expect(said.contains("RongCloud") && said.contains(key), "\(checked)")
        }
        try bench.folder.writeCampaign(content: "title: Hello\nbody: World", delivery: "collapse: sale")
        let preview = try bench.folder.volley("preview", "campaign.yaml", "--json")
        let skipped = try preview.json()["skipped"]
        #expect(
            preview.status == 0 && skipped?.int("bad_token") == 2 && skipped?.int("missing_token") == 1, "\(preview)")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 3, "\(sent)")
        #expect(try bench.answers().count == 3)
    }

    @Test("an answer that gets lost after RongCloud sent leaves users unknown, and nobody gets a second push")
    func lost() throws {
        let bench = try Bench(
            users: Self.users(40), faults: ["--reset-every", "3", "--gateway-every", "4", "--silent-every", "50"])
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        let outcomes = try sent.json()["outcomes"]
        #expect(outcomes?.sum == 40 && outcomes?.int("unknown") ?? 0 > 0 && outcomes?.int("failed") == 0, "\(sent)")
        let answers = try bench.answers()
        #expect(answers.values.allSatisfy { $0.count { $0 == 200 } <= 1 })
        #expect(answers.values.filter { $0.contains(200) }.count >= outcomes?.int("accepted") ?? 41)
    }

    @Test(
        "doctor pushes to a user who does not exist, push sends to a single one, and the environment can be the simulator"
    )
    func tools() throws {
        let bench = try Bench(users: ["anna"])
        let doctor = try bench.folder.volley("doctor", "--json")
        #expect(doctor.status == 0, "\(doctor)")
        let pushed = try bench.folder.volley("push", "--token", "anna", "--body", "Hi", "--json")
        #expect(try pushed.status == 0 && pushed.json()["outcome"]?.stringValue == "accepted", "\(pushed)")
        let refused = try bench.folder.volley("push", "--token", "00001009x", "--body", "Hi", "--json")
        #expect(try refused.status != 0 && refused.json()["reason"]?.stringValue == "1009", "\(refused)")
        #expect(try bench.answers().keys.contains("anna"))
        try bench.folder.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                service: rongcloud
                app_key: e0x9wycfx7flq
                environment: simulator
                columns: {token: user_id}
            """)
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 1, "\(sent)")
    }

    @Test("its simulator has no users that are gone, and says so")
    func goneUsers() throws {
        let folder = try ProjectFolder()
        try folder.write("gone.txt", "anna\n")
        for option in ["--unregistered", "--bad-tokens"] {
            let refused = try folder.volley(
                "simulate", "--service", "rongcloud", "--port", "0", "--for", "1", option, "gone.txt")
            #expect(
                refused.status == 2 && refused.errors.contains("RongCloud answers alike for all targets"), "\(refused)")
        }
    }
}
