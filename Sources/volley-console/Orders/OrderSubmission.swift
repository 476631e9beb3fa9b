import Base
import Runs
import Synchronization

/// Where the console hands in orders, and looks up their results. The file is made with the first
/// order.
final class OrderSubmission: Sendable {
    private let records: OrderRecords
    /// Open since it was first needed.
    private let store = Mutex<OrderStore?>(nil)

    init(_ records: OrderRecords) { self.records = records }

    /// Writes an order down; the same form a second time is the same order.
    /// - Throws: `Diagnostic`: the record cannot be used, or the form belongs to another order.
    func place(_ order: Order) throws -> PlacedOrder { try opened().place(order) }

    /// Checks that orders can be written down, as far as that shows without one.
    /// - Throws: `Diagnostic`: the record cannot be used.
    func checkUsable() throws { _ = try opened() }

    /// An order by the key of its form; nil for an unknown one.
    func order(_ nonce: String) throws -> PlacedOrder? { records.isThere ? try opened().order(nonce) : nil }

    /// The orders about a run, or that made it, newest first.
    func orders(ofRun run: String) throws -> OrderListing {
        guard records.isThere else { return OrderListing() }
        let listing = try opened().orders(ofRun: run)
        return OrderListing(listing.orders.reversed(), damaged: listing.damaged.reversed())
    }

    private func opened() throws -> OrderStore {
        try store.withLock { store in
            // The file may have been restored from a backup.
            if let open = store, open.isInPlace { return open }
            store?.close()
            store = nil
            let open = try records.open()
            store = open
            return open
        }
    }
}
