import Base
import Runs

/// The orders next to the runs, as the main loop of `volley schedule` works on them: opens their
/// file when it exists, lets the queue decide, and records its decisions. A file that cannot be
/// used stops nothing else: no order is begun, begun orders continue, and their end is recorded as
/// soon as possible.
final class OrderRegistry {
    /// The tasks of the main loop.
    struct Steps {
        /// Orders of this process that must be carried out, in this order.
        var toDo: [PlacedOrder] = []
        /// Orders of processes that are gone: it must be found out what remains of them.
        var toExamine: [PlacedOrder] = []
        /// Orders whose end is on record now.
        var ended: [(placed: PlacedOrder, state: OrderState)] = []
        /// Rows that cannot be read, and were not named before.
        var damaged: [Diagnostic] = []
        /// Why the file cannot be used; nil if it can, or if that was already reported.
        var failure: Diagnostic?
    }

    private let openTable: () throws -> (any OrderTable)?
    private var queue: OrderQueue
    private var table: (any OrderTable)?
    private var lastFailure: Diagnostic?
    private var knownDamage: [DamagedOrder] = []

    /// - Parameters:
    ///   - epoch: random, so that no other process has it.
    ///   - openTable: opens the record of orders; nil as long as it does not exist.
    init(epoch: String, openTable: @escaping () throws -> (any OrderTable)?) {
        self.openTable = openTable
        queue = OrderQueue(epoch: epoch)
    }

    /// Reads the orders that have not ended. Call it every second or so.
    /// - Parameter isTaking: whether further ones are begun.
    func look(isTaking: Bool = true, at moment: OrderMoment) -> Steps {
        attempt { steps in
            guard let table = try currentTable() else { return }
            let listing = try table.unended()
            steps.damaged = listing.damaged.filter { !knownDamage.contains($0) }.map(\.mistake)
            knownDamage = listing.damaged
            let actions = queue.read(listing.orders, damaged: listing.damaged, isTaking: isTaking, at: moment)
            try record(actions, in: table, at: moment, &steps)
        }
    }

    /// The run of an order has begun.
    func begun(_ nonce: String) { queue.begun(nonce) }

    /// An order is over.
    func ended(_ nonce: String, as state: OrderState, at moment: OrderMoment) -> Steps {
        let actions = queue.ended(nonce, as: state)
        return attempt { steps in if let table { try record(actions, in: table, at: moment, &steps) } }
    }

    /// The state of an order is known.
    func found(_ nonce: String, _ remains: OrderRemains, at moment: OrderMoment) -> Steps {
        let actions = queue.found(nonce, remains)
        return attempt { steps in if let table { try record(actions, in: table, at: moment, &steps) } }
    }

    func close() {
        table?.close()
        table = nil
    }

    /// A file that was removed or replaced is opened again. The orders that this process took are
    /// in the other file under its name, or not at all.
    private func currentTable() throws -> (any OrderTable)? {
        if let table, !table.isInPlace { close() }
        if table == nil { table = try openTable() }
        return table
    }

    private func record(
        _ actions: [OrderQueue.Action], in table: any OrderTable, at moment: OrderMoment, _ steps: inout Steps
    ) throws {
        for action in actions {
            switch action {
            case .take(let placed, let former):
                // Another process may have been faster.
                guard try table.take(placed.order.nonce, epoch: queue.epoch, from: former, at: moment.time) else {
                    continue
                }
                try record(queue.took(placed), in: table, at: moment, &steps)
            case .perform(let placed): steps.toDo.append(placed)
            case .examine(let placed):
                queue.examines(placed)
                steps.toExamine.append(placed)
            case .end(let placed, let state):
                let isRecorded = try end(placed, as: state, in: table, at: moment.time)
                queue.recorded(placed.order.nonce)
                if isRecorded { steps.ended.append((placed, state)) }
            }
        }
    }

    private func end(_ placed: PlacedOrder, as state: OrderState, in table: any OrderTable, at now: Timestamp) throws
        -> Bool
    {
        if case .taken(let epoch) = placed.state, epoch != queue.epoch {
            return try table.leave(placed.order.nonce, of: epoch, as: state, at: now)
        }
        return try table.end(placed.order.nonce, as: state, epoch: queue.epoch, at: now)
    }

    /// Orders that were recorded before a failure are carried out.
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

/// The record of orders as a sender needs it: `OrderStore`, and in simulation a list in memory,
/// which may fail at any call.
protocol OrderTable {
    func unended() throws -> OrderListing
    func take(_ nonce: String, epoch: String, from former: String?, at now: Timestamp) throws -> Bool
    func end(_ nonce: String, as state: OrderState, epoch: String, at now: Timestamp) throws -> Bool
    func leave(_ nonce: String, of former: String, as state: OrderState, at now: Timestamp) throws -> Bool
    var isInPlace: Bool { get }
    func close()
}

extension OrderStore: OrderTable {}
