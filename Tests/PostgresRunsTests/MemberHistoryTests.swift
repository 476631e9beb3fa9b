import Foundation
import Testing

@testable import PostgresRuns

@Suite("histories of a run with several members")
struct MemberHistoryTests {
    /// `VOLLEY_HISTORIES` plays more of them; `make simulate` plays a million, optimised.
    private static let histories = ProcessInfo.processInfo.environment["VOLLEY_HISTORIES"].flatMap(UInt64.init) ?? 100

    @Test("whatever happens, nobody is pushed to twice, the pace holds, everybody is settled, and what was forgotten is missed")
    func histories() {
        var counts = Counts()
        for seed in 0..<Self.histories {
            var world = MemberWorld(seed: seed)
            world.run()
            #expect(world.failures.isEmpty, "seed \(seed)")
            counts.add(world.counts)
        }
        // A simulation in which nothing happens proves nothing.
        let rare: Set<Situation> = [.refusals, .unprevented, .fences, .cancelled, .unwitnessed]
        for situation in Situation.allCases where !rare.contains(situation) { #expect(counts[situation] > 10, "\(situation)") }
    }

    @Test(
        "each rule is needed: without it, these histories end badly",
        arguments: [
            (.keyShare, [302, 303, 411]), (.repeatableRead, [252, 485, 607]), (.gateFromAnswer, [951, 1258, 1445]),
            (.partRaisedEarly, [66, 205, 286]), (.retryWithoutNumber, [0, 1, 2]), (.watchesWhileAway, [0, 8, 10]),
            (.countsAcrossLives, [8117, 58180, 59892]), (.comparesNothing, [7, 13, 14]), (.comparesLate, [0, 1, 2]),
            (.claimsBeforeComparing, [23, 41, 71]), (.awaitsNobody, [33, 250, 496]), (.trustsTheUnconfirmed, [180, 697, 924]),
            (.newcomersWitness, [169, 264, 697]), (.resumesThroughStore, [6, 7, 13]),
            (.leasesAnew, [4, 8, 28]), (.leavesAtOnce, [265, 281, 745]),
            (.claimsWhateverTheOrder, [3, 7, 8]),
            (.endsUnconditionally, [0, 1, 2]), (.canaryDies, [32, 38, 48]),
        ] as [(MemberWorld.Breakage, [UInt64])])
    func breakages(breakage: MemberWorld.Breakage, seeds: [UInt64]) {
        let caught = seeds.filter { seed in
            var world = MemberWorld(seed: seed, breakage: breakage)
            world.run()
            return !world.failures.isEmpty
        }
        #expect(!caught.isEmpty, "\(breakage.rawValue)")
    }
}
