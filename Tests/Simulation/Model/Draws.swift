import Base

/// Nanoseconds.
enum Span {
    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000
    static let minute = 60 * second
    static let hour = 60 * minute
}

/// Random draws of a campaign from its seed, cheap enough for a million campaigns.
extension SplitMix {
    /// 0 ..< bound.
    mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: ((next() >> 32) &* UInt64(truncatingIfNeeded: bound)) >> 32)
    }

    /// Both bounds included.
    mutating func between(_ low: Int, _ high: Int) -> Int { low + below(high - low + 1) }

    /// A length of time, to the microsecond, or to the millisecond if it is long.
    mutating func span(_ low: Int64, _ high: Int64) -> Int64 {
        let unit = high - low > Span.hour ? Span.millisecond : 1000
        return low + Int64(below(Int((high - low) / unit) + 1)) * unit
    }

    /// True in this many of a thousand cases; draws nothing for 0.
    mutating func happens(_ perMille: Int) -> Bool { perMille > 0 && below(1000) < perMille }

    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    /// A rate per thousand for a fault: none in most campaigns.
    mutating func rate(oneIn count: Int, upTo most: Int) -> Int { oneIn(count) ? between(1, most) : 0 }
}
