/// What a transport says happened: its contract in words of its own, apart from those of the code that is tested. Requests and connections go by the
/// numbers that the caller gave them.
public enum Event: Hashable, Sendable {
    /// The connection takes requests.
    case opened(connection: Int)
    /// It could not be had: nothing of what was submitted to it reached the peer.
    case failed(connection: Int)
    /// The peer's latest limit of streams.
    case limitChanged(connection: Int, limit: Int)
    /// So many more requests fit into the peer's window; `.max` when it is no limit.
    case windowChanged(connection: Int, room: Int)
    /// It should take no more requests; what is in flight may still be answered.
    case leaving(connection: Int, isInOrder: Bool)
    /// It is gone; what is still in flight is in doubt.
    case ended(connection: Int)
    /// The peer answered a PING.
    case alive(connection: Int)
    /// The peer answered a request.
    case answered(request: Int, Answer)
    /// Provably not processed.
    case notProcessed(request: Int)
    /// Provably not processed, while the connection goes on.
    case refused(request: Int)
    /// In doubt, while the connection goes on.
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
        case .opened(let connection), .failed(let connection), .limitChanged(let connection, _), .windowChanged(let connection, _),
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
    /// The reason that its body gives; blank for none.
    public var reason: String
    /// Header retry-after.
    public var retryAfterSeconds: Double?
    /// It has the request's own id.
    public var hasOwnID: Bool
    /// Its body ended before its end.
    public var isCutOff: Bool

    /// An answer.
    public init(status: Int, reason: String = "", retryAfterSeconds: Double? = nil, hasOwnID: Bool = false, isCutOff: Bool = false) {
        self.status = status
        self.reason = reason
        self.retryAfterSeconds = retryAfterSeconds
        self.hasOwnID = hasOwnID
        self.isCutOff = isCutOff
    }
}

/// A transport, by what can be asked of it. All of it is called on one thread.
public struct TransportUnderTest {
    /// The field in which a request carries its own id, and in which the peer gives it back.
    public var idHeader: StaticString
    /// Opens a connection.
    public var open: (_ connection: Int) -> Void
    /// Closes a connection, whatever is in flight there.
    public var close: (_ connection: Int) -> Void
    /// Sends a request with a target and a body.
    public var submit: (_ request: Int, _ connection: Int, _ target: String, _ body: [UInt8]) -> Void
    /// Gives up a request whose answer does not come.
    public var abandon: (_ request: Int, _ connection: Int) -> Void
    /// Asks the peer for a sign of life.
    public var ping: (_ connection: Int) -> Void
    /// Waits until something happens, at most so many milliseconds, and takes what happened since it was called last.
    public var poll: (_ milliseconds: Int) -> [Event]
    /// Ends a wait before its time; may be called on any thread.
    public var wake: @Sendable () -> Void

    /// A transport.
    public init(
        idHeader: StaticString, open: @escaping (_ connection: Int) -> Void, close: @escaping (_ connection: Int) -> Void,
        submit: @escaping (_ request: Int, _ connection: Int, _ target: String, _ body: [UInt8]) -> Void,
        abandon: @escaping (_ request: Int, _ connection: Int) -> Void, ping: @escaping (_ connection: Int) -> Void,
        poll: @escaping (_ milliseconds: Int) -> [Event], wake: @escaping @Sendable () -> Void
    ) {
        self.idHeader = idHeader
        self.open = open
        self.close = close
        self.submit = submit
        self.abandon = abandon
        self.ping = ping
        self.poll = poll
        self.wake = wake
    }
}

/// Where the transport is to connect to, and whom it is to trust.
public struct PeerAddress: Sendable {
    /// On this machine.
    public var host: String
    /// Of the peer.
    public var port: Int
    /// The one authority to trust, PEM.
    public var authorityPEM: String
}
