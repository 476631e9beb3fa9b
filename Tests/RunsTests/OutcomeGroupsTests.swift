import Base
import Testing

@testable import Runs

/// What is recorded in one transaction, or as one row of a journal.
@Suite("groups of outcomes")
struct OutcomeGroupsTests {
    private func part(_ count: Int) -> [Settlement] {
        (0..<count).map { Settlement(recipient: $0, outcome: .accepted, settledAt: Timestamp(epochSeconds: 0)) }
    }

    @Test("there is one in a twentieth of a second at most, unless it is full")
    func rate() {
        let queue = BoundedQueue<[Settlement]>(capacity: 8), groups = SettlementBatcher(queue),
            start = ContinuousClock.now
        for number in 1...6 {
            queue.put(part(1))
            queue.put(part(number))
            #expect(groups.next()?.map(\.count) == [1, number])
        }
        #expect(.now - start >= .milliseconds(6 * 50))
    }

    @Test("a full one waits for nothing; the rest is for the next")
    func full() {
        let queue = BoundedQueue<[Settlement]>(capacity: 64), groups = SettlementBatcher(queue)
        for _ in 0..<21 { queue.put(part(1000)) }
        #expect(groups.next()?.count == 20)
        queue.close()
        #expect(groups.next()?.count == 1)
        #expect(groups.next() == nil)
    }
}
