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
    /// Handed to the wire, and no answer will come.
    case lost(push: Int, reason: String)
}

/// Carries pushes and reports what became of them: bytes only, every decision is the machine's. Pushes and connections are named by the
/// machine's slots. Belongs to one thread.
protocol PushTransport: AnyObject {
    /// What happened since the caller last cleared it.
    var events: [TransportEvent] { get set }

    /// Opens a connection; `opened` or `failed` tells how it went.
    func open(_ connection: Int)

    /// Closes a connection, whatever is in flight there. No event names it afterwards.
    func close(_ connection: Int)

    /// The provider token that a connection uses.
    func token(of connection: Int) -> ProviderToken?

    /// Sends a push.
    /// - Parameters:
    ///   - token: hex digits. Both are copied.
    func submit(push: Int, id: APNsID, on connection: Int, token: UnsafeBufferPointer<UInt8>, payload: UnsafeBufferPointer<UInt8>)

    /// Gives a push up whose answer does not come.
    func abandon(push: Int, on connection: Int)

    /// Asks the peer for a sign of life.
    func ping(_ connection: Int)

    /// Waits until something happens, at most until a moment of the monotonic clock, and appends to `events`.
    func poll(until deadline: Int64)
}
