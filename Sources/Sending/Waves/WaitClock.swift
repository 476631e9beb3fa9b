import Base

/// The clock by which a run waits. Tests replace it to let days pass.
struct WaitClock: Sendable {
    package var now: @Sendable () -> Timestamp
    /// Waits for the given number of milliseconds, or until a cancellation is requested.
    var rest: @Sendable (_ milliseconds: Int, Cancellation) -> Void

    /// The system's clock.
    static let system = WaitClock(now: { .now() }, rest: { $1.waitForRequest(atMost: Double($0) / 1000) })
}
