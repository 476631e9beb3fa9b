import Base

/// The current time, passed to the machine from outside. The machine has no clock of its own, so
/// that a simulated hour takes no time.
struct Moment: Hashable, Sendable {
    /// Monotonic time, for measuring intervals.
    var nanoseconds: Int64
    /// Wall time, for settlements and deadlines.
    var wall: Timestamp

    /// Returns the moment this many nanoseconds later.
    func adding(nanoseconds delta: Int64) -> Moment {
        Moment(
            nanoseconds: nanoseconds + delta,
            wall: Timestamp(epochMilliseconds: wall.epochMilliseconds + delta / 1_000_000))
    }
}

extension Int64 {
    /// Converts seconds to nanoseconds. Huge values are capped at about a century, so that the sum
    /// of two cannot overflow.
    init(nanosecondsFromSeconds seconds: Double) {
        self = Int64((Swift.max(0, Swift.min(seconds, 3_000_000_000)) * 1e9).rounded())
    }
}
