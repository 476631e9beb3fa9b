import Base
import Reports
import Runs
import Testing

@Suite("orders in words")
struct OrderListTests {
    private static let asked = OrderMoment(
        time: Timestamp(epochSeconds: 1_800_000_000), uptime: Uptime(start: "s", milliseconds: 0))

    private static func placed(_ number: Int64, _ kind: Order.Kind, _ state: OrderState, by name: String = "anna")
        -> PlacedOrder
    {
        PlacedOrder(
            number: number, order: Order(nonce: "n\(number)", kind: kind, by: name, at: asked), state: state,
            changedAt: asked.time)
    }

    private static func list(_ orders: [PlacedOrder], damaged: [DamagedOrder] = [], after seconds: Int64 = 10)
        -> OrderList
    {
        OrderList(
            OrderListing(orders.reversed(), damaged: damaged), last: 100, isAtWork: false,
            at: OrderMoment(
                time: asked.time.adding(seconds: Double(seconds)),
                uptime: Uptime(start: "s", milliseconds: seconds * 1000)))
    }

    @Test("each order says who asked for what, and what became of it")
    func text() {
        let orders = [
            Self.placed(1, .send(run: "r1", digest: "d"), .done(.init(run: "r1", end: .interrupted))),
            Self.placed(2, .test(file: "/a.yaml", digest: "d"), .refused(.fileDiffers)),
            Self.placed(3, .skip(campaign: "spring", occurrence: "2026-12-01T09:00"), .waiting),
        ]
        #expect(
            Self.list(orders).text(width: 200, colour: false) == """
                2027-01-15T08:00:00Z  anna: send r1
                  Sent, and interrupted (r1) because volley schedule was ended; resume the run to go on
                2027-01-15T08:00:00Z  anna: test /a.yaml
                  Not done: the campaign's file was changed after you saw it; look at it again, and order it from there
                2027-01-15T08:00:00Z  anna: skip spring at 2026-12-01T09:00
                  Waiting for volley schedule

                volley schedule is not at work: nothing is done until it is, and what waits too long lapses.
                """)
        #expect(Self.list([]).text(width: 80, colour: false) == "Nothing was ordered here.")
    }

    @Test("a damaged order is named below the others, in text and in JSON")
    func damaged() {
        let damaged = DamagedOrder(
            number: 2, subject: nil,
            mistake: Diagnostic("order 2 is damaged", file: "/r/orders.sqlite", remedy: "Remove it."))
        let list = Self.list([Self.placed(1, .pause(run: "r"), .lapsed)], damaged: [damaged])
        #expect(
            list.text(width: 200, colour: false).hasSuffix(
                "\n\n1 order cannot be read:\n  /r/orders.sqlite: order 2 is damaged. Remove it."))
        guard case .array(let found)? = list.json["damaged"] else {
            Issue.record("nothing damaged")
            return
        }
        #expect(found.map { $0["message"]?.stringValue } == ["order 2 is damaged"])
    }

    @Test("an order whose time is over is shown as lapsed, also where no sender has recorded that")
    func lapsed() {
        let orders = [Self.placed(1, .resume(run: "r"), .waiting)]
        guard case .array(let found)? = Self.list(orders, after: 600).json["orders"] else {
            Issue.record("no orders")
            return
        }
        #expect(found.first?["state"]?.stringValue == "lapsed")
        #expect(
            Self.list(orders, after: 600).text(width: 80, colour: false).contains("Lapsed: it was not begun in time"))
    }

    @Test("names and reasons from outside cannot turn lines around or colour a terminal")
    func hostile() {
        let evil = "\u{1B}[31m\u{202E}x\ny"
        let list = Self.list([
            Self.placed(1, .reject(run: "r", digest: "d", reason: evil), .refused(.described(evil)), by: evil)
        ])
        let text = list.text(width: 80, colour: false)
        #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}") && !list.json.text.contains("\u{1B}"))
    }
}
