/// How many pushes a device may get in a period: `at most 2 per 7 days`.
public struct FrequencyCap: Hashable, Sendable, CustomStringConvertible {
    /// At least 1.
    public var pushes: Int
    /// The period, in seconds: a whole number of hours, at most a year.
    public var seconds: Int

    /// The most pushes per device in any period of the given seconds.
    public init(pushes: Int, seconds: Int) {
        self.pushes = pushes
        self.seconds = seconds
    }

    /// As written in a campaign, in the largest unit that fits.
    public var description: String {
        let (amount, unit) = seconds % 86_400 == 0 ? (seconds / 86_400, "day") : (seconds / 3600, "hour")
        return "at most \(pushes) per \(amount == 1 ? unit : "\(amount) \(unit)s")"
    }
}
