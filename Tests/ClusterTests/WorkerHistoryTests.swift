import Foundation
import Testing

@testable import Cluster

@Suite("histories of a run with several workers")
struct WorkerHistoryTests {
    /// `VOLLEY_HISTORIES` plays more of them; `make simulate` plays a million, optimised.
    private static let histories = ProcessInfo.processInfo.environment["VOLLEY_HISTORIES"].flatMap(UInt64.init) ?? 100

    @Test(
        "whatever happens, nobody is pushed to twice, the pace holds, everybody is settled, and what was forgotten is missed"
    )
    func histories() {
        var counts = Counts()
        for seed in 0..<Self.histories {
            var world = WorkerWorld(seed: seed)
            world.run()
            #expect(world.failures.isEmpty, "seed \(seed)")
            counts.add(world.counts)
        }
        // A simulation in which nothing happens proves nothing.
        let rare: Set<Situation> = [.rejoins, .refusals, .unprevented, .fences, .cancelled, .unwitnessed]
        for situation in Situation.allCases where !rare.contains(situation) {
            #expect(counts[situation] > 10, "\(situation)")
        }
    }

    @Test(
        "each rule is needed: without it, these histories end badly",
        arguments: [
            (.keyShare, [214, 303, 645]), (.repeatableRead, [37, 252, 645]), (.gateFromAnswer, [0, 613, 1445]),
            (.partRaisedEarly, [66, 205, 286]), (.retryWithoutNumber, [0, 1, 2]),
            (.watchesWhileAway, [0, 3, 8]),
            (.countsAcrossEpochs, [8117, 58180, 59892]), (.comparesNothing, [6, 7, 9]), (.comparesLate, [0, 1, 2]),
            (.claimsBeforeComparing, [33, 78, 138]), (.awaitsNobody, [33, 78, 138]),
            (.trustsTheUnconfirmed, [180, 924, 1935]),
            (.newcomersSurvivor, [169, 264, 697]), (.resumesThroughStore, [6, 7, 13]),
            (.leasesAnew, [0, 8, 22]), (.leavesAtOnce, [265, 2128, 2173]),
            (.claimsWhateverTheOrder, [4, 8, 9]),
            (.endsUnconditionally, [0, 1, 2]), (.canaryDies, [32, 38, 48]), (.hostStaysAway, Array(0..<200)),
        ] as [(WorkerWorld.Breakage, [UInt64])])
    func breakages(breakage: WorkerWorld.Breakage, seeds: [UInt64]) {
        let isCaught = seeds.contains { seed in
            var world = WorkerWorld(seed: seed, breakage: breakage)
            world.run()
            return !world.failures.isEmpty
        }
        #expect(isCaught, "\(breakage.rawValue)")
    }
}
