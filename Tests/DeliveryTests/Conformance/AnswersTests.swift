import PushServices
import Simulators
import Base
import Cryptography
import Synchronization
import Reports
import Testing

@testable import Delivery

/// apns.md, "Response": every row.
@Suite("conformance: answers")
struct AnswersTests {
    private func run(
        _ status: Int, _ reason: String, times: Int? = nil, to recipient: Int = 3,
        _ configure: @escaping (inout SenderSettings) -> Void = { _ in }
    ) throws -> RunResult {
        var faults = SimulatorFaults()
        faults.answers[SimulatorRun.token(recipient)] = SimulatedAnswer(status: status, reason: reason, times: times)
        return try SimulatorRun(faults: faults, configure).run()
    }

    @Test("a healthy server accepts every push once, under its own apns-id")
    func allAccepted() throws {
        let result = try SimulatorRun(pushes: 2000).run()
        result.expectAllAcceptedOnce()
        #expect(result.ledger.reasons.isEmpty && result.ledger.refusedStreams == 0)
        #expect(result.settlements.allSatisfy { $0.status == 200 && $0.reason.isEmpty && $0.invalidSince == nil })
    }

    @Test("no push at all is a run as well")
    func noPush() throws {
        let result = try SimulatorRun(pushes: 0).run()
        #expect(result.end == .finished)
        #expect(result.ledger.connections == 0)
    }

    @Test("a run of one push that is refused reports the refusal")
    func onePush() throws {
        var faults = SimulatorFaults()
        faults.answers[SimulatorRun.token(0)] = SimulatedAnswer(status: 410, reason: "Unregistered")
        let result = try SimulatorRun(faults: faults, pushes: 1).run()
        #expect(result.end == .finished)
        #expect(result.settlement(of: 0)?.outcome == .invalidToken)
    }

    // MARK: Settled at once

    @Test(
        "final answers settle their push alone",
        arguments: [
            (400, "BadDeviceToken", Outcome.invalidToken), (400, "DeviceTokenNotForTopic", .invalidToken),
            (410, "Unregistered", .invalidToken), (410, "ExpiredToken", .invalidToken),
            (413, "PayloadTooLarge", .rejected),
            // An unknown answer is settled by its class.
            (400, "AnotherNewReason", .rejected), (418, "SomethingNew", .rejected),
            // What is about the settings concerns one push after all if others are accepted.
            (404, "NewlyMissing", .rejected), (404, "BadPath", .rejected), (405, "MethodNotAllowed", .rejected),
            (403, "NewlyForbidden", .rejected), (400, "TopicDisallowed", .rejected),
        ])
    func finalAnswers(answer: (status: Int, reason: String, outcome: Outcome)) throws {
        let result = try run(answer.status, answer.reason)
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 19)
        let settlement = try #require(result.settlement(of: 3))
        #expect(settlement.outcome == answer.outcome)
        #expect(settlement.status == answer.status)
        #expect(settlement.reason == answer.reason)
        #expect(settlement.attempts == 1)
        #expect(result.ledger.connections == 1)
    }

    @Test("410 says since when the token is invalid")
    func invalidSince() throws {
        let since = try #require(try run(410, "Unregistered").settlement(of: 3)?.invalidSince)
        // The simulator says three days.
        let days = Double(Timestamp.now().epochMilliseconds - since.epochMilliseconds) / 86_400_000
        #expect((3.0...3.01).contains(days))
    }

    // MARK: Tried again

    @Test(
        "temporary answers are tried again until they pass",
        arguments: [
            (429, "TooManyRequests", 1), (429, "TooManyProviderTokenUpdates", 1), (500, "InternalServerError", 1),
            (503, "ServiceUnavailable", 1), (599, "New", 1),
            // Not from APNs, and no device has the push.
            (302, "Moved", 1),
            // Sent again over another connection.
            (503, "Shutdown", 3), (500, "Shutdown", 3), (400, "IdleTimeout", 3),
        ])
    func temporaryAnswers(answer: (status: Int, reason: String, connections: Int)) throws {
        let result = try run(answer.status, answer.reason, times: 2)
        result.expectAllAccepted()
        #expect(result.settlement(of: 3)?.attempts == 3)
        #expect(result.repeats == 2, "the others are not touched")
        #expect(result.ledger.accepted == 20)
        #expect(result.ledger.connections == answer.connections)
        #expect(result.ledger.providerTokens == 1, "the JWT is kept")
    }

    @Test("a temporary answer that stays is failed after the attempts, with the last reason")
    func attemptsRunOut() throws {
        let result = try run(503, "ServiceUnavailable") { $0.retry.maximumAttempts = 3 }
        let settlement = try #require(result.settlement(of: 3))
        #expect(settlement.outcome == .failed && settlement.attempts == 3)
        #expect(settlement.status == 503 && settlement.reason == "ServiceUnavailable")
        #expect(result.ledger.reasons["ServiceUnavailable"] == 3)
    }

    @Test("retry-after is obeyed", arguments: [(429, "TooManyRequests"), (503, "ServiceUnavailable")])
    func retryAfter(answer: (status: Int, reason: String)) throws {
        var faults = SimulatorFaults()
        faults.retryAfterSeconds = 1
        faults.answers[SimulatorRun.token(0)] = SimulatedAnswer(status: answer.status, reason: answer.reason, times: 1)
        let began = Timestamp.now()
        let result = try SimulatorRun(faults: faults, pushes: 1).run()
        result.expectAllAccepted()
        #expect(result.repeats == 1)
        #expect(Timestamp.now().epochMilliseconds - began.epochMilliseconds >= 1000)
    }

    // MARK: The run stops

    @Test(
        "an answer that all pushes would get stops the run, and says what to check",
        arguments: [
            (400, "BadTopic", "topic"), (400, "MissingTopic", "topic"), (400, "TopicDisallowed", "key"),
            (400, "BadPriority", "priority"),
            (400, "BadCollapseId", "collapse"), (400, "BadExpirationDate", "expires"), (400, "InvalidPushType", "push"),
            (400, "PayloadEmpty", "content"), (400, "DuplicateHeaders", "Volley"), (400, "BadMessageId", "Volley"),
            (400, "MissingDeviceToken", "Volley"), (403, "InvalidProviderToken", "team"),
            (403, "MissingProviderToken", "key"),
            (403, "BadCertificate", "certificate"), (403, "BadCertificateEnvironment", "environment"),
            (403, "BadEnvironmentKeyInToken", "environment"), (403, "BadEnvironmentKeyIdInToken", "environment"),
            (403, "UnrelatedKeyIdInToken", "key"), (403, "Forbidden", "membership"), (404, "BadPath", "host"),
            (405, "MethodNotAllowed", "host"), (403, "NewlyForbidden", "environment"),
        ])
    func stops(answer: (status: Int, reason: String, advice: String)) throws {
        let result = try run(answer.status, answer.reason, to: 0)
        result.expectStop(saying: answer.reason, answer.advice)
        #expect(result.settlement(of: 0)?.outcome == .rejected)
        #expect(result.settlement(of: 0)?.reason == answer.reason)
        #expect(result.count(.unsent) == 19)
        #expect(result.settlements.first { $0.outcome == .unsent }?.reason == "Stopped")
        #expect(result.ledger.accepted == 0)
    }

    @Test("mostly bad tokens stop the run: the environment is wrong, not the tokens")
    func badTokens() throws {
        var faults = SimulatorFaults()
        for recipient in 0..<400 {
            faults.answers[SimulatorRun.token(recipient)] = SimulatedAnswer(status: 400, reason: "BadDeviceToken")
        }
        let result = try SimulatorRun(faults: faults, pushes: 400).run()
        result.expectStop(saying: "environment")
        #expect((100...110).contains(result.count(.invalidToken)))
        #expect(result.count(.unsent) == 400 - result.count(.invalidToken))
    }

    // MARK: Provider tokens

    @Test("a provider token called expired within 20 minutes stops the run: a clock is wrong")
    func expiredTooSoon() throws {
        let result = try run(403, "ExpiredProviderToken", to: 0)
        result.expectStop(saying: "clock")
        #expect(result.ledger.providerTokens <= 1)
        #expect(result.count(.unsent) == 20)
    }

    /// A source with a first token that was minted 30 minutes ago, and says that it was minted
    /// `iatMinutes` ago.
    private func source(_ key: SigningKey, iatMinutes: Int64) -> SignedTokenSource {
        final class Calls: Sendable { let count = Mutex(0) }
        let calls = Calls()
        return SignedTokenSource(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", history: SignedTokenHistory()) {
            let isFirst = calls.count.withLock { count in
                count += 1
                return count == 1
            }
            let now = Moment(nanoseconds: monotonicNanoseconds(), wall: .now())
            guard isFirst else { return now }
            let minute: Int64 = 60_000_000_000
            return Moment(
                nanoseconds: now.nanoseconds - 30 * minute, wall: now.wall.adding(seconds: -60 * Double(iatMinutes)))
        }
    }

    @Test("a provider token called expired after 20 minutes is renewed, over a new connection")
    func expired() throws {
        var faults = SimulatorFaults()
        faults.answers[SimulatorRun.token(3)] = SimulatedAnswer(status: 403, reason: "ExpiredProviderToken", times: 1)
        var run = SimulatorRun(faults: faults)
        run.tokens = { source($0, iatMinutes: 30) }
        let result = try run.run()
        result.expectAllAccepted()
        #expect(result.settlement(of: 3)?.attempts == 2)
        #expect(result.ledger.providerTokens == 2)
        #expect(result.ledger.connections == 2)
    }

    @Test("a connection that stays wedged with its expired token is given up")
    func wedged() throws {
        var run = SimulatorRun()
        // The server's clock is 31 minutes ahead: for the server the token is older than an hour.
        run.tokens = { source($0, iatMinutes: 61) }
        let result = try run.run()
        result.expectAllAccepted()
        #expect(result.settlement(of: 0)?.attempts == 2 && result.repeats == 1)
        #expect(result.ledger.reasons["ExpiredProviderToken"] == 1)
        #expect(result.ledger.providerTokens == 1)
        #expect(result.ledger.connections == 2)
    }

    @Test("a clock that is far behind is named as the cause, with the difference")
    func clockBehind() throws {
        var faults = SimulatorFaults()
        faults.clockAheadSeconds = 3 * 3600 + 30
        let result = try SimulatorRun(faults: faults).run()
        result.expectStop(saying: "expired", "This machine's clock is 3 h 0 min behind the server's. Set the clock")
        #expect(result.count(.unsent) == 20)
    }

    @Test("a clock that is far ahead is named as the cause, with the difference")
    func clockAhead() throws {
        var faults = SimulatorFaults()
        faults.clockAheadSeconds = -2 * 3600 + 30
        let result = try SimulatorRun(faults: faults).run()
        result.expectStop(
            saying: "InvalidProviderToken", "This machine's clock is 1 h 59 min ahead of the server's.", "Set the clock"
        )
    }

    @Test("a clock that is right is not blamed for a key that is wrong")
    func clockRight() throws {
        var faults = SimulatorFaults()
        faults.clockAheadSeconds = 0
        var run = SimulatorRun(faults: faults)
        run.tokens = { _ in SimulatorRun.source(.generate()) }
        let result = try run.run()
        result.expectStop(saying: "InvalidProviderToken")
        guard case .stopped(let cause) = result.end else { return }
        let reason = cause.sentence
        #expect(!reason.contains("ahead of") && !reason.contains("behind"), "\(reason)")
    }
}
