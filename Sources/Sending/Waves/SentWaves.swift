/// Waves of which this worker has done its part, while others may still have recipients of them in
/// hand, or give them back.
struct SentWaves {
    /// The shortest time between two looks; seconds.
    private static let restSeconds = 2.0
    /// Looking reads the outcomes of the run: it takes up a tenth of the time at most.
    private static let restShare = 10.0

    private(set) var waves: Set<Int> = []
    private var nextLook: ContinuousClock.Instant?

    /// Whether it is time to look.
    var mayBeAsked: Bool { !waves.isEmpty && nextLook.map { .now >= $0 } ?? true }

    /// Adds a wave.
    mutating func insert(_ wave: Int) { waves.insert(wave) }

    /// Notes what a look has found.
    /// - Parameters:
    ///   - start: when it began.
    ///   - unsettled: the waves to look at again.
    mutating func looked(since start: ContinuousClock.Instant, unsettled: Set<Int>) {
        waves = unsettled
        nextLook = .now + .seconds(max(Self.restSeconds, (.now - start) / .seconds(1) * Self.restShare))
    }
}
