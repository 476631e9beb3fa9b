public import Base

/// How runs are named.
public enum RunID {
    /// `20261201-090000-spring-sale-7f3a`: the moment of planning in UTC, the campaign, and four random hex digits, so that two plans
    /// of one second differ.
    public static func make(campaign: String, now: Timestamp, seed: RunSeed) -> String {
        let digits = String(seed.high >> 48, radix: 16)
        return "\(now.compact)-\(campaign)-\(String(repeating: "0", count: 4 - digits.count))\(digits)"
    }
}
