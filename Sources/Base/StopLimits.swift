/// How large the share of answers with a bad outcome may become before a run stops: a campaign's `delivery.stop_when`.
public struct StopLimits: Hashable, Sendable {
    /// How many answers are needed if the campaign names no number.
    public static let usualAnswers = 1000

    /// The limits, for `invalidToken`, `rejected` and `failed`; no limit for the others. A run stops when a share is greater.
    public var shares: [Outcome: StopShare] = [:]
    /// The number of answers before the limit applies, at least 1.
    public var after = usualAnswers

    /// No limits yet.
    public init() {}

    /// Whether the answers exceed a limit, if there are enough of them.
    public func isPassed(by outcomes: [Outcome: Int]) -> Bool {
        let answers = [.accepted, .invalidToken, .rejected, .failed].reduce(0) { $0 + outcomes[$1, default: 0] }
        return answers >= after && shares.contains { $0.value.isPassed(by: outcomes[$0.key, default: 0], of: answers) }
    }

    /// The outcomes that may have a limit.
    public static let outcomes: [Outcome] = [.invalidToken, .rejected, .failed]
}

/// A share in millionths, so that no rounding decides whether it is passed.
public struct StopShare: Hashable, Sendable, CustomStringConvertible {
    /// 1 (0.0001 %) to 1,000,000 (100 %).
    public var millionths: Int

    /// A share in millionths.
    public init(millionths: Int) { self.millionths = millionths }

    /// Whether `part` of `whole` is more than this share.
    public func isPassed(by part: Int, of whole: Int) -> Bool { part * 1_000_000 > millionths * whole }

    /// As written in a campaign: `20%`, `0.5%`.
    public var description: String {
        let whole = millionths / 10_000
        var decimals = String(10_000 + millionths % 10_000).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return decimals.isEmpty ? "\(whole)%" : "\(whole).\(decimals)%"
    }
}
