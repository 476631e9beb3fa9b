import Base
import Synchronization

/// How long the database is waited for while it is away: for ever, as what was sent must be recorded; but once a person has asked for the end, only some
/// seconds more.
final class StorePatience: Sendable {
    /// How long it is waited for after a person asked for the end; seconds.
    static let secondsAfterRequest = 20.0

    private let asked: Cancellation
    /// Never requested: what is asked of the database is not cut short by a person's Ctrl-C.
    let none: Cancellation
    private let state = Mutex(State())

    private struct State {
        var awaySince: ContinuousClock.Instant?
        var askedSince: ContinuousClock.Instant?
    }

    /// - Parameter asked: a person's request to end.
    /// - Throws: a `Diagnostic` if no more files can be opened.
    init(_ asked: Cancellation) throws(Diagnostic) {
        self.asked = asked
        none = try Cancellation()
    }

    /// Whether a person asked for the end.
    var isAsked: Bool { asked.isRequested }

    /// Waits until a person asks for the end.
    func rest(atMost seconds: Double) { asked.waitForRequest(atMost: seconds) }

    /// The database answered.
    func answered() { state.withLock { $0.awaySince = nil } }

    /// The database did not answer, or has to be waited for.
    /// - Returns: whether it is waited for no longer.
    func isOver(at now: ContinuousClock.Instant = .now) -> Bool {
        let isAsked = asked.isRequested
        return state.withLock { state in
            let away = state.awaySince ?? now
            state.awaySince = away
            guard isAsked else { return false }
            let since = state.askedSince ?? now
            state.askedSince = since
            return (now - max(away, since)) / .seconds(1) > Self.secondsAfterRequest
        }
    }

    /// Waits before the next try.
    func pause(milliseconds: Int) { _ = none.wait(milliseconds: milliseconds) }
}
