import Simulators
import Base
import Cryptography
import Foundation
import TestCommands
import Testing

/// A simulator in the tests' own process, whose answers to each device can be set.
final class ToldServer {
    let folder: ProjectFolder
    private let simulator: ServiceSimulator

    /// - Parameters:
    ///   - app: further lines below the app in volley.yaml.
    ///   - answers: by device.
    ///   - topics: the topic of a device's token, by device.
    ///   - faults: other faults.
    init(
        app: String = "", devices: Int = 20, answers: [Int: SimulatedAnswer] = [:], topics: [Int: String] = [:],
        faults: SimulatorFaults = SimulatorFaults()
    ) throws {
        folder = try ProjectFolder(export: ProjectFolder.export(devices: devices))
        let key = SigningKey.generate()
        var configuration = SimulatorConfiguration()
        configuration.keys = [TrustedKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: key.verificationKey)]
        configuration.faults = faults
        for (device, answer) in answers { configuration.faults.answers[ProjectFolder.token(device)] = answer }
        for (device, topic) in topics { configuration.tokenTopics[ProjectFolder.token(device)] = topic }
        configuration.ledgerFile = folder.url.appendingPathComponent("ledger.jsonl").path
        simulator = try StandIn.apns.start(configuration)
        try folder.write("ca.pem", simulator.certificateAuthorityPEM)
        try folder.write("key.p8", key.pem)
        chmod(folder.url.appendingPathComponent("key.p8").path, 0o600)
        try folder.writeProject(
            app:
                "environment: {url: \"https://localhost:\(simulator.port)\", ca: ca.pem}\nkey: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}\n\(app)"
        )
    }

    /// Sends a campaign and returns its report.
    func send(_ delivery: String? = nil, status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation) throws
        -> JSONValue
    {
        try folder.writeCampaign(delivery: delivery)
        let sent = try folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == status, "\(sent.errors)", sourceLocation: sourceLocation)
        return try sent.json()
    }

    /// Every request, once the simulator has ended.
    func requests() throws -> [JSONValue] {
        simulator.stop()
        let text = try String(contentsOf: folder.url.appendingPathComponent("ledger.jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    }
}

@Suite("rules: delivery")
struct DeliveryRuleTests {
    private func values(_ delivery: String?, _ name: String) throws -> Set<String?> {
        let server = try ToldServer(devices: 2)
        _ = try server.send(delivery)
        return Set(try server.requests().map { $0[name]?.stringValue })
    }

    @Test("pace: 5000/s, or 300000/min; never faster than the app's, whatever a campaign asks for")
    func pace() throws {
        let folder = try ProjectFolder(app: "environment: simulator\npace: 10/s")
        for (pace, seconds) in [("5/s", 4.0), ("120/min", 10.0), ("5000/s", 2.0), ("300000/min", 2.0)] {
            try folder.writeCampaign(delivery: "pace: \(pace)")
            let preview = try folder.volley("preview", "campaign.yaml", "--json").json()
            #expect(
                preview["seconds_at_pace"] == .double(seconds)
                    || preview["seconds_at_pace"] == .integer(Int64(seconds)), "\(pace)")
        }
    }

    @Test("expires: 4h, or a date and time; 0 = deliver now or never")
    func expires() throws {
        let before = Timestamp.now().epochSeconds
        let relative = try #require(try values("expires: 4h", "expiration").first.flatMap { $0 }.flatMap { Int64($0) })
        let after = Timestamp.now().epochSeconds
        #expect((before + 14_400...after + 14_401).contains(relative))
        #expect(try values("expires: 2099-12-01 09:00 +01:00", "expiration") == ["4099795200"])
        #expect(try values("expires: 0", "expiration") == ["0"])
        #expect(try values(nil, "expiration") == [nil])
    }

    @Test("priority: high 10, normal 5, low 1", arguments: [("high", "10"), ("normal", "5"), ("low", "1")])
    func priority(word: String, header: String) throws {
        #expect(try values("priority: \(word)", "priority") == [header])
    }

    @Test("collapse: apns-collapse-id, at most 64 bytes")
    func collapse() throws {
        #expect(try values("collapse: spring-sale", "collapse_id") == ["spring-sale"])
        let folder = try ProjectFolder()
        for (name, word) in [
            (String(repeating: "x", count: 65), "at most 64"), (String(repeating: "ü", count: 33), "66 bytes"),
        ] {
            try folder.writeCampaign(delivery: "collapse: \(name)")
            #expect(try folder.volley("check", "campaign.yaml").errors.contains(word))
        }
    }

    @Test("stop_when: stop the run when a share is passed, judged after so many answers")
    func stopWhen() throws {
        let answers = Dictionary(
            uniqueKeysWithValues: (0..<3).map { ($0, SimulatedAnswer(status: 410, reason: "Unregistered")) })
        let passed = try ToldServer(answers: answers).send(
            "stop_when: {invalid_token: 10%, after: 10}\npace: 10/s", status: 3)
        #expect(passed["state"]?.stringValue == "stopped")
        #expect(passed["stopped_because"]?.stringValue?.contains("delivery.stop_when") == true)
        // A share that is just reached is allowed, and fewer answers are not judged.
        for rule in ["invalid_token: 15%, after: 20", "invalid_token: 1%, after: 21"] {
            #expect(try ToldServer(answers: answers).send("stop_when: {\(rule)}")["state"]?.stringValue == "finished")
        }
    }
}

@Suite("rules: outcomes")
struct OutcomeRuleTests {
    private func outcomes(_ report: JSONValue) -> [String: Int] {
        var counts: [String: Int] = [:]
        for name in report["outcomes"]?.names ?? [] {
            if let count = report["outcomes"]?.int(name), count > 0 { counts[name] = count }
        }
        return counts
    }

    @Test("accepted: APNs answered 200")
    func accepted() throws {
        #expect(outcomes(try ToldServer().send()) == ["accepted": 20])
    }

    @Test(
        "invalid_token: 410, BadDeviceToken, DeviceTokenNotForTopic: the app is gone from that device",
        arguments: [
            (410, "Unregistered"), (410, "ExpiredToken"), (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"),
        ])
    func invalidToken(status: Int, reason: String) throws {
        let report = try ToldServer(answers: [3: SimulatedAnswer(status: status, reason: reason)]).send()
        #expect(outcomes(report) == ["accepted": 19, "invalid_token": 1])
        #expect(report["reasons"]?.int(reason) == 1)
    }

    @Test("rejected: any other final refusal", arguments: [(413, "PayloadTooLarge"), (400, "SomethingNew"), (418, "")])
    func rejected(status: Int, reason: String) throws {
        let report = try ToldServer(answers: [3: SimulatedAnswer(status: status, reason: reason)]).send(status: 1)
        #expect(outcomes(report) == ["accepted": 19, "rejected": 1])
    }

    @Test("failed: a temporary refusal that outlived its retries")
    func failed() throws {
        let report = try ToldServer(answers: [3: SimulatedAnswer(status: 500, reason: "InternalServerError")]).send(
            status: 1)
        #expect(outcomes(report) == ["accepted": 19, "failed": 1])
        #expect((report.int("attempts") ?? 0) > 20)
    }

    @Test("a temporary refusal that passes is retried, and accepted")
    func retried() throws {
        let report = try ToldServer(answers: [3: SimulatedAnswer(status: 429, reason: "TooManyRequests", times: 1)])
            .send()
        #expect(outcomes(report) == ["accepted": 20] && report.int("attempts") == 21)
    }

    @Test(
        "unknown: it went onto the wire, no answer came, and the campaign said not to send twice; resend sends it again"
    )
    func unknown() throws {
        var faults = SimulatorFaults()
        faults.resetEvery = 15
        let skipping = try ToldServer(faults: faults)
        #expect(outcomes(try skipping.send("unknown: skip", status: 1)) == ["accepted": 19, "unknown": 1])
        // A push whose stream was reset got no answer, so it is not in the ledger.
        #expect(try skipping.requests().count == 19)
        let resending = try ToldServer(faults: faults)
        #expect(outcomes(try resending.send("unknown: resend")) == ["accepted": 20])
        #expect(try resending.requests().count == 20)
    }

    @Test("unsent: never on the wire: cancelled")
    func unsent() throws {
        let server = try ToldServer()
        try server.folder.writeCampaign()
        #expect(try server.folder.volley("plan", "campaign.yaml").status == 0)
        #expect(try server.folder.volley("cancel", "last").status == 0)
        let report = try server.folder.volley("report", "last", "--format", "json").json()
        #expect(report["state"]?.stringValue == "cancelled" && outcomes(report) == ["unsent": 20])
        #expect(try server.requests().isEmpty)
    }

    @Test("every planned recipient ends in exactly one: audience = the sum of outcomes once a run has ended")
    func sum() throws {
        let report = try ToldServer(answers: [
            1: SimulatedAnswer(status: 410, reason: "Unregistered"),
            2: SimulatedAnswer(status: 413, reason: "PayloadTooLarge"),
        ]).send(status: 1)
        #expect(report["outcomes"]?.sum == report.int("audience") && report.int("audience") == 20)
    }
}
