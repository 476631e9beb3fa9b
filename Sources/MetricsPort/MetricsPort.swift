public import Base
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A port on which Prometheus fetches metrics: plain HTTP/1.1, for this machine or a network that is trusted. It knows nothing but the text.
public final class MetricsPort: Sendable {
    /// The most connections at a time: Prometheus has one.
    private static let mostConnections = 32
    /// A connection on which this long no request came to its end, or no answer was taken, is closed; seconds.
    private static let idleSeconds: Int64 = 60

    /// Connections that wait to be taken: a crowd that comes at once is turned away, one after the other.
    private static let backlog: Int32 = 256
    /// A port that was closed, as a connection could not be taken, is opened again; seconds.
    private static let pauseSeconds: Int64 = 1

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let connections = Connections(atMost: mostConnections)
    private let text: @Sendable () -> String
    /// nil once the port is closed for good.
    private let channel: Mutex<(any Channel)?>
    /// Where it listens, with the port that the system chose if none was named.
    public let address: String

    /// Opens the port.
    /// - Parameters:
    ///   - address: `127.0.0.1:9464` or `[::1]:9464`; port 0 for one that the system chooses.
    ///   - text: asked for the metrics, at each request, on a thread of the port.
    /// - Throws: `Diagnostic`: it is no such address, or cannot be listened on.
    public init(_ address: String, _ text: @escaping @Sendable () -> String) throws(Diagnostic) {
        self.text = text
        let place = try Self.parsed(address)
        let opened: any Channel
        do { opened = try Self.bootstrap(group, connections, text).bind(to: place).wait() } catch {
            try? group.syncShutdownGracefully()
            throw Diagnostic.cannotListen(
                at: address, port: place.port ?? 0, option: "--metrics", errno: (error as? IOError)?.errnoCode ?? 0)
        }
        self.address = opened.localAddress.flatMap { local in local.port.map { Self.shown(local.ipAddress ?? "", $0) } } ?? address
        channel = Mutex(opened)
        watch(opened, at: opened.localAddress ?? place)
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup, _ connections: Connections, _ text: @escaping @Sendable () -> String
    ) -> ServerBootstrap {
        ServerBootstrap(group: group).serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                guard connections.add() else {
                    // Once it is set up: closing it earlier counts as a fault of the port.
                    channel.eventLoop.execute { channel.close(promise: nil) }
                    return channel.eventLoop.makeSucceededVoidFuture()
                }
                channel.closeFuture.whenComplete { _ in connections.remove() }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(MetricsHandler(text, idleSeconds: idleSeconds))
                }
            }
    }

    /// Opens the port again when it closes by itself.
    private func watch(_ opened: any Channel, at place: SocketAddress) {
        opened.closeFuture.whenComplete { [weak self] _ in self?.reopen(at: place) }
    }

    private func reopen(at place: SocketAddress) {
        guard channel.withLock({ $0 != nil }) else { return }
        group.any().scheduleTask(in: .seconds(Self.pauseSeconds)) { [weak self] in
            guard let self else { return }
            Self.bootstrap(group, connections, text).bind(to: place).whenComplete { [weak self] in self?.took($0, at: place) }
        }
    }

    private func took(_ result: Result<any Channel, any Error>, at place: SocketAddress) {
        guard case .success(let opened) = result else { return reopen(at: place) }
        let isWanted = channel.withLock { channel in
            if channel != nil { channel = opened }
            return channel != nil
        }
        if isWanted { watch(opened, at: place) } else { opened.close(promise: nil) }
    }

    /// Closes the port. Call it once.
    public func close() {
        let last = channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
        try? last?.close().wait()
        try? group.syncShutdownGracefully()
    }

    private static func parsed(_ text: String) throws(Diagnostic) -> SocketAddress {
        let parts = text.lastIndex(of: ":").map { (text[..<$0], text[text.index(after: $0)...]) }
        if let (host, port) = parts, let number = UInt16(port) {
            let bare = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host.contains(":") ? "" : host
            if let address = try? SocketAddress(ipAddress: String(bare), port: Int(number)) { return address }
        }
        throw Diagnostic(
            "'\(TextFormat.inLine(text))' is not an address and a port for metrics",
            remedy: "Write an IP address and a port, such as 127.0.0.1:9464 or [::1]:9464.")
    }

    private static func shown(_ host: String, _ port: Int) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Counts connections, up to a limit.
private final class Connections: Sendable {
    private let count = Mutex(0)
    private let limit: Int

    init(atMost limit: Int) { self.limit = limit }

    /// - Returns: false if there are as many as may be.
    func add() -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    func remove() { count.withLock { $0 -= 1 } }
}

/// Answers the requests of one connection.
private final class MetricsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let text: @Sendable () -> String
    private var head: HTTPRequestHead?
    private let idleSeconds: Int64
    private var deadline: Scheduled<Void>?

    init(_ text: @escaping @Sendable () -> String, idleSeconds: Int64) { (self.text, self.idleSeconds) = (text, idleSeconds) }

    func channelActive(context: ChannelHandlerContext) {
        expect(context.channel)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    /// Bytes that come one at a time do not put the end off.
    private func expect(_ channel: any Channel) {
        deadline?.cancel()
        deadline = channel.eventLoop.scheduleTask(in: .seconds(idleSeconds)) { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end: if let head { answer(head, context) }
        }
    }

    private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let isKnown = request.uri.prefix { $0 != "?" } == "/metrics", isRead = request.method == .GET || request.method == .HEAD
        let status: HTTPResponseStatus = !isRead ? .methodNotAllowed : isKnown ? .ok : .notFound
        let body = status == .ok ? text() : "The metrics are at /metrics.\n"
        var head = HTTPResponseHead(version: request.version, status: status)
        head.headers.add(
            name: "content-type", value: status == .ok ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain; charset=utf-8")
        head.headers.add(name: "content-length", value: "\(body.utf8.count)")
        if !request.isKeepAlive { head.headers.add(name: "connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(string: body)))), promise: nil)
        }
        // Closed once all of it is on its way.
        let channel = context.channel, isOver = !request.isKeepAlive, handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            if isOver { channel.close(promise: nil) } else { handler.value.expect(channel) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
