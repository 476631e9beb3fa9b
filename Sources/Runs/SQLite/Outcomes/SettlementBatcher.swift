public import Base
import Glibc

/// Puts the settlements of a sender together into groups that are worth a transaction: each costs a
/// write-through of the disk, and rewrites the pages that the one before it has filled halfway.
/// Belongs to the recorder's thread.
public struct SettlementBatcher {
    private let results: BoundedQueue<[Settlement]>

    /// Settlements of a group; it may hold a few more. A claim waits while one is written.
    private static let fullGroup = 20_000
    /// How long the first of a group waits for others.
    private static let timeoutNanoseconds: Int64 = 50_000_000

    /// Groups the settlements that come out of a queue.
    public init(_ results: BoundedQueue<[Settlement]>) { self.results = results }

    /// The next group, in the parts in which it came: full, or what came in a twentieth of a
    /// second; nil when the queue is closed and empty.
    public func next() -> [[Settlement]]? {
        guard let first = results.take() else { return nil }
        var (group, count) = ([first], first.count)
        let end = Self.monotonicNanoseconds() + Self.timeoutNanoseconds
        while count < Self.fullGroup, let more = results.take(until: end) {
            count += more.count
            group.append(more)
        }
        return group
    }

    private static func monotonicNanoseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}
