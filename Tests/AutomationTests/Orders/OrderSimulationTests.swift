import Base
import Foundation
import Synchronization
import Testing

@testable import Automation

@Suite("simulated orders")
struct OrderSimulationTests {
    /// Events that histories must include to prove anything.
    private static let wanted: Set<String> = [
        "kill", "restart", "ended cleanly", "two senders", "placed twice", "record fails", "examined", "paused",
        "woken", "cancelled",
        "sent by send",
        "sent by resume", "sent by retry", "sent by test", "send done", "send refused", "send lapsed", "send left",
        "resume done",
        "resume left", "test done", "test left", "test lapsed", "plan done", "plan left", "plan lapsed", "retry done",
        "retry refused",
    ]

    @Test(
        "what must hold holds in thousands of histories of orders, kills and clocks, and they meet everything there is to meet"
    )
    func invariantsHold() throws {
        let histories = ProcessInfo.processInfo.environment["VOLLEY_ORDER_SEEDS"].flatMap { UInt64($0) } ?? 4_000
        let found = Mutex<(failures: [String], met: Set<String>)>(([], []))
        let next = Atomic<UInt64>(0)
        let workers = try (0..<availableCores()).map { _ in
            try WorkerThread<Void>("orders") {
                var met: Set<String> = []
                while case let seed = next.add(1, ordering: .relaxed).oldValue, seed < histories {
                    var world = OrderWorld(seed: seed)
                    world.run()
                    met.formUnion(world.met)
                    if let failure = world.failures.first {
                        found.withLock { $0.failures.append("seed \(seed): \(failure)") }
                    }
                }
                found.withLock { $0.met.formUnion(met) }
            }
        }
        for worker in workers { worker.join() }
        let (failures, met) = found.withLock { ($0.failures, $0.met) }
        #expect(failures.prefix(5) == [], "\(failures.count) histories failed")
        #expect(Self.wanted.subtracting(met).sorted() == [])
    }
}
