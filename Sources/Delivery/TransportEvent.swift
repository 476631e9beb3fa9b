import Base

/// What happened on a transport, in the machine's words.
enum TransportEvent {
    /// The connection takes pushes.
    case opened(connection: Int)
    /// It could not be had: nothing that was submitted to it reached the peer.
    case failed(connection: Int, ConnectionFailure)
    /// The peer's latest limit of streams.
    case limitChanged(connection: Int, limit: Int)
    /// So many more pushes fit into the peer's window; `.max` when it is no limit.
    case windowChanged(connection: Int, room: Int)
    /// It should take no more pushes; what is in flight may still be answered. `isInOrder`: the peer says that nothing is wrong.
    case leaving(connection: Int, cause: String, isInOrder: Bool)
    /// It is gone. What was provably not processed was reported before; what is still in flight is in doubt.
    case ended(connection: Int, cause: String)
    /// The peer answered a PING.
    case alive(connection: Int)
    case answered(push: Int, DeliveryMachine.Answer)
    /// Provably not processed.
    case notProcessed(push: Int)
    /// Reset with REFUSED_STREAM, so provably not processed, while the connection goes on.
    case refused(push: Int)
    /// Handed to the wire and reset, while the connection goes on: nobody knows what became of it.
    case reset(push: Int)
}
