public import Base

/// A pace that the members of runs divide, as this process knows it.
public struct DividedPace: Sendable {
    /// The same on all machines.
    public var key: String
    /// What may leave all of them within each of its intervals.
    public var whole: Pace
    /// What this process uses (`SharedPace.used`), and the smallest part with which it can send anything (`SharedPace.leastPart`).
    public var used: @Sendable () -> Int, least: @Sendable () -> Int
    /// Takes a part.
    public var take: @Sendable (Int) -> Void

    /// A pace.
    public init(
        key: String, whole: Pace, used: @escaping @Sendable () -> Int, least: @escaping @Sendable () -> Int,
        take: @escaping @Sendable (Int) -> Void
    ) {
        (self.key, self.whole) = (key, whole)
        (self.used, self.least, self.take) = (used, least, take)
    }
}
