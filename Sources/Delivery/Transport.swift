import Base
import PushServices

/// Carries requests and reports their answers. It only moves bytes; the machine makes every
/// decision, and its slots name requests and connections. Belongs to one thread.
///
/// `SenderLoop` is compiled for each transport, so that a call costs nothing more than it would
/// without this protocol.
protocol Transport: AnyObject {
    /// The events since the caller last cleared them.
    var events: [TransportEvent] { get set }
    /// Ends `poll` before its time.
    var wakeup: Wakeup { get }

    /// Opens a connection. An event, `opened` or `failed`, reports the result.
    func open(_ connection: Int)
    /// Closes a connection, whatever is in flight on it. No event names it afterwards.
    func close(_ connection: Int)
    /// Returns the token that a connection uses, or used until it was closed: a server may refuse a
    /// token and leave at once. nil for none.
    func token(of connection: Int) -> ServiceToken?
    /// Sends a request.
    /// - Parameters:
    ///   - target: the end of the path, which may be empty where the body names the targets. Both
    ///     it and the body are copied.
    func submit(
        request: Int, id: PushID, on connection: Int, target: UnsafeBufferPointer<UInt8>,
        body: UnsafeBufferPointer<UInt8>)
    /// Gives up a request because its answer does not come.
    func abandon(request: Int, on connection: Int)
    /// Requests a sign of life from the peer.
    func ping(_ connection: Int)
    /// Lets the connections that are opened from now on go to another of the service's servers, if
    /// it has several.
    /// - Parameter name: the one that the service named; nil for the next one.
    func changeServer(to name: String?)
    /// Waits until something happens, at most until a moment of the monotonic clock, and appends to
    /// `events`.
    func poll(until deadline: Int64)
}

/// What happened on a transport, in the machine's terms. A request is named by the slot of its
/// first push.
enum TransportEvent {
    /// The connection is ready for requests.
    case opened(connection: Int)
    /// The connection could not be opened: nothing submitted to it reached the peer.
    case failed(connection: Int, ConnectionFailure)
    /// The peer's latest limit on streams.
    case limitChanged(connection: Int, limit: Int)
    /// How many more requests fit into the peer's window; `.max` when the window does not limit
    /// them.
    case windowChanged(connection: Int, room: Int)
    /// The connection should get no more requests; what is in flight may still be answered.
    /// `isInOrder`: the peer says that nothing is wrong.
    case leaving(connection: Int, cause: String, isInOrder: Bool)
    /// The connection has ended. What was provably not processed has been reported already; what is
    /// still in flight is in doubt.
    case ended(connection: Int, cause: String)
    /// The peer answered a PING.
    case alive(connection: Int)
    case answered(request: Int, DeliveryMachine.Answer)
    /// The peer provably did not process the request.
    case notProcessed(request: Int)
    /// The peer reset the stream with REFUSED_STREAM, so the request was provably not processed.
    /// The connection stays open.
    case refused(request: Int)
    /// The peer reset the stream after the request was handed to the wire: its outcome is unknown.
    /// The connection stays open.
    case reset(request: Int)
}
