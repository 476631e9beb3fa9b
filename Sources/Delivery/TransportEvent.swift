import Base

/// What happened on a transport, in the machine's terms. A request is named by the slot of its first push.
enum TransportEvent {
    /// The connection is ready for requests.
    case opened(connection: Int)
    /// The connection could not be opened: nothing submitted to it reached the peer.
    case failed(connection: Int, ConnectionFailure)
    /// The peer's latest limit on streams.
    case limitChanged(connection: Int, limit: Int)
    /// How many more requests fit into the peer's window; `.max` when the window does not limit them.
    case windowChanged(connection: Int, room: Int)
    /// The connection should get no more requests; what is in flight may still be answered. `isInOrder`: the
    /// peer says that nothing is wrong.
    case leaving(connection: Int, cause: String, isInOrder: Bool)
    /// The connection has ended. What was provably not processed has been reported already; what is still in flight is in doubt.
    case ended(connection: Int, cause: String)
    /// The peer answered a PING.
    case alive(connection: Int)
    case answered(request: Int, DeliveryMachine.Answer)
    /// The peer provably did not process the request.
    case notProcessed(request: Int)
    /// The peer reset the stream with REFUSED_STREAM, so the request was provably not processed. The connection goes on.
    case refused(request: Int)
    /// The peer reset the stream after the request was handed to the wire: its outcome is unknown. The connection goes on.
    case reset(request: Int)
}
