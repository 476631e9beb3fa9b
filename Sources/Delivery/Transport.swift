import Base
import CCurl
import Glibc
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

/// Makes answers of a service's responses.
struct AnswerReader {
    private let service: any PushService
    /// Whether the body of an answer with status 200 may say something: it may name single targets,
    /// or contradict the status. Known once, as nearly all answers of a run ask for nothing else of
    /// the service.
    private let readsAcceptedBodies: Bool

    /// Reads the answers of a service.
    init(_ service: any PushService) {
        self.service = service
        readsAcceptedBodies = service.batching.largestTargets > 1 || service.readsAcceptedBodies
    }

    /// Whether the body of an answer with this status may say something.
    func mayReadBody(status: Int) -> Bool { status != 200 || readsAcceptedBodies }

    /// Returns the answer that a response is. Its body counts unless its status alone says that the
    /// service accepted the push.
    func answer(status: Int, retryAfterSeconds: Double?, date: String?, body: [UInt8]) -> DeliveryMachine.Answer {
        var answer = DeliveryMachine.Answer(status: status)
        guard mayReadBody(status: status) else { return answer }
        if status == 200, service.plainlyAccepts(body) {
            answer.isPlain = true
            return answer
        }
        // A service that refuses a credential may do so because of this machine's clock.
        if status == 401 || status == 403 { answer.serverTime = date.flatMap { Timestamp(httpDate: $0) } }
        if let retryAfterSeconds, retryAfterSeconds > 0 { answer.retryAfterSeconds = retryAfterSeconds }
        guard let json = try? JSONValue(parsing: body) else {
            // A service that says something with each 200 writes JSON: this is a page, a part of an
            // answer, or nothing.
            answer.isCutOff = status == 200
            return answer
        }
        let details = service.details(of: json)
        answer.reason = TextFormat.foreign(details.reason, maximumBytes: 100)
        answer.invalidSince = details.invalidSince
        (answer.targets, answer.server) = (details.targets, details.server)
        answer.receipt = TextFormat.foreign(details.receipt, maximumBytes: 100)
        return answer
    }
}

/// An epoll instance, closed with its owner.
struct EpollHandle: ~Copyable {
    let descriptor: Int32

    /// - Throws: a `Diagnostic` when no more files can be opened.
    init() throws(Diagnostic) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        if descriptor < 0 { throw Diagnostic.noMoreFiles(errno) }
    }

    deinit { close(descriptor) }

    /// Watches a descriptor until it is closed.
    func watch(_ watched: Int32, for events: UInt32, named name: UInt64) {
        var event = epoll_event(events: events, data: epoll_data_t(u64: name))
        epoll_ctl(descriptor, EPOLL_CTL_ADD, watched, &event)
    }

    /// Waits for events, at most the given time, and returns their number.
    func wait(_ events: inout [epoll_event], milliseconds: Int32) -> Int {
        Int(max(0, epoll_wait(descriptor, &events, Int32(events.count), milliseconds)))
    }
}
