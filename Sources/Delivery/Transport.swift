import Base
import PushServices

/// Carries requests and reports their answers. It only moves bytes; the machine makes every decision, and its slots name requests and
/// connections. Belongs to one thread.
///
/// `SenderLoop` is compiled for each transport, so that a call costs nothing more than it would without this protocol.
protocol Transport: AnyObject {
    /// The events since the caller last cleared them.
    var events: [TransportEvent] { get set }
    /// Ends `poll` before its time.
    var wakeup: Wakeup { get }

    /// Opens a connection. An event, `opened` or `failed`, reports the result.
    func open(_ connection: Int)
    /// Closes a connection, whatever is in flight on it. No event names it afterwards.
    func close(_ connection: Int)
    /// Returns the token that a connection uses, or used until it was closed: a server may refuse a token and leave at once. nil for none.
    func token(of connection: Int) -> ServiceToken?
    /// Sends a request.
    /// - Parameters:
    ///   - target: the end of the path, which may be empty where the body names the targets. Both it and the body are copied.
    func submit(request: Int, id: PushID, on connection: Int, target: UnsafeBufferPointer<UInt8>, body: UnsafeBufferPointer<UInt8>)
    /// Gives up a request whose answer does not come.
    func abandon(request: Int, on connection: Int)
    /// Asks the peer for a sign of life.
    func ping(_ connection: Int)
    /// Lets the connections that are opened from now on go to another of the service's servers, if it has several.
    /// - Parameter name: the one that the service named; nil for the next one.
    func changeServer(to name: String?)
    /// Waits until something happens, at most until a moment of the monotonic clock, and appends to `events`.
    func poll(until deadline: Int64)
}
