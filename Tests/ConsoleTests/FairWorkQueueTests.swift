import Base
import Synchronization
import TestSupport
import Testing

@testable import volley_console

@Suite("turns of work")
struct FairWorkQueueTests {
    private final class Counter: Sendable {
        let value = Mutex(0)
    }

    @Test("one person has half of the threads, and the next free one goes to somebody else who waits")
    func share() {
        var queue = FairWorkQueue(threads: 4, waiting: 10)
        #expect((1...4).map { queue.came($0, of: "anna") } == [.start, .start, .wait(), .wait()])
        #expect(queue.came(5, of: "ben") == .start)
        #expect(queue.came(6, of: "cem") == .start)
        #expect(queue.came(7, of: "dora") == .wait())
        // Anna's third came before, and Dora has nothing under way.
        #expect(queue.left("anna") == 7)
        #expect(queue.left("anna") == 3)
        #expect(queue.left("ben") == 4)
        #expect(queue.left("cem") == nil)
    }

    @Test("what one person has waiting fills half of the places, and others still get one")
    func places() {
        var queue = FairWorkQueue(threads: 2, waiting: 6)
        #expect((1...5).map { queue.came($0, of: "anna") } == [.start, .wait(), .wait(), .wait(), .refuse])
        #expect(!queue.isFull)
        #expect((6...9).map { queue.came($0, of: "ben") } == [.start, .wait(), .wait(), .wait()])
        #expect(queue.isFull)
        // The addresses with the most waiting give up their newest, down to the number of the
        // others.
        #expect(queue.came(10, of: "cem") == .wait(displaced: 9))
        #expect(queue.came(11, of: "dora") == .wait(displaced: 4))
        #expect((12...13).map { queue.came($0, of: nil) } == [.wait(displaced: 8), .refuse])
        #expect(queue.came(14, of: "cem") == .refuse)
    }

    @Test("a single thread serves one person, too")
    func single() {
        var queue = FairWorkQueue(threads: 1, waiting: 2)
        #expect(queue.came(1, of: "anna") == .start)
        #expect(queue.came(2, of: "anna") == .wait())
        #expect(queue.left("anna") == 2)
        #expect(queue.left("anna") == nil)
    }

    @Test(
        "in every history no thread is idle while somebody may use it, nobody has more than a share, and all work is done",
        arguments: 0..<200)
    func histories(seed: Int) {
        var random = SeededRandom(UInt64(seed))
        func below(_ bound: Int) -> Int { Int(truncatingIfNeeded: (random.next() >> 33) % UInt64(bound)) }
        let threads = 1 + below(5)
        var queue = FairWorkQueue(threads: threads, waiting: 8)
        var running: [Int: String] = [:], waiting: [Int: String] = [:]
        func check() {
            let share = max(1, threads / 2)
            let counts = Dictionary(grouping: running.values) { $0 }.mapValues(\.count)
            #expect(running.count <= threads && counts.values.allSatisfy { $0 <= share })
            #expect(running.count == threads || waiting.values.allSatisfy { counts[$0, default: 0] >= share })
        }
        func end(_ ticket: Int) {
            guard let person = running.removeValue(forKey: ticket) else { return }
            if let next = queue.left(person) { running[next] = waiting.removeValue(forKey: next) }
        }
        for ticket in 0..<300 {
            let person = ["anna", "ben", "cem"][below(3)]
            switch queue.came(ticket, of: person) {
            case .start: running[ticket] = person
            case .wait(let displaced):
                if let displaced { #expect(waiting.removeValue(forKey: displaced) != nil) }
                waiting[ticket] = person
                #expect(waiting.count <= 8)
            case .refuse:
                let counts = Dictionary(grouping: waiting.values) { $0 }.mapValues(\.count),
                    own = counts[person, default: 0]
                #expect(own == 4 || waiting.count == 8 && counts.values.allSatisfy { $0 <= own + 1 })
            }
            check()
            for _ in 0..<below(3) { if let some = running.keys.sorted().first { end(some) } }
            check()
        }
        while let some = running.keys.first { end(some) }
        #expect(waiting.isEmpty)
    }

    @Test("while slow pages of one person take their threads, a page of another is answered")
    func pool() async throws {
        let pool = WorkPool(threads: 2, waiting: 10)
        let begun = Counter()
        let wakeup = try Wakeup()
        let slow = (0..<4).map { _ in
            Task {
                try await pool.run(for: "anna") {
                    begun.value.withLock { $0 += 1 }
                    wakeup.wait()
                    wakeup.wake()
                }
            }
        }
        while begun.value.withLock({ $0 }) == 0 { await Task.yield() }
        #expect(try await pool.run(for: "ben") { 1 } == 1)
        #expect(begun.value.withLock { $0 } == 1)
        wakeup.wake()
        for task in slow { try await task.value }
        #expect(begun.value.withLock { $0 } == 4)
    }
}
