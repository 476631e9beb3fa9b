import Base

/// The clock that a run waits by, so that tests can let days pass.
struct WaitClock: Sendable {
    package var now: @Sendable () -> Timestamp
    /// Waits for the given number of milliseconds, or until it is asked to end.
    var rest: @Sendable (_ milliseconds: Int, Cancellation) -> Void

    /// The system's.
    static let system = WaitClock(now: { .now() }, rest: { $1.waitForRequest(atMost: Double($0) / 1000) })
}
