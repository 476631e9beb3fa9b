package import Base

/// A pace that the workers of runs divide, as this process last read it.
package struct DividedPace: Sendable {
    /// How a process uses it, in each of its intervals.
    package struct Use: Sendable {
        /// What the others must leave to it (`SharedPace.used`).
        package var used: Int
        /// What has left it (`SharedPace.left`).
        package var left: Int
        /// The smallest part with which it can send anything (`SharedPace.leastPart`).
        package var least: Int

        /// A use.
        package init(used: Int, left: Int, least: Int) { (self.used, self.left, self.least) = (used, left, least) }
    }

    /// The same on all machines.
    package var key: String
    /// What may leave all of them within each of its intervals.
    package var whole: Pace
    /// How this process uses it now.
    package var use: @Sendable () -> Use
    /// Takes a part.
    package var take: @Sendable (Int) -> Void

    /// A pace.
    package init(key: String, whole: Pace, use: @escaping @Sendable () -> Use, take: @escaping @Sendable (Int) -> Void)
    {
        (self.key, self.whole, self.use, self.take) = (key, whole, use, take)
    }
}
