public import Base

/// How fast a service may be sent to where neither the app nor the campaign says it, and how slowly
/// that begins.
///
/// The rate rises in a straight line from `rampStart` of the pace to all of it. So it begins with
/// what takes no service by surprise, and with enough that a small campaign does not wait: at
/// 600,000 a minute the first second has about 250 pushes, and the first ten seconds have about
/// 10,000.
public struct ServicePace: Hashable, Sendable {
    /// The share of the pace with which a ramp begins.
    public static let rampStart = 1.0 / 60

    /// The pace.
    public let pace: Pace
    /// After how many seconds the rate reaches the pace; 0 for at once.
    public let rampSeconds: Double
    /// Whether the service refuses what comes faster, unless the app bought more. Then only a pace
    /// next to the service's own keys may be faster.
    public let isLimit: Bool

    /// A pace that is reached after a while.
    public init(_ pace: Pace, rampSeconds: Double, isLimit: Bool = false) {
        self.pace = pace
        self.rampSeconds = rampSeconds
        self.isLimit = isLimit
    }
}
