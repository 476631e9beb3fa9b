/// A small seeded generator: the same seed gives the same numbers, so that a failing simulation can
/// be repeated.
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (SplitMix64).
///
/// ```swift
/// var random = SplitMix(seed: 7)
/// let sample = (1...100).shuffled(using: &random).prefix(3)
/// ```
public struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    /// The generator for a seed.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
