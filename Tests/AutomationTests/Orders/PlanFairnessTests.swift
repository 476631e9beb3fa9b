import Base
import Runs
import TestSupport
import Testing

@testable import Automation

/// Histories of only plans: several people order any number of them, and each takes some time.
@Suite("turns of plans")
struct PlanFairnessTests {
    private static let moment = OrderMoment(
        time: Timestamp(epochSeconds: 1_800_000_000), uptime: Uptime(start: "s", milliseconds: 0))

    private static func plan(_ number: Int, by person: String) -> PlacedOrder {
        PlacedOrder(
            number: Int64(number),
            order: Order(nonce: "\(number)", kind: .plan(file: "/\(number)", digest: "d"), by: person, at: moment),
            state: .waiting, changedAt: moment.time)
    }

    @Test("sixty plans of one person keep a colleague's waiting for the one in hand alone")
    func colleague() throws {
        var queue = OrderQueue(epoch: "me")
        var orders = (1...60).map { Self.plan($0, by: "anna") }
        _ = queue.took(orders[0])
        orders.append(Self.plan(61, by: "ben"))
        #expect(queue.read(orders, at: Self.moment) == [])
        _ = queue.ended("1", as: .done(.init(run: "r")))
        queue.recorded("1")
        orders.removeFirst()
        #expect(queue.read(orders, at: Self.moment) == [.take(orders[59], from: nil)])
        _ = queue.took(orders[59])
        _ = queue.ended("61", as: .done(.init(run: "s")))
        queue.recorded("61")
        orders.removeLast()
        #expect(queue.read(orders, at: Self.moment) == [.take(orders[0], from: nil)])
    }

    @Test(
        "in every history people take turns, each gets plans in the order of asking, and one is made at a time",
        arguments: 0..<60)
    func turns(seed: Int) {
        var random = SeededRandom(UInt64(seed))
        func below(_ bound: Int) -> Int { Int(truncatingIfNeeded: (random.next() >> 33) % UInt64(bound)) }
        let people = ["anna", "ben", "cem", "dora"]
        var queue = OrderQueue(epoch: "me")
        var waiting: [PlacedOrder] = [], inHand: PlacedOrder?, placed = 0
        /// How many plans of others were begun while a plan of this person waited, by person and
        /// other.
        var overtaken: [String: [String: Int]] = [:]
        for step in 0..<400 {
            if step < 300, below(3) == 0 {
                // Now and then a person orders many.
                let person = people[below(people.count)]
                for _ in 0..<(below(12) == 0 ? 20 : 1) {
                    placed += 1
                    waiting.append(Self.plan(placed, by: person))
                }
            }
            if let done = inHand, step >= 300 || below(3) == 0 {
                _ = queue.ended(done.order.nonce, as: .done(.init(run: "r")))
                queue.recorded(done.order.nonce)
                inHand = nil
            }
            let actions = queue.read(waiting, at: Self.moment)
            #expect(actions.count == (inHand == nil && !waiting.isEmpty ? 1 : 0))
            guard case .take(let next, nil)? = actions.first else { continue }
            let own = waiting.filter { $0.order.by == next.order.by }
            #expect(own.first == next, "of one person in their order")
            for other in Set(waiting.map(\.order.by)) where other != next.order.by {
                overtaken[other, default: [:]][next.order.by, default: 0] += 1
                #expect(overtaken[other]?[next.order.by] ?? 0 <= 1, "\(next.order.by) goes twice before \(other)")
            }
            overtaken[next.order.by] = nil
            _ = queue.took(next)
            waiting.removeAll { $0 == next }
            inHand = next
        }
        #expect(placed > 50)
        #expect(waiting.isEmpty || placed > 100)
    }
}
