import Base
import Testing

@testable import Delivery

@Suite("simulated campaigns")
struct DeliverySimulationTests {
    @Test("the invariants hold in thousands of campaigns with random faults", arguments: 0..<8)
    func invariantsHold(block: Int) {
        for seed in UInt64(block) * 250..<UInt64(block + 1) * 250 {
            var campaign = SimulatedAPNs(seed: seed)
            campaign.run()
            guard campaign.violations.isEmpty else {
                Issue.record("\(campaign.violations.joined(separator: "; "))")
                return
            }
        }
    }

    @Test("the same seed gives the same campaign")
    func seedsRepeat() {
        var first = SimulatedAPNs(seed: 4711)
        var second = SimulatedAPNs(seed: 4711)
        first.run()
        second.run()
        #expect(first.settlements == second.settlements)
        #expect(first.end == second.end)
    }

    @Test("campaigns end in every way and settle in every outcome, so that the simulation means something")
    func simulationIsVaried() {
        var ends: Set<String> = []
        var outcomes: [Int: Int] = [:]
        for seed in UInt64(0)..<150 {
            var campaign = SimulatedAPNs(seed: seed)
            campaign.run()
            switch campaign.end {
            case .finished: ends.insert("finished")
            case .stopped: ends.insert("stopped")
            case .interrupted: ends.insert("interrupted")
            case nil: ends.insert("none")
            }
            for settlement in campaign.settlements { outcomes[settlement.outcome.rawValue, default: 0] += 1 }
        }
        #expect(ends == ["finished", "stopped", "interrupted"])
        #expect(outcomes.count == 6)
        #expect(outcomes.values.allSatisfy { $0 > 20 })
    }
}
