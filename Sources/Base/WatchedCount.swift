import Synchronization

/// A count that one thread adds to and another may wait for, asleep. While the awaited value is not
/// reached, adding costs two atomic operations.
public final class WatchedCount: Sendable {
    private let count = Atomic(0)
    private let awaited = Atomic(Int.max)
    private let sleeper = Mutex<Wakeup?>(nil)

    /// Nothing counted yet.
    public init() {}

    /// The count so far.
    public var value: Int { count.load(ordering: .acquiring) }

    /// Adds to the count. A thread that is woken by this, or that reads the count, sees everything
    /// that the caller did before.
    public func add(_ more: Int) {
        let value = count.wrappingAdd(more, ordering: .sequentiallyConsistent).newValue
        if value >= awaited.load(ordering: .sequentiallyConsistent) { tell() }
    }

    /// Wakes a thread once the count is `value` or more; at once if it already is. A later call
    /// replaces an earlier one.
    public func wake(_ wakeup: Wakeup, when value: Int) {
        sleeper.withLock { $0 = wakeup }
        awaited.store(value, ordering: .sequentiallyConsistent)
        // Either this thread sees the new count, or `add` sees the awaited value.
        if count.load(ordering: .sequentiallyConsistent) >= value { tell() }
    }

    private func tell() {
        guard awaited.exchange(.max, ordering: .sequentiallyConsistent) != .max else { return }
        sleeper.withLock { $0 }?.wake()
    }
}
