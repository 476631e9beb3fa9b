import Testing

@testable import Cluster

@Suite("schedules of several machines and a database that forgets")
struct FiringBarrierTests {
    @Test(
        "a service finds times due once it has written its record in this epoch of the database, and the quiet time is over"
    )
    func barrier() {
        var barrier = FiringBarrier()
        #expect(barrier.toWrite == nil && !barrier.mayFind, "it has not joined")
        let first = FiringBarrier.JoinedService(service: 1, epoch: 7)
        barrier.beat(first, isQuiet: true)
        #expect(barrier.toWrite == first && !barrier.mayFind)
        barrier.wrote(as: first)
        #expect(barrier.toWrite == nil && !barrier.mayFind, "others have not said anything yet")
        barrier.beat(first, isQuiet: false)
        #expect(barrier.mayFind)
        barrier.isLost()
        #expect(barrier.toWrite == nil && !barrier.mayFind)
        barrier.beat(first, isQuiet: false)
        #expect(barrier.toWrite == nil && barrier.mayFind, "the same life")
        let second = FiringBarrier.JoinedService(service: 1, epoch: 8)
        barrier.beat(second, isQuiet: false)
        #expect(barrier.toWrite == second && !barrier.mayFind)
        barrier.wrote(as: first)
        #expect(barrier.toWrite == second && !barrier.mayFind, "that was the life before")
    }

    @Test("whoever dies, stands still and comes back, and whatever the database forgets, no time is sent by two runs")
    func histories() {
        var forgotten = 0, takenOver = 0, refused = 0, missed = 0
        for seed in 0..<100 as Range<UInt64> {
            var world = FiringWorld(seed: seed)
            world.run()
            #expect(world.failures.isEmpty, "seed \(seed): \(world.failures)")
            forgotten += world.forgotten
            takenOver += world.takenOver
            refused += world.refused
            missed += world.missed
        }
        // A simulation in which nothing happens proves nothing.
        #expect(forgotten > 300 && takenOver > 50 && refused > 10, "\(forgotten), \(takenOver), \(refused)")
        #expect(missed < 50, "of 1800 times")
    }

    @Test(
        "each rule is needed: without it, these histories end badly",
        arguments: [(.writesNothing, [1, 2, 4]), (.isNeverQuiet, [20, 38, 43])] as [(FiringWorld.Breakage, [UInt64])])
    func breakages(breakage: FiringWorld.Breakage, seeds: [UInt64]) {
        for seed in seeds {
            var world = FiringWorld(seed: seed, breakage: breakage)
            world.run()
            #expect(!world.failures.isEmpty, "seed \(seed)")
        }
    }
}
