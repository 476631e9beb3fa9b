import Base
import Glibc

/// The clock that a run waits by, so that tests can let days pass.
struct WaitClock: Sendable {
    package var now: @Sendable () -> Timestamp
    /// Does nothing for a tenth of a second.
    var rest: @Sendable () -> Void

    /// The system's.
    static let system = WaitClock(now: { .now() }, rest: { usleep(100_000) })
}
