/// What a transport reports: its contract in separate words, independent of those of the code under
/// test. Requests and connections have the numbers that the caller gave them.
public enum Event: Hashable, Sendable {
    /// The connection takes requests.
    case opened(connection: Int)
    /// It could not be made: nothing that was submitted to it reached the peer.
    case failed(connection: Int)
    /// The peer's latest limit of streams.
    case limitChanged(connection: Int, limit: Int)
    /// How many more requests fit into the peer's window; `.max` if it is no limit.
    case windowChanged(connection: Int, room: Int)
    /// It should take no more requests; those in flight may still be answered.
    case leaving(connection: Int, isInOrder: Bool)
    /// It is gone; requests still in flight are in doubt.
    case ended(connection: Int)
    /// The peer answered a PING.
    case alive(connection: Int)
    /// The peer answered a request.
    case answered(request: Int, Answer)
    /// Provably not processed.
    case notProcessed(request: Int)
    /// Provably not processed, while the connection continues.
    case refused(request: Int)
    /// In doubt, while the connection continues.
    case reset(request: Int)

    /// The request that it names.
    public var request: Int? {
        switch self {
        case .answered(let request, _), .notProcessed(let request), .refused(let request), .reset(let request): request
        default: nil
        }
    }

    /// The connection that it names.
    public var connection: Int? {
        switch self {
        case .opened(let connection), .failed(let connection), .limitChanged(let connection, _),
            .windowChanged(let connection, _),
            .leaving(let connection, _), .ended(let connection), .alive(let connection):
            connection
        default: nil
        }
    }
}

/// An answer, as far as a transport reads it.
public struct Answer: Hashable, Sendable {
    /// The status.
    public var status: Int
    /// The reason in its body; blank for none.
    public var reason: String
    /// Header retry-after.
    public var retryAfterSeconds: Double?
    /// Whether it has the request's own id.
    public var hasOwnID: Bool
    /// Whether its body was cut off.
    public var isCutOff: Bool

    /// An answer.
    public init(
        status: Int, reason: String = "", retryAfterSeconds: Double? = nil, hasOwnID: Bool = false,
        isCutOff: Bool = false
    ) {
        self.status = status
        self.reason = reason
        self.retryAfterSeconds = retryAfterSeconds
        self.hasOwnID = hasOwnID
        self.isCutOff = isCutOff
    }
}

/// A transport, as the operations that can be requested. All of them are called on one thread.
public struct TransportUnderTest {
    /// The field in which a request carries its own id, and in which the peer repeats it.
    public var idHeader: StaticString
    /// Whether a connection is made by the first request, and not beforehand.
    public var connectsWithRequest: Bool
    /// Opens a connection.
    public var open: (_ connection: Int) -> Void
    /// Closes a connection, whatever is in flight on it.
    public var close: (_ connection: Int) -> Void
    /// Sends a request with a target and a body.
    public var submit: (_ request: Int, _ connection: Int, _ target: String, _ body: [UInt8]) -> Void
    /// Gives up a request because its answer does not come.
    public var abandon: (_ request: Int, _ connection: Int) -> Void
    /// Requests a sign of life from the peer.
    public var ping: (_ connection: Int) -> Void
    /// Waits at most this many milliseconds until something happens, and returns what happened
    /// since the last call.
    public var poll: (_ milliseconds: Int) -> [Event]
    /// Ends a wait early; may be called on any thread.
    public var wake: @Sendable () -> Void

    /// A transport.
    public init(
        idHeader: StaticString, connectsWithRequest: Bool = false, open: @escaping (_ connection: Int) -> Void,
        close: @escaping (_ connection: Int) -> Void,
        submit: @escaping (_ request: Int, _ connection: Int, _ target: String, _ body: [UInt8]) -> Void,
        abandon: @escaping (_ request: Int, _ connection: Int) -> Void, ping: @escaping (_ connection: Int) -> Void,
        poll: @escaping (_ milliseconds: Int) -> [Event], wake: @escaping @Sendable () -> Void
    ) {
        self.idHeader = idHeader
        self.connectsWithRequest = connectsWithRequest
        self.open = open
        self.close = close
        self.submit = submit
        self.abandon = abandon
        self.ping = ping
        self.poll = poll
        self.wake = wake
    }
}

/// Where the transport should connect, and what it should trust.
public struct PeerAddress: Sendable {
    /// A host on this machine.
    public var host: String
    /// The peer's port.
    public var port: Int
    /// The only authority to trust, PEM.
    public var authorityPEM: String
}
