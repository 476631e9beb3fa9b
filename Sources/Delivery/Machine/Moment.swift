import Base

/// Now, told to the machine from outside: it has no clock of its own, so that a simulated hour takes no time.
struct Moment: Hashable, Sendable {
    /// Monotonic: intervals are measured with this one.
    var nanoseconds: Int64
    /// What settlements and deadlines are written in.
    var wall: Timestamp

    /// This moment and so many nanoseconds.
    func adding(nanoseconds delta: Int64) -> Moment {
        Moment(nanoseconds: nanoseconds + delta, wall: Timestamp(epochMilliseconds: wall.epochMilliseconds + delta / 1_000_000))
    }
}

extension Int64 {
    /// Nanoseconds from seconds; huge values are capped at about a century so that sums of two cannot overflow.
    init(nanosecondsFromSeconds seconds: Double) {
        self = Int64((Swift.max(0, Swift.min(seconds, 3_000_000_000)) * 1e9).rounded())
    }
}
