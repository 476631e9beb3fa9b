import Base
import Synchronization

@testable import Delivery

/// All clocks of a simulated campaign. True time continues by itself; the monotonic clock stops
/// while the machine sleeps; the wall clock may be set forward and back. Atomic because the
/// provider token's source needs a clock for all threads; only one thread uses it.
final class VirtualClock: Sendable {
    private let time = Atomic<Int64>(1000 * Span.second)
    private let slept = Atomic<Int64>(0)
    private let wallOffset = Atomic<Int64>(0)

    private static let epochMilliseconds: Int64 = 1_800_000_000_000

    /// True time, which is also the clock that counts while the machine sleeps.
    var now: Int64 { time.load(ordering: .relaxed) }

    /// Nanoseconds for which the machine was asleep.
    var asleep: Int64 { slept.load(ordering: .relaxed) }

    var monotonic: Int64 { now - asleep }

    private var wall: Timestamp {
        Timestamp(
            epochMilliseconds: Self.epochMilliseconds + now / Span.millisecond + wallOffset.load(ordering: .relaxed))
    }

    /// What a sender's loop sees.
    var moment: Moment { Moment(nanoseconds: monotonic, wall: wall) }

    /// What a token source sees.
    var bootMoment: Moment { Moment(nanoseconds: now, wall: wall) }

    /// The server's clock, right except for its own skew.
    func serverSeconds(skew: Int64) -> Int64 { Self.epochMilliseconds / 1000 + now / Span.second + skew }

    func move(to newTime: Int64) { time.store(newTime, ordering: .relaxed) }
    func sleep(_ nanoseconds: Int64) { slept.store(asleep + nanoseconds, ordering: .relaxed) }
    func stepWall(milliseconds: Int64) {
        wallOffset.store(wallOffset.load(ordering: .relaxed) + milliseconds, ordering: .relaxed)
    }
}
