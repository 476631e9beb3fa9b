import Base
import Glibc
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Synchronization

/// All connections of the server.
final class Connections: Sendable {
    private struct State {
        var roster: ConnectionRegistry
        var channels: [Int: any Channel] = [:]
        var next = 0
    }

    private let state: Mutex<State>
    private let hosts: HostRules
    private let start = ContinuousClock.now
    /// How long a client may take.
    let timeouts: ClientTimeouts

    /// The longest time that a client may take for its part, in seconds.
    struct ClientTimeouts: Sendable {
        /// For the head of a request, and between two requests.
        var head = 15.0
        /// For a short body. A longer one gets another second for each
        /// `ConnectionRegistry.slowestBody` bytes that arrived.
        var body = 15.0
        /// For the longest body.
        var longestBody = 60.0
        /// For taking the next part of an answer.
        var answer = 30.0
        /// How long the console waits before it takes a request that came before the previous
        /// answer. An event loop that has the next request of many connections would not look at
        /// its sockets until all are done.
        var pause = 0.25

        /// For a body of which this much has arrived.
        func body(bytes: Int) -> Double { min(longestBody, body + Double(bytes) / ConnectionRegistry.slowestBody) }
    }

    init(
        limits: ConnectionRegistry.Limits = .init(), timeouts: ClientTimeouts = ClientTimeouts(),
        hosts: HostRules = HostRules(nil)
    ) {
        state = Mutex(State(roster: ConnectionRegistry(limits)))
        self.hosts = hosts
        self.timeouts = timeouts
    }

    /// How many are open.
    var count: Int { state.withLock { $0.roster.count } }

    private var now: Double { (ContinuousClock.now - start) / .seconds(1) }

    /// Takes a connection in, and closes the one that must make room for it.
    /// - Returns: its number.
    fileprivate func open(_ channel: any Channel) -> Int {
        let network = hosts.network(of: hosts.client(of: [:], peer: channel.peer))
        let (id, closed) = state.withLock { state in
            state.next += 1
            state.channels[state.next] = channel
            let closed = state.roster.open(state.next, from: network, at: now).flatMap { state.channels[$0] }
            return (state.next, closed)
        }
        closed?.close(promise: nil)
        return id
    }

    /// The head of a request arrived.
    fileprivate func begin(_ id: Int, _ headers: HTTPFields, _ channel: any Channel) {
        let network = hosts.network(of: hosts.client(of: headers, peer: channel.peer))
        let closed = state.withLock { state in
            state.roster.begin(id, of: network, at: now).flatMap { state.channels[$0] }
        }
        closed?.close(promise: nil)
    }

    fileprivate func received(_ id: Int, bytes: Int) { state.withLock { $0.roster.received(id, bytes: bytes) } }
    fileprivate func wait(_ id: Int, for wait: ConnectionRegistry.Wait?) {
        state.withLock { $0.roster.wait(id, for: wait, at: now) }
    }
    fileprivate func close(_ id: Int) {
        state.withLock { state in
            state.channels[id] = nil
            state.roster.close(id)
        }
    }
}

extension Channel {
    /// The connected address; nil over a Unix socket.
    var peer: IPAddress? { remoteAddress?.ipAddress.flatMap { IPAddress($0) } }
}

/// Watches one connection: no client may take too long, or send too much, and every answer has its
/// headers, also those that Hummingbird writes. A request that a client sends before it has the
/// answer to the one before waits here, until the system has taken all of that answer: a client
/// that does not read gets no more work done than fits into the buffers of two sockets. An answer
/// with `Connection: close` is the last one, and so is that to a request with it. Used on the
/// connection's event loop alone.
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
    /// When the current body began; nil outside of one.
    private var bodyBegan: NIODeadline?
    private var bodyDeadline: Scheduled<Void>?
    private var answerDeadline: Scheduled<Void>?
    private var pause: Scheduled<Void>?
    /// Requests without a complete answer. A client may send the next one before the answer.
    private var unanswered = 0
    private var unwritten = 0
    /// What arrived behind a request without a complete answer. Nothing more is read from the
    /// client as long as there is something.
    private var held: CircularBuffer<HTTPRequestPart> = []
    /// What the channel or a handler behind this one wanted in the meantime.
    private var wantsRead = false, isInputClosed = false
    /// Whether no further request is worked on.
    private var isEnding = false

    /// What a socket may keep of an answer, in addition to what is on the way: by itself, it would
    /// take megabytes for a client that does not read.
    private static let mostUnsentBytes = 16 << 10

    /// - Parameters:
    ///   - isSecure: whether people reach the console through https.
    ///   - mostBodyBytes: of any route.
    init(_ connections: Connections, isSecure: Bool, mostBodyBytes: Int) {
        self.connections = connections
        self.isSecure = isSecure
        self.mostBodyBytes = mostBodyBytes
    }

    func channelActive(context: ChannelHandlerContext) {
        // A Unix socket, which has no such option, has a small buffer.
        _ = context.channel.setOption(
            ChannelOptions.tcpOption(.init(rawValue: CInt(TCP_NOTSENT_LOWAT))), value: Self.mostUnsentBytes)
        id = connections.open(context.channel)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        id.map(connections.close)
        bodyDeadline?.cancel()
        answerDeadline?.cancel()
        pause?.cancel()
        held.removeAll()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if isEnding, bodyBegan == nil { return }
        if !held.isEmpty || waits(part) { held.append(part) } else { take(part, context) }
    }

    /// Whether it is the beginning of a request that must wait for an answer.
    private func waits(_ part: HTTPRequestPart) -> Bool { if case .head = part { unanswered > 0 } else { false } }

    private func isLast(_ headers: HTTPFields) -> Bool { headers[.connection]?.lowercased() == "close" }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head):
            if let id { connections.begin(id, head.headerFields, context.channel) }
            unanswered += 1
            if isLast(head.headerFields) { isEnding = true }
            bodyBytes = 0
            bodyBegan = .now()
            watchBody(context, after: connections.timeouts.body)
        case .body(let bytes):
            bodyBytes += bytes.readableBytes
            if let id { connections.received(id, bytes: bytes.readableBytes) }
            // A body that a route does not read is still read to its end; it must have one.
            if bodyBytes > mostBodyBytes {
                context.close(promise: nil)
                return
            }
        case .end:
            bodyDeadline?.cancel()
            bodyBegan = nil
            tellWait()
        }
        context.fireChannelRead(wrapInboundOut(part))
        if isEnding, unanswered <= 0, bodyBegan == nil { context.close(promise: nil) }
    }

    /// After an answer, the next request is taken in a moment, if it is there.
    private func answered(_ context: ChannelHandlerContext) {
        // To close a body that is still coming would take the answer from its client.
        if isEnding, bodyBegan == nil { return context.close(promise: nil) }
        guard !held.isEmpty else { return }
        let (guardian, loopContext) = (
            NIOLoopBound(self, eventLoop: context.eventLoop), NIOLoopBound(context, eventLoop: context.eventLoop)
        )
        pause = context.eventLoop.scheduleTask(in: Self.amount(connections.timeouts.pause)) {
            guardian.value.takeHeld(loopContext.value)
        }
    }

    private func takeHeld(_ context: ChannelHandlerContext) {
        while let part = held.first, !waits(part) {
            held.removeFirst()
            take(part, context)
        }
        context.fireChannelReadComplete()
        guard held.isEmpty else { return }
        if isInputClosed {
            isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if wantsRead {
            wantsRead = false
            context.read()
        }
    }

    func read(context: ChannelHandlerContext) { if held.isEmpty { context.read() } else { wantsRead = true } }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The server ends: a client that withholds a body must not hold it up.
        if event is ChannelShouldQuiesceEvent, bodyBegan != nil { return context.close(promise: nil) }
        // The end of what a client sends comes after its requests.
        if case .inputClosed? = event as? ChannelEvent, !held.isEmpty {
            isInputClosed = true
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var part = unwrapOutboundIn(data)
        switch part {
        case .head(var head):
            SecurityHeaders.add(to: &head.headerFields, isSecure: isSecure)
            if isLast(head.headerFields) { isEnding = true }
            part = .head(head)
        case .body, .end: break
        }
        let isEnd = if case .end = part { true } else { false }
        let written = promise ?? context.eventLoop.makePromise()
        unwritten += 1
        if answerDeadline == nil { watchAnswer(context.channel) }
        let (guardian, loopContext) = (
            NIOLoopBound(self, eventLoop: context.eventLoop), NIOLoopBound(context, eventLoop: context.eventLoop)
        )
        written.futureResult.whenComplete { result in
            // What was not written never will be: the connection ends.
            if case .failure = result { guardian.value.held.removeAll() }
            guardian.value.wrote(loopContext.value, isEnd: isEnd)
        }
        context.write(wrapOutboundOut(part), promise: written)
    }

    private func wrote(_ context: ChannelHandlerContext, isEnd: Bool) {
        unwritten -= 1
        if isEnd { unanswered -= 1 }
        answerDeadline?.cancel()
        answerDeadline = nil
        if unwritten > 0 { watchAnswer(context.channel) } else { tellWait() }
        if isEnd, unanswered <= 0 { answered(context) }
    }

    /// Tells the roster what the connection waits for. A body that has not ended is known there
    /// from its beginning on.
    private func tellWait() {
        guard let id, bodyBegan == nil else { return }
        connections.wait(id, for: unwritten > 0 ? .reader : unanswered > 0 ? nil : .head)
    }

    private func watchAnswer(_ channel: any Channel) {
        tellWait()
        answerDeadline = channel.eventLoop.scheduleTask(in: Self.amount(connections.timeouts.answer)) {
            channel.close(promise: nil)
        }
    }

    /// Closes the connection when its body is late; looks again when enough of it has arrived for
    /// more time.
    private func watchBody(_ context: ChannelHandlerContext, after seconds: Double) {
        bodyDeadline?.cancel()
        let (guardian, loopContext) = (
            NIOLoopBound(self, eventLoop: context.eventLoop), NIOLoopBound(context, eventLoop: context.eventLoop)
        )
        bodyDeadline = context.eventLoop.scheduleTask(in: Self.amount(seconds)) {
            guard let began = guardian.value.bodyBegan else { return }
            let taken = Double((NIODeadline.now() - began).nanoseconds) / 1e9
            let left = guardian.value.connections.timeouts.body(bytes: guardian.value.bodyBytes) - taken
            if left > 0 {
                guardian.value.watchBody(loopContext.value, after: left)
            } else {
                loopContext.value.close(promise: nil)
            }
        }
    }

    private static func amount(_ seconds: Double) -> TimeAmount { .nanoseconds(Int64(seconds * 1e9)) }
}
