import Base
import Cryptography
import Glibc

/// The listening sockets: 127.0.0.1, and ::1 where the machine has it. Other machines cannot reach
/// them.
struct Listener: ~Copyable {
    /// The IPv4 socket, then the IPv6 socket if there is one.
    let sockets: [Int32]
    /// The port of all sockets.
    let port: Int

    /// The number of attempts to find a port that is free on both IPv4 and IPv6.
    private static let attempts = 16

    /// - Parameter port: 0 for a free one.
    /// - Throws: a `Diagnostic` if the port is in use, or cannot be used.
    init(port: Int) throws(Diagnostic) {
        guard (0...65535).contains(port) else {
            throw Diagnostic("\(port) is not a port", remedy: "Choose one from 1024 to 65535, or 0 for a free one")
        }
        var failure = EADDRINUSE
        for _ in 0..<(port == 0 ? Self.attempts : 1) {
            guard let four = Self.bindIPv4(port: port, failure: &failure) else { break }
            let chosen = Self.port(of: four)
            if let six = Self.bindIPv6(port: chosen, failure: &failure) {
                self.sockets = six < 0 ? [four] : [four, six]
                self.port = chosen
                return
            }
            close(four)
        }
        throw Diagnostic.cannotListen(at: "localhost:\(port)", port: port, option: "--port", errno: failure)
    }

    deinit {
        for socket in sockets { close(socket) }
    }

    /// Accepts the next connection that waits on a socket, and makes it non-blocking; nil if no
    /// connection waits.
    static func accept(on socket: Int32) -> Int32? {
        let accepted = Glibc.accept(socket, nil, nil)
        guard accepted >= 0 else { return nil }
        makeNonBlocking(accepted)
        setOption(accepted, level: Int32(IPPROTO_TCP), option: TCP_NODELAY)
        return accepted
    }

    /// Makes a descriptor non-blocking, and closes it in programs that the process starts.
    static func makeNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func bindIPv4(port: Int, failure: inout Int32) -> Int32? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return withUnsafeBytes(of: &address) { listen(AF_INET, $0, failure: &failure) }
    }

    /// The IPv6 socket; -1 if the machine has no IPv6, nil if the port is in use.
    private static func bindIPv6(port: Int, failure: inout Int32) -> Int32? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = UInt16(port).bigEndian
        address.sin6_addr = in6addr_loopback
        var problem: Int32 = 0
        if let socket = withUnsafeBytes(of: &address, { listen(AF_INET6, $0, failure: &problem) }) { return socket }
        guard problem == EADDRINUSE else { return -1 }
        failure = problem
        return nil
    }

    private static func listen(_ family: Int32, _ address: UnsafeRawBufferPointer, failure: inout Int32) -> Int32? {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, let start = address.baseAddress else {
            failure = errno
            return nil
        }
        setOption(descriptor, level: SOL_SOCKET, option: SO_REUSEADDR)
        if family == AF_INET6 { setOption(descriptor, level: Int32(IPPROTO_IPV6), option: IPV6_V6ONLY) }
        let name = start.assumingMemoryBound(to: sockaddr.self)
        guard bind(descriptor, name, socklen_t(address.count)) == 0, Glibc.listen(descriptor, SOMAXCONN) == 0 else {
            failure = errno
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func setOption(_ socket: Int32, level: Int32, option: Int32) {
        var one: Int32 = 1
        setsockopt(socket, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func port(of socket: Int32) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

/// A client's socket, from its arrival to its end, with TLS on it. Once the handshake is complete,
/// a `Connection` or a `CallConnection` reads and writes it, depending on the application protocol.
final class ClientSocket {
    /// The number of the connection, from 1 in order of arrival.
    let number: Int
    let descriptor: Int32
    let tls: TLSConnection
    /// The events that the handshake waits for.
    private(set) var awaitedEvents = Int16(POLLIN)
    /// Whether the handshake is not complete, and may become so.
    private(set) var isArriving = true
    private var isClosed = false

    /// - Parameter accepted: a socket that does not block. Until `init` succeeds, its caller closes
    ///   it.
    init(number: Int, accepted: Int32, context: TLSServerContext) throws(Diagnostic) {
        self.number = number
        descriptor = accepted
        tls = try TLSConnection(context, socket: accepted)
    }

    deinit { close() }

    /// Continues the handshake.
    /// - Returns: whether it is complete now.
    func shakeHands() -> Bool {
        switch tls.handshake() {
        case .done:
            isArriving = false
            return true
        case .wantsRead: awaitedEvents = Int16(POLLIN)
        case .wantsWrite: awaitedEvents = Int16(POLLOUT)
        case .failed: close()
        }
        return false
    }

    /// Closes the socket, without close_notify.
    /// - Parameter isReset: whether TCP ends with RST, and not with FIN.
    func close(isReset: Bool = false) {
        guard !isClosed else { return }
        (isClosed, isArriving) = (true, false)
        if isReset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(descriptor)
    }
}
