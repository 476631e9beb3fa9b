import Base
import Testing

@testable import Simulators

/// A running simulator of Getui, reached with curl.
private struct GetuiStand {
    let simulator: ServiceSimulator
    let folder = TemporaryFolder()
    private let authority: String
    private let version: String

    init(speaksHTTP1: Bool = false, _ change: (inout SimulatorConfiguration, TemporaryFolder) -> Void = { _, _ in })
        throws
    {
        var configuration = SimulatorConfiguration()
        configuration.secrets = [GetuiFixture.app]
        change(&configuration, folder)
        simulator = try StandIn.getui.start(configuration)
        authority = folder.write(simulator.certificateAuthorityPEM, to: "ca.pem")
        version = speaksHTTP1 ? "--http1.1" : "--http2"
    }

    /// Status line, headers and body of a POST.
    func post(_ body: String, to call: String, token: String? = nil) -> (output: String, exitCode: Int32) {
        let header = token.map { "-H 'token: \($0)'" } ?? ""
        return run(
            "curl -sS -i \(version) --max-time 5 --cacert \(authority) -H 'content-type: application/json' \(header) -d '\(body)' "
                + "https://localhost:\(simulator.port)/v2/\(GetuiFixture.app.app)/\(call)")
    }

    func token() throws -> String {
        var proof = GetuiProof()
        proof.milliseconds = String(Timestamp.now().epochMilliseconds)
        let output = post(proof.body, to: "auth").output
        return try #require(output.firstMatch(of: /"token":"([0-9a-f]{64})"/), "\(output)").1.description
    }

    func ledger(_ name: String) throws -> [JSONValue] {
        try run("cat \(folder.path)/\(name)").output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    }
}

@Suite(
    "A simulator of Getui, reached with curl,", .enabled(if: isInstalled("curl"), "the program curl is not installed"))
struct GetuiSocketTests {
    @Test("gives out a token and takes a batch for it, over either version of HTTP", arguments: [false, true])
    func sends(speaksHTTP1: Bool) throws {
        let stand = try GetuiStand(speaksHTTP1: speaksHTTP1)
        let output = stand.post(
            getuiBatchBody((0..<200).map { getuiMessage($0) }), to: getuiBatch, token: try stand.token()
        ).output
        #expect(output.contains(" 200 "), "\(output.prefix(300))")
        #expect(output.contains("content-type: application/json;charset=utf-8"))
        #expect(output.matches(of: /successed_online/).count == 200)
        let summary = stand.simulator.stop()
        #expect(
            (summary.requests, summary.accepted, summary.acceptedTokens, summary.providerTokens) == (1, 200, 200, 1))
    }

    @Test("writes a line for each target, with its request id and what became of it")
    func ledger() throws {
        let stand = try GetuiStand { $0.ledgerFile = $1.path + "/ledger.jsonl" }
        let token = try stand.token(), ignored = cid(2, after: "00000090")
        _ = stand.post(getuiBatchBody([getuiMessage(1), getuiMessage(2, cid: ignored)]), to: getuiBatch, token: token)
        _ = stand.post(getuiBatchBody([getuiMessage(3, cid: cid(3, after: "00020001"))]), to: getuiBatch, token: token)
        _ = stand.post(getuiBatchBody([getuiMessage(1)]), to: getuiBatch, token: token)
        _ = stand.post(getuiBatchBody([getuiMessage(4)]), to: getuiBatch, token: "wrong")
        let summary = stand.simulator.stop()
        #expect((summary.accepted, summary.acceptedTokens, summary.repeatedTokens) == (1, 1, 0))
        #expect(summary.reasons == ["successed_ignore": 1, "20001": 1, "10001": 1])
        let lines = try stand.ledger("ledger.jsonl")
        #expect(lines.map { $0["target"]?.stringValue } == [cid(1), ignored, cid(3, after: "00020001"), cid(4)])
        #expect(lines.map { $0["request_id"]?.stringValue } == [1, 2, 3, 4].map(requestID))
        #expect(lines.map { $0["status"] } == [.integer(200), .integer(200), .integer(400), .integer(401)])
        #expect(lines.map { $0["code"] } == [.null, .string("successed_ignore"), .string("20001"), .string("10001")])
        #expect(lines.allSatisfy { $0["answered"] == .bool(true) })
    }

    @Test("answers every n-th request as a service in trouble, with codes of Getui")
    func trouble() throws {
        let stand = try GetuiStand { configuration, _ in
            (configuration.faults.tooManyRequestsEvery, configuration.faults.unavailableEvery) = (2, 3)
            configuration.faults.internalErrorEvery = 5
        }
        let token = try stand.token()
        let outputs = (1...5).map {
            stand.post(getuiBatchBody([getuiMessage($0)]), to: getuiBatch, token: token).output
        }
        #expect(outputs[0].contains(#""code":0"#) && outputs[0].contains(" 200 "))
        #expect(outputs[1].contains(#""code":10005"#) && outputs[1].contains(" 401 "))
        #expect(outputs[2].contains(#""code":2"#) && outputs[2].contains(" 200 "))
        #expect(outputs[4].contains(#""code":500"#) && outputs[4].contains(" 500 "))
        #expect(stand.simulator.stop().reasons == ["10005": 2, "2": 1, "500": 1])
    }

    @Test("takes a batch and loses the answer; the same request ids, sent again, are not sent again")
    func lostAnswers() throws {
        let stand = try GetuiStand(speaksHTTP1: true) { configuration, _ in configuration.faults.silentEvery = 2 }
        let token = try stand.token(), body = getuiBatchBody([getuiMessage(2)])
        #expect(stand.post(getuiBatchBody([getuiMessage(1)]), to: getuiBatch, token: token).exitCode == 0)
        #expect(stand.post(body, to: getuiBatch, token: token).exitCode == 28)
        #expect(stand.post(body, to: getuiBatch, token: token).output.contains("successed_online"))
        let summary = stand.simulator.stop()
        #expect((summary.acceptedTokens, summary.repeatedTokens, summary.repeatedIDs) == (2, 0, 0))
    }

    @Test("cuts a connection before it has taken a batch; the same request ids then arrive")
    func cutConnections() throws {
        let stand = try GetuiStand(speaksHTTP1: true) { configuration, _ in configuration.faults.resetEvery = 1 }
        #expect(stand.post(getuiBatchBody([getuiMessage(1)]), to: getuiBatch, token: try stand.token()).exitCode != 0)
        #expect(stand.simulator.stop().accepted == 0)
    }

    @Test("is started by its name, and has a secret for apps")
    func byName() throws {
        let standIn = try #require(Simulators.named("getui"))
        let simulator = try standIn.start(SimulatorConfiguration())
        #expect(simulator.port > 0 && simulator.stop().requests == 0)
        guard case .secret(let app, let names, let key) = standIn.credential else {
            Issue.record("Getui gives apps a secret")
            return
        }
        #expect([app.key, names.first?.key, key] == ["app_id", "app_key", "master_secret"] && standIn.givesOutTokens)
    }
}
