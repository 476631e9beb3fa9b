public import Base
import CLinux
import Glibc

/// A port from which Prometheus fetches metrics: plain HTTP/1, for this machine or a network that
/// is trusted.
///
/// One thread serves it. Each connection gets one answer and is closed (`Connection: close`). The
/// number of connections, the time and the bytes of each are limited (`MetricsConnection`), and a
/// newcomer takes the place of the connection that has waited longest: no client keeps Prometheus
/// out.
///
/// ```swift
/// let metrics = LatestMetrics(isWanted: true)
/// let port = try MetricsPort("127.0.0.1:9464") { metrics.text }
/// defer { port.close() }
/// ```
public final class MetricsPort: Sendable {
    /// The address at which it listens, with the port that the system chose if none was named.
    public let address: String
    private let cancellation: Cancellation
    private let thread: WorkerThread<Void>

    /// Opens the port.
    /// - Parameters:
    ///   - address: `127.0.0.1:9464` or `[::1]:9464`; port 0 for one that the system chooses.
    ///   - text: gives the metrics for a request. Called on the port's thread, which serves nothing
    ///     else while it runs.
    /// - Throws: `Diagnostic`: it is no such address, the port cannot listen there, or the system
    ///   has no thread or descriptor.
    public convenience init(_ address: String, _ text: @escaping @Sendable () -> String) throws(Diagnostic) {
        try self.init(address, requestSeconds: 5, text)
    }

    /// - Parameter requestSeconds: how long a client may take to send its request.
    init(_ address: String, requestSeconds: Double, _ text: @escaping @Sendable () -> String) throws(Diagnostic) {
        let cancellation = try Cancellation()
        let (listener, place) = try Self.open(address)
        do {
            thread = try WorkerThread("metrics") {
                var loop = MetricsLoop(
                    address: place, requestSeconds: requestSeconds, text: text, cancellation: cancellation,
                    listener: listener)
                loop.run()
            }
        } catch {
            Glibc.close(listener)
            throw error
        }
        (self.address, self.cancellation) = (place, cancellation)
    }

    /// Closes the port and its connections at once. Call it once.
    public func close() {
        cancellation.request()
        thread.join()
    }
}

/// The work of the port's thread. It sleeps until a connection comes, can be read or written, or
/// runs out of time.
private struct MetricsLoop {
    /// Prometheus has one connection.
    private static let mostConnections = 16
    /// The pause after connections could not be accepted.
    private static let pauseSeconds = 1.0

    /// With the port that the system chose.
    let address: String
    let requestSeconds: Double
    let text: @Sendable () -> String
    let cancellation: Cancellation
    /// -1 while the port is closed because the system broke it.
    var listener: Int32
    /// The end of a pause; nil without a pause.
    private var resumesAt: ContinuousClock.Instant?
    /// In the order in which they were accepted.
    private var connections: [MetricsConnection] = []

    init(
        address: String, requestSeconds: Double, text: @escaping @Sendable () -> String, cancellation: Cancellation,
        listener: Int32
    ) {
        (self.address, self.requestSeconds, self.text) = (address, requestSeconds, text)
        (self.cancellation, self.listener) = (cancellation, listener)
    }

    mutating func run() {
        defer { if listener >= 0 { close(listener) } }
        while !cancellation.isRequested {
            var watched = [
                pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: resumesAt == nil ? listener : -1, events: Int16(POLLIN), revents: 0),
            ]
            watched += connections.map { pollfd(fd: $0.descriptor, events: $0.awaitedEvents, revents: 0) }
            let next = (connections.map(\.endsAt) + (resumesAt.map { [$0] } ?? [])).min()
            // A signal ends poll early; then no descriptor counts as ready.
            _ = poll(
                &watched, nfds_t(watched.count),
                pollTimeout(next.map { ContinuousClock.now.duration(to: $0) / .seconds(1) }))
            for (connection, state) in zip(connections, watched.dropFirst(2)) where state.revents != 0 {
                connection.advance(text)
            }
            let now = ContinuousClock.now
            connections.removeAll { $0.isOver || $0.endsAt <= now }
            if let time = resumesAt, time <= now { resume(now) }
            if watched[1].revents != 0 { acceptSome() }
        }
    }

    /// Accepts waiting connections, but only a few at a time, so that accepted ones are served in
    /// between.
    private mutating func acceptSome() {
        for _ in 0..<Self.mostConnections {
            let descriptor = volley_accept(listener)
            guard descriptor >= 0 else { return noteFailure(errno) }
            // Connections without a request make room first. If all are taking answers, the oldest
            // one is the slowest.
            if connections.count == Self.mostConnections {
                connections.remove(at: connections.firstIndex { !$0.isAnswering } ?? 0)
            }
            let connection = MetricsConnection(descriptor, requestSeconds: requestSeconds)
            // The request has often arrived.
            connection.advance(text)
            if !connection.isOver { connections.append(connection) }
        }
    }

    private mutating func noteFailure(_ code: Int32) {
        switch code {
        // No connection waits, or the one that waited is gone, or has an error of its own
        // (accept(2)).
        case EAGAIN, EINTR, ECONNABORTED, EPERM, ENETDOWN, EPROTO, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH,
            EOPNOTSUPP, ENETUNREACH:
            return
        // It would stay readable without being served.
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: break
        default:
            close(listener)
            listener = -1
        }
        resumesAt = .now + .seconds(Self.pauseSeconds)
    }

    /// Ends the pause, and opens the port again if it was closed.
    private mutating func resume(_ now: ContinuousClock.Instant) {
        resumesAt = nil
        guard listener < 0 else { return }
        if let opened = try? MetricsPort.open(address) {
            listener = opened.descriptor
        } else {
            resumesAt = now + .seconds(Self.pauseSeconds)
        }
    }
}

extension MetricsPort {
    /// Connections that wait to be accepted.
    private static let backlog: Int32 = 256

    /// A listening socket, and its address with the port that the system chose.
    fileprivate static func open(_ text: String) throws(Diagnostic) -> (descriptor: Int32, address: String) {
        let (host, port) = try parsed(text)
        var hints = addrinfo(), found: UnsafeMutablePointer<addrinfo>?
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // Also an address with the interface on which it is valid: fe80::1%eth0.
        guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let info = found?.pointee else {
            throw noAddress(text)
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(
            info.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw Diagnostic.cannotListen(at: text, port: port, option: "--metrics", errno: errno)
        }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, listen(descriptor, backlog) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw Diagnostic.cannotListen(at: text, port: port, option: "--metrics", errno: code)
        }
        return (descriptor, place(of: descriptor) ?? text)
    }

    private static func parsed(_ text: String) throws(Diagnostic) -> (host: String, port: Int) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw noAddress(text)
        }
        let host = text[..<colon], bare = HostPort.plain(host), isBracketed = bare.count < host.count
        // The C library also takes 127.1 for an address.
        guard IPAddress(String(bare.prefix { $0 != "%" })) != nil, isBracketed || !bare.contains(":") else {
            throw noAddress(text)
        }
        return (bare, Int(port))
    }

    private static func noAddress(_ text: String) -> Diagnostic {
        Diagnostic(
            "'\(TextFormat.inLine(text))' is not an address and a port for metrics",
            remedy: "Write an IP address and a port, such as 127.0.0.1:9464 or [::1]:9464.")
    }

    private static func place(of descriptor: Int32) -> String? {
        var storage = sockaddr_storage(), length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var host = [CChar](repeating: 0, count: 128), port = [CChar](repeating: 0, count: 8)
        let isKnown = withUnsafeMutableBytes(of: &storage) { bytes in
            guard let name = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                getsockname(descriptor, name, &length) == 0
            else {
                return false
            }
            return getnameinfo(
                name, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                NI_NUMERICHOST | NI_NUMERICSERV) == 0
        }
        func text(_ characters: [CChar]) -> String {
            String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        guard isKnown else { return nil }
        return text(host).contains(":") ? "[\(text(host))]:\(text(port))" : "\(text(host)):\(text(port))"
    }
}
