/// When and how often a push is tried again after a temporary refusal.
public struct RetryPolicy: Hashable, Sendable {
    /// The most attempts in all, at least 1.
    public var maximumAttempts = 6
    /// No wait is shorter.
    public var shortestDelaySeconds = 0.0
    /// The longest wait after the first refusal, doubled after each further one; the wait is a
    /// random part of it.
    public var firstDelaySeconds = 0.5
    /// The longest wait, unless the server's retry-after is longer.
    public var longestDelaySeconds = 60.0
    /// How long nothing leaves after a refusal because of a used-up quota, unless the server says
    /// it; doubled with each one in a row.
    public var firstQuotaSeconds = 60.0
    /// How long after its first attempt a push is given up.
    public var maximumTotalSeconds = 900.0

    /// The usual policy, for services without one of their own.
    public init() {}
}
