import Synchronization

/// Receipts on their way from a sender's loops to the record.
public final class ReceiptQueue: Sendable {
    private let receipts = Mutex<[String]>([])

    /// An empty queue.
    public init() {}

    func add(_ receipt: String) { receipts.withLock { $0.append(receipt) } }

    /// Takes out what came since the last time.
    public func take() -> [String] {
        receipts.withLock { receipts in
            defer { receipts = [] }
            return receipts
        }
    }

    /// Puts back what could not be recorded.
    public func putBack(_ taken: [String]) { receipts.withLock { $0 = taken + $0 } }
}
