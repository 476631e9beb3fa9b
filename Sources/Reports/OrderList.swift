public import Base
public import Runs

/// What people ordered in the console, and the results, for `volley orders`.
public struct OrderList: Sendable {
    private let orders: [PlacedOrder]
    private let damaged: [Diagnostic]
    private let hasOlder: Bool
    private let isAtWork: Bool
    private let moment: OrderMoment

    /// - Parameters:
    ///   - newest: newest first; they are shown oldest first, followed by damaged ones.
    ///   - count: how many of these are shown.
    ///   - isAtWork: whether a sender is running to carry them out.
    public init(_ newest: OrderListing, last count: Int, isAtWork: Bool, at moment: OrderMoment) {
        let numbers = (newest.orders.map(\.number) + newest.damaged.map(\.number)).sorted(by: >)
        hasOlder = numbers.count > count
        let oldest = numbers.prefix(count).last ?? 0
        orders = newest.orders.filter { $0.number >= oldest }.reversed()
        damaged = newest.damaged.filter { $0.number >= oldest }.map(\.mistake).reversed()
        self.isAtWork = isAtWork
        self.moment = moment
    }

    /// The next sender records an order that waits after its time as lapsed. Until then it is also
    /// shown as lapsed.
    private func state(_ placed: PlacedOrder) -> OrderState {
        placed.state == .waiting && placed.order.hasLapsed(at: moment) ? .lapsed : placed.state
    }

    /// The document of `orders --json`: `at_work`, `has_older`, `orders`, and `damaged`.
    public var json: JSONValue {
        .object(pairs: [
            ("at_work", .bool(isAtWork)), ("has_older", .bool(hasOlder)), ("orders", .array(orders.map(json))),
            ("damaged", .array(damaged.map(\.json))),
        ])
    }

    private func json(_ placed: PlacedOrder) -> JSONValue {
        let state = state(placed)
        let values = placed.order.kind.values
        let texts = [
            ("run", values.run), ("file", values.file.map { TextFormat.printable($0) }), ("campaign", values.campaign),
            ("occurrence", values.occurrence), ("digest", values.digest),
            ("reason", values.reason.map { TextFormat.printable($0) }),
        ].compactMap { name, text in text.map { (name, JSONValue.string($0)) } }
        let most = values.mostDevices.map { [("most_devices", JSONValue.integer(Int64($0)))] } ?? []
        return .object(
            pairs: [("number", .integer(placed.number)), ("kind", .string(placed.order.kind.name))] + texts + most + [
                ("by", .string(TextFormat.printable(placed.order.by))),
                ("asked_at", .string(placed.order.askedAt.description)),
                ("lapses_at", .string(placed.order.lapsesAt.description)), ("state", .string(state.name)),
                ("details", state.values),
                ("made", placed.made.map { .string($0) } ?? .null),
                ("changed_at", .string(placed.changedAt.description)),
                ("text", .string(TextFormat.printable(state.sentence))),
            ])
    }

    /// Two lines or more for each order: its author, its kind and time, and its result.
    public func text(width: Int, colour: Bool) -> String {
        let style = TextStyle(width: width, colour: colour)
        var lines: [String] = hasOlder ? ["Older orders are left out; --last shows more.", ""] : []
        if orders.isEmpty, damaged.isEmpty { lines.append("Nothing was ordered here.") }
        for placed in orders {
            let order = placed.order, state = state(placed)
            lines.append(
                style.paint(
                    "\(order.askedAt)  \(TextFormat.inLine(order.by)): \(TextFormat.printable(order.kind.words))", .bold
                ))
            let words = TextFormat.capitalized(TextFormat.printable(state.sentence))
            lines += style.wrapped(words, indent: 2).map { style.paint($0, state.isGood ? nil : .yellow) }
        }
        if !damaged.isEmpty {
            if !orders.isEmpty { lines.append("") }
            lines.append(style.paint("\(TextFormat.counted(damaged.count, one: "order")) cannot be read:", .red))
            lines += damaged.flatMap { style.wrapped($0.description, indent: 2) }
        }
        if orders.contains(where: { !state($0).hasEnded }), !isAtWork {
            lines += [
                "", "volley schedule is not at work: nothing is done until it is, and what waits too long lapses.",
            ]
        }
        return lines.joined(separator: "\n")
    }
}

extension OrderState {
    fileprivate var isGood: Bool {
        switch self {
        case .waiting, .taken, .done: true
        case .refused, .lapsed, .left: false
        }
    }
}
