import Simulators
import Base
import Delivery
import HTTP2
import Testing

@Suite("conformance: streams without an answer")
struct StreamsTests {
    private static let streams = 10
    /// More than there are streams: the push that is sent again in place of a reset one is not the
    /// next to be reset.
    private static let every = 13
    private static let codes: [HTTP2ErrorCode] = [
        .internalError, .cancel, .noError, HTTP2ErrorCode(rawValue: 11), HTTP2ErrorCode(rawValue: 0xFA),
    ]

    private func run(
        resendsUnknown: Bool, pushes: Int = 100, _ change: (inout SimulatorFaults) -> Void
    ) throws -> RunResult {
        var faults = SimulatorFaults()
        change(&faults)
        return try SimulatorRun(faults: faults, pushes: pushes) {
            $0.resendsUnknown = resendsUnknown
            $0.streamsPerConnection = Self.streams
            $0.answerTimeoutSeconds = 2
        }.run()
    }

    @Test("REFUSED_STREAM is sent again at once, and is no attempt", arguments: [true, false])
    func refused(resendsUnknown: Bool) throws {
        let result = try run(resendsUnknown: resendsUnknown) { $0.refusedStreamEvery = 25 }
        #expect(result.end == .finished)
        #expect(result.ledger.refusedStreams >= 4)
        result.expectAllAcceptedOnce()
        #expect(result.ledger.connections == 1)
    }

    @Test("a stream that is reset is in doubt, and sent again under the same apns-id", arguments: codes)
    func reset(code: HTTP2ErrorCode) throws {
        let result = try run(resendsUnknown: true) {
            $0.resetEvery = Self.every
            $0.resetErrorCode = code
        }
        result.expectAllAccepted()
        #expect(result.ledger.resetStreams >= 7)
        #expect(result.repeats == result.ledger.resetStreams, "the others are not touched")
        #expect(result.ledger.accepted == 100)
        #expect(result.ledger.connections == 1)
    }

    @Test("a stream that is reset after its push was accepted is unknown, or accepted twice", arguments: codes)
    func resetAccepted(code: HTTP2ErrorCode) throws {
        for resendsUnknown in [true, false] {
            let result = try run(resendsUnknown: resendsUnknown) {
                $0.resetAcceptedEvery = Self.every
                $0.resetErrorCode = code
            }
            #expect(result.end == .finished)
            #expect(result.ledger.resetStreams >= 7)
            #expect(result.count(.unknown) == (resendsUnknown ? 0 : 7))
            #expect(result.ledger.acceptedTokens == 100)
            #expect(result.ledger.accepted == (resendsUnknown ? 100 + result.ledger.resetStreams : 100))
            #expect(result.ledger.connections == 1)
        }
    }

    @Test("without resending, a stream that was reset before anything was done is unknown, and only that")
    func resetWithoutResending() throws {
        let result = try run(resendsUnknown: false) { $0.resetEvery = Self.every }
        #expect(result.end == .finished)
        #expect(result.count(.unknown) == 7 && result.count(.accepted) == 93)
        #expect(result.settlements.allSatisfy { $0.outcome != .unknown || $0.reason == "StreamReset" })
        #expect(result.ledger.accepted == 93)
    }

    @Test("an answer that never comes is waited for as long as was said, and no longer", arguments: [true, false])
    func missing(resendsUnknown: Bool) throws {
        var faults = SimulatorFaults()
        faults.silentEvery = 20
        let result = try SimulatorRun(faults: faults, pushes: 50) {
            $0.resendsUnknown = resendsUnknown
            $0.answerTimeoutSeconds = 0.6
        }.run()
        #expect(result.end == .finished)
        #expect(result.ledger.acceptedTokens == 50)
        #expect(result.ledger.repeatedIDs == result.ledger.accepted - 50)
        if resendsUnknown {
            #expect(result.count(.accepted) == 50 && result.ledger.accepted > 50)
        } else {
            #expect(result.count(.unknown) >= 2)
        }
    }

    @Test(
        "what a gateway answers is in doubt, and nothing is sent again unless the campaign says so",
        arguments: [true, false])
    func gateway(resendsUnknown: Bool) throws {
        let result = try run(resendsUnknown: resendsUnknown, pushes: 200) { $0.gatewayEvery = 10 }
        #expect(result.end == .finished)
        if resendsUnknown {
            #expect(result.count(.accepted) == 200 && result.ledger.accepted > 200)
        } else {
            #expect(
                result.repeats == 0 && result.count(.accepted) == 180 && result.count(.unknown) == 20,
                "\(result.outcomes)")
            #expect(result.ledger.accepted == 190, "every other one had been passed on")
            let doubts = result.settlements.filter { $0.outcome == .unknown }
            #expect(doubts.allSatisfy { (502...504).contains($0.status) && $0.reason == "HTTP\($0.status)" })
        }
    }

    @Test("late answers count")
    func late() throws {
        let result = try run(resendsUnknown: false, pushes: 60) { $0.latencyMilliseconds = 60 }
        result.expectAllAcceptedOnce()
        #expect(result.settlements.allSatisfy { $0.latencyMilliseconds >= 30 })
    }

    @Test("an answer before the payload was read counts, and what follows it harms nothing", arguments: [1, 3])
    func early(every: Int) throws {
        let result = try run(resendsUnknown: false) {
            $0.earlyAnswerEvery = every
            $0.answers[SimulatorRun.token(50)] = SimulatedAnswer(status: 410, reason: "Unregistered")
        }
        #expect(result.end == .finished)
        #expect(result.count(.accepted) == 99, "\(result.outcomes)")
        #expect(result.settlement(of: 50)?.outcome == .invalidToken)
        #expect(result.repeats == 0)
        #expect(result.ledger.connections == 1)
    }
}
