import Simulators
import Base
import Delivery
import Testing

/// Frames around the answers that mean nothing. All PINGs and SETTINGS of a run together are fewer
/// than 1,000: see `pingFlood`.
struct Noise: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var faults = SimulatorFaults()

    init(_ description: String, _ change: (inout SimulatorFaults) -> Void) {
        testDescription = description
        change(&faults)
    }

    static let all = [
        Noise("frames and settings that nobody knows") { $0.strangeFramesEvery = 3 },
        Noise("200 PINGs at once") { ($0.pingFloodEvery, $0.pingFloodSize) = (40, 200) },
        Noise("100 SETTINGS at once") { ($0.settingsFloodEvery, $0.settingsFloodSize) = (40, 100) },
        Noise("headers that take a CONTINUATION") { $0.largeHeadersEvery = 2 },
        Noise("103 before answers") { $0.informationEvery = 2 },
        Noise("trailers behind answers") { $0.trailersEvery = 2 },
        Noise("all of it") {
            $0.strangeFramesEvery = 7
            ($0.pingFloodEvery, $0.pingFloodSize) = (50, 200)
            $0.settingsFloodEvery = 60
            ($0.largeHeadersEvery, $0.informationEvery, $0.trailersEvery) = (5, 3, 2)
        },
    ]
}

@Suite("conformance: noise and garbage")
struct NoiseTests {
    @Test("what means nothing changes nothing", arguments: Noise.all)
    func noise(noise: Noise) throws {
        var faults = noise.faults
        faults.answers[SimulatorRun.token(70)] = SimulatedAnswer(status: 410, reason: "Unregistered")
        faults.answers[SimulatorRun.token(71)] = SimulatedAnswer(status: 429, reason: "TooManyRequests", times: 1)
        let result = try SimulatorRun(faults: faults, pushes: 120) { $0.resendsUnknown = false }.run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 119, "\(result.outcomes)")
        #expect(
            result.settlement(of: 70)?.outcome == .invalidToken && result.settlement(of: 70)?.reason == "Unregistered")
        #expect(result.repeats == 1)
        #expect(result.ledger.connections == 1)
    }

    @Test("5,000 PINGs at once are answered, and no push is lost")
    func pingFlood() throws {
        var faults = SimulatorFaults()
        (faults.pingFloodEvery, faults.pingFloodSize) = (40, 5000)
        let result = try SimulatorRun(faults: faults, pushes: 100) { $0.answerTimeoutSeconds = 2 }.run()
        result.expectAllAcceptedOnce()
        #expect(result.ledger.connections == 1)
    }

    @Test("a server that begins with garbage is tried again", arguments: [true, false])
    func garbageFirst(closes: Bool) throws {
        var faults = SimulatorFaults()
        faults.garbage = SimulatedGarbage(afterPushes: 0, connections: 2, thenCloses: closes)
        let result = try SimulatorRun(faults: faults, pushes: 50).run()
        result.expectAllAccepted()
        #expect(result.ledger.connections == 3)
        #expect(result.ledger.accepted == 50)
    }

    @Test("a server that only ever says garbage stops the run")
    func garbageOnly() throws {
        var faults = SimulatorFaults()
        faults.garbage = SimulatedGarbage(afterPushes: 0, connections: .max)
        let result = try SimulatorRun(faults: faults, pushes: 5).run()
        result.expectStop(saying: "attempts to reach localhost:")
        #expect(result.ledger.connections == 5)
    }

    @Test(
        "garbage in the middle ends the connection, and what was in flight there is in doubt", arguments: [true, false])
    func garbageLater(closes: Bool) throws {
        for resendsUnknown in [true, false] {
            var faults = SimulatorFaults()
            faults.garbage = SimulatedGarbage(afterPushes: 30, connections: 2, thenCloses: closes)
            let result = try SimulatorRun(faults: faults, pushes: 120) {
                $0.resendsUnknown = resendsUnknown
                $0.streamsPerConnection = 10
            }.run()
            #expect(result.end == .finished)
            #expect(result.count(.accepted) + result.count(.unknown) == 120)
            #expect(result.count(.unknown) <= (resendsUnknown ? 0 : 20))
            #expect(result.ledger.connections == 3)
        }
    }
}
