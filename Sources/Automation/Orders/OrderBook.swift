import Base
import Runs

/// The orders beside the runs, as the main loop of `volley schedule` works on them: opens their file when there is one, asks the desk, and records what it
/// decides. A file that cannot be used stops nothing else: no order is begun, what was begun goes on, and its end is recorded as soon as possible.
final class OrderBook {
    /// What the main loop has to do.
    struct Steps {
        /// Orders of this process that are to be done, in this order.
        var toDo: [PlacedOrder] = []
        /// Orders of processes that are gone: what is left of them is to be found.
        var toExamine: [PlacedOrder] = []
        /// Orders whose end is on record now.
        var ended: [(placed: PlacedOrder, state: OrderState)] = []
        /// Why the file cannot be used; nil if it can, or if that was said before.
        var failure: Diagnostic?
    }

    private let records: OrderRecords
    private var desk: OrderDesk
    private var store: OrderStore?
    private var lastFailure: Diagnostic?

    /// - Parameter life: random, so that no other process has it.
    init(_ records: OrderRecords, life: String) {
        self.records = records
        desk = OrderDesk(life: life)
    }

    /// Reads the orders that have not ended. Call it every second or so.
    /// - Parameter isTaking: whether further ones are begun.
    func look(isTaking: Bool = true, at moment: OrderMoment) -> Steps {
        attempt { steps in
            guard let store = try openStore() else { return }
            try record(desk.read(try store.unended(), isTaking: isTaking, at: moment), in: store, at: moment, &steps)
        }
    }

    /// The run of an order has begun.
    func begun(_ nonce: String) { desk.begun(nonce) }

    /// An order is over.
    func ended(_ nonce: String, as state: OrderState, at moment: OrderMoment) -> Steps {
        let actions = desk.ended(nonce, as: state)
        return attempt { steps in if let store { try record(actions, in: store, at: moment, &steps) } }
    }

    /// It is known what is left of an order.
    func found(_ nonce: String, _ remains: OrderRemains, at moment: OrderMoment) -> Steps {
        let actions = desk.found(nonce, remains)
        return attempt { steps in if let store { try record(actions, in: store, at: moment, &steps) } }
    }

    func close() {
        store?.close()
        store = nil
    }

    /// A file that was removed or replaced is opened again: what this process took is known by its name in the other file as well, or not at all.
    private func openStore() throws -> OrderStore? {
        if let store, !store.isInPlace { close() }
        if store == nil, records.isThere { store = try records.open() }
        return store
    }

    private func record(_ actions: [OrderDesk.Action], in store: OrderStore, at moment: OrderMoment, _ steps: inout Steps) throws {
        for action in actions {
            switch action {
            case .take(let placed, let former):
                // Another process may have been faster.
                guard try store.take(placed.order.nonce, life: desk.life, from: former, at: moment.time) else { continue }
                try record(desk.took(placed), in: store, at: moment, &steps)
            case .perform(let placed): steps.toDo.append(placed)
            case .examine(let placed):
                desk.examines(placed)
                steps.toExamine.append(placed)
            case .end(let placed, let state):
                let isRecorded = try end(placed, as: state, in: store, at: moment.time)
                desk.recorded(placed.order.nonce)
                if isRecorded { steps.ended.append((placed, state)) }
            }
        }
    }

    private func end(_ placed: PlacedOrder, as state: OrderState, in store: OrderStore, at now: Timestamp) throws -> Bool {
        if case .taken(let life) = placed.state, life != desk.life {
            return try store.leave(placed.order.nonce, of: life, as: state, at: now)
        }
        return try store.end(placed.order.nonce, as: state, life: desk.life, at: now)
    }

    /// What was recorded before a failure is done.
    private func attempt(_ body: (inout Steps) throws -> Void) -> Steps {
        var steps = Steps()
        do {
            try body(&steps)
            lastFailure = nil
        } catch {
            let failure = Diagnostic(explaining: error)
            if failure != lastFailure { steps.failure = failure }
            lastFailure = failure
        }
        return steps
    }
}
