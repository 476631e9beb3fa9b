import CCurl

/// What libcurl wants to hear of a socket, and whether it hears now that the socket can be written to.
///
/// libcurl 7.88 asks for that also while the peer's HTTP/2 windows are full, and then does nothing: its thread would turn without end. So
/// after a few times without effect, a socket rests for some milliseconds, or until there is something to read, as an update of a window
/// is.
struct SocketInterest {
    /// What libcurl wants: EPOLLIN, EPOLLOUT.
    private var wanted: UInt32
    /// How often in a row the socket could be written to without effect.
    private var idle = 0
    /// When it hears of that again: monotonic nanoseconds; nil when it does not rest.
    private(set) var restsUntil: Int64?

    private static let mostIdle = 3
    private static let shortestRest: Int64 = 1_000_000
    private static let longestRest: Int64 = 16_000_000

    init(_ wanted: UInt32) { self.wanted = wanted }

    /// What to watch the socket for.
    var events: UInt32 { restsUntil == nil ? wanted : wanted & ~EPOLLOUT.rawValue }

    mutating func change(to wanted: UInt32) { self.wanted = wanted }

    /// Notes that libcurl was told what the socket is ready for.
    /// - Parameters:
    ///   - ready: EPOLLIN, EPOLLOUT and errors.
    ///   - moved: whether it took some of a body.
    /// - Returns: whether `events` has changed.
    mutating func note(_ ready: UInt32, moved: Bool, at now: Int64) -> Bool {
        guard ready == EPOLLOUT.rawValue, !moved else {
            idle = 0
            return wake()
        }
        idle += 1
        guard idle >= Self.mostIdle, restsUntil == nil else { return false }
        restsUntil = now + min(Self.longestRest, Self.shortestRest << Int64(min(10, idle - Self.mostIdle)))
        return true
    }

    /// Ends the rest, if it is over.
    /// - Returns: whether `events` has changed.
    mutating func wake(at now: Int64 = .max) -> Bool {
        guard let until = restsUntil, until <= now else { return false }
        restsUntil = nil
        return true
    }
}

/// How many bytes of bodies libcurl has taken from the requests of a connection.
final class BodyMeter {
    var bytes = 0
}
