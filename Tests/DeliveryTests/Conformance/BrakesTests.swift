import PushServices
import Simulators
import Base
import Cryptography
import Glibc
import Synchronization
import Testing

@testable import Delivery

@Suite("conformance: canary, limits, shared pace")
struct BrakesTests {
    private func answers(_ recipients: Range<Int>, _ status: Int, _ reason: String, times: Int? = nil)
        -> SimulatorFaults
    {
        var faults = SimulatorFaults()
        for recipient in recipients {
            faults.answers[SimulatorRun.token(recipient)] = SimulatedAnswer(
                status: status, reason: reason, times: times)
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
        // By the sender's own clock: when the last push of the canary was settled, and when the
        // first of the others was sent.
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
            // The extra time that a connection's first push gets in addition to the time for an
            // answer.
            ($0.connectTimeoutSeconds, $0.answerTimeoutSeconds) = (3, 1)
            $0.retry.maximumAttempts = 20
        }.run()
        result.expectAllAccepted()
    }

    @Test("whether the canary is over can be seen from outside")
    func canaryIsOver() throws {
        func run(_ pushes: Int, bad: Int = 0) throws -> SendControl {
            let controls = BoundedQueue<SendControl>(capacity: 1)
            var run = SimulatorRun(faults: answers(0..<bad, 400, "BadDeviceToken"), pushes: pushes)
            run.meanwhile = { controls.put($0) }
            _ = try run.run()
            return try #require(controls.take())
        }
        #expect(try run(300).canaryIsOver)
        #expect(try !run(300, bad: 60).canaryIsOver, "judged badly")
        #expect(try !run(60).canaryIsOver, "smaller than a canary")
    }

    // MARK: Workers of a run

    /// Waits until a sender has started this many pushes.
    private static func wait(for pushes: Int, _ control: SendControl) {
        guard let wakeup = try? Wakeup() else { return }
        control.started.wake(wakeup, when: pushes)
        wakeup.wait(atMost: 30)
    }

    /// Lets time pass in which nothing must happen.
    private static func pass(seconds: Double) { (try? Wakeup())?.wait(atMost: seconds) }

    @Test("answers that other members got stop a sender that waits for its pace")
    func elsewhere() throws {
        var run = SimulatorRun(pushes: 100) {
            // The next push is due in an hour.
            $0.pace = Pace(pushes: 1, intervalSeconds: 3600)
            $0.stopLimits = StopLimits()
            $0.stopLimits?.after = 100
            $0.stopLimits?.shares[.rejected] = StopShare(millionths: 100_000)
        }
        run.meanwhile = { control in
            Self.wait(for: 1, control)
            control.noteElsewhere([.accepted: 100, .rejected: 100])
            // A sender that does not notice must not hang the tests.
            Self.pass(seconds: 20)
            control.interrupt()
        }
        let result = try run.run()
        result.expectStop(saying: "rejected", "(100 of 20")
        #expect(result.ledger.requests <= 1)
    }

    @Test("nothing leaves while the gate is closed, and everything once it is open")
    func gate() throws {
        let parts = Mutex<[Int]>([])
        var run = SimulatorRun(pushes: 3000) {
            $0.sharedPaces = [PaceAllotment(of: SharedPace(Pace(pushes: 2000, intervalSeconds: 1)))]
        }
        run.meanwhile = { control in
            Self.wait(for: 500, control)
            control.closeGate()
            // The turn that is under way ends.
            Self.pass(seconds: 0.2)
            let closed = control.started.value
            Self.pass(seconds: 0.5)
            parts.withLock { $0 = [closed, control.started.value, control.wait == .store ? 1 : 0] }
            control.openGate()
        }
        try run.run().expectAllAcceptedOnce()
        let seen = parts.withLock { $0 }
        #expect(seen.count == 3 && seen[0] == seen[1] && seen[0] < 1500 && seen[2] == 1, "\(seen)")
    }

    @Test("a sender that has no part of its pace sends nothing, and all of it within half a second of getting one")
    func part() throws {
        let shared = SharedPace(Pace(pushes: 3600, intervalSeconds: 3600))
        shared.setPart(0)
        var run = SimulatorRun(pushes: 1) { $0.sharedPaces = [PaceAllotment(of: shared)] }
        let before = Mutex(-1), granted = Mutex<Timestamp?>(nil)
        run.meanwhile = { control in
            Self.pass(seconds: 0.7)
            before.withLock { $0 = control.started.value }
            granted.withLock { $0 = .now() }
            shared.setPart(1)
        }
        let result = try run.run()
        result.expectAllAcceptedOnce()
        let wait =
            (result.settlements[0].settledAt.epochMilliseconds) - (granted.withLock { $0 }?.epochMilliseconds ?? 0)
        #expect(
            before.withLock { $0 } == 0 && (0..<1_500).contains(wait), "\(wait) ms, with the time for the connection")
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
        // Judged from 200 answers on, when the share was 20 %; at most the pushes in flight were
        // added.
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
        @Sendable func run() throws -> RunResult {
            try SimulatorRun(pushes: 300) { $0.sharedPaces = [PaceAllotment(of: shared)] }.run()
        }
        let other = try WorkerThread("other run") { Result { try run() } }
        let results = [try run(), try other.join().get()]
        for result in results { result.expectAllAcceptedOnce() }
        // From submission, as the sender measures it: without the jitter of the network or the
        // server.
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
