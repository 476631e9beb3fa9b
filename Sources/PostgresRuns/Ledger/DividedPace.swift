package import Base

/// A pace that the members of runs divide, as this process knows it.
package struct DividedPace: Sendable {
    /// The same on all machines.
    package var key: String
    /// What may leave all of them within each of its intervals.
    package var whole: Pace
    /// What this process uses (`SharedPace.used`), and the smallest part with which it can send anything (`SharedPace.leastPart`).
    package var used: @Sendable () -> Int, least: @Sendable () -> Int
    /// Takes a part.
    package var take: @Sendable (Int) -> Void

    /// A pace.
    package init(
        key: String, whole: Pace, used: @escaping @Sendable () -> Int, least: @escaping @Sendable () -> Int,
        take: @escaping @Sendable (Int) -> Void
    ) {
        (self.key, self.whole) = (key, whole)
        (self.used, self.least, self.take) = (used, least, take)
    }
}
