public import Base

/// What a service said of a run's pushes after it took them.
public struct ServiceStatistics: Hashable, Sendable {
    /// The service's number.
    public var service: Int
    /// When it answered last.
    public var askedAt: Timestamp
    /// By the service's own names, summed over all that it was asked about. What it never said is
    /// missing.
    public var counts: [String: Int]
    /// When counts were said, as far as it was before `askedAt`, because the service no longer
    /// reports them.
    public var olderCounts: [String: Timestamp]

    /// Statistics.
    public init(service: Int, askedAt: Timestamp, counts: [String: Int], olderCounts: [String: Timestamp] = [:]) {
        self.service = service
        self.askedAt = askedAt
        self.counts = counts
        self.olderCounts = olderCounts
    }
}
