// Both: which module the compiler attributes `timespec` to depends on the order in which it reads
// headers.
public import Base
import CCurl
import Glibc
import Synchronization

/// The clock for measuring intervals. It stops while the machine sleeps.
func monotonicNanoseconds() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

/// The clock for the age of tokens. It also counts while the machine sleeps, as a token ages then
/// too.
func bootNanoseconds() -> Int64 { nanoseconds(of: CLOCK_BOOTTIME) }

/// The CPU time that the calling thread has used.
func threadNanoseconds() -> Int64 { nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) }

private func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// The time of day that all machines have that send one run: this machine's clock, corrected by its
/// distance from a clock that all of them can ask. Waves, expiry and the tokens that Volley signs
/// go by it. Without a correction it is this machine's clock.
public final class CommonClock: Sendable {
    private let offsetMilliseconds = Atomic<Int64>(0)

    /// This machine's clock.
    public init() {}

    /// Corrects it.
    /// - Parameter seconds: the common clock minus this machine's.
    public func correct(bySeconds seconds: Double) {
        offsetMilliseconds.store(Int64((seconds * 1000).rounded()), ordering: .relaxed)
    }

    /// The common clock minus this machine's, in seconds.
    public var offsetSeconds: Double { Double(offsetMilliseconds.load(ordering: .relaxed)) / 1000 }

    /// The time of day.
    public func now() -> Timestamp {
        Timestamp(epochMilliseconds: Timestamp.now().epochMilliseconds + offsetMilliseconds.load(ordering: .relaxed))
    }
}

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
