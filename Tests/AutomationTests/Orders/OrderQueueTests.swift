import Accounts
import Base
import Runs
import Testing

@testable import Automation

@Suite("the order queue")
struct OrderQueueTests {
    private static let start = OrderMoment(
        time: Timestamp(epochSeconds: 1_800_000_000), uptime: Uptime(start: "s", milliseconds: 0))

    private static func moment(after seconds: Double) -> OrderMoment {
        OrderMoment(
            time: start.time.adding(seconds: seconds), uptime: Uptime(start: "s", milliseconds: Int64(seconds * 1000)))
    }

    private static func placed(_ kinds: Order.Kind..., states: [Int: OrderState] = [:]) -> [PlacedOrder] {
        kinds.enumerated().map { index, kind in
            PlacedOrder(
                number: Int64(index + 1), order: Order(nonce: "\(index + 1)", kind: kind, by: "anna", at: start),
                state: states[index + 1] ?? .waiting, changedAt: start.time)
        }
    }

    /// A queue's actions on orders: `take 1`, `end 2 lapsed`.
    private static func words(_ actions: [OrderQueue.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .take(let placed, let former): "take \(placed.number)\(former.map { " from \($0)" } ?? "")"
            case .perform(let placed): "perform \(placed.number)"
            case .examine(let placed): "examine \(placed.number)"
            case .end(let placed, let state): "end \(placed.number) \(state.name)"
            }
        }
    }

    private static let send = Order.Kind.send(run: "r", digest: "d")

    private static func damaged(_ subject: Order.Kind.Subject?) -> DamagedOrder {
        DamagedOrder(
            number: 9, subject: subject,
            mistake: Diagnostic("order 9 is damaged", file: "/r/orders.sqlite", remedy: "Remove it."))
    }

    @Test(
        "what a damaged order may forbid is refused, before it and after it; pauses, cancellations and what it does not concern are done",
        arguments: [
            (.run("r"), "end 1 refused,end 2 refused,take 3,take 4,take 5,take 6"),
            (.run("s"), "take 1,take 3,end 4 refused,take 5,take 6"),
            (.campaign("c"), "take 1,take 3,take 4,take 5,end 6 refused"),
            (nil, "end 1 refused,end 2 refused,take 3,end 4 refused,take 5,end 6 refused"),
        ] as [(Order.Kind.Subject?, String)])
    func damagedOrders(subject: Order.Kind.Subject?, expected: String) {
        let queue = OrderQueue(epoch: "own")
        var orders = Self.placed(
            .approve(run: "r", digest: "d"), .retry(run: "r"), .cancel(run: "r"), .send(run: "s", digest: "d"),
            .plan(file: "/f.yaml", digest: "d"),
            .approveTime(campaign: "c", occurrence: "2026-12-01T09:00", digest: "d", mostDevices: 1))
        let damaged = [Self.damaged(subject)]
        #expect(Self.words(queue.read(orders, damaged: damaged, at: Self.start)).joined(separator: ",") == expected)
        // A process that no longer exists may have begun it.
        orders = Self.placed(.approve(run: "r", digest: "d"), states: [1: .taken(epoch: "dead")])
        #expect(Self.words(queue.read(orders, damaged: [Self.damaged(nil)], at: Self.start)) == ["examine 1"])
    }

    @Test("orders of one run begin one after the other, those of others at once")
    func inOrder() {
        var queue = OrderQueue(epoch: "me")
        var orders = Self.placed(
            .approve(run: "r", digest: "d"), Self.send, .approve(run: "other", digest: "d"), .resume(run: "r"))
        #expect(Self.words(queue.read(orders, at: Self.start)) == ["take 1", "take 3"])
        _ = queue.took(orders[0])
        orders[0].state = .taken(epoch: "me")
        #expect(Self.words(queue.read(orders, at: Self.start)) == ["take 3"])
        #expect(Self.words(queue.ended("1", as: .done(.init(run: "r")))) == ["end 1 done"])
        #expect(
            Self.words(queue.read(orders, at: Self.start)) == ["end 1 done", "take 3"], "its end is not on record yet")
        queue.recorded("1")
        orders[0].state = .done(.init(run: "r"))
        #expect(Self.words(queue.read(orders, at: Self.start)) == ["take 2", "take 3"])
        _ = queue.took(orders[1])
        orders[1].state = .taken(epoch: "me")
        #expect(Self.words(queue.read(orders, at: Self.start)) == ["take 3"])
        queue.begun("2")
        #expect(
            Self.words(queue.read(orders, at: Self.start)) == ["take 3", "take 4"],
            "a run that is sent may be paused and resumed")
    }

    @Test(
        "a pause or cancellation goes before all that wait, and the last word counts",
        arguments: [Order.Kind.pause(run: "r"), .cancel(run: "r")])
    func overtakes(kind: Order.Kind) {
        var queue = OrderQueue(epoch: "me")
        let orders = Self.placed(
            .retry(run: "r"), .approve(run: "r", digest: "d"), .resume(run: "r"), kind, .resume(run: "r"))
        _ = queue.took(orders[0])
        #expect(Self.words(queue.read(orders, at: Self.start)) == ["end 3 refused", "take 4"])
    }

    @Test("a pause waits for the run that has been taken to begin: it would find nothing to pause")
    func waitsForBeginning() {
        var queue = OrderQueue(epoch: "me")
        let orders = Self.placed(Self.send, .pause(run: "r"))
        _ = queue.took(orders[0])
        #expect(queue.read(orders, at: Self.start) == [])
        queue.begun("1")
        #expect(Self.words(queue.read(orders, at: Self.start)) == ["take 2"])
    }

    @Test("of a process that is gone, what is taken once is left, and what changes nothing a second time is done again")
    func dead() {
        var queue = OrderQueue(epoch: "me")
        let taken = OrderState.taken(epoch: "dead")
        let orders = Self.placed(
            Self.send, .approve(run: "o", digest: "d"), .plan(file: "/f", digest: "d"),
            states: [1: taken, 2: taken, 3: taken])
        #expect(Self.words(queue.read(orders, at: Self.start)) == ["examine 1", "take 2 from dead", "examine 3"])
        queue.examines(orders[0])
        queue.examines(orders[2])
        #expect(queue.found("1", .unfinished(run: "r")) == [.end(orders[0], .left(.unfinished(run: "r")))])
        // A plan's file appears when it is complete.
        #expect(queue.found("3", .notBegun(run: "p")) == [.end(orders[2], .done(.init(run: "p")))])
        // An hour later the approval is no longer awaited.
        #expect(Self.words(OrderQueue(epoch: "other").read([orders[1]], at: Self.moment(after: 3600))) == ["examine 2"])
    }

    @Test("what waits too long lapses; a process that is about to end begins nothing")
    func lapses() {
        let queue = OrderQueue(epoch: "me")
        let orders = Self.placed(Self.send, .cancel(run: "o"))
        #expect(Self.words(queue.read(orders, at: Self.moment(after: 599.9))) == ["take 1", "take 2"])
        #expect(Self.words(queue.read(orders, at: Self.moment(after: 600))) == ["end 1 lapsed", "take 2"])
        #expect(Self.words(queue.read(orders, at: Self.moment(after: 3600))) == ["end 1 lapsed", "end 2 lapsed"])
        #expect(Self.words(queue.read(orders, isTaking: false, at: Self.moment(after: 600))) == ["end 1 lapsed"])
    }

    @Test("one plan is made at a time, so that the next may still lapse while it waits")
    func onePlan() {
        var queue = OrderQueue(epoch: "me")
        let orders = Self.placed(
            .plan(file: "/a", digest: "d"), .plan(file: "/b", digest: "d"), .test(file: "/c", digest: "d"))
        #expect(Self.words(queue.read(orders, at: Self.start)) == ["take 1", "take 3"])
        _ = queue.took(orders[0])
        #expect(Self.words(queue.read(orders, at: Self.start)) == ["take 3"])
    }

    @Test("whoever wrote a campaign or asked does not approve it; where the writer is unknown, the asker alone counts")
    func fourEyes() {
        let none = AccountTies([], at: .now())
        #expect(FourEyes.refusal(writers: ["anna"], askers: ["ben"], approver: "cem", none) == nil)
        #expect(FourEyes.refusal(writers: ["anna"], askers: ["ben"], approver: "anna", none) == .wroteIt)
        #expect(FourEyes.refusal(writers: ["anna"], askers: ["ben"], approver: "ben", none) == .askedForIt)
        #expect(FourEyes.refusal(writers: [], askers: ["ben"], approver: "ben", none) == .askedForIt)
        #expect(FourEyes.refusal(writers: [], askers: ["ben"], approver: "anna", none) == nil)
        #expect(FourEyes.refusal(writers: ["anna"], askers: ["anna"], approver: "Anna", none) == .wroteIt)
        #expect(FourEyes.refusal(writers: [], askers: [], approver: "anna", none) == nil)
    }

    @Test(
        "an account that the writer or the asker may hold does not approve, and neither does one that may hold theirs")
    func ties() throws {
        let now = Timestamp(epochSeconds: 1_800_000_000)
        let tie = AccountTie(holder: try AccountName("anna"), account: try AccountName("sock"), deed: .invited, at: now)
        let ties = AccountTies([tie], at: now)
        func isRefused(_ writer: String, _ asker: String, _ approver: String) -> Bool {
            FourEyes.refusal(writers: [writer], askers: [asker], approver: approver, ties) != nil
        }
        #expect(
            isRefused("anna", "ben", "sock") && isRefused("ben", "anna", "SOCK") && isRefused("sock", "ben", "anna"))
        #expect(!isRefused("ben", "ben", "sock") && !isRefused("anna", "sock", "cem"))
    }
}
