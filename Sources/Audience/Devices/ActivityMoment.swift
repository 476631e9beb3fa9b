/// When a device was last active, in 48 bits that keep the order of moments: to the millisecond
/// within 2,000 years of 1970, to 4 seconds beyond.
struct ActivityMoment: BitwiseCopyable, Comparable {
    /// Below 2^48; 0 for never.
    let bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    /// - Parameter milliseconds: since 1970; `never` when there is no date.
    @inline(__always) init(_ milliseconds: Int64) {
        guard milliseconds != Self.never else {
            bits = 0
            return
        }
        let exact: Int64 = 1 << 46
        let clamped = min(max(milliseconds, -(exact << 11)), exact << 11)
        let bent: Int64 =
            clamped >= exact
            ? exact + (clamped - exact) >> 12 : clamped < -exact ? -exact + (clamped + exact) >> 12 : clamped
        bits = UInt64(bitPattern: bent &+ (exact << 1)) & 0xFFFF_FFFF_FFFF
    }

    /// Milliseconds that mean no date: older than any.
    static let never = Int64.min

    /// Whether there is no date.
    @inline(__always) var isNever: Bool { bits == 0 }

    /// A moment this far ahead cannot be in the past, even if the clock that wrote it was wrong.
    /// Milliseconds.
    static let grace: Int64 = 86_400_000

    @inline(__always) static func < (left: Self, right: Self) -> Bool { left.bits < right.bits }
}
