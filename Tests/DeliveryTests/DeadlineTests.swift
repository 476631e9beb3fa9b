import Base
import Testing

@testable import Delivery

/// `delivery.expires` while pushes wait, for any reason.
@Suite("deadline")
struct DeadlineTests {
    /// The deadline is ten seconds after the beginning.
    private func bench(pushes: Int, _ change: (inout MachineSettings) -> Void = { _ in }) -> Bench {
        Bench(pushes: pushes) {
            $0.deadline = Timestamp(epochSeconds: 1_800_000_010)
            change(&$0)
        }
    }

    private func settlement(_ bench: Bench, of recipient: Int) -> Settlement? {
        bench.machine.settlements.first { $0.recipient == recipient }
    }

    @Test(
        "a retry that would come after the deadline is given up at once, one before it is waited for",
        arguments: [(11.0, true), (9, false)])
    func retryAfterDeadline(seconds: Double, isGivenUp: Bool) {
        var bench = bench(pushes: 2)
        bench.advance()
        bench.answer(0, 503, "ServiceUnavailable", retryAfter: seconds)
        #expect((settlement(bench, of: 0)?.outcome == .failed) == isGivenUp)
        #expect(settlement(bench, of: 0)?.reason == (isGivenUp ? "ServiceUnavailable" : nil))
        guard !isGivenUp else { return }
        #expect(submitted(bench.advance(seconds: 9.1)).contains(0))
    }

    @Test("what still waits for its retry when the deadline passes is settled then, and the machine wakes for it")
    func waiting() {
        var bench = bench(pushes: 300)
        bench.warmUp()
        bench.advance()
        // Enough refusals in a row to make all pushes wait.
        for push in 1..<300 { bench.machine.streamRefused(push, at: bench.now) }
        bench.advance(seconds: 0.001)
        #expect(bench.machine.end == nil)
        #expect((bench.machine.nextWake(after: bench.now) ?? .max) <= 11_000_000_000)
        for _ in 0..<11 { bench.advance(seconds: 0.9) }
        for push in 0..<300 where bench.machine.pushes[push].state == .inFlight {
            bench.machine.notProcessed(push, at: bench.now)
        }
        bench.advance(seconds: 0.9)
        #expect(bench.machine.settlements.count == 300)
        #expect(bench.machine.settlements.dropFirst().allSatisfy { $0.outcome == .unsent && $0.reason == "Expired" })
        #expect(bench.machine.end == .finished)
    }

    @Test("an answer that comes after the deadline counts; a refusal then is the last")
    func inFlight() {
        var bench = bench(pushes: 3)
        bench.warmUp()
        bench.advance()
        bench.advance(seconds: 10)
        #expect(bench.machine.settlements.count == 1)
        bench.answer(1, 200)
        bench.answer(2, 503, "ServiceUnavailable")
        #expect(settlement(bench, of: 1)?.outcome == .accepted)
        #expect(settlement(bench, of: 2)?.outcome == .failed)
        bench.advance()
        #expect(bench.machine.end == .finished)
    }

    @Test("what waits for a pace is unsent when the deadline passes, whichever pace it is", arguments: [true, false])
    func paces(isShared: Bool) {
        let pace = Pace(pushes: 1, intervalSeconds: 1)
        var bench = bench(pushes: 100) { $0.pace = isShared ? nil : pace }
        if isShared { bench.machine.paceArbiter = [SharedPace(pace).join()] }
        for _ in 0..<110 { for push in submitted(bench.advance(seconds: 0.1)) { bench.answer(push, 200) } }
        #expect(bench.machine.end == .finished)
        #expect((8...10).contains(bench.machine.settlements.count { $0.outcome == .accepted }))
        #expect(bench.machine.settlements.allSatisfy { $0.outcome == .accepted || $0.reason == "Expired" })
    }
}
