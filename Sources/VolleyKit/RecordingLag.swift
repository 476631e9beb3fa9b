import Synchronization

/// How long answers have been waiting to be recorded. Set by the recorder's thread, read by the reader's.
final class RecordingLag: Sendable {
    private static let none = Int.min
    private let clock = ContinuousClock()
    private let origin: ContinuousClock.Instant
    /// Nanoseconds after `origin` at which the oldest answer came that is not recorded; `none` when all are.
    private let waitingSince = Atomic(RecordingLag.none)

    init() { origin = clock.now }

    /// Nanoseconds after an arbitrary moment.
    var now: Int { Int((clock.now - origin) / .nanoseconds(1)) }

    /// - Parameter moment: of the oldest answer that is not recorded; nil when all are.
    func set(waitingSince moment: Int?) { waitingSince.store(moment ?? Self.none, ordering: .relaxed) }

    /// How long the oldest answer has been waiting.
    var seconds: Double {
        let since = waitingSince.load(ordering: .relaxed)
        return since == Self.none ? 0 : Double(now - since) / 1e9
    }
}
