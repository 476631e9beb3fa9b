import Base
import CCurl
import Cryptography
import Glibc
import HTTP2
import PushServices

/// Few large requests, over HTTP/2 or HTTP/1.1: libcurl's multi interface on an epoll loop.
///
/// What the machine treats as a connection is a multi handle with its own sockets, which libcurl
/// opens as requests need them. So a connection is open at once, and a failure to connect is
/// reported with its first request.
final class CurlTransport: Transport {
    @exclusivity(unchecked) var events: [TransportEvent] = []
    let wakeup: Wakeup

    private static let wakeupName = UInt64.max

    private let settings: SenderSettings
    private let epoll: EpollHandle
    private var ready = [epoll_event](repeating: epoll_event(), count: 64)
    /// Made with the first connection, and again for another server.
    private lazy var setup = CurlSetup(settings)
    /// The endpoint's host, its spare ones, and those that the service named: which one new
    /// connections go to, and since when.
    private var hosts: [String]
    private var host = 0, hostSince = Int64.min
    @exclusivity(unchecked) private var connections: [CurlConnection?] = []
    /// The token that each connection was opened with, also after it was closed.
    private var tokens: [ServiceToken?] = []

    /// - Throws: a `Diagnostic` when no more files can be opened.
    init(_ settings: SenderSettings) throws(Diagnostic) {
        self.settings = settings
        hosts = [settings.endpoint.host] + settings.endpoint.spareHosts
        wakeup = try Wakeup()
        epoll = try EpollHandle()
        epoll.watch(wakeup.descriptor, for: EPOLLIN.rawValue, named: Self.wakeupName)
    }

    deinit {
        for connection in connections { connection?.close() }
    }

    // MARK: Actions

    func open(_ connection: Int) {
        while connections.count <= connection {
            connections.append(nil)
            tokens.append(nil)
        }
        precondition(connections[connection] == nil, "a connection is opened once")
        var token: ServiceToken?
        if let tokens = settings.credentials.tokens {
            guard case .ready(let current) = tokens.state() else {
                return events.append(.failed(connection: connection, .credentialPending))
            }
            token = current
        }
        tokens[connection] = token
        do throws(Diagnostic) {
            connections[connection] = try CurlConnection(index: connection, setup, token, epoll: epoll.descriptor)
        } catch {
            // A failure that may pass: there may be memory later.
            return events.append(.failed(connection: connection, .unreachable(error.message)))
        }
        events.append(.opened(connection: connection))
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
        let isStarted =
            connection < connections.count
            && connections[connection]?.submit(request: request, id: id, target: target, body: body, &events) == true
        if !isStarted { events.append(.notProcessed(request: request)) }
    }

    func abandon(request: Int, on connection: Int) {
        if connection < connections.count { connections[connection]?.abandon(request: request, &events) }
    }

    /// libcurl has no PING. Each request has its own deadline, and a connection that answers none
    /// of them is left (`CurlConnection.abandon`): until then it counts as alive, because a service
    /// may take its time for a large request.
    func ping(_ connection: Int) {
        if connection < connections.count, connections[connection] != nil {
            events.append(.alive(connection: connection))
        }
    }

    // MARK: Other servers

    /// Services ask senders not to go from server to server at every failure. Source: RongCloud's
    /// SDK, 30 seconds.
    private static let shortestStay: Int64 = 30_000_000_000

    /// The servers that a service may name.
    private static let mostHosts = 10

    func changeServer(to name: String?) {
        let now = monotonicNanoseconds()
        guard hosts.count > 1, hostSince == .min || now - hostSince >= Self.shortestStay else { return }
        if let name, !hosts.contains(name), hosts.count < Self.mostHosts { hosts.append(name) }
        // A server that names itself has no other advice.
        let next = name.flatMap { hosts.firstIndex(of: $0) } ?? host
        (host, hostSince) = (next == host ? (host + 1) % hosts.count : next, now)
        setup = CurlSetup(settings, host: hosts[host])
    }

    /// A server that cannot be reached is left, too.
    private func leaveUnreachableServer() {
        for case .failed(connection: _, .unreachable) in events { return changeServer(to: nil) }
    }

    // MARK: Waiting

    func poll(until deadline: Int64) {
        advance(at: monotonicNanoseconds())
        var wakeAt = events.isEmpty ? deadline : 0
        for connection in connections { if let its = connection?.wakeAt { wakeAt = min(wakeAt, its) } }
        let left = max(0, wakeAt - monotonicNanoseconds())
        let count = epoll.wait(&ready, milliseconds: Int32(min((left + 999_999) / 1_000_000, 1000)))
        for event in ready.prefix(count) {
            guard event.data.u64 != Self.wakeupName else {
                wakeup.clear()
                continue
            }
            let (index, socket) = CurlConnection.parts(ofName: event.data.u64)
            if index < connections.count { connections[index]?.advance(socket, event.events) }
        }
        advance(at: monotonicNanoseconds())
    }

    /// Lets libcurl do what is due by its own clock, and reports what has ended.
    private func advance(at now: Int64) {
        for connection in connections { connection?.advance(at: now, &events) }
        if hosts.count > 1 { leaveUnreachableServer() }
    }
}

/// What all connections of a transport have in common.
struct CurlSetup {
    let route: CurlRoute
    let proxy: ProxyAddress?
    let template: RequestTemplate
    let answers: AnswerReader
    let budgetHeaders: BudgetHeaders?
    /// Signs each request; nil where they are not signed.
    let signer: RequestSigner?
    /// Dates the signatures.
    let clock: CommonClock
    /// The most requests at a time, and so the most sockets.
    let inFlight: Int
    let timeoutMilliseconds: Int

    /// The machine gives up a request after its own wait, and handles the consequences. libcurl's
    /// deadline only applies if the machine fails to do so.
    private static let graceSeconds = 2.0

    /// - Parameter host: nil for the endpoint's own.
    init(_ settings: SenderSettings, host: String? = nil) {
        route = CurlRoute(settings, host: host)
        (signer, clock) = (settings.credentials.signer, settings.clock)
        proxy = settings.proxyAddress
        template = settings.request
        answers = AnswerReader(settings.service)
        budgetHeaders = settings.service.budgetHeaders
        inFlight =
            if case .calls(let inFlight) = settings.wire { max(1, inFlight) } else {
                max(1, settings.streamsPerConnection)
            }
        timeoutMilliseconds = Int((settings.answerTimeoutSeconds + Self.graceSeconds) * 1000)
    }

    /// The header lines of all requests with a token, in libcurl's form.
    /// - Throws: a `Diagnostic` when there is not enough memory.
    func headers(_ token: ServiceToken?) throws(Diagnostic) -> CurlHeaderList {
        try CurlHeaderList(CurlRoute.headerLines(template, token))
    }
}

/// How libcurl reaches a service: the same way for a probe as for pushes.
struct CurlRoute {
    /// Up to the path.
    let origin: String
    let authority: CurlAuthority?
    let clientCertificate: [UInt8]?
    let connectTimeoutSeconds: Double
    /// The proxy; empty for none.
    let proxy: String
    /// The authorities to trust for the certificate of an `https` proxy; nil for the system's.
    let proxyAuthorityFile: String?

    /// - Parameter host: nil for the endpoint's own.
    init(_ settings: SenderSettings, host: String? = nil) {
        let host = host ?? settings.endpoint.host
        // An IPv6 address must be in brackets within a URL.
        origin = "https://\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(settings.endpoint.port)"
        authority = settings.endpoint.certificateAuthorityFile.map(CurlAuthority.init)
        if case .certificate(let certificate) = settings.credentials {
            clientCertificate = certificate.pem
        } else {
            clientCertificate = nil
        }
        connectTimeoutSeconds = settings.connectTimeoutSeconds
        proxy = settings.proxy ?? ""
        proxyAuthorityFile = settings.proxyAuthorityFile
    }

    func apply(to easy: UnsafeMutableRawPointer) {
        volley_easy_set_string(easy, CURLOPT_URL, origin + "/")
        volley_easy_set_long(easy, CURLOPT_POST, 1)
        volley_easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        volley_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "https")
        volley_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        readCompressed(easy)
        // A signal could interrupt any thread.
        volley_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        volley_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(connectTimeoutSeconds * 1000))
        applyTLS(to: easy)
        useProxy(easy, proxy)
        if let proxyAuthorityFile { volley_easy_set_string(easy, CURLOPT_PROXY_CAINFO, proxyAuthorityFile) }
    }

    /// Returns the headers of a push in libcurl's form.
    /// - Parameter signature: the lines that are for one request alone.
    static func headerLines(_ request: RequestTemplate, _ token: ServiceToken?, signature: [String] = []) -> [String] {
        var lines = request.headers.map { "\($0.name): \($0.value)" }
        if let token { lines.append("\(token.header): \(token.value)") }
        lines += signature
        // As for pushes: this is the last place that can detect one.
        precondition(lines.allSatisfy(HTTP2Header.canHold), "a header with a control character")
        // A name without a value makes libcurl omit its own header. `Expect` would make each push
        // wait for a 100.
        return lines + ["Expect:", "Accept:", "Content-Type:"]
    }

    private func applyTLS(to easy: UnsafeMutableRawPointer) {
        verifyServer(easy, authority)
        guard var pem = clientCertificate else { return }
        pem.withUnsafeMutableBytes { bytes in
            var blob = curl_blob(data: bytes.baseAddress, len: bytes.count, flags: UInt32(CURL_BLOB_COPY))
            volley_easy_set_pointer(easy, CURLOPT_SSLCERT_BLOB, &blob)
            volley_easy_set_pointer(easy, CURLOPT_SSLKEY_BLOB, &blob)
        }
        volley_easy_set_string(easy, CURLOPT_SSLCERTTYPE, "PEM")
        volley_easy_set_string(easy, CURLOPT_SSLKEYTYPE, "PEM")
    }
}
