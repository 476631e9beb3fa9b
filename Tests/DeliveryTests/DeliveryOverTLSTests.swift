import APNsSimulator
import Base
import Delivery
import Glibc
import Testing

@Suite("delivery over TLS")
struct DeliveryOverTLSTests {
    @Test("a healthy server accepts every push once, under its own apns-id")
    func allAccepted() throws {
        let result = try SimulatorRun(pushes: 3000).run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 3000)
        #expect(result.ledger.acceptedTokens == 3000)
        #expect(result.ledger.accepted == 3000)
        #expect(result.ledger.reasons.isEmpty)
        #expect(result.ledger.refusedStreams == 0)
    }

    @Test("a run of one push reports its answer")
    func onePush() throws {
        var faults = SimulatorFaults()
        faults.answers[SimulatorRun.token(0)] = SimulatedAnswer(status: 410, reason: "Unregistered")
        let result = try SimulatorRun(faults: faults, pushes: 1).run()
        let settlement = try #require(result.settlements.first)
        #expect(settlement.outcome == .invalidToken)
        #expect(settlement.status == 410)
        #expect(settlement.reason == "Unregistered")
        #expect(settlement.attempts == 1)
        #expect(settlement.invalidSince != nil)
    }

    @Test("no push at all is a run as well")
    func noPush() throws {
        let result = try SimulatorRun(pushes: 0).run()
        #expect(result.end == .finished)
        #expect(result.ledger.connections == 0)
    }

    @Test(
        "final answers settle their push alone",
        arguments: [
            (400, "BadDeviceToken", Outcome.invalidToken), (400, "DeviceTokenNotForTopic", .invalidToken),
            (410, "Unregistered", .invalidToken),
            (410, "ExpiredToken", .invalidToken), (413, "PayloadTooLarge", .rejected), (418, "SomethingNew", .rejected),
            (400, "AnotherNewReason", .rejected), (302, "Moved", .rejected),
        ])
    func finalAnswers(status: Int, reason: String, outcome: Outcome) throws {
        var faults = SimulatorFaults()
        faults.answers[SimulatorRun.token(3)] = SimulatedAnswer(status: status, reason: reason)
        let result = try SimulatorRun(faults: faults).run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 19)
        let settlement = try #require(result.settlements.first { $0.recipient == 3 })
        #expect(settlement.outcome == outcome)
        #expect(settlement.status == status)
        #expect(settlement.reason == reason)
        #expect(settlement.attempts == 1)
    }

    @Test(
        "temporary answers are tried again until they pass",
        arguments: [
            (429, "TooManyRequests"), (429, "TooManyProviderTokenUpdates"), (500, "InternalServerError"), (503, "ServiceUnavailable"),
            (503, "Shutdown"), (400, "IdleTimeout"), (599, "New"),
        ])
    func temporaryAnswers(status: Int, reason: String) throws {
        var faults = SimulatorFaults()
        faults.answers[SimulatorRun.token(3)] = SimulatedAnswer(status: status, reason: reason, times: 2)
        let result = try SimulatorRun(faults: faults).run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 20)
        #expect(result.settlements.first { $0.recipient == 3 }?.attempts == 3)
        #expect(result.ledger.connections == (["Shutdown", "IdleTimeout"].contains(reason) ? 3 : 1))
    }

    @Test("a temporary answer that stays is failed after the attempts, with the last reason")
    func attemptsRunOut() throws {
        var faults = SimulatorFaults()
        faults.answers[SimulatorRun.token(3)] = SimulatedAnswer(status: 503, reason: "ServiceUnavailable")
        let result = try SimulatorRun(faults: faults) { $0.retry.maximumAttempts = 3 }.run()
        let settlement = try #require(result.settlements.first { $0.recipient == 3 })
        #expect(settlement.outcome == .failed)
        #expect(settlement.attempts == 3)
        #expect(settlement.reason == "ServiceUnavailable")
        #expect(result.ledger.reasons["ServiceUnavailable"] == 3)
    }

    @Test(
        "an answer that all pushes would get stops the run, and says what to check",
        arguments: [
            (400, "BadTopic", "topic"), (400, "TopicDisallowed", "key"), (400, "BadPriority", "priority"),
            (400, "BadCollapseId", "collapse"),
            (400, "BadExpirationDate", "expires"), (400, "InvalidPushType", "push"), (400, "PayloadEmpty", "content"),
            (400, "DuplicateHeaders", "Volley"), (403, "InvalidProviderToken", "team"), (403, "BadCertificate", "certificate"),
            (403, "BadEnvironmentKeyInToken", "environment"), (403, "UnrelatedKeyIdInToken", "key"), (403, "Forbidden", "membership"),
            (404, "BadPath", "host"), (405, "MethodNotAllowed", "host"),
        ])
    func stops(status: Int, reason: String, advice: String) throws {
        var faults = SimulatorFaults()
        faults.answers[SimulatorRun.token(0)] = SimulatedAnswer(status: status, reason: reason)
        let result = try SimulatorRun(faults: faults).run()
        guard case .stopped(let text) = result.end else {
            Issue.record("it did not stop: \(result.end)")
            return
        }
        #expect(text.contains(reason) && text.contains(advice))
        #expect(result.settlements.first { $0.recipient == 0 }?.outcome == .rejected)
        #expect(result.count(.unsent) == 19)
        #expect(result.settlements.first { $0.outcome == .unsent }?.reason == "Stopped")
    }

    @Test("a provider token called expired within 20 minutes stops the run: a clock is wrong")
    func expiredToken() throws {
        var faults = SimulatorFaults()
        faults.answers[SimulatorRun.token(0)] = SimulatedAnswer(status: 403, reason: "ExpiredProviderToken")
        let result = try SimulatorRun(faults: faults).run()
        guard case .stopped(let text) = result.end else {
            Issue.record("it did not stop: \(result.end)")
            return
        }
        #expect(text.contains("clock"))
        #expect(result.ledger.providerTokens <= 1)
    }

    @Test("mostly bad tokens stop the run: the environment is wrong, not the tokens")
    func badTokens() throws {
        var faults = SimulatorFaults()
        for recipient in 0..<1000 { faults.answers[SimulatorRun.token(recipient)] = SimulatedAnswer(status: 400, reason: "BadDeviceToken") }
        let result = try SimulatorRun(faults: faults, pushes: 1000).run()
        guard case .stopped(let text) = result.end else {
            Issue.record("it did not stop: \(result.end)")
            return
        }
        #expect(text.contains("environment"))
        #expect((100...110).contains(result.count(.invalidToken)))
        #expect(result.count(.unsent) == 1000 - result.count(.invalidToken))
    }

    // MARK: Connections that fail halfway

    @Test("GOAWAY after every 100 pushes: all are accepted in the end")
    func goAway() throws {
        var faults = SimulatorFaults()
        faults.goAwayEvery = 100
        let result = try SimulatorRun(faults: faults, pushes: 1000).run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) + result.count(.unknown) == 1000)
        #expect(result.count(.accepted) >= 980)
        #expect(result.ledger.refusedStreams == 0, "every new connection begins with a single push")
        #expect(result.ledger.acceptedTokens == 1000)
        #expect(result.ledger.repeatedTokens == 0)
    }

    @Test("a connection that the server closed while it was idle is replaced, and the new one begins with a single push")
    func idleConnection() throws {
        var faults = SimulatorFaults()
        faults.idleTimeoutSeconds = 1
        var run = SimulatorRun(faults: faults, pushes: 5)
        run.late = (pushes: 200, afterSeconds: 2.5)
        let result = try run.run()
        #expect(result.count(.accepted) == 205)
        #expect(result.ledger.connections == 2)
        #expect(result.ledger.refusedStreams == 0)
        #expect(result.ledger.repeatedIDs == 0)
        #expect(result.settlements.allSatisfy { $0.attempts == 1 })
    }

    @Test("connections that are cut are replaced, and what is sent again keeps its apns-id")
    func disconnects() throws {
        var faults = SimulatorFaults()
        faults.disconnectEvery = 100
        let result = try SimulatorRun(faults: faults, pushes: 1000).run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) + result.count(.unknown) == 1000)
        #expect(result.ledger.acceptedTokens == 1000)
        #expect(result.ledger.repeatedTokens == 0)
    }

    @Test("no push is sent twice when lost answers count as unknown")
    func unknownIsNotResent() throws {
        var faults = SimulatorFaults()
        faults.disconnectEvery = 100
        let result = try SimulatorRun(faults: faults, pushes: 500) { $0.resendsUnknown = false }.run()
        #expect(result.end == .finished)
        #expect(result.count(.unknown) > 0)
        #expect(result.count(.accepted) + result.count(.unknown) == 500)
        #expect(result.ledger.repeatedIDs == 0)
        #expect(result.ledger.repeatedTokens == 0)
        #expect(result.ledger.acceptedTokens >= result.count(.accepted))
    }

    @Test("refused streams are sent again")
    func refusedStreams() throws {
        var faults = SimulatorFaults()
        faults.refusedStreamEvery = 50
        let result = try SimulatorRun(faults: faults, pushes: 300).run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 300)
        #expect(result.ledger.repeatedTokens == 0)
    }

    @Test("a push that is never answered is sent again under the same id")
    func silence() throws {
        var faults = SimulatorFaults()
        faults.silentEvery = 40
        let result = try SimulatorRun(faults: faults, pushes: 100) { $0.answerTimeoutSeconds = 0.3 }.run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 100)
        #expect(result.ledger.repeatedIDs == result.ledger.accepted - 100)
        #expect(result.ledger.repeatedTokens == 0)
    }

    @Test("a stream limit that falls back to one and rises again loses nothing")
    func limitFallsBack() throws {
        var faults = SimulatorFaults()
        faults.streamLimit = 20
        faults.streamLimitFallsBackAfterRejections = 1
        for recipient in stride(from: 50, to: 300, by: 50) {
            faults.answers[SimulatorRun.token(recipient)] = SimulatedAnswer(status: 400, reason: "BadDeviceToken")
        }
        let result = try SimulatorRun(faults: faults, pushes: 300).run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 295)
        #expect(result.count(.invalidToken) == 5)
    }

    @Test("many kinds of trouble at once: what is reported as accepted is what the server accepted")
    func everythingAtOnce() throws {
        var faults = SimulatorFaults()
        faults.tooManyRequestsEvery = 17
        faults.unavailableEvery = 23
        faults.internalErrorEvery = 29
        faults.goAwayEvery = 301
        faults.streamLimit = 50
        let result = try SimulatorRun(faults: faults, pushes: 2000).run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) + result.count(.unknown) + result.count(.failed) == 2000)
        #expect(result.count(.accepted) <= result.ledger.acceptedTokens)
        #expect(result.count(.accepted) + result.count(.unknown) >= result.ledger.acceptedTokens)
        #expect(result.ledger.repeatedTokens == 0)
    }

    // MARK: Pace, deadline, interruption

    @Test("the server never sees more than the pace in a second")
    func pace() throws {
        let began = Timestamp.now()
        let result = try SimulatorRun(pushes: 450) { $0.pace = Pace(pushes: 200, intervalSeconds: 1) }.run()
        let seconds = Double(Timestamp.now().epochMilliseconds - began.epochMilliseconds) / 1000
        #expect(result.count(.accepted) == 450)
        #expect(result.ledger.peakPerSecond <= 200)
        #expect(seconds >= 2.2)
    }

    @Test("after the deadline nothing is sent")
    func deadline() throws {
        let result = try SimulatorRun(pushes: 300) {
            $0.pace = Pace(pushes: 100, intervalSeconds: 1)
            $0.deadline = Timestamp.now().adding(seconds: 0.5)
        }.run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) > 20)
        #expect(result.count(.accepted) + result.count(.unsent) == 300)
        #expect(result.settlements.first { $0.outcome == .unsent }?.reason == "Expired")
        #expect(result.ledger.accepted == result.count(.accepted))
    }

    @Test("an interrupted run ends soon, and what was not sent is unsent")
    func interruption() throws {
        var run = SimulatorRun(pushes: 1000) { $0.pace = Pace(pushes: 100, intervalSeconds: 1) }
        run.meanwhile = { control in
            usleep(500_000)
            control.interrupt()
        }
        let began = Timestamp.now()
        let result = try run.run()
        #expect(result.end == .interrupted)
        #expect(Timestamp.now().epochMilliseconds - began.epochMilliseconds < 3000)
        #expect(result.count(.accepted) > 0)
        #expect(result.count(.accepted) + result.count(.unsent) == 1000)
        #expect(result.settlements.first { $0.outcome == .unsent }?.reason == "Interrupted")
        #expect(result.ledger.accepted == result.count(.accepted))
    }
}
