import Base
import CCurl
import Cryptography
import Glibc
import HTTP2
import PushServices

/// Many small requests on few connections: nghttp2 and OpenSSL on an epoll loop. Frames are
/// gathered into large writes, and answers read in large reads.
final class HTTP2Transport: Transport {
    @exclusivity(unchecked) var events: [TransportEvent] = []

    private static let wakeupName = UInt64.max

    private let settings: SenderSettings
    /// Made with the first connection.
    private var route: DialRoute?
    private let epoll: EpollHandle
    let wakeup: Wakeup
    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
    private var ready = [epoll_event](repeating: epoll_event(), count: 64)
    @exclusivity(unchecked) private var connections: [HTTP2Connection?] = []
    /// The token that each connection was opened with, also after it was closed.
    private var tokens: [ServiceToken?] = []
    private let idText = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: PushID.textCount)
    private let template: RequestTemplate
    /// The path up to the target.
    private let pathPrefix: UnsafeMutableBufferPointer<UInt8>

    /// - Throws: a `Diagnostic` when no more files can be opened.
    init(_ settings: SenderSettings) throws(Diagnostic) {
        self.settings = settings
        template = settings.request
        pathPrefix = .allocate(capacity: template.pathPrefix.utf8.count)
        _ = pathPrefix.initialize(from: template.pathPrefix.utf8)
        wakeup = try Wakeup()
        epoll = try EpollHandle()
        epoll.watch(wakeup.descriptor, for: EPOLLIN.rawValue, named: Self.wakeupName)
    }

    deinit {
        for connection in connections { connection?.close() }
        readBuffer.deallocate()
        idText.deallocate()
        pathPrefix.deallocate()
    }

    // MARK: Actions

    func open(_ connection: Int) {
        while connections.count <= connection {
            connections.append(nil)
            tokens.append(nil)
        }
        precondition(connections[connection] == nil, "a connection is opened once")
        let route: DialRoute
        do { route = try dialRoute() } catch {
            return events.append(.failed(connection: connection, .misconfigured(error.description)))
        }
        var token: ServiceToken?
        if let tokens = settings.credentials.tokens {
            guard case .ready(let current) = tokens.state() else {
                return events.append(.failed(connection: connection, .credentialPending))
            }
            token = current
        }
        tokens[connection] = token
        let session: HTTP2ClientSession
        do throws(Diagnostic) {
            session = try HTTP2ClientSession(
                authority: settings.endpoint.authority, headers: headers(token), ownHeader: template.idHeader)
        } catch {
            // A failure that may pass: there may be memory later.
            return events.append(.failed(connection: connection, .unreachable(error.message)))
        }
        let socket = ConnectionSocket(epoll: epoll.descriptor, name: UInt64(connection))
        connections[connection] = HTTP2Connection(
            index: connection, dialer: Dialer(route, socket: socket, wakeup: wakeup), session: session,
            answers: AnswerReader(settings.service))
    }

    func close(_ connection: Int) {
        guard connection < connections.count, let closing = connections[connection] else { return }
        closing.close()
        connections[connection] = nil
    }

    func token(of connection: Int) -> ServiceToken? { connection < tokens.count ? tokens[connection] : nil }

    func submit(
        request: Int, id: PushID, on connection: Int, target: UnsafeBufferPointer<UInt8>,
        body: UnsafeBufferPointer<UInt8>
    ) {
        id.write(to: idText)
        let isQueued =
            connection < connections.count
            && connections[connection]?.submit(
                request: request, path: (.init(pathPrefix), target), id: .init(idText), body: body) == true
        if !isQueued { events.append(.notProcessed(request: request)) }
    }

    func abandon(request: Int, on connection: Int) {
        if connection < connections.count { connections[connection]?.abandon(request: request) }
    }

    func ping(_ connection: Int) {
        if connection < connections.count { connections[connection]?.ping() }
    }

    // MARK: Waiting

    func poll(until deadline: Int64) {
        var wakeAt = deadline
        for connection in connections {
            guard let connection else { continue }
            connection.flush(&events)
            if connection.hasMoreToRead { wakeAt = 0 }
            if let attempt = connection.attemptEndsAt { wakeAt = min(wakeAt, attempt) }
        }
        if !events.isEmpty { wakeAt = 0 }
        let left = max(0, wakeAt - monotonicNanoseconds())
        let count = epoll.wait(&ready, milliseconds: Int32(min((left + 999_999) / 1_000_000, 1000)))
        for event in ready.prefix(count) {
            guard event.data.u64 != Self.wakeupName else {
                wakeup.clear()
                for connection in connections { connection?.resolve(&events) }
                continue
            }
            let index = Int(event.data.u64)
            if index < connections.count { connections[index]?.advance(event.events, readBuffer, &events) }
        }
        let now = monotonicNanoseconds()
        for connection in connections {
            guard let connection else { continue }
            if connection.hasMoreToRead { connection.advance(0, readBuffer, &events) }
            if let attempt = connection.attemptEndsAt, attempt <= now { connection.attemptTimedOut(&events) }
        }
    }

    private func dialRoute() throws(Diagnostic) -> DialRoute {
        if let route { return route }
        var certificate: ClientCertificate?
        if case .certificate(let own) = settings.credentials { certificate = own }
        var made = DialRoute(
            host: settings.endpoint.plainHost, port: settings.endpoint.port,
            tls: try TLSClientContext(
                authorityFile: settings.endpoint.certificateAuthorityFile, certificate: certificate),
            timeoutSeconds: settings.connectTimeoutSeconds)
        if let proxy = settings.proxyAddress {
            let bundle = settings.proxyAuthorityFile ?? systemBundle
            made.proxy = DialRoute.Hop(
                address: proxy, tls: proxy.scheme == .https ? try TLSClientContext(systemBundle: bundle) : nil)
        }
        route = made
        return made
    }

    /// Services of this wire have one server, behind which its owner has many.
    func changeServer(to name: String?) {}

    private func headers(_ token: ServiceToken?) -> [HTTP2Header] {
        var list = template.headers.map { HTTP2Header($0.name, value: $0.value) }
        // What is compressed nevertheless is read, too (`GzipBody`).
        list.append(HTTP2Header("accept-encoding", value: "identity"))
        // A secret, which no intermediary may keep in a compression table.
        if let token { list.append(HTTP2Header(token.header, value: token.value, isNeverIndexed: true)) }
        return list
    }
}

extension Endpoint {
    /// The host without the brackets of an IPv6 address, as sockets and certificates need it.
    var plainHost: String { HostPort.plain(host) }

    /// The value of the header `:authority`: with the port only if it is not the usual one.
    var authority: String {
        let name = plainHost.contains(":") ? "[\(plainHost)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }
}
