import Base
import PushServices

/// Lets pushes through no faster than a pace in any sliding second (and in any of the pace's own intervals).
///
/// Pushes are spaced evenly, 1.5 % wider than the pace: two thirds of that are room for the network and the server's clock, which
/// jitter as well; the last third lets a loop that wakes late catch up. With spacing `s` and catching up by at most `c`, any
/// `pace` + 1 pushes in a row span at least `pace`·`s` − `c` = 1.015 − 0.005 of the interval: more than one.
///
/// Where a pace counts targets, requests of up to `m` of them leave at one moment, each followed by the spaces of all its targets. Of `pace` + 1 targets
/// the last request's are followed by nothing as yet, so the spacing is that of a pace that is lower by `m` − 1 a second.
struct Pacer {
    private static let stretch = 1.015
    private static let catchUpShare = 0.005

    private let spacingNanoseconds: Double
    private let catchUpNanoseconds: Double
    /// When the next push would leave if every push left exactly in time; not rounded, so that the mean does not drift.
    private var nextIdeal: Double?

    init(_ pace: Pace, _ batching: Batching = .single) {
        let seconds = max(1, pace.intervalSeconds)
        let largest = batching.paceUnit == .targets ? batching.largestRequest(at: pace) : 1
        spacingNanoseconds = Double(seconds) * 1e9 * Self.stretch / Double(max(1, pace.pushes - (largest - 1) * seconds))
        // A share of a second, never of a minute: 300000/min is smooth to the second as well.
        catchUpNanoseconds = Self.catchUpShare * 1e9
    }

    /// When the next push may leave, in monotonic nanoseconds; nil for at once.
    var nextTime: Int64? {
        nextIdeal.map { Int64(($0 - catchUpNanoseconds).rounded(.up)) }
    }

    /// Whether a push may leave now.
    func mayTake(at nanoseconds: Int64) -> Bool { nextTime.map { $0 <= nanoseconds } ?? true }

    /// Whether a request may leave now; counts it if so.
    /// - Parameter count: what it counts: 1, or its targets.
    mutating func take(_ count: Int = 1, at nanoseconds: Int64) -> Bool {
        let now = Double(nanoseconds)
        // The first push must not find a burst saved up.
        let ideal = nextIdeal ?? now + catchUpNanoseconds
        guard now >= ideal - catchUpNanoseconds else { return false }
        nextIdeal = max(ideal, now) + spacingNanoseconds * Double(count)
        return true
    }
}
