import Synchronization

/// A count that one thread adds to and another one may wait for, asleep. Adding costs two atomic operations while what is waited for is not reached.
public final class WatchedCount: Sendable {
    private let count = Atomic(0)
    private let awaited = Atomic(Int.max)
    private let sleeper = Mutex<Wakeup?>(nil)

    /// Nothing counted yet.
    public init() {}

    /// The count so far.
    public var value: Int { count.load(ordering: .acquiring) }

    /// Adds to the count. A thread that it wakes, or that reads it, sees what the caller did before.
    public func add(_ more: Int) {
        let value = count.wrappingAdd(more, ordering: .sequentiallyConsistent).newValue
        if value >= awaited.load(ordering: .sequentiallyConsistent) { tell() }
    }

    /// Wakes it once, when the count is `value` or more; at once if it is. Its last call counts.
    public func wake(_ wakeup: Wakeup, when value: Int) {
        sleeper.withLock { $0 = wakeup }
        awaited.store(value, ordering: .sequentiallyConsistent)
        // Either this thread sees what was counted, or `add` sees what is waited for.
        if count.load(ordering: .sequentiallyConsistent) >= value { tell() }
    }

    private func tell() {
        guard awaited.exchange(.max, ordering: .sequentiallyConsistent) != .max else { return }
        sleeper.withLock { $0 }?.wake()
    }
}
