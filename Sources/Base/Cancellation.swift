import Glibc
import Synchronization

/// Asks work to end in good order. Whoever starts something makes one, hands it in, and requests it from any thread or signal handler.
public final class Cancellation: Sendable {
    private let requests = Atomic(0)
    /// Readable for good once it was requested, so that all who wait are woken; nil when no more files can be opened: they look by themselves then.
    private let wakeup = try? Wakeup()

    /// Not requested yet.
    public init() {}

    /// Whether the work is to end.
    public var isRequested: Bool { requests.load(ordering: .relaxed) > 0 }

    /// Asks for the end. Safe in a signal handler.
    /// - Returns: how often that was done before.
    @discardableResult
    public func request() -> Int {
        let before = requests.wrappingAdd(1, ordering: .relaxed).oldValue
        wakeup?.wake()
        return before
    }

    /// Sleeps until it is requested, if it was not yet, or something else happens.
    /// - Parameters:
    ///   - milliseconds: at most so long.
    ///   - other: ends the sleep too.
    /// - Returns: whether `other` was rung.
    @discardableResult
    public func wait(milliseconds: Int, orUntil other: Wakeup? = nil) -> Bool {
        var watched = [
            pollfd(fd: other?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isRequested ? -1 : wakeup?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        return poll(&watched, 2, Int32(milliseconds)) > 0 && watched[0].revents != 0
    }
}
