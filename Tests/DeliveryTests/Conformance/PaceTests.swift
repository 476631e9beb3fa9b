import Simulators
import Base
import Delivery
import Glibc
import Testing

@Suite("conformance: pace, deadline, interruption")
struct PaceTests {
    @Test("the server never sees more than the pace in a second")
    func pace() throws {
        let began = Timestamp.now()
        let result = try SimulatorRun(pushes: 330) { $0.pace = Pace(pushes: 200, intervalSeconds: 1) }.run()
        let seconds = Double(Timestamp.now().epochMilliseconds - began.epochMilliseconds) / 1000
        result.expectAllAcceptedOnce()
        #expect(result.ledger.peakPerSecond <= 200)
        #expect(seconds >= 1.6)
    }

    @Test("answers that take long do not hold a pace up whose next push is read only when one has left")
    func slowAnswers() throws {
        var faults = SimulatorFaults()
        faults.latencyMilliseconds = 1500
        let result = try SimulatorRun(faults: faults, pushes: 60) {
            $0.pace = Pace(pushes: 20, intervalSeconds: 1)
        }.run()
        result.expectAllAcceptedOnce()
        // At most five would leave in a second if the sender looked for the next one only when
        // something else wakes it.
        #expect((10...20).contains(result.ledger.peakPerSecond), "\(result.ledger.peakPerSecond)")
    }

    @Test("after the deadline nothing is sent")
    func deadline() throws {
        let result = try SimulatorRun(pushes: 400) {
            $0.pace = Pace(pushes: 100, intervalSeconds: 1)
            $0.deadline = Timestamp.now().adding(seconds: 1.5)
        }.run()
        #expect(result.end == .finished)
        #expect(result.count(.accepted) > 0)
        #expect(result.count(.unsent) > 200)
        #expect(result.count(.accepted) + result.count(.unsent) == 400)
        #expect(result.settlements.first { $0.outcome == .unsent }?.reason == "Expired")
        #expect(result.ledger.accepted == result.count(.accepted))
    }

    @Test("an interrupted run ends soon, and what was not sent is unsent")
    func interruption() throws {
        var run = SimulatorRun(pushes: 1000) { $0.pace = Pace(pushes: 100, intervalSeconds: 1) }
        run.meanwhile = { control in
            usleep(1_000_000)
            control.interrupt()
        }
        let result = try run.run()
        #expect(result.end == .interrupted)
        #expect(result.count(.accepted) > 0)
        #expect(result.count(.unsent) > 500)
        #expect(result.count(.accepted) + result.count(.unsent) == 1000)
        #expect(result.settlements.first { $0.outcome == .unsent }?.reason == "Interrupted")
        #expect(result.ledger.accepted == result.count(.accepted))
    }
}
