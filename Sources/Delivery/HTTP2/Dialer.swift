import Base
import CCurl
import Cryptography
import Glibc

/// Where connections lead, and by what route.
struct DialRoute {
    /// The proxy on the way.
    struct Hop {
        var address: ProxyAddress
        /// The TLS context for a proxy reached over TLS; nil for others.
        var tls: TLSClientContext?
    }

    /// The server's name or address, without brackets.
    var host: String
    var port: Int
    var tls: TLSClientContext
    var proxy: Hop?
    var timeoutSeconds: Double
}

/// Dials one connection: looks up names, connects, goes through the proxy if there is one, and sets
/// up TLS with the server. Belongs to one thread.
final class Dialer {
    /// How far the dialer has come. It is of no further use after anything but `underway`.
    enum Progress: ~Copyable {
        case underway
        /// The handshake with the server is over.
        case connected(TLSConnection)
        case failed(ConnectionFailure)
    }

    private enum Phase {
        case resolving
        /// Connecting; `rest` are the addresses not tried yet.
        case connecting(rest: ArraySlice<SocketAddress>)
        /// TLS with the proxy.
        case securingProxy
        case tunnelling
        /// TLS with the server.
        case securing
    }

    /// When the attempt to connect to the current address times out: monotonic nanoseconds, nil for
    /// no limit.
    private(set) var attemptEndsAt: Int64?

    private let route: DialRoute
    let socket: ConnectionSocket
    /// The lookup of the proxy, or of the server if there is no proxy.
    private let lookup: AddressLookup
    /// The lookup of the server, for a proxy protocol that cannot carry names.
    private let targetLookup: AddressLookup?
    private var addresses: [SocketAddress] = []
    /// The server's addresses that have not been tried through the proxy yet.
    private var targets: ArraySlice<IPAddress> = []
    private var phase = Phase.resolving
    private var tunnel: ProxyTunnel?
    private var tls: TLSConnection?
    private var proxyBytes: [UInt8] = []

    /// - Parameter wakeup: woken when `advance` must be called although the socket is not ready.
    init(_ route: DialRoute, socket: ConnectionSocket, wakeup: Wakeup) {
        self.route = route
        self.socket = socket
        socket.acknowledgesAtOnce = route.proxy != nil
        guard let proxy = route.proxy?.address else {
            lookup = AddressLookup(host: route.host, port: route.port, wakeup: wakeup)
            targetLookup = nil
            return
        }
        lookup = AddressLookup(host: proxy.plainHost, port: proxy.port, wakeup: wakeup)
        let takesNames = proxy.scheme != .socks4 && proxy.scheme != .socks5
        targetLookup = takesNames ? nil : AddressLookup(host: route.host, port: route.port, wakeup: wakeup)
    }

    /// Continues as far as the lookups and the socket allow.
    func advance() -> Progress {
        switch phase {
        case .resolving: resolve()
        case .connecting(let rest): finishConnecting(rest)
        case .securingProxy: secureProxy()
        case .tunnelling: talkToProxy()
        case .securing: secure()
        }
    }

    // MARK: Addresses

    private func resolve() -> Progress {
        guard let result = lookup.take() else { return .underway }
        switch result {
        case .found(let found): addresses = found
        case .failed(let cause):
            return .failed(
                .unreachable(route.proxy.map { "the name of the proxy \($0.address) cannot be resolved" } ?? cause))
        }
        if let targetLookup {
            switch targetLookup.take() {
            case nil: return .underway
            case .found(let found)?: targets = usable(found.compactMap(\.ip))
            case .failed(let cause)?: return .failed(.unreachable(cause))
            }
        }
        return connect(addresses[...], after: "")
    }

    /// Returns the addresses that the proxy's protocol can carry. If it can carry none, returns all
    /// of them, and the protocol reports the error.
    private func usable(_ found: [IPAddress]) -> ArraySlice<IPAddress> {
        guard route.proxy?.address.scheme == .socks4 else { return found[...] }
        let known = found.filter(\.isIPv4)
        return (known.isEmpty ? found : known)[...]
    }

    /// Tries the addresses one after the other. All but the last share half of the time; the last
    /// one has what is left.
    private func connect(_ addresses: ArraySlice<SocketAddress>, after cause: String) -> Progress {
        tls = nil
        socket.close()
        var rest = addresses
        var cause = cause
        while let address = rest.popFirst() {
            if socket.connect(to: address) {
                phase = .connecting(rest: rest)
                attemptEndsAt = rest.isEmpty ? nil : monotonicNanoseconds() + attemptNanoseconds
                socket.watch(EPOLLOUT.rawValue)
                return .underway
            }
            cause = SystemError.words(errno)
        }
        attemptEndsAt = nil
        return .failed(.unreachable(cause))
    }

    private var attemptNanoseconds: Int64 {
        Int64(nanosecondsFromSeconds: route.timeoutSeconds) / 2 / Int64(max(1, addresses.count - 1))
    }

    /// Continues with the next address because the current one does not answer.
    func attemptTimedOut() -> Progress {
        attemptEndsAt = nil
        guard case .connecting(let rest) = phase else { return .underway }
        return connect(rest, after: "it did not answer")
    }

    private func finishConnecting(_ rest: ArraySlice<SocketAddress>) -> Progress {
        let cause = socket.connectError
        guard cause == 0 else { return connect(rest, after: SystemError.words(cause)) }
        attemptEndsAt = nil
        guard let proxy = route.proxy else { return beginTLS() }
        guard let proxyTLS = proxy.tls else { return beginTunnel() }
        do throws(Diagnostic) {
            tls = try TLSConnection(proxyTLS, host: proxy.address.plainHost, socket: socket.descriptor)
        } catch { return .failed(.unreachable(error.message)) }
        phase = .securingProxy
        return secureProxy()
    }

    // MARK: The proxy

    private func secureProxy() -> Progress {
        switch tls?.handshake() {
        case .done?: return beginTunnel()
        case .wantsRead?: return wait(for: EPOLLIN)
        case .wantsWrite?: return wait(for: EPOLLOUT)
        case .failed(.untrusted(let cause))?: return .failed(.proxyRefused(.untrusted(cause)))
        case .failed(let failure)?: return .failed(.unreachable("TLS with the proxy failed: \(failure.words)"))
        case nil: return .underway
        }
    }

    private func beginTunnel() -> Progress {
        guard let proxy = route.proxy?.address else { return beginTLS() }
        tunnel = ProxyTunnel(proxy, to: .init(host: route.host, port: route.port, address: targets.popFirst()))
        phase = .tunnelling
        return talkToProxy()
    }

    private func talkToProxy() -> Progress {
        while var tunnel {
            switch tunnel.progress {
            case .open: return beginTLS()
            case .failed(.unreachable) where !targets.isEmpty: return connect(addresses[...], after: "")
            case .failed(let failure): return .failed(failure)
            case .underway: break
            }
            let progress = tunnel.output.isEmpty ? listen(&tunnel) : speak(&tunnel)
            self.tunnel = tunnel
            switch progress {
            case .done: continue
            case .wantsRead: return wait(for: EPOLLIN)
            case .wantsWrite: return wait(for: EPOLLOUT)
            case .failed(.closed): return .failed(.unreachable("the proxy closed the connection"))
            case .failed(let failure):
                return .failed(.unreachable("the connection with the proxy was lost: \(failure.words)"))
            }
        }
        return .underway
    }

    private func speak(_ tunnel: inout ProxyTunnel) -> TLSProgress {
        let progress = tunnel.output.withUnsafeBytes { tls?.write($0) ?? socket.write($0) }
        if case .done(let count) = progress { tunnel.noteSent(count) }
        return progress
    }

    /// Reads only the proxy's bytes. Those of the server stay in the socket for TLS.
    private func listen(_ tunnel: inout ProxyTunnel) -> TLSProgress {
        if proxyBytes.isEmpty { proxyBytes = [UInt8](repeating: 0, count: 4096) }
        return proxyBytes.withUnsafeMutableBytes { buffer in
            let progress = tls?.peek(into: buffer) ?? socket.peek(into: buffer)
            guard case .done(let count) = progress else { return progress }
            let taken = UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<tunnel.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))])
            if tls == nil { socket.skip(taken) } else { _ = tls?.read(into: taken) }
            return progress
        }
    }

    // MARK: The server

    private func beginTLS() -> Progress {
        do throws(Diagnostic) {
            if let outer = tls.take() {
                tls = try TLSConnection(route.tls, host: route.host, inside: outer)
            } else {
                tls = try TLSConnection(route.tls, host: route.host, socket: socket.descriptor)
            }
        } catch { return .failed(.unreachable(error.message)) }
        phase = .securing
        return secure()
    }

    private func secure() -> Progress {
        switch tls?.handshake() {
        case .done?:
            guard let tls = tls.take() else { return .underway }
            return .connected(tls)
        case .wantsRead?: return wait(for: EPOLLIN)
        case .wantsWrite?: return wait(for: EPOLLOUT)
        case .failed(let failure)?: return .failed(ConnectionFailure(failure))
        case nil: return .underway
        }
    }

    private func wait(for event: EPOLL_EVENTS) -> Progress {
        socket.watch(event.rawValue)
        return .underway
    }
}

extension ProxyAddress {
    /// The host without the brackets of an IPv6 address, as sockets and certificates need it. There
    /// a bare % precedes a zone (RFC 6874 section 2).
    var plainHost: String {
        host.hasPrefix("[") ? String(host.dropFirst().dropLast()).replacing("%25", with: "%") : host
    }
}

extension ConnectionFailure {
    init(_ failure: TLSFailure) {
        switch failure {
        case .untrusted(let cause): self = .untrusted(cause)
        case .otherProtocol: self = .notHTTP2
        case .certificateRefused(let cause): self = .certificateRefused(cause)
        case .closed(let cause), .broken(let cause): self = .unreachable(cause)
        }
    }
}

extension TLSFailure {
    var words: String {
        switch self {
        case .closed(let cause), .untrusted(let cause), .certificateRefused(let cause), .broken(let cause): cause
        case .otherProtocol: "the server does not speak HTTP/2"
        }
    }
}

/// The socket of a connection, watched by epoll. While a connection is being dialed, another socket
/// may replace it.
final class ConnectionSocket {
    /// The socket's descriptor; -1 for none.
    private(set) var descriptor: Int32 = -1

    /// Whether to acknowledge received bytes at once.
    ///
    /// Proxies relay what they read in pieces (microsocks: 1 KiB), and some without TCP_NODELAY. A
    /// piece then waits at the proxy until the one before it is acknowledged, which Linux may delay
    /// by up to 40 ms.
    var acknowledgesAtOnce = false

    private let epoll: Int32
    private let name: UInt64
    private var watchedEvents: UInt32 = 0

    /// - Parameter name: the name of the socket in epoll's events.
    init(epoll: Int32, name: UInt64) {
        self.epoll = epoll
        self.name = name
    }

    deinit { close() }

    /// Begins to connect to an address. Returns false with errno set if that fails at once.
    func connect(to address: SocketAddress) -> Bool {
        close()
        guard let started = address.startConnecting() else { return false }
        descriptor = started
        return true
    }

    /// How connecting ended: 0, or the system's code.
    var connectError: Int32 {
        var cause: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &cause, &length)
        return cause
    }

    func watch(_ wanted: UInt32) {
        guard wanted != watchedEvents else { return }
        var event = epoll_event(events: wanted, data: epoll_data_t(u64: name))
        epoll_ctl(epoll, watchedEvents == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event)
        watchedEvents = wanted
    }

    /// Notes that everything received so far has been read.
    func noteDrained() {
        guard acknowledgesAtOnce else { return }
        // Set each time, as Linux clears it after some segments (tcp(7)).
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    func close() {
        // Closing a socket also ends its watch.
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
        watchedEvents = 0
    }

    // MARK: Bytes outside TLS: the dialogue with a proxy

    /// Writes the beginning of `bytes`, which must not be empty, as far as the socket accepts it.
    func write(_ bytes: UnsafeRawBufferPointer) -> TLSProgress {
        let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        return count > 0 ? .done(count) : failure(whenBlocked: .wantsWrite)
    }

    /// Copies received bytes into `buffer` and leaves them in the socket for the next read.
    func peek(into buffer: UnsafeMutableRawBufferPointer) -> TLSProgress {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_PEEK))
        if count == 0 { return .failed(.closed("the peer closed the connection")) }
        return count > 0 ? .done(count) : failure(whenBlocked: .wantsRead)
    }

    /// Removes bytes from the socket that `peek` has shown.
    func skip(_ buffer: UnsafeMutableRawBufferPointer) { recv(descriptor, buffer.baseAddress, buffer.count, 0) }

    private func failure(whenBlocked progress: TLSProgress) -> TLSProgress {
        errno == EAGAIN || errno == EINTR ? progress : .failed(.broken(SystemError.words(errno)))
    }
}
