import Base
import Testing

@testable import Delivery

/// A gate that another thread closes while nothing may be submitted.
@Suite("the gate in front of submissions")
struct SubmissionGateTests {
    private func close(_ bench: inout Bench) { bench.machine.noteGate(isOpen: false, at: bench.now) }
    private func open(_ bench: inout Bench) { bench.machine.noteGate(isOpen: true, at: bench.now) }

    @Test("while it is closed nothing is submitted and answers count; then it goes on")
    func closed() {
        var bench = Bench(pushes: 1000) { $0.streamsPerConnection = 100 }
        bench.warmUp()
        bench.advance()
        close(&bench)
        for push in 1...50 { bench.answer(push, 200) }
        #expect(submitted(bench.advance(seconds: 1)).isEmpty)
        #expect(bench.machine.settlements.count == 51 && bench.machine.wait(at: bench.now) == .store)
        open(&bench)
        #expect(submitted(bench.advance()).count == 50)
        #expect(bench.machine.wait(at: bench.now) != .store)
    }

    @Test("a paced machine sleeps behind the gate, although its next push is due")
    func sleeps() {
        var bench = Bench(pushes: 1000) { $0.pace = Pace(pushes: 10, intervalSeconds: 1) }
        bench.warmUp()
        close(&bench)
        bench.advance(seconds: 3)
        #expect(bench.machine.nextWake(after: bench.now).map { $0 > bench.now.nanoseconds + 1_000_000_000 } ?? true)
        open(&bench)
        #expect(submitted(bench.advance()).count == 1, "it makes up for nothing")
    }

    @Test("a push whose deadline passes behind the gate expires")
    func deadline() {
        var bench = Bench(pushes: 10) { $0.deadline = Timestamp(epochSeconds: 1_800_000_060) }
        close(&bench)
        bench.advance(seconds: 59)
        #expect(bench.machine.settlements.isEmpty)
        bench.advance(seconds: 1)
        #expect(
            bench.machine.settlements.count { $0.outcome == .unsent && $0.reason == OwnReason.expired.rawValue } == 10)
        #expect(bench.machine.end == .finished)
    }

    @Test("an interrupted run ends behind the gate")
    func interrupted() {
        var bench = Bench(pushes: 10)
        close(&bench)
        bench.machine.interrupt(at: bench.now)
        bench.advance()
        #expect(bench.machine.end == .interrupted && bench.machine.settlements.count == 10)
        #expect(bench.machine.wait(at: bench.now) == nil)
    }

    private func outageSeconds(_ bench: Bench) -> Int? {
        if case .outage(let seconds) = bench.machine.wait(at: bench.now) { seconds } else { nil }
    }

    @Test("the time behind the gate does not count as an outage of the service")
    func outage() throws {
        var bench = Bench(pushes: 1000)
        bench.warmUp()
        func refuseAll() {
            for push in bench.machine.pushes.indices where bench.machine.pushes[push].state == .inFlight {
                bench.answer(push, 500, "InternalServerError")
            }
        }
        for _ in 0..<600 {
            refuseAll()
            bench.advance(seconds: 0.1)
        }
        let before = try #require(outageSeconds(bench))
        close(&bench)
        refuseAll()
        for _ in 0..<4_000 { bench.advance(seconds: 0.5) }
        #expect(bench.machine.ending == nil)
        open(&bench)
        #expect(!submitted(bench.advance()).isEmpty && bench.machine.ending == nil)
        #expect(try #require(outageSeconds(bench)) <= before + 1)
    }

    @Test("the gate closes by itself when its time is over, and opens again")
    func time() {
        let control = SendControl()
        #expect(control.isGateOpen)
        control.closeGate()
        #expect(!control.isGateOpen)
        control.openGate(until: bootNanoseconds() + 60_000_000_000)
        #expect(control.isGateOpen)
        control.openGate(until: bootNanoseconds())
        #expect(!control.isGateOpen)
        control.openGate()
        #expect(control.isGateOpen)
    }

    @Test("of several loops, one at the gate speaks for all")
    func together() { #expect(SendWait.together([nil, .outage(seconds: 5), .store]) == .store) }
}
