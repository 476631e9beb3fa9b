import Base
import Testing

@testable import Delivery

/// Connections that a server leaves cleanly, and windows that it keeps small.
@Suite("connections that are left in good order")
struct GracefulLeaveTests {
    private func opened(_ actions: [DeliveryMachine.Action]) -> [Int] {
        actions.compactMap { if case .open(let connection) = $0 { connection } else { nil } }
    }

    /// Answers everything until the present connection has had this many pushes; returns the
    /// actions that were requested in the meantime.
    private func use(_ bench: inout Bench, _ connection: Int, upTo count: Int) -> [DeliveryMachine.Action] {
        var all = bench.advance()
        while bench.machine.connections[connection].answers < count, bench.machine.end == nil {
            let next = bench.machine.pushes.indices.first { push in
                bench.machine.pushes[push].state == .inFlight && bench.machine.pushes[push].connection == connection
            }
            guard let next else { break }
            bench.answer(next, 200)
            all += bench.advance()
        }
        return all
    }

    @Test(
        "another is opened at once, while the old one is drained; after a few requests it is a loss, with its back-off")
    func atOnce() {
        var bench = Bench(pushes: 5000) { $0.streamsPerConnection = 10 }
        _ = use(&bench, 0, upTo: 100)
        bench.machine.connectionLeaves(0, cause: "NO_ERROR", isInOrder: true, at: bench.now)
        #expect(opened(bench.advance()) == [1])
        #expect(bench.machine.connections[0].inFlight == 10)
        _ = use(&bench, 1, upTo: 5)
        bench.machine.connectionLeaves(1, cause: "NO_ERROR", isInOrder: true, at: bench.now)
        #expect(bench.machine.recentLosses.add(at: bench.now.nanoseconds) == 2)
    }

    @Test(
        "a server that leaves after as many requests each time is left before it says so, and the next one is open by then"
    )
    func budget() {
        var bench = Bench(pushes: 5000) { $0.streamsPerConnection = 10 }
        for connection in 0..<2 {
            _ = use(&bench, connection, upTo: 190)
            #expect(bench.machine.requestBudget.known == nil)
            bench.machine.connectionLeaves(connection, cause: "NO_ERROR", isInOrder: true, at: bench.now)
            #expect(opened(bench.advance()) == [connection == 0 ? 1 : 2])
        }
        #expect(bench.machine.requestBudget.known == 200)
        let half = use(&bench, 2, upTo: 95)
        #expect(opened(half).count == 1)
        let rest = use(&bench, 2, upTo: 200)
        #expect(opened(rest).isEmpty && rest.contains(.close(connection: 2)))
        #expect(bench.machine.settlements.count == 2 * 190 + 200)
    }

    @Test("no more is submitted than fits into the peer's window")
    func window() {
        var bench = Bench(pushes: 100) { $0.streamsPerConnection = 50 }
        bench.warmUp()
        bench.machine.windowChanged(0, room: 7)
        #expect(submitted(bench.advance()).count == 7)
        #expect(submitted(bench.advance(seconds: 1)).isEmpty)
        bench.machine.windowChanged(0, room: 3)
        #expect(submitted(bench.advance()).count == 3)
        bench.machine.windowChanged(0, room: .max)
        #expect(submitted(bench.advance()).count == 40)
    }
}
