public import Base
import Glibc

/// Puts the settlements of a sender together into groups that are worth a transaction: each costs a write-through of the disk, and rewrites
/// the pages that the one before it has filled halfway. Belongs to the recorder's thread.
public struct OutcomeGroups {
    private let results: BoundedQueue<[Settlement]>
    private let clock = ContinuousClock()

    /// Settlements of a group, a few more at most. A claim waits while one is written.
    private static let fullGroup = 20_000
    /// How long the first of a group waits for others.
    private static let patience = Duration.milliseconds(50)
    private static let glance: UInt32 = 2000

    /// Groups of what comes out of a queue.
    public init(_ results: BoundedQueue<[Settlement]>) { self.results = results }

    /// The next group, in the parts in which it came: full, or what came in a twentieth of a second; nil when the queue is closed and empty.
    public func next() -> [[Settlement]]? {
        guard let first = results.take() else { return nil }
        var (group, count) = ([first], first.count)
        let end = clock.now + Self.patience
        while count < Self.fullGroup {
            if let more = results.takeIfReady() {
                count += more.count
                group.append(more)
            } else if clock.now < end, !results.isFinished {
                usleep(Self.glance)
            } else {
                break
            }
        }
        return group
    }
}
