import Base
import Postgres
import Synchronization

/// How long to wait for a store that is away, and the observer of the wait (`StoreOutage`). What was sent must be
/// recorded, so the wait has no limit if it is shown; but once a person has requested the end, it lasts only some
/// seconds more.
final class StoreRetryDeadline: Sendable {
    private let asked: Cancellation?
    private let tell: (@Sendable (Diagnostic?) -> Void)?
    /// Never requested: what is asked of the database is not cut short at once by a person's Ctrl-C.
    let none: Cancellation
    private let trouble: Mutex<StoreOutage>
    private let silenceSeconds: Double
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - asked: a person's request to end.
    ///   - limits: how long what takes.
    ///   - tell: told why the store does not answer, now and then, and nil once it does.
    /// - Throws: a `Diagnostic` if no more files can be opened.
    init(
        _ asked: Cancellation?, limits: StoreOutage.Limits = .init(), tell: (@Sendable (Diagnostic?) -> Void)? = nil
    ) throws(Diagnostic) {
        (self.asked, self.tell, silenceSeconds) = (asked, tell, limits.silence)
        trouble = Mutex(StoreOutage(limits))
        none = try Cancellation()
    }

    /// Whether a person requested the end.
    var isAsked: Bool { asked?.isRequested ?? false }

    /// Waits until a person requests the end.
    func rest(atMost seconds: Double) { (asked ?? none).waitForRequest(atMost: seconds) }

    /// Waits before the next try.
    func pause(milliseconds: Int) { _ = none.wait(milliseconds: milliseconds) }

    /// Seconds since this was made.
    var seconds: Double { (.now - start) / .seconds(1) }

    // MARK: - What connections find

    /// - Throws: `PostgresError` if nothing is tried any more.
    func admit() throws {
        let now = seconds
        if let why = trouble.withLock({ $0.isClosed(at: now) ? $0.why ?? Self.silence : nil }) { throw why }
    }

    /// A connection was answered, or is used no more.
    func answered(_ storeConnection: ObjectIdentifier) { pass(trouble.withLock { $0.answered(storeConnection) }) }

    /// A connection was not answered, and tries again.
    func failed(_ storeConnection: ObjectIdentifier, _ error: PostgresError) {
        let now = seconds
        pass(trouble.withLock { $0.failed(storeConnection, error, since: now, at: now) })
    }

    private static let silence = PostgresError(.late, "the server did not answer in time")

    /// A connection waits for an answer. Where that is not shown, the limit of each statement counts instead, unless a
    /// person requests the end.
    /// - Throws: `PostgresError` once it is waited for no longer.
    func waits(_ storeConnection: ObjectIdentifier, silentSeconds: Double) throws {
        guard silentSeconds >= silenceSeconds, tell != nil || isAsked else { return }
        let now = seconds
        pass(trouble.withLock { $0.failed(storeConnection, Self.silence, since: now - silentSeconds, at: now) })
        if isOver() { throw Self.silence }
    }

    private func pass(_ news: StoreOutage.News?) {
        switch news {
        case .isAway(let error): tell?(StoreError.explained(error))
        case .isBack: tell?(nil)
        case nil: break
        }
    }

    // MARK: - Whether it is waited for

    /// Whether the store is waited for no longer: what follows gets a moment in all (`StoreOutage.Limits`).
    func isOver() -> Bool {
        let now = seconds, isAsked = isAsked
        return trouble.withLock { $0.isOver(isAsked: isAsked, isHeard: tell != nil, at: now) }
    }

    /// Whether a wait for others, which began at a moment (`seconds`), is over as a person has requested the end.
    func isSpent(since moment: Double) -> Bool {
        let now = seconds, isAsked = isAsked
        return trouble.withLock { $0.isSpent(since: moment, isAsked: isAsked, at: now) }
    }

    /// Whether some connection is in trouble.
    var isTroubled: Bool { trouble.withLock { $0.why != nil } }
}
