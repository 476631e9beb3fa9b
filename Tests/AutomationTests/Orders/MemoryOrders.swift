import Base
import Runs

@testable import Automation

/// Orders as `OrderStore` keeps them, in memory: what the simulation of the queue works on.
/// `OrderTableTests` compares the two, call by call.
final class MemoryOrders: OrderTable {
    /// A call that failed: the disk is full, or the process was killed in the middle of it.
    struct Failure: Error {}

    /// What happens at the next calls that write.
    enum Fault {
        case none
        /// The next fails, and has written nothing, or everything.
        case next(hasWritten: Bool)
        /// As `next`, after this number of successful ones.
        case after(Int, hasWritten: Bool)
    }

    var fault = Fault.none
    private(set) var rows: [PlacedOrder] = []
    /// Rows that cannot be read.
    var damaged: [DamagedOrder] = []
    private var epochs: [String] = []
    private var places: [String: Int] = [:]
    /// Called with what is written, before it is.
    var writes: (PlacedOrder, OrderState) -> Void = { _, _ in }

    func place(_ order: Order) throws -> PlacedOrder {
        if let place = places[order.nonce] {
            guard rows[place].order.kind == order.kind, rows[place].order.by == order.by else { throw Failure() }
            return rows[place]
        }
        places[order.nonce] = rows.count
        rows.append(PlacedOrder(number: Int64(rows.count + 1), order: order, state: .waiting, changedAt: order.askedAt))
        epochs.append("")
        return rows[rows.count - 1]
    }

    func row(_ nonce: String) -> PlacedOrder? { places[nonce].map { rows[$0] } }

    func unended() throws -> OrderListing { OrderListing(rows.filter { !$0.state.hasEnded }, damaged: damaged) }

    func take(_ nonce: String, epoch: String, from former: String?, at now: Timestamp) throws -> Bool {
        try write(nonce, .taken(epoch: epoch), epoch: epoch, at: now) { state, _ in
            former.map { state == .taken(epoch: $0) } ?? (state == .waiting)
        }
    }

    func note(made run: String, by nonce: String, epoch: String) throws -> Bool {
        guard let place = places[nonce], rows[place].state == .taken(epoch: epoch) else { return false }
        rows[place].made = run
        return true
    }

    func end(_ nonce: String, as state: OrderState, epoch: String, at now: Timestamp) throws -> Bool {
        try write(nonce, state, epoch: nil, at: now) { present, owner in
            switch present {
            case .waiting: true
            case .taken, .left: owner == epoch
            case .done, .refused, .lapsed: false
            }
        }
    }

    func leave(_ nonce: String, of former: String, as state: OrderState, at now: Timestamp) throws -> Bool {
        try write(nonce, state, epoch: nil, at: now) { present, _ in present == .taken(epoch: former) }
    }

    let isInPlace = true
    func close() {}

    private func write(
        _ nonce: String, _ state: OrderState, epoch: String?, at now: Timestamp, if fits: (OrderState, String) -> Bool
    ) throws -> Bool {
        var hasWritten: Bool?
        switch fault {
        case .none: break
        case .next(let written): (fault, hasWritten) = (.none, written)
        case .after(let calls, let written):
            fault = calls > 1 ? .after(calls - 1, hasWritten: written) : .next(hasWritten: written)
        }
        if hasWritten == false { throw Failure() }
        guard let place = places[nonce], fits(rows[place].state, epochs[place]) else {
            if hasWritten != nil { throw Failure() }
            return false
        }
        writes(rows[place], state)
        (rows[place].state, rows[place].changedAt) = (state, now)
        if let epoch { epochs[place] = epoch }
        if hasWritten == true { throw Failure() }
        return true
    }
}
