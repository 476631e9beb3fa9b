import Base
import Cryptography
import Testing

@testable import Simulators

/// A running simulator of RongCloud, reached with curl.
private struct RongCloudStand {
    let simulator: ServiceSimulator
    let folder = TemporaryFolder()
    private let authority: String

    init(_ change: (inout SimulatorConfiguration, TemporaryFolder) -> Void = { _, _ in }) throws {
        var configuration = SimulatorConfiguration()
        configuration.secrets = [RongCloudFixture.app]
        change(&configuration, folder)
        simulator = try StandIn.rongcloud.start(configuration)
        authority = folder.write(simulator.certificateAuthorityPEM, to: "ca.pem")
    }

    /// Sends pushes, one after another on one connection.
    func send(_ bodies: [String], version: String = "--http2") -> (output: String, exitCode: Int32) {
        let options = "-sS -i \(version) --max-time 5 --cacert \(authority)"
        let requests = bodies.map { body in
            let headers = RongCloudHeaders(.now())
            let lines = [
                "App-Key: \(headers.account ?? "")", "Nonce: \(headers.nonce ?? "")",
                "Timestamp: \(headers.time ?? "")",
                "Signature: \(headers.signature ?? "")", "Content-Type: application/json",
            ]
            return lines.map { "-H '\($0)'" }.joined(separator: " ")
                + " -d '\(body)' https://localhost:\(simulator.port)\(rongCloudPath)"
        }
        return run("curl \(options) " + requests.joined(separator: " --next \(options) "))
    }

    func ledger() throws -> [JSONValue] {
        try run("cat \(folder.path)/ledger.jsonl").output.split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
    }
}

@Suite(
    "A simulator of RongCloud, reached with curl,",
    .enabled(if: isInstalled("curl"), "the program curl is not installed"))
struct RongCloudSocketTests {
    @Test("takes a push to several users over HTTP/2 and HTTP/1.1", arguments: ["--http2", "--http1.1"]) func sends(
        _ version: String
    )
        throws
    {
        let stand = try RongCloudStand()
        let output = stand.send([rongCloudPush(["anna", "bert", "cleo"])], version: version).output
        #expect(output.contains(/HTTP\/[12.]+ 200/), "\(output)")
        #expect(output.contains("content-type: application/json; charset=utf-8"))
        #expect(output.contains(/\{"code":200,"id":"[0-9a-f]{16}"\}/))
        let summary = stand.simulator.stop()
        #expect((summary.requests, summary.accepted, summary.acceptedTokens, summary.providerTokens) == (1, 3, 3, 1))
    }

    @Test("writes a line for each user, with the id that the call has") func ledger() throws {
        let stand = try RongCloudStand { $0.ledgerFile = $1.path + "/ledger.jsonl" }
        _ = stand.send([rongCloudPush(["anna", "bert"]), rongCloudPush(["cleo", "00001009x"])])
        let summary = stand.simulator.stop()
        #expect(summary.reasons == ["1009": 2])
        let lines = try stand.ledger()
        #expect(lines.map { $0["target"]?.stringValue } == ["anna", "bert", "cleo", "00001009x"])
        #expect(lines.allSatisfy { $0["target_kind"] == .string("user") && $0["answered"] == .bool(true) })
        #expect(lines.map { $0["status"] } == [.integer(200), .integer(200), .integer(430), .integer(430)])
        #expect(lines.map { $0["code"] } == [.integer(200), .integer(200), .integer(1009), .integer(1009)])
        let ids = lines.map { $0["id"] }
        #expect(ids[0] == ids[1] && ids[0]?.stringValue?.isEmpty == false && ids[2] == .null && ids[3] == .null)
    }

    @Test("counts a user that is sent to twice, whose case matters") func repeats() throws {
        let stand = try RongCloudStand()
        _ = stand.send([rongCloudPush(["anna"]), rongCloudPush(["anna", "Anna"])])
        let summary = stand.simulator.stop()
        #expect((summary.acceptedTokens, summary.repeatedTokens) == (2, 1))
    }

    @Test("loses answers to pushes that it took") func lostAnswers() throws {
        let silent = try RongCloudStand { configuration, _ in configuration.faults.silentEvery = 1 }
        #expect(silent.send([rongCloudPush(["anna", "bert"])]).exitCode == 28)
        #expect(silent.simulator.stop().acceptedTokens == 2)
        let cut = try RongCloudStand { configuration, _ in configuration.faults.disconnectEvery = 1 }
        #expect(cut.send([rongCloudPush(["anna", "bert"])], version: "--http1.1").exitCode != 0)
        #expect(cut.simulator.stop().acceptedTokens == 2)
        let reset = try RongCloudStand { configuration, _ in configuration.faults.resetEvery = 1 }
        #expect(reset.send([rongCloudPush(["anna"])]).exitCode != 0)
        #expect(reset.simulator.stop().accepted == 0)
    }

    @Test("answers every n-th push as a service in trouble, with codes where RongCloud has them") func trouble() throws
    {
        let stand = try RongCloudStand { configuration, _ in
            (configuration.faults.tooManyRequestsEvery, configuration.faults.unavailableEvery) = (2, 3)
            configuration.faults.internalErrorEvery = 5
        }
        let output = stand.send((1...5).map { rongCloudPush(["user\($0)"]) }).output
        #expect(
            output.matches(of: /HTTP\/2 429/).count == 2 && output.matches(of: /"code":1008/).count == 2, "\(output)")
        #expect(output.matches(of: /HTTP\/2 500/).count == 1 && output.matches(of: /"code":1000/).count == 1)
        #expect(output.contains(/HTTP\/2 503 \r\ncontent-type: text\/html/))
        #expect(stand.simulator.stop().accepted == 1)
    }

    @Test("is started by its name") func byName() throws {
        let standIn = try #require(Simulators.named("rongcloud"))
        let simulator = try standIn.start(SimulatorConfiguration())
        #expect(simulator.port > 0)
        #expect(simulator.stop().requests == 0)
        guard case .secret(let app, _, let key) = standIn.credential else {
            Issue.record("RongCloud has app secrets")
            return
        }
        #expect(app.key == "app_key" && key == "app_secret")
    }
}
