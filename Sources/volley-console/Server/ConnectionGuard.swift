import Base
import Campaigns
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Synchronization

/// All connections of the server.
final class Connections: Sendable {
    private struct State {
        var roster: ConnectionRoster
        var channels: [Int: any Channel] = [:]
        var next = 0
    }

    private let state: Mutex<State>
    private let proxies: [AddressRange]
    /// How long a client may take.
    let patience: Patience

    /// The longest that a client may take for its part, in seconds.
    struct Patience: Sendable {
        /// For the head of a request, and between two requests.
        var head = 15.0
        /// For the body of a request.
        var body = 60.0
        /// For taking the next part of an answer.
        var answer = 30.0
    }

    init(limits: ConnectionRoster.Limits = .init(), patience: Patience = Patience(), proxies: [AddressRange] = []) {
        state = Mutex(State(roster: ConnectionRoster(limits)))
        self.proxies = proxies
        self.patience = patience
    }

    /// How many are open.
    var count: Int { state.withLock { $0.roster.count } }

    /// Takes a connection in, and closes the one that has to go for it.
    /// - Returns: its number.
    fileprivate func open(_ channel: any Channel) -> Int {
        let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
        let counted = address.flatMap { address in address.isLoopback || proxies.contains { $0.contains(address) } ? nil : address }
        let (id, closed) = state.withLock { state in
            state.next += 1
            state.channels[state.next] = channel
            let closed = state.roster.open(state.next, from: counted).flatMap { state.channels[$0] }
            return (state.next, closed)
        }
        closed?.close(promise: nil)
        return id
    }

    fileprivate func begin(_ id: Int) { state.withLock { $0.roster.begin(id) } }
    fileprivate func rest(_ id: Int) { state.withLock { $0.roster.rest(id) } }
    fileprivate func close(_ id: Int) {
        state.withLock { state in
            state.channels[id] = nil
            state.roster.close(id)
        }
    }
}

/// Watches one connection: nobody may take too long, or send too much, and every answer has its headers, also those that Hummingbird writes.
/// Used on the connection's event loop alone.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connections: Connections
    private let isSecure: Bool
    private let mostBodyBytes: Int
    private var id: Int?
    private var bodyBytes = 0
    private var bodyDeadline: Scheduled<Void>?
    private var answerDeadline: Scheduled<Void>?
    private var unwritten = 0

    /// - Parameters:
    ///   - isSecure: whether people reach the console through https.
    ///   - mostBodyBytes: of any route.
    init(_ connections: Connections, isSecure: Bool, mostBodyBytes: Int) {
        self.connections = connections
        self.isSecure = isSecure
        self.mostBodyBytes = mostBodyBytes
    }

    func channelActive(context: ChannelHandlerContext) {
        id = connections.open(context.channel)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        id.map(connections.close)
        bodyDeadline?.cancel()
        answerDeadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            id.map(connections.begin)
            bodyBytes = 0
            bodyDeadline = closing(context.channel, after: connections.patience.body)
        case .body(let bytes):
            bodyBytes += bytes.readableBytes
            // What a route does not read is read nevertheless, up to its end; it must have one.
            if bodyBytes > mostBodyBytes {
                context.close(promise: nil)
                return
            }
        case .end:
            bodyDeadline?.cancel()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var part = unwrapOutboundIn(data)
        switch part {
        case .head(var head):
            SecurityHeaders.add(to: &head.headerFields, isSecure: isSecure)
            part = .head(head)
        case .body, .end: break
        }
        let isEnd = if case .end = part { true } else { false }
        let written = promise ?? context.eventLoop.makePromise()
        unwritten += 1
        if answerDeadline == nil { answerDeadline = closing(context.channel, after: connections.patience.answer) }
        let (guardian, channel) = (NIOLoopBound(self, eventLoop: context.eventLoop), context.channel)
        written.futureResult.whenComplete { _ in guardian.value.wrote(channel, isEnd: isEnd) }
        context.write(wrapOutboundOut(part), promise: written)
    }

    private func wrote(_ channel: any Channel, isEnd: Bool) {
        unwritten -= 1
        answerDeadline?.cancel()
        answerDeadline = unwritten > 0 ? closing(channel, after: connections.patience.answer) : nil
        if isEnd { id.map(connections.rest) }
    }

    private func closing(_ channel: any Channel, after seconds: Double) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: .nanoseconds(Int64(seconds * 1e9))) { channel.close(promise: nil) }
    }
}
