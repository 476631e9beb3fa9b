import Base
import PushServices

/// Lets pushes through no faster than a pace in any sliding second, and in any of the pace's own intervals.
///
/// Pushes are spaced evenly, 1.5 % wider than the pace. Two thirds of that leave room for jitter in the network and the server's clock; the
/// last third lets a loop that wakes late catch up. With spacing `s` and catching up by at most `c`, any `pace` + 1 pushes in a row span at
/// least `pace`·`s` − `c` = 1.015 − 0.005 of the interval: more than one.
///
/// Where a pace counts targets, requests of up to `m` targets leave at one moment, each followed by the spaces of all its targets. Among
/// `pace` + 1 targets, those of the last request are not followed by their spaces yet. So the spacing is that
/// of a pace lower by `m` − 1 a second.
///
/// With a ramp the rate rises in a straight line from `ServicePace.rampStart` of the pace to all of it. A ramp begins with the first push,
/// and again with the first one after a rest that is as long as the ramp.
struct Pacer {
    private static let stretch = 1.015
    private static let catchUpShare = 0.005

    private let spacingNanoseconds: Double
    private let catchUpNanoseconds: Double
    /// When the next push would leave if every push left exactly on time. Not rounded, so that the mean does not drift.
    private var nextIdeal: Double?
    private let rampNanoseconds: Double
    /// When the ramp began; nil until the next push begins one.
    private var rampBegan: Double?

    init(_ pace: Pace, _ batching: Batching = .single, rampSeconds: Double = 0) {
        rampNanoseconds = max(0, rampSeconds) * 1e9
        let seconds = max(1, pace.intervalSeconds)
        let largest = batching.paceUnit == .targets ? batching.largestRequest(at: pace) : 1
        spacingNanoseconds = Double(seconds) * 1e9 * Self.stretch / Double(max(1, pace.pushes - (largest - 1) * seconds))
        // A share of a second, never of a minute, so that 300000/min is also smooth to the second.
        catchUpNanoseconds = Self.catchUpShare * 1e9
    }

    /// When the next push may leave, in monotonic nanoseconds; nil if at once.
    var nextTime: Int64? {
        nextIdeal.map { Int64(($0 - catchUpNanoseconds).rounded(.up)) }
    }

    /// Returns whether a push may leave now.
    func mayTake(at nanoseconds: Int64) -> Bool { nextTime.map { $0 <= nanoseconds } ?? true }

    /// Returns whether a request may leave now, and counts it if so.
    /// - Parameter count: what the request counts for: 1, or the number of its targets.
    mutating func take(_ count: Int = 1, at nanoseconds: Int64) -> Bool {
        let now = Double(nanoseconds)
        // The first push must not have catching up left over, which would allow a burst.
        let ideal = nextIdeal ?? now + catchUpNanoseconds
        guard now >= ideal - catchUpNanoseconds else { return false }
        nextIdeal = max(ideal, now) + spacing(restedFor: now - ideal, at: now) * Double(count)
        return true
    }

    /// Lets the ramp begin with the next push.
    mutating func restartRamp() { rampBegan = nil }

    /// The time that a push takes up now, in nanoseconds.
    private mutating func spacing(restedFor rest: Double, at now: Double) -> Double {
        guard rampNanoseconds > 0 else { return spacingNanoseconds }
        if rest >= rampNanoseconds { rampBegan = nil }
        let began = rampBegan ?? now
        rampBegan = began
        let share = ServicePace.rampStart + (1 - ServicePace.rampStart) * (now - began) / rampNanoseconds
        return spacingNanoseconds / min(1, share)
    }
}
