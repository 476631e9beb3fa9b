import PushServices
import Simulators
import Base
import Cryptography
import Glibc
import Testing

@testable import Delivery

@Suite("conformance: canary, limits, shared pace")
struct BrakesTests {
    private func answers(_ recipients: Range<Int>, _ status: Int, _ reason: String, times: Int? = nil) -> SimulatorFaults {
        var faults = SimulatorFaults()
        for recipient in recipients {
            faults.answers[SimulatorRun.token(recipient)] = SimulatedAnswer(status: status, reason: reason, times: times)
        }
        return faults
    }

    // MARK: Canary

    @Test("what is wrong with the first hundred pushes costs a hundred pushes, not one more")
    func canaryStops() throws {
        // The last ones are good, so that no alarm sounds before the hundredth answer.
        let result = try SimulatorRun(faults: answers(0..<60, 400, "BadDeviceToken"), pushes: 2000).run()
        result.expectStop(saying: "BadDeviceToken", "environment")
        #expect(result.ledger.requests == 100)
        #expect(result.count(.invalidToken) == 60 && result.count(.accepted) == 40 && result.count(.unsent) == 1900)
    }

    @Test("the rest waits for the slowest answer of the canary")
    func canaryWaits() throws {
        var faults = SimulatorFaults()
        faults.latencyMilliseconds = 100
        let result = try SimulatorRun(faults: faults, pushes: 600).run()
        result.expectAllAcceptedOnce()
        // By the sender's own clock: when the last push of the canary was settled, and when the first of the others was sent.
        let canary = result.settlements.filter { $0.recipient < 100 }.map(\.settledAt).max()
        let others = result.settlements.filter { $0.recipient >= 100 }.map {
            $0.settledAt.adding(seconds: -Double($0.latencyMilliseconds + 1) / 1000)
        }
        #expect(try #require(others.min()).adding(seconds: 0.005) >= (try #require(canary)))
    }

    @Test("a canary that meets every kind of trouble holds nobody up for ever")
    func canaryInTrouble() throws {
        var faults = answers(0..<30, 503, "ServiceUnavailable", times: 1)
        faults.silentEvery = 40
        faults.disconnectEvery = 55
        (faults.resetEvery, faults.refusedStreamEvery) = (17, 23)
        let result = try SimulatorRun(faults: faults, pushes: 200) {
            // The extra time that a connection's first push gets in addition to the time for an answer.
            ($0.connectTimeoutSeconds, $0.answerTimeoutSeconds) = (3, 1)
            $0.retry.maximumAttempts = 20
        }.run()
        result.expectAllAccepted()
    }

    // MARK: Limits

    @Test("the campaign's own limit stops the run once it may be judged")
    func stopLimits() throws {
        let faults = answers(100..<140, 410, "Unregistered")
        let result = try SimulatorRun(faults: faults, pushes: 5000) {
            $0.streamsPerConnection = 20
            $0.stopLimits = StopLimits()
            $0.stopLimits?.after = 200
            $0.stopLimits?.shares[.invalidToken] = StopShare(millionths: 100_000)
        }.run()
        result.expectStop(saying: "invalid_token", "delivery.stop_when", "10%", "Unregistered")
        #expect(result.count(.invalidToken) == 40)
        // Judged from 200 answers on, when the share was 20 %; at most the pushes in flight were added.
        #expect((160...260).contains(result.count(.accepted)))
    }

    // MARK: Time

    @Test("a retry that would come after the deadline is not waited for")
    func deadline() throws {
        var faults = answers(3..<4, 503, "ServiceUnavailable")
        faults.retryAfterSeconds = 600
        let result = try SimulatorRun(faults: faults) { $0.deadline = Timestamp.now().adding(seconds: 300) }.run()
        #expect(result.end == .finished)
        #expect(result.settlement(of: 3)?.outcome == .failed && result.settlement(of: 3)?.attempts == 1)
        #expect(result.count(.accepted) == 19)
    }

    /// Two runs of an app, each with its own server: the times at which pushes leave count.
    @Test("two senders of one app together keep its pace, and share it")
    func sharedPace() throws {
        let shared = SharedPace(Pace(pushes: 200, intervalSeconds: 1))
        @Sendable func run() throws -> RunResult { try SimulatorRun(pushes: 300) { $0.sharedPaces = [SharedPart(of: shared)] }.run() }
        let other = try WorkerThread("other run") { Result { try run() } }
        let results = [try run(), try other.join().get()]
        for result in results { result.expectAllAcceptedOnce() }
        // From submission, as the sender knows it: without the jitter of the network or the server.
        var times: [Int64] = []
        for settlement in results.flatMap(\.settlements) {
            times.append(settlement.settledAt.epochMilliseconds - Int64(settlement.latencyMilliseconds))
        }
        times.sort()
        // Both figures are truncated to whole milliseconds.
        #expect(times.indices.dropFirst(200).allSatisfy { times[$0] - times[$0 - 200] >= 998 })
        #expect((times.last ?? 0) - (times.first ?? 0) >= 2_900, "600 pushes at 200 a second take three seconds")
    }
}
