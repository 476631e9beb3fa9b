import Base
import CCurl
import Cryptography
import Glibc
import HTTP2
import PushServices

/// Carries requests and reports what became of them: bytes only, every decision is the machine's. Requests and connections are named by the machine's
/// slots. Belongs to one thread.
///
/// nghttp2 and OpenSSL on an epoll loop: frames are gathered into large writes, answers read in large reads.
final class HTTP2Transport {
    /// What happened since the caller last cleared it.
    @exclusivity(unchecked) var events: [TransportEvent] = []

    private static let wakeupName = UInt64.max

    private let settings: SenderSettings
    /// Made with the first connection.
    private var plan: DialPlan?
    private let epoll: EpollHandle
    /// Ends `poll` before its time.
    let wakeup: Wakeup
    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
    private var ready = [epoll_event](repeating: epoll_event(), count: 64)
    @exclusivity(unchecked) private var connections: [HTTP2Connection?] = []
    private let idText = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: PushID.textCount)
    private let template: RequestTemplate
    /// Of the path, up to the target.
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

    /// Opens a connection; `opened` or `failed` tells how it went.
    func open(_ connection: Int) {
        while connections.count <= connection { connections.append(nil) }
        precondition(connections[connection] == nil, "a connection is opened once")
        let plan: DialPlan
        do { plan = try dialPlan() } catch {
            return events.append(.failed(connection: connection, .misconfigured(error.description)))
        }
        var token: SignedToken?
        if case .token(let source) = settings.credentials { token = source.current() }
        let session: HTTP2ClientSession
        do throws(Diagnostic) {
            session = try HTTP2ClientSession(authority: settings.endpoint.authority, headers: headers(token), ownHeader: template.idHeader)
        } catch {
            // There may be memory for it later.
            return events.append(.failed(connection: connection, .unreachable(error.message)))
        }
        connections[connection] = HTTP2Connection(
            index: connection, epoll: epoll.descriptor, plan: plan, session: session, service: settings.service, token: token,
            wakeup: wakeup)
    }

    /// Closes a connection, whatever is in flight there. No event names it afterwards.
    func close(_ connection: Int) {
        guard connection < connections.count, let closing = connections[connection] else { return }
        closing.close()
        connections[connection] = nil
    }

    /// The provider token that a connection uses.
    func token(of connection: Int) -> SignedToken? { connection < connections.count ? connections[connection]?.token : nil }

    /// Sends a request.
    /// - Parameters:
    ///   - target: the end of the path; empty where the body names the targets. It and the body are copied.
    func submit(request: Int, id: PushID, on connection: Int, target: UnsafeBufferPointer<UInt8>, body: UnsafeBufferPointer<UInt8>) {
        id.write(to: idText)
        let isQueued =
            connection < connections.count
            && connections[connection]?.submit(request: request, path: (.init(pathPrefix), target), id: .init(idText), body: body) == true
        if !isQueued { events.append(.notProcessed(request: request)) }
    }

    /// Gives a request up whose answer does not come.
    func abandon(request: Int, on connection: Int) {
        if connection < connections.count { connections[connection]?.abandon(request: request) }
    }

    /// Asks the peer for a sign of life.
    func ping(_ connection: Int) {
        if connection < connections.count { connections[connection]?.ping() }
    }

    // MARK: Waiting

    /// Waits until something happens, at most until a moment of the monotonic clock, and appends to `events`.
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

    private func dialPlan() throws(Diagnostic) -> DialPlan {
        if let plan { return plan }
        var certificate: ClientCertificate?
        if case .certificate(let own) = settings.credentials { certificate = own }
        var made = DialPlan(
            host: settings.endpoint.plainHost, port: settings.endpoint.port,
            tls: try TLSClientContext(authorityFile: settings.endpoint.certificateAuthorityFile, certificate: certificate),
            timeoutSeconds: settings.connectTimeoutSeconds)
        if let proxy = settings.proxyAddress {
            let bundle = settings.proxyAuthorityFile ?? systemBundle
            made.proxy = DialPlan.Hop(address: proxy, tls: proxy.scheme == .https ? try TLSClientContext(systemBundle: bundle) : nil)
        }
        plan = made
        return made
    }

    private func headers(_ token: SignedToken?) -> [HTTP2Header] {
        var list = template.headers.map { HTTP2Header($0.name, $0.value) }
        // A secret that nobody on the way may keep in a table.
        if let token { list.append(HTTP2Header("authorization", "bearer \(token.text)", isNeverIndexed: true)) }
        return list
    }
}

extension Endpoint {
    /// Without the brackets of an IPv6 address, as sockets and certificates want it.
    var plainHost: String { HostPort.plain(host) }

    /// As the header `:authority` carries it: the port only where it is not the usual one.
    var authority: String {
        let name = plainHost.contains(":") ? "[\(plainHost)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }
}
