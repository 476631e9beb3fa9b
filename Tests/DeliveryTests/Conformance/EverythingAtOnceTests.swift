import PushServices
import Simulators
import Base
import Delivery
import Testing

@Suite("conformance: several kinds of trouble at once")
struct EverythingAtOnceTests {
    @Test("what is reported as accepted is what the server accepted", arguments: [true, false])
    func everything(resendsUnknown: Bool) throws {
        var faults = SimulatorFaults()
        (faults.tooManyRequestsEvery, faults.unavailableEvery, faults.internalErrorEvery) = (17, 23, 29)
        (faults.refusedStreamEvery, faults.resetEvery, faults.resetAcceptedEvery) = (31, 41, 43)
        (faults.informationEvery, faults.trailersEvery, faults.strangeFramesEvery, faults.largeHeadersEvery) = (
            5, 7, 11, 13
        )
        faults.earlyAnswerEvery = 19
        faults.streamLimit = 20
        faults.streamLimitDipEvery = 37
        faults.lowGoAwayEvery = 101
        faults.lowGoAwayLeavesOut = 3
        faults.closeWithoutNotifyEvery = 83
        faults.latencyMilliseconds = 2
        let result = try SimulatorRun(faults: faults, pushes: 400) { $0.resendsUnknown = resendsUnknown }.run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) + result.count(.unknown) + result.count(.failed) == 400)
        #expect(result.count(.accepted) > 200)
        #expect(result.ledger.connections > 2)
        // Apart from resets, only the pushes in flight when a connection was closed silently are in
        // doubt.
        let resets = result.ledger.resetStreams
        let inFlight = 20 * result.ledger.connections
        #expect(resendsUnknown ? result.count(.unknown) < 20 : result.count(.unknown) <= resets + inFlight)
    }

    @Test("trouble with the service and with connections: every push gets through")
    func lighter() throws {
        var faults = SimulatorFaults()
        (faults.tooManyRequestsEvery, faults.unavailableEvery) = (17, 23)
        faults.goAwayEvery = 101
        faults.streamLimit = 50
        let result = try SimulatorRun(faults: faults, pushes: 600) { $0.retry.maximumAttempts = 20 }.run()
        result.expectAllAccepted()
        #expect(result.ledger.accepted == 600)
    }
}
