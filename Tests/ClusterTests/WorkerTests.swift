import Testing

@testable import Cluster

@Suite("workers of a run")
struct WorkerTests {
    @Test("a worker is dead when its beat stood still for half a minute of the observer's own, connected time")
    func watch() {
        var watch = WorkerWatch()
        for second in 0..<30 { #expect(watch.look(at: ["a": 1, "b": Int64(second)], Double(second)).isEmpty) }
        #expect(watch.look(at: ["a": 1, "b": 30], 30) == [.init(worker: "a", beat: 1)])
        #expect(watch.look(at: ["a": 2, "b": 30], 31).isEmpty, "it beats again")
        // The observer slept for an hour, and then could not reach the database for another.
        #expect(watch.look(at: ["a": 2, "b": 30], 3_631).isEmpty)
        watch.disconnected()
        #expect(watch.look(at: ["a": 2, "b": 30], 7_231).isEmpty)
        #expect(
            watch.look(at: ["b": 30], 7_232).isEmpty && watch.look(at: ["a": 2, "b": 30], 7_233).isEmpty,
            "gone, and there again")
    }

    @Test("in another epoch of the database silences begin anew, as beats may have been forgotten")
    func watchAcrossEpochs() {
        var watch = WorkerWatch()
        for second in 0..<30 { #expect(watch.look(at: ["a": 1], epoch: 1, Double(second)).isEmpty) }
        #expect(watch.look(at: ["a": 1], epoch: 2, 30).isEmpty)
        for second in 31..<60 { #expect(watch.look(at: ["a": 1], epoch: 2, Double(second)).isEmpty) }
        #expect(watch.look(at: ["a": 1], epoch: 2, 60) == [.init(worker: "a", beat: 1)])
    }

    @Test("nothing is handed over ten seconds after the last beat was sent, however late its answer came")
    func gate() {
        var gate = SubmissionGate()
        #expect(!gate.isOpen(at: 0))
        gate.beat(begunAt: 5)
        #expect(gate.isOpen(at: 14.9) && !gate.isOpen(at: 15))
        gate.beat(begunAt: 4)
        #expect(gate.isOpen(at: 14.9), "an answer that overtook another takes nothing back")
    }

    @Test("who shrinks does so first, and a beat that comes late changes nothing")
    func parts() {
        var parts = PaceParts(pace: 100)
        #expect(parts.beat(of: "a", number: 1, used: 0, wants: true) == 100)
        #expect(parts.beat(of: "b", number: 1, used: 0, wants: true) == 0, "a may be using all of it")
        #expect(parts.beat(of: "a", number: 2, used: 100, wants: true) == 50)
        #expect(parts.beat(of: "b", number: 2, used: 0, wants: true) == 0, "a still says that it uses all")
        #expect(parts.beat(of: "a", number: 3, used: 50, wants: true) == 50)
        #expect(parts.beat(of: "b", number: 3, used: 0, wants: true) == 50)
        #expect(parts.beat(of: "a", number: 2, used: 0, wants: false) == nil && parts.mostUsed == 100)
        parts.remove("a")
        #expect(parts.beat(of: "b", number: 4, used: 50, wants: true) == 100)
    }

    @Test("what a worker may have sent since its last beat counts after it leaves, at most what it was granted")
    func leaving() {
        for (most, rest) in [(20, 70), (1000, 0)] {
            var parts = PaceParts(pace: 100)
            #expect(parts.beat(of: "a", number: 1, used: 100, left: 10, wants: true) == 100)
            parts.leave("a") { _ in most }
            #expect(parts.beat(of: "b", number: 1, used: 0, wants: true) == rest)
        }
    }

    /// Workers that beat once a second, use all that they are granted, and want a part all the
    /// time; what each was granted, by second.
    private func play(_ pace: Int, seconds: Int, interval: Int = 1, least: [Int]) -> [[Int]] {
        var parts = PaceParts(pace: pace)
        var grants = least.map { _ in [Int]() }
        for second in 0..<seconds {
            for worker in least.indices {
                // What was in force within the last interval was used up.
                let used = grants[worker].suffix(interval + 1).max() ?? 0
                let number = Int64(second + 1)
                grants[worker].append(
                    parts.beat(of: "m\(worker)", number: number, used: used, wants: true, least: least[worker]) ?? 0)
                #expect(parts.mostUsed <= pace)
            }
        }
        return grants
    }

    @Test("where not everybody can have a part, workers take turns, and nobody waits forever", arguments: [1, 2])
    func turns(pace: Int) {
        let grants = play(pace, seconds: 600, least: [1, 1, 1])
        for grant in grants {
            // The first one has all of it until another one comes.
            #expect(
                grant.dropFirst(5).allSatisfy { $0 <= 1 } && grant.reduce(0, +) >= 600 * pace / 3 * 3 / 4,
                "\(grant.reduce(0, +))")
            #expect(
                grant.split { $0 > 0 }.allSatisfy { $0.count <= 30 }, "nobody waits for more than two turns of others")
        }
    }

    @Test("a push a minute goes from one to the next when the minute is over")
    func slow() {
        let grants = play(1, seconds: 900, interval: 60, least: [1, 1, 1])
        #expect(grants.allSatisfy { $0.contains(1) })
    }

    @Test("who sends many devices with a request gets a part that has room for it, or none")
    func least() {
        let grants = play(100, seconds: 600, least: [40, 40, 40, 1])
        for grant in grants.prefix(3) { #expect(grant.allSatisfy { $0 == 0 || $0 >= 40 } && grant.contains { $0 > 0 }) }
        #expect(grants[3].contains { $0 > 0 })
        #expect(play(100, seconds: 4, least: [10, 1]).map(\.last) == [54, 45])
    }

    @Test("an entry keeps its number until the database has it")
    func numbers() {
        var numbers = JournalNumbers()
        #expect(numbers.take() == 1)
        numbers.lost()
        #expect(numbers.state == .unsure(1) && numbers.take() == 1)
        numbers.acknowledged()
        #expect(numbers.take() == 2 && numbers.confirmed == 1)
    }
}
