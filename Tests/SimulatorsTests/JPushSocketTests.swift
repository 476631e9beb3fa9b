import Base
import Testing

@testable import Simulators

/// A running simulator of JPush, reached with curl.
private struct JPushStand {
    let simulator: ServiceSimulator
    let folder = TemporaryFolder()
    private let authority: String
    private let version: String

    init(speaksHTTP1: Bool = false, _ change: (inout SimulatorConfiguration) -> Void = { _ in }) throws {
        var configuration = SimulatorConfiguration()
        configuration.secrets = [TrustedSecret(app: JPushFixture.app, secret: JPushFixture.secret)]
        configuration.ledgerFile = folder.path + "/ledger.jsonl"
        change(&configuration)
        simulator = try StandIn.jpush.start(configuration)
        authority = folder.write(simulator.certificateAuthorityPEM, to: "ca.pem")
        version = speaksHTTP1 ? "--http1.1" : "--http2"
    }

    /// Status line, headers and body.
    func curl(_ path: String, _ arguments: String = "") -> (output: String, exitCode: Int32) {
        run(
            "curl -sS -i \(version) --max-time 5 --cacert \(authority) -u \(JPushFixture.app):\(JPushFixture.secret) \(arguments) 'https://localhost:\(simulator.port)\(path)'"
        )
    }

    func send(_ body: String, path: String = "/v3/push") -> (output: String, exitCode: Int32) {
        let file = folder.write(body, to: "body.json")
        return curl(path, "-H 'content-type: application/json' --data-binary @\(file)")
    }

    func cid() throws -> String {
        try #require(curl("/v3/push/cid?count=1&type=push").output.firstMatch(of: /"cidlist":\["([^"]+)"/)).1
            .description
    }

    func ledger() throws -> [JSONValue] {
        try run("cat \(folder.path)/ledger.jsonl").output.split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
    }
}

@Suite(
    "A simulator of JPush, reached with curl,", .enabled(if: isInstalled("curl"), "the program curl is not installed"))
struct JPushSocketTests {
    @Test("takes a push over HTTP/1.1 and HTTP/2, and has a line for each target", arguments: [false, true]) func sends(
        speaksHTTP1: Bool
    )
        throws
    {
        let stand = try JPushStand(speaksHTTP1: speaksHTTP1)
        let cid = try stand.cid()
        let body = JPushBody.with { $0.more = #","cid":"\#(cid)""# }
        let output = stand.send(body).output
        #expect(output.contains(speaksHTTP1 ? "HTTP/1.1 200" : "HTTP/2 200"), "\(output)")
        #expect(output.lowercased().contains(/x-rate-limit-remaining: 598/))
        #expect(output.contains(/"sendno":"0","msg_id":"[0-9]+"/))
        #expect(stand.send(body).output.contains(/"msg_id"/))
        #expect(stand.send(body, path: "/v3/push/validate").output.contains(/"msg_id"/))
        #expect(stand.send(JPushBody.to(["short"])).output.contains(/"code":1003/))
        let summary = stand.simulator.stop()
        #expect((summary.requests, summary.accepted, summary.acceptedTokens, summary.repeatedIDs) == (2, 2, 2, 0))
        #expect(summary.reasons == ["1003": 1])
        let lines = try stand.ledger()
        #expect(lines.map { $0["target"] } == [jpushID(1), jpushID(2), "short"].map { .string($0) })
        #expect(lines.map { $0["status"] } == [.integer(200), .integer(200), .integer(400)])
        #expect(lines.map { $0["code"] } == [.null, .null, .string("1003")])
        #expect(lines.map { $0["cid"] } == [.string(cid), .string(cid), .null])
        #expect(lines.first?["msg_id"] == lines.dropFirst().first?["msg_id"])
    }

    @Test("keeps silent, cuts, and answers as a gateway; a push that was taken then is not taken again") func faults()
        throws
    {
        let silent = try JPushStand { $0.faults.silentEvery = 2 }
        let cid = try silent.cid()
        let body = JPushBody.with { $0.more = #","cid":"\#(cid)""# }
        _ = silent.send(JPushBody.to([jpushID(3)]))
        #expect(silent.send(body).exitCode == 28)
        #expect(silent.send(body).output.contains("HTTP/2 200"))
        #expect(silent.simulator.stop().acceptedTokens == 3)

        let gateway = try JPushStand { $0.faults.gatewayEvery = 1 }
        // Every second one was passed on.
        let cids = [try gateway.cid(), try gateway.cid()]
        let bodies = cids.enumerated().map { number, cid in
            JPushBody.with {
                $0.audience = #"{"registration_id":["\#(jpushID(number))"]}"#
                $0.more = #","cid":"\#(cid)""#
            }
        }
        for body in bodies { #expect(gateway.send(body).output.contains("<html>")) }
        #expect(gateway.simulator.stop().acceptedTokens == 1)

        let cut = try JPushStand { $0.faults.resetAcceptedEvery = 1 }
        #expect(cut.send(JPushBody().text).exitCode != 0)
        #expect(cut.simulator.stop().acceptedTokens == 2)
    }

    @Test("answers every n-th push as a service in trouble, with the codes of JPush") func trouble() throws {
        let stand = try JPushStand {
            $0.faults.tooManyRequestsEvery = 2
            $0.faults.unavailableEvery = 3
        }
        let outputs = (0..<3).map { stand.send(JPushBody.to([jpushID($0)])).output }
        #expect(outputs[1].contains(/"code":2002/) && outputs[1].contains(/x-rate-limit-reset: [0-9]+/))
        #expect(outputs[2].contains(/"code":1030/))
        #expect(stand.simulator.stop().reasons == ["2002": 1, "1030": 1])
    }

    @Test("is started by its name") func byName() throws {
        let standIn = try #require(Simulators.named("jpush"))
        let simulator = try standIn.start(SimulatorConfiguration())
        #expect(simulator.port > 0)
        #expect(simulator.stop().requests == 0)
        guard case .secret(let app, _, let key) = standIn.credential else {
            Issue.record("JPush has secrets")
            return
        }
        #expect((app.key, key) == ("app_key", "master_secret"))
    }
}
