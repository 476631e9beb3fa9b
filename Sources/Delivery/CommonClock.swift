public import Base
import Synchronization

/// The time of day that all machines have that send one run: this machine's clock, corrected by its
/// distance from a clock that all of them can ask. Waves, expiry and the tokens that Volley signs
/// go by it. Without a correction it is this machine's clock.
public final class CommonClock: Sendable {
    private let offsetMilliseconds = Atomic<Int64>(0)

    /// This machine's clock.
    public init() {}

    /// Corrects it.
    /// - Parameter seconds: the common clock minus this machine's.
    public func correct(bySeconds seconds: Double) {
        offsetMilliseconds.store(Int64((seconds * 1000).rounded()), ordering: .relaxed)
    }

    /// The common clock minus this machine's, in seconds.
    public var offsetSeconds: Double { Double(offsetMilliseconds.load(ordering: .relaxed)) / 1000 }

    /// The time of day.
    public func now() -> Timestamp {
        Timestamp(epochMilliseconds: Timestamp.now().epochMilliseconds + offsetMilliseconds.load(ordering: .relaxed))
    }
}
