import Simulators
import Base
import Delivery
import Testing

@Suite("conformance: limits of the server")
struct LimitsTests {
    private func run(
        pushes: Int = 200, payload: String = smallPayload, _ change: (inout SimulatorFaults) -> Void
    ) throws -> RunResult {
        var faults = SimulatorFaults()
        change(&faults)
        var run = SimulatorRun(faults: faults, pushes: pushes)
        run.payload = payload
        return try run.run()
    }

    @Test("never more streams than the server allows", arguments: [1, 2, 20])
    func fixed(limit: Int) throws {
        let result = try run() { $0.streamLimit = limit }
        result.expectAllAcceptedOnce()
        #expect(result.ledger.refusedStreams == 0)
        #expect(result.ledger.connections == 1)
    }

    @Test("one stream until the first push was accepted, also when it is refused first")
    func first() throws {
        let result = try run() {
            $0.answers[SimulatorRun.token(0)] = SimulatedAnswer(status: 503, reason: "ServiceUnavailable", times: 2)
        }
        result.expectAllAccepted()
        #expect(result.ledger.refusedStreams == 0)
        #expect(result.ledger.connections == 1)
    }

    /// Streams beyond the new limit that were already on the way come back as REFUSED_STREAM.
    @Test("a limit that falls to one and rises again, over and over", arguments: [0, 10])
    func dips(milliseconds: Int) throws {
        let result = try run(pushes: 300) {
            $0.streamLimit = 20
            $0.streamLimitDipEvery = 25
            $0.streamLimitDipMilliseconds = milliseconds
        }
        result.expectAllAcceptedOnce()
        #expect(result.ledger.connections == 1)
    }

    @Test("a limit that falls back to one after rejections loses nothing")
    func fallsBack() throws {
        let result = try run(pushes: 300) {
            $0.streamLimit = 20
            $0.streamLimitFallsBackAfterRejections = 1
            for recipient in stride(from: 50, to: 300, by: 50) {
                $0.answers[SimulatorRun.token(recipient)] = SimulatedAnswer(status: 400, reason: "BadDeviceToken")
            }
        }
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 295 && result.count(.invalidToken) == 5)
        #expect(result.repeats == 0 && result.ledger.connections == 1)
    }

    @Test(
        "small windows only slow things down",
        arguments: [
            SimulatedWindows(streamBytes: 1), SimulatedWindows(streamBytes: 16),
            SimulatedWindows(streamBytes: 65535, connectionBytes: 16),
            SimulatedWindows(streamBytes: 7, connectionBytes: 50, delayMilliseconds: 0),
        ])
    func windows(windows: SimulatedWindows) throws {
        let result = try run(pushes: 30) { $0.windows = windows }
        result.expectAllAcceptedOnce()
        #expect(result.ledger.connections == 1)
    }

    @Test("large payloads pass a window that is smaller than they are")
    func largePayloads() throws {
        let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 4000))"}}"#
        let result = try run(pushes: 60, payload: payload) { $0.windows = SimulatedWindows(streamBytes: 1000) }
        result.expectAllAcceptedOnce()
        #expect(result.ledger.connections == 1)
    }
}
