import CCurl
import Glibc

/// Notices when the calling thread has not rested for a while, so that its core is the limit.
struct ThreadLoad {
    private static let windowNanoseconds: Int64 = 500_000_000
    private static let saturation = 0.9

    private var windowStart: Int64 = 0
    private var usedAtStart: Int64 = 0

    /// Returns true after half a second in which the thread ran nearly all the time.
    mutating func isSaturated(at nanoseconds: Int64) -> Bool {
        guard nanoseconds - windowStart >= Self.windowNanoseconds else { return false }
        let used = threadNanoseconds()
        let share = Double(used - usedAtStart) / Double(nanoseconds - windowStart)
        defer { (windowStart, usedAtStart) = (nanoseconds, used) }
        return windowStart > 0 && share > Self.saturation
    }
}
