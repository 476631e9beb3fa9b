public import Base

/// What a service said of a run's pushes some time after it took them.
public struct ServiceStatistics: Hashable, Sendable {
    /// The service's number.
    public var service: Int
    /// When it was asked.
    public var askedAt: Timestamp
    /// By the service's own names. What it does not know is missing.
    public var counts: [String: Int]

    /// Statistics.
    public init(service: Int, askedAt: Timestamp, counts: [String: Int]) {
        self.service = service
        self.askedAt = askedAt
        self.counts = counts
    }
}
