import Synchronization
import Testing

@testable import Base

@Suite("threads that work on parts of a range")
struct RangeThreadsTests {
    struct Mine: Error, Equatable { var first: Int }

    @Test("answer in the order of the ranges, time after time, with more and with fewer")
    func order() throws {
        let rangeThreads = RangeThreads("test") { range, _ in .success(range) }
        for count in [1, 3, 17, 2, 1, 5] {
            let ranges = (0..<count).map { $0 * 10..<$0 * 10 + 7 }
            #expect(try rangeThreads.run(ranges) == ranges)
        }
        #expect(try rangeThreads.run([]).isEmpty)
    }

    @Test("have a number each, and work at the same time")
    func numbers() throws {
        // No thread continues before all four have arrived.
        let arrived = Mutex<Set<Int>>([])
        let gate = BoundedQueue<Void>(capacity: 4)
        let rangeThreads = RangeThreads("test") { _, thread in
            let count = arrived.withLock {
                $0.insert(thread)
                return $0.count
            }
            if count == 4 { for _ in 0..<4 { gate.put(()) } }
            _ = gate.take()
            return .success(thread)
        }
        #expect(try rangeThreads.run([0..<1, 1..<2, 2..<3, 3..<4]) == [0, 1, 2, 3])
    }

    @Test("of several that fail the first is told, once all have ended; the next ranges are worked on")
    func failure() throws {
        let ended = Mutex(0)
        let rangeThreads = RangeThreads<Int>("test") { range, _ in
            ended.withLock { $0 += 1 }
            return range.lowerBound % 2 == 1 ? .failure(Mine(first: range.lowerBound)) : .success(range.lowerBound)
        }
        #expect(throws: Mine(first: 3)) { try rangeThreads.run([0..<1, 3..<4, 5..<6, 8..<9]) }
        #expect(ended.withLock { $0 } == 4)
        #expect(try rangeThreads.run([0..<1, 2..<3, 4..<5]) == [0, 2, 4])
    }
}
