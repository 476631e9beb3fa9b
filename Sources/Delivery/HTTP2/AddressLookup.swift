import Base
import CCurl
import Glibc
import Synchronization

/// An address that a socket can connect to.
struct SocketAddress: Sendable {
    private var storage: sockaddr_storage
    private var length: socklen_t

    init?(_ info: addrinfo) {
        storage = sockaddr_storage()
        length = info.ai_addrlen
        guard let address = info.ai_addr, Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: UnsafeRawPointer(address), count: Int(info.ai_addrlen)))
        }
    }

    /// The IP address without the port; nil if the family is neither IPv4 nor IPv6.
    var ip: IPAddress? {
        withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET: IPAddress(bytes: Array(bytes.dropFirst(4).prefix(4)))
            case AF_INET6: IPAddress(bytes: Array(bytes.dropFirst(8).prefix(16)))
            default: nil
            }
        }
    }

    /// Begins to connect a new non-blocking socket. Returns nil with errno set if that fails at
    /// once.
    func startConnecting() -> Int32? {
        let descriptor = socket(
            Int32(storage.ss_family), Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var isOn: Int32 = 1
        // Frames are already gathered before they are written, so that Nagle's algorithm would only
        // delay them.
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        let result = withUnsafeBytes(of: storage) { bytes -> Int32 in
            guard let address = bytes.bindMemory(to: sockaddr.self).baseAddress else { return -1 }
            return connect(descriptor, address, length)
        }
        if result == 0 || errno == EINPROGRESS { return descriptor }
        let cause = errno
        close(descriptor)
        errno = cause
        return nil
    }
}

/// Looks up a name on its own thread: the system's resolver blocks, and other connections must not
/// wait for it.
final class AddressLookup: Sendable {
    enum Result {
        /// IPv6 and IPv4 addresses, in the system's order of preference (RFC 6724).
        case found([SocketAddress])
        case failed(String)
    }

    private let result = Mutex<Result?>(nil)

    /// - Parameter wakeup: woken when there is a result.
    init(host: String, port: Int, wakeup: Wakeup) {
        do throws(Diagnostic) {
            try detachThread { [self] in
                let found = Self.lookUp(host, port: port)
                result.withLock { $0 = found }
                wakeup.wake()
            }
        } catch {
            // A failure that may pass: the next attempt may get a thread.
            result.withLock { $0 = .failed(error.message) }
            wakeup.wake()
        }
    }

    /// Returns the result; nil while the lookup runs.
    func take() -> Result? { result.withLock { $0 } }

    private static func lookUp(_ host: String, port: Int) -> Result {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            return .failed("the name \(host) cannot be resolved (resolver: \(String(cString: gai_strerror(code))))")
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let info = next {
            if let address = SocketAddress(info.pointee) { addresses.append(address) }
            next = info.pointee.ai_next
        }
        return addresses.isEmpty ? .failed("the name \(host) has no address") : .found(addresses)
    }
}
