/// The highest rate at which a run may push, as it was written: `5000/s`, `300000/min`, `100/h`.
///
/// ```swift
/// let pace = Pace(pushes: 60_000, intervalSeconds: 60)
/// let half = pace.share(of: 1, in: 2)  // 500 a second
/// ```
public struct Pace: Hashable, Sendable, CustomStringConvertible {
    /// Pushes in each interval, at least 1.
    public var pushes: Int
    /// The interval in seconds: 1, 60 or 3600.
    public var intervalSeconds: Int

    /// A pace of `pushes` in every `intervalSeconds`.
    public init(pushes: Int, intervalSeconds: Int) {
        self.pushes = pushes
        self.intervalSeconds = intervalSeconds
    }

    /// The mean rate in pushes per second.
    public var perSecond: Double { Double(pushes) / Double(intervalSeconds) }

    /// The pushes of a twentieth of a second, at least 1: what a run may claim or hold ahead of its
    /// pace. After a crash, everything that was claimed ahead would be unknown.
    public var pushesAhead: Int { max(1, Int(perSecond / 20)) }

    /// As written in a campaign.
    public var description: String {
        "\(pushes)/\(intervalSeconds == 1 ? "s" : intervalSeconds == 60 ? "min" : "h")"
    }

    /// How many times as fast it is as another, rounded down; 0 if it is slower.
    public func times(_ other: Pace) -> Int {
        pushes * other.intervalSeconds / (intervalSeconds * max(1, other.pushes))
    }

    /// The part of the pace for some of the devices that share it, rounded down, so that all parts
    /// together do not exceed it in any of its intervals; at least a push an hour.
    public func share(of part: Int, in whole: Int) -> Pace {
        guard part < whole else { return self }
        let share = Double(part) / Double(whole)
        let seconds = [1, 60].first { $0 >= intervalSeconds && perSecond * Double($0) * share >= 1 } ?? 3600
        return Pace(pushes: max(1, Int(perSecond * Double(seconds) * share)), intervalSeconds: seconds)
    }

    /// The slower of two; nil means no limit.
    public static func slower(_ left: Pace?, _ right: Pace?) -> Pace? {
        guard let left, let right else { return left ?? right }
        return left.perSecond <= right.perSecond ? left : right
    }
}
