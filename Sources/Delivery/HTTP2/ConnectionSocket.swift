import Base
import CCurl
import Cryptography
import Glibc

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
