import Base
import Glibc
import Testing

@testable import Simulators

/// A running simulator of FCM, reached with curl.
private struct FCMStand {
    let simulator: ServiceSimulator
    let folder = TemporaryFolder()
    private let authority: String
    private let account = FCMFixture.account

    init(_ change: (inout SimulatorConfiguration, TemporaryFolder) -> Void = { _, _ in }) throws {
        var configuration = SimulatorConfiguration()
        configuration.issuer.accounts = [account.trusted]
        change(&configuration, folder)
        simulator = try StandIn.fcm.start(configuration)
        authority = folder.write(simulator.certificateAuthorityPEM, to: "ca.pem")
    }

    var address: String { "https://localhost:\(simulator.port)" }

    /// Status line, headers and body of a request.
    func curl(_ arguments: String) -> (output: String, exitCode: Int32) {
        run("curl -sS -i --http2 --max-time 5 --cacert \(authority) \(arguments)")
    }

    /// Exchanges a right assertion.
    func accessToken() throws -> String {
        var assertion = FCMAssertion()
        let now = Timestamp.now().epochSeconds
        (assertion.audience, assertion.issuedAt, assertion.end) = ("\(address)/token", now, now + 3600)
        let output = curl("-d '\(assertion.form)' \(address)/token").output
        #expect(output.contains("HTTP/2 200"), "\(output)")
        return try #require(output.firstMatch(of: /"access_token":"([^"]+)"/)).1.description
    }

    /// Sends messages to devices, one after another on one connection.
    func send(_ tokens: [String], bearer: String, also: String = "") -> (output: String, exitCode: Int32) {
        let requests = tokens.map { token in
            "-H 'authorization: Bearer \(bearer)' -H 'content-type: application/json' -d '\(fcmMessage(also, target: #""token":"\#(token)""#))'"
                + " \(address)\(fcmPath)"
        }
        return curl(requests.joined(separator: " --next -sS -i --http2 --max-time 5 --cacert \(authority) "))
    }

    func ledger(_ name: String) throws -> [JSONValue] {
        try run("cat \(folder.path)/\(name)").output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    }
}

private let devices = (0..<4).map { fcmDevice("device\($0)-abcdefgh") }

@Suite("A simulator of FCM, reached with curl,", .enabled(if: isInstalled("curl"), "the program curl is not installed"))
struct FCMSocketTests {
    @Test("gives out an access token and takes messages for it") func sends() throws {
        let stand = try FCMStand()
        let bearer = try stand.accessToken()
        let output = stand.send([fcmToken], bearer: bearer).output
        #expect(output.contains("HTTP/2 200"), "\(output)")
        #expect(output.contains("content-type: application/json; charset=UTF-8"))
        #expect(output.contains(/\{"name":"projects\/shop-1a2b\/messages\/0:[0-9]+%[0-9a-f]{16}"\}/))
        let summary = stand.simulator.stop()
        #expect((summary.requests, summary.accepted, summary.acceptedTokens, summary.providerTokens) == (1, 1, 1, 1))
    }

    @Test("speaks HTTP/2 and HTTP/1.1 on one port, and HTTP/1.1 with clients that offer nothing in TLS")
    func protocols() throws {
        let stand = try FCMStand()
        let bearer = try stand.accessToken()
        for (options, version) in [
            ("--http1.1", "HTTP/1.1"), ("--no-alpn", "HTTP/1.1"), ("--http2", "HTTP/2"), ("--http1.1", "HTTP/1.1"),
        ] {
            let request =
                "-H 'authorization: Bearer \(bearer)' -H 'content-type: application/json' -d '\(fcmMessage())'"
            let answers = stand.curl("\(options) \(request) \(stand.address)\(fcmPath) \(stand.address)\(fcmPath)")
                .output
            #expect(
                answers.matches(of: /HTTP\/[0-9.]+ 200/).map { String($0.output) } == [
                    "\(version) 200", "\(version) 200",
                ],
                "\(options): \(answers)")
        }
        let summary = stand.simulator.stop()
        #expect((summary.accepted, summary.connections) == (8, 5))
    }

    @Test("writes a line for each message, with target, status, word and name, and none for a dry run or a token")
    func ledger() throws {
        let stand = try FCMStand { $0.ledgerFile = $1.path + "/ledger.jsonl" }
        let bearer = try stand.accessToken()
        _ = stand.send([fcmToken, fcmDevice("00000404abcdefgh")], bearer: bearer)
        let dryRun = #"{"validate_only":true,"message":{"token":"\#(fcmToken)"}}"#
        let checked = stand.curl(
            "-H 'authorization: Bearer \(bearer)' -H 'content-type: application/json' -d '\(dryRun)' \(stand.address)\(fcmPath)"
        )
        #expect(checked.output.contains("fake_message_id"))
        _ = stand.send([fcmToken], bearer: "wrong")
        let summary = stand.simulator.stop()
        #expect(summary.requests == 3)
        #expect(summary.reasons == ["UNREGISTERED": 1, "UNAUTHENTICATED": 1])
        let lines = try stand.ledger("ledger.jsonl")
        #expect(lines.map { $0["target"]?.stringValue } == [fcmToken, fcmDevice("00000404abcdefgh"), fcmToken])
        #expect(lines.map { $0["target_kind"] } == [.string("token"), .string("token"), .string("token")])
        #expect(lines.map { $0["status"] } == [.integer(200), .integer(404), .integer(401)])
        #expect(lines.map { $0["error_code"] } == [.null, .string("UNREGISTERED"), .string("UNAUTHENTICATED")])
        #expect(lines.first?["name"]?.stringValue?.hasPrefix("projects/shop-1a2b/messages/0:") == true)
        #expect(lines.dropFirst().allSatisfy { $0["name"] == .null })
        #expect(lines.allSatisfy { $0["answered"] == .bool(true) })
    }

    @Test("counts a device that is sent to twice") func repeats() throws {
        let stand = try FCMStand()
        _ = stand.send([devices[0], devices[0], devices[0].uppercased()], bearer: try stand.accessToken())
        let summary = stand.simulator.stop()
        #expect((summary.acceptedTokens, summary.repeatedTokens) == (2, 1))
    }

    @Test("answers every n-th message as a service in trouble, with the words of FCM") func trouble() throws {
        let stand = try FCMStand { configuration, _ in
            configuration.faults.tooManyRequestsEvery = 2
            configuration.faults.unavailableEvery = 3
            configuration.faults.retryAfterSeconds = 7
        }
        let output = stand.send(devices, bearer: try stand.accessToken()).output
        #expect(output.matches(of: /"errorCode":"QUOTA_EXCEEDED"/).count == 2)
        #expect(output.matches(of: /"status":"RESOURCE_EXHAUSTED"/).count == 2)
        #expect(output.matches(of: /"errorCode":"UNAVAILABLE"/).count == 1)
        #expect(output.matches(of: /retry-after: 7/).count == 3)
        #expect(stand.simulator.stop().reasons == ["QUOTA_EXCEEDED": 2, "UNAVAILABLE": 1])
    }

    @Test("leaves retry-after out unless it is told to send it") func noRetryAfter() throws {
        let stand = try FCMStand { configuration, _ in configuration.faults.tooManyRequestsEvery = 1 }
        let output = stand.send([fcmToken], bearer: try stand.accessToken()).output
        #expect(output.contains("HTTP/2 429"))
        #expect(!output.contains("retry-after"))
    }

    @Test("answers 500, and in HTML as a proxy, every n-th time") func gateway() throws {
        let stand = try FCMStand { configuration, _ in
            (configuration.faults.internalErrorEvery, configuration.faults.gatewayEvery) = (2, 3)
        }
        let output = stand.send(devices, bearer: try stand.accessToken()).output
        #expect(output.matches(of: /HTTP\/2 500/).count == 2)
        #expect(output.contains(/HTTP\/2 50[234] \r\ncontent-type: text\/html/))
    }

    @Test("ends a connection with GOAWAY after n messages, however many tokens were asked for") func goAway() throws {
        let stand = try FCMStand { configuration, _ in configuration.faults.goAwayEvery = 2 }
        let bearer = try stand.accessToken()
        #expect(stand.send(devices, bearer: bearer).output.matches(of: /HTTP\/2 200/).count == 4)
        #expect(stand.simulator.stop().connections == 3)
    }

    @Test("refuses streams unprocessed, resets them, and keeps silent") func streams() throws {
        let refusing = try FCMStand { configuration, _ in configuration.faults.refusedStreamEvery = 1 }
        _ = refusing.send([fcmToken], bearer: try refusing.accessToken())
        let refused = refusing.simulator.stop()
        #expect(refused.requests == 0 && refused.refusedStreams > 0)
        let resetting = try FCMStand { configuration, _ in configuration.faults.resetEvery = 1 }
        #expect(resetting.send([fcmToken], bearer: try resetting.accessToken()).exitCode != 0)
        #expect(resetting.simulator.stop().accepted == 0)
        let silent = try FCMStand { configuration, _ in configuration.faults.silentEvery = 1 }
        #expect(silent.send([fcmToken], bearer: try silent.accessToken()).exitCode == 28)
        #expect(silent.simulator.stop().accepted == 1)
    }

    @Test("says its clock with a refusal when that differs") func clock() throws {
        let stand = try FCMStand { configuration, _ in configuration.faults.clockAheadSeconds = -4000 }
        var assertion = FCMAssertion()
        let now = Timestamp.now().epochSeconds
        (assertion.audience, assertion.issuedAt, assertion.end) = ("\(stand.address)/token", now, now + 3600)
        let output = stand.curl("-d '\(assertion.form)' \(stand.address)/token").output
        #expect(output.contains("invalid_grant"))
        #expect(output.contains(/date: .* GMT/))
    }

    @Test("is started by its name") func byName() throws {
        let standIn = try #require(Simulators.named("fcm"))
        let simulator = try standIn.start(SimulatorConfiguration())
        #expect(simulator.port > 0)
        #expect(simulator.stop().requests == 0)
        guard case .serviceAccount = standIn.credential else {
            Issue.record("FCM has service accounts")
            return
        }
    }
}

@Suite("The file of a service account")
struct ServiceAccountTests {
    @Test("is as Google writes it, and is read again") func file() throws {
        let text = FCMFixture.account.json(tokenURI: FCMFixture.address)
        let file = try JSONValue(parsing: text)
        #expect(file["type"] == .string("service_account"))
        #expect(file["token_uri"] == .string(FCMFixture.address))
        #expect(file["private_key"]?.stringValue?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true)
        let read = try SimulatedServiceAccount(json: text)
        #expect(
            (read.project, read.clientEmail, read.keyID) == (
                "shop-1a2b", FCMFixture.account.clientEmail, FCMFixture.account.keyID
            ))
        var assertion = FCMAssertion()
        assertion.signer = read.key
        #expect(FCMFixture().accessToken(assertion) != nil)
    }

    @Test(
        "that lacks something, or is of another kind, is refused with its name",
        arguments: [
            ("{}", "it has no type"), (#"{"type":"authorized_user"}"#, "of another type"),
            (
                #"{"type":"service_account","project_id":"p","client_email":"e","private_key_id":"k","private_key":"x"}"#,
                "not a key in PEM"
            ),
        ])
    func flawed(_ text: String, _ words: String) {
        let error = #expect(throws: Mistake.self) { try SimulatedServiceAccount(json: text) }
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }
}
