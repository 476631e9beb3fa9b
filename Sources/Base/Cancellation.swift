import Glibc
import Synchronization

/// Tells work to end cleanly. The caller makes one, passes it to the work, and requests the end
/// from any thread or signal handler.
///
/// ```swift
/// while !cancellation.isRequested {
///     if cancellation.wait(milliseconds: 500) { break }
/// }
/// ```
public final class Cancellation: Sendable {
    private let requests = Atomic(0)
    /// Stays readable after the request, so that every waiting thread is woken.
    private let wakeup: Wakeup

    /// Not requested yet.
    /// - Throws: a `Diagnostic` if no more files can be opened.
    public init() throws(Diagnostic) { wakeup = try Wakeup() }

    /// Can be read from the request on.
    public var descriptor: Int32 { wakeup.descriptor }

    /// Whether the work should end.
    public var isRequested: Bool { requests.load(ordering: .relaxed) > 0 }

    /// Requests the end. Safe in a signal handler.
    /// - Returns: how many requests there were before.
    @discardableResult
    public func request() -> Int {
        let before = requests.wrappingAdd(1, ordering: .relaxed).oldValue
        wakeup.wake()
        return before
    }

    /// Sleeps until the time is over, `other` is rung, or the end is requested; a request from
    /// before does not end the sleep.
    /// - Parameters:
    ///   - milliseconds: the longest time to sleep.
    ///   - other: ends the sleep, too.
    /// - Returns: whether `other` was rung.
    @discardableResult
    public func wait(milliseconds: Int, orUntil other: Wakeup? = nil) -> Bool {
        var watched = [
            pollfd(fd: other?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isRequested ? -1 : wakeup.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        return poll(&watched, 2, Int32(milliseconds)) > 0 && watched[0].revents != 0
    }

    /// Sleeps until the end is requested; returns at once if it was requested before.
    /// - Parameters:
    ///   - seconds: the longest time to sleep; nil for no limit.
    ///   - descriptor: ends the sleep, too, when it can be read or has failed; -1 for none.
    /// - Returns: whether `descriptor` can be read or has failed.
    @discardableResult
    public func waitForRequest(atMost seconds: Double? = nil, orReadable descriptor: Int32 = -1) -> Bool {
        let clock = ContinuousClock()
        // If the time is more than a clock can count, only a request ends the sleep.
        let end = seconds.flatMap { $0 < 1e9 ? clock.now + .seconds($0) : nil }
        while true {
            let left = end.map { (clock.now.duration(to: $0)) / .seconds(1) }
            var watched = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            // A signal ends poll early, and so does the longest time that poll accepts.
            if poll(&watched, 2, pollTimeout(left)) > 0 { return watched[0].revents != 0 }
            if let left, left <= 0 { return false }
        }
    }
}
