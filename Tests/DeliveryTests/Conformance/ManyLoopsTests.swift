import PushServices
import Simulators
import Base
import Glibc
import Testing

@testable import Delivery

/// Eight loops, however few cores there are: whatever holds for one must hold for all of them
/// together.
@Suite("conformance: many loops")
struct ManyLoopsTests {
    private static let loops = 8

    private func run(
        _ faults: SimulatorFaults = SimulatorFaults(), pushes: Int = 12_000,
        _ configure: @escaping (inout SenderSettings) -> Void = { _ in },
        meanwhile: (@Sendable (SendControl) -> Void)? = nil
    ) throws -> RunResult {
        var run = SimulatorRun(faults: faults, pushes: pushes) { settings in
            (settings.loops, settings.startsLoopsAtOnce) = (Self.loops, true)
            // Prevents one loop from getting all pushes before the next one is connected.
            settings.streamsPerConnection = 20
            configure(&settings)
        }
        run.meanwhile = meanwhile
        return try run.run()
    }

    private var slow: SimulatorFaults {
        var faults = SimulatorFaults()
        faults.latencyMilliseconds = 5
        return faults
    }

    @Test("everybody gets it once, whichever loop sends it")
    func once() throws {
        let result = try run(slow)
        result.expectAllAcceptedOnce()
        #expect((2...Self.loops).contains(result.ledger.connections), "\(result.ledger.connections)")
    }

    @Test("no more loops start than are allowed, however many ask at the same moment", arguments: [1, 2, 3])
    func atMost(loops: Int) throws {
        let result = try run(slow, pushes: 6000) { $0.loops = loops }
        result.expectAllAcceptedOnce()
        #expect(result.ledger.connections <= loops)
    }

    @Test("a run with a pace has one, which keeps it")
    func pace() throws {
        let result = try run(pushes: 330) { $0.pace = Pace(pushes: 200, intervalSeconds: 1) }
        result.expectAllAcceptedOnce()
        #expect(result.ledger.connections == 1)
        #expect(result.ledger.peakPerSecond <= 200)
    }

    @Test("the canary goes first, and none joins before it is over")
    func canary() throws {
        var faults = SimulatorFaults()
        for recipient in 0..<60 {
            faults.answers[SimulatorRun.token(recipient)] = SimulatedAnswer(status: 400, reason: "BadDeviceToken")
        }
        let result = try run(faults)
        result.expectStop(saying: "BadDeviceToken", "environment")
        #expect(result.ledger.requests == 100 && result.ledger.connections == 1)
        #expect(result.count(.unsent) == 11_900)
    }

    @Test("trouble of every kind at once, and each push is accounted for", arguments: [true, false])
    func everything(resendsUnknown: Bool) throws {
        var faults = slow
        (faults.tooManyRequestsEvery, faults.unavailableEvery, faults.internalErrorEvery) = (170, 230, 290)
        (faults.refusedStreamEvery, faults.resetEvery, faults.resetAcceptedEvery) = (310, 410, 430)
        (faults.informationEvery, faults.trailersEvery, faults.strangeFramesEvery, faults.largeHeadersEvery) = (
            5, 7, 11, 13
        )
        faults.streamLimitDipEvery = 370
        (faults.lowGoAwayEvery, faults.lowGoAwayLeavesOut) = (1010, 3)
        faults.closeWithoutNotifyEvery = 830
        let result = try run(faults) {
            $0.resendsUnknown = resendsUnknown
            $0.retry.maximumAttempts = 20
        }
        #expect(result.end == .finished)
        let (accepted, unknown, failed) = (result.count(.accepted), result.count(.unknown), result.count(.failed))
        #expect(accepted + unknown + failed == 12_000)
        #expect(result.ledger.connections > 2)
        let inDoubt = result.ledger.resetStreams + 20 * result.ledger.connections
        #expect(unknown <= (resendsUnknown ? 20 : inDoubt))
    }

    @Test("their answers are judged together, and the one that stops stops all")
    func stopLimits() throws {
        var faults = slow
        for recipient in 3000..<9000 {
            faults.answers[SimulatorRun.token(recipient)] = SimulatedAnswer(status: 410, reason: "Unregistered")
        }
        let result = try run(faults, pushes: 60_000) {
            $0.stopLimits = StopLimits()
            $0.stopLimits?.after = 1000
            $0.stopLimits?.shares[.invalidToken] = StopShare(millionths: 100_000)
        }
        result.expectStop(saying: "invalid_token", "delivery.stop_when", "10%")
        #expect(result.count(.unsent) > 0)
        #expect(result.ledger.acceptedTokens == result.count(.accepted))
    }

    @Test("an interrupt ends all of them, and what was not sent is unsent")
    func interrupt() throws {
        let result = try run(
            slow, pushes: 60_000,
            meanwhile: { control in
                while control.pushesSettled < 2000 { usleep(1000) }
                control.interrupt()
            })
        #expect(result.end == .interrupted)
        #expect(result.count(.accepted) + result.count(.unsent) == 60_000 && result.count(.unsent) > 0)
        #expect(result.settlements.first { $0.outcome == .unsent }?.reason == "Interrupted")
        #expect(result.ledger.accepted == result.count(.accepted))
    }

    @Test("nothing goes out after the deadline")
    func deadline() throws {
        let result = try run(slow, pushes: 60_000) { $0.deadline = Timestamp.now().adding(seconds: 1) }
        #expect(result.end == .finished)
        #expect(result.count(.accepted) + result.count(.unsent) == 60_000)
        #expect(result.ledger.accepted == result.count(.accepted))
    }

    @Test("a server that goes away under all of them loses and doubles nothing")
    func goAway() throws {
        var faults = slow
        faults.goAwayEvery = 300
        let result = try run(faults)
        result.expectAllAccepted()
        #expect(result.ledger.accepted == 12_000)
    }
}
