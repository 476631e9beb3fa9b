import Base

/// What happened on a transport, in the machine's words. Requests go by the slot of their first push.
enum TransportEvent {
    /// The connection takes requests.
    case opened(connection: Int)
    /// It could not be had: nothing that was submitted to it reached the peer.
    case failed(connection: Int, ConnectionFailure)
    /// The peer's latest limit of streams.
    case limitChanged(connection: Int, limit: Int)
    /// So many more requests fit into the peer's window; `.max` when it is no limit.
    case windowChanged(connection: Int, room: Int)
    /// It should take no more requests; what is in flight may still be answered. `isInOrder`: the peer says that nothing is wrong.
    case leaving(connection: Int, cause: String, isInOrder: Bool)
    /// It is gone. What was provably not processed was reported before; what is still in flight is in doubt.
    case ended(connection: Int, cause: String)
    /// The peer answered a PING.
    case alive(connection: Int)
    case answered(request: Int, DeliveryMachine.Answer)
    /// Provably not processed.
    case notProcessed(request: Int)
    /// Reset with REFUSED_STREAM, so provably not processed, while the connection goes on.
    case refused(request: Int)
    /// Handed to the wire and reset, while the connection goes on: nobody knows what became of it.
    case reset(request: Int)
}
