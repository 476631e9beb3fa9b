import CCurl
import Cryptography
import Glibc

/// The socket of a connection, and its watch by epoll; while a connection is being dialed another socket may come in its place.
final class ConnectionSocket {
    /// -1 without a socket.
    private(set) var descriptor: Int32 = -1

    /// What comes is acknowledged at once.
    ///
    /// Proxies relay what they read in pieces (microsocks: 1 KiB), and some without TCP_NODELAY: a piece then waits there until the one before it is
    /// acknowledged, which Linux likes to put off for up to 40 ms.
    var acknowledgesAtOnce = false

    private let epoll: Int32
    private let name: UInt64
    private var watchedEvents: UInt32 = 0

    /// - Parameter name: what epoll calls it.
    init(epoll: Int32, name: UInt64) {
        self.epoll = epoll
        self.name = name
    }

    deinit { close() }

    /// Begins to connect to an address; false with errno set when that fails at once.
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

    /// All was read that has come.
    func noteDrained() {
        guard acknowledgesAtOnce else { return }
        // Linux forgets it after some segments (tcp(7)).
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    func close() {
        // Closing a socket ends its watch as well.
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
        watchedEvents = 0
    }

    // MARK: Bytes that are not TLS: what is said to a proxy

    /// Writes a beginning of `bytes`, which must not be empty.
    func write(_ bytes: UnsafeRawBufferPointer) -> TLSProgress {
        let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        return count > 0 ? .done(count) : failure(whenBlocked: .wantsWrite)
    }

    /// Reads what fits into `buffer` and leaves it there for the next one to read.
    func peek(into buffer: UnsafeMutableRawBufferPointer) -> TLSProgress {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_PEEK))
        if count == 0 { return .failed(.closed("the peer closed the connection")) }
        return count > 0 ? .done(count) : failure(whenBlocked: .wantsRead)
    }

    /// Takes away what was seen by `peek`.
    func skip(_ buffer: UnsafeMutableRawBufferPointer) { recv(descriptor, buffer.baseAddress, buffer.count, 0) }

    private func failure(whenBlocked progress: TLSProgress) -> TLSProgress {
        errno == EAGAIN || errno == EINTR ? progress : .failed(.broken(String(cString: strerror(errno))))
    }
}
