import Simulators
import Base
import Delivery
import Testing

/// A way in which a server ends its connections after every `ConnectionEnd.pushes` pushes.
struct ConnectionEnd: Sendable, CustomTestStringConvertible {
    static let pushes = 30
    /// Streams of a connection in these tests: the most pushes that can be in doubt when it ends.
    static let streams = 10

    var testDescription: String
    /// GOAWAY says which pushes were not processed, and the others are answered: nothing is in
    /// doubt.
    var tellsAll = false
    var faults = SimulatorFaults()

    init(_ description: String, tellsAll: Bool = false, _ change: (inout SimulatorFaults) -> Void) {
        testDescription = description
        self.tellsAll = tellsAll
        change(&faults)
    }

    static let all = [
        ConnectionEnd("GOAWAY", tellsAll: true) { $0.goAwayEvery = pushes },
        ConnectionEnd("GOAWAY that leaves out the latest", tellsAll: true) {
            $0.lowGoAwayEvery = pushes
            $0.lowGoAwayLeavesOut = 5
        },
        ConnectionEnd("GOAWAY in two steps", tellsAll: true) { $0.gracefulGoAwayEvery = pushes },
        ConnectionEnd("cut without a word") { $0.disconnectEvery = pushes },
        ConnectionEnd("cut in the middle of a frame") { $0.cutMidFrameEvery = pushes },
        ConnectionEnd("RST of TCP") { $0.resetConnectionEvery = pushes },
        ConnectionEnd("FIN without close_notify") { $0.closeWithoutNotifyEvery = pushes },
        ConnectionEnd("close_notify without GOAWAY") { $0.closeWithoutGoAwayEvery = pushes },
    ]
}

@Suite("conformance: connections that end")
struct ConnectionsTests {
    private func run(_ faults: SimulatorFaults, resendsUnknown: Bool) throws -> RunResult {
        try SimulatorRun(faults: faults, pushes: 150) {
            $0.resendsUnknown = resendsUnknown
            $0.streamsPerConnection = ConnectionEnd.streams
        }.run()
    }

    @Test("however connections end, every push is accepted in the end", arguments: ConnectionEnd.all)
    func resends(end: ConnectionEnd) throws {
        let result = try run(end.faults, resendsUnknown: true)
        result.expectAllAccepted()
        #expect(result.ledger.connections >= 4, "the fault did not happen")
        if end.tellsAll { result.expectAllAcceptedOnce() }
        if !end.tellsAll {
            #expect(result.ledger.accepted > 150, "the last push of a connection was accepted and not answered")
        }
    }

    @Test(
        "without resending nothing is accepted twice, and only what was in flight is unknown",
        arguments: ConnectionEnd.all)
    func unknown(end: ConnectionEnd) throws {
        let result = try run(end.faults, resendsUnknown: false)
        #expect(result.end == .finished)
        #expect(result.count(.accepted) + result.count(.unknown) == 150)
        // The last one may have ended cleanly.
        let ended = result.ledger.connections - 1
        #expect(ended >= 2, "the fault did not happen")
        #expect(
            result.count(.unknown) <= result.ledger.connections * ConnectionEnd.streams,
            "more unknown than was in flight")
        if !end.tellsAll { #expect(result.count(.unknown) >= ended, "an unanswered push that was accepted") }
        if end.tellsAll { result.expectAllAcceptedOnce() }
    }

    @Test(
        "a connection that was closed while it stood idle is replaced, and the new one begins with a single push")
    func idle() throws {
        var faults = SimulatorFaults()
        faults.idleTimeoutSeconds = 1
        var run = SimulatorRun(faults: faults, pushes: 5)
        run.late = (pushes: 200, afterSeconds: 2.5)
        let result = try run.run()
        result.expectAllAcceptedOnce()
        #expect(result.ledger.connections == 2)
        #expect(result.ledger.refusedStreams == 0)
    }

    @Test("many rejections end a connection with GOAWAY, and the run goes on")
    func rejections() throws {
        var faults = SimulatorFaults()
        faults.rejectionsBeforeGoAway = 5
        for recipient in stride(from: 10, to: 150, by: 10) {
            faults.answers[SimulatorRun.token(recipient)] = SimulatedAnswer(status: 400, reason: "BadDeviceToken")
        }
        let result = try run(faults, resendsUnknown: true)
        #expect(result.end == .finished)
        #expect(result.count(.invalidToken) == 14 && result.count(.accepted) == 136)
        #expect(result.repeats == 0 && result.ledger.connections == 3)
    }

    @Test("a connection that falls silent is given up by its missing PING, long before answers are overdue")
    func silentWithPing() throws {
        var faults = SimulatorFaults()
        faults.silentAfter = 30
        // Gets a PING after a sixth, and is given up after another third.
        let timeout = 4.0
        let began = ContinuousClock.now
        let result = try SimulatorRun(faults: faults, pushes: 40) { $0.answerTimeoutSeconds = timeout }.run()
        result.expectAllAccepted()
        #expect(result.ledger.connections == 2)
        #expect(ContinuousClock.now - began < .seconds(timeout))
    }

    @Test("a connection that falls silent is given up, whatever can be asked", arguments: [true, false])
    func silent(resendsUnknown: Bool) throws {
        var faults = SimulatorFaults()
        faults.silentAfter = 30
        let result = try SimulatorRun(faults: faults, pushes: 60) {
            $0.resendsUnknown = resendsUnknown
            $0.streamsPerConnection = ConnectionEnd.streams
            $0.answerTimeoutSeconds = 0.9
        }.run()
        #expect(result.end == .finished)
        #expect(result.count(.unknown) <= (resendsUnknown ? 0 : 2 * ConnectionEnd.streams))
        #expect(result.ledger.connections >= 2)
    }

    @Test("a server that is slow, and answers PING, is not given up")
    func slow() throws {
        var faults = SimulatorFaults()
        faults.latencyMilliseconds = 1200
        // Silence is noticed after half a second, and would count as the end after another half.
        let result = try SimulatorRun(faults: faults, pushes: 10) { $0.answerTimeoutSeconds = 3 }.run()
        result.expectAllAcceptedOnce()
        #expect(result.ledger.pings > 0)
        #expect(result.ledger.connections == 1)
    }

    @Test("several connections share the work, and the end of one does not touch the others")
    func several() throws {
        var faults = SimulatorFaults()
        faults.streamLimit = 5
        faults.latencyMilliseconds = 30
        faults.goAwayEvery = 60
        let result = try SimulatorRun(faults: faults, pushes: 300) { $0.connections = 3 }.run()
        result.expectAllAccepted()
        result.expectAllAcceptedOnce()
    }
}
