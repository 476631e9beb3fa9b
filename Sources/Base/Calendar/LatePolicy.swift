/// What to do if nothing could be sent at the scheduled time, for example because the machine was off.
public enum LatePolicy: Hashable, Sendable, CustomStringConvertible {
    /// `send`: send, however late it is.
    case send
    /// `skip after 2h`: do not send if more than this many seconds have passed; at least a minute.
    case skip(afterSeconds: Int)

    /// The least for `skip`: nobody would call a minute late.
    public static let shortestSeconds = 60

    /// The default of campaigns: `skip after 2h`.
    public static let usual = LatePolicy.skip(afterSeconds: 2 * 3600)

    /// As written in a campaign: `send`, `skip after 2h`.
    public var description: String {
        guard case .skip(let seconds) = self else { return "send" }
        let units = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
        let unit = units.first { seconds % $0.0 == 0 } ?? (1, "s")
        return "skip after \(seconds / unit.0)\(unit.1)"
    }

    /// Whether this many seconds are too late.
    public func isTooLate(bySeconds seconds: Int) -> Bool {
        if case .skip(let limit) = self { seconds > limit } else { false }
    }
}
