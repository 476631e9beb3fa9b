import Glibc
import Synchronization

/// A test's server that does not start.
public struct ServerUnavailable: Error {
    /// What went wrong.
    public var what: String
}

/// Loopback socket calls that several test servers need.
public enum Sockets {
    /// A listening socket on 127.0.0.1, and its port.
    /// - Parameter port: 0 takes any free port.
    public static func listen(port: Int = 0) throws -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard withLoopback(port: port, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 64) == 0 else {
            close(descriptor)
            throw ServerUnavailable(what: "no socket can be listened on")
        }
        return (descriptor, Self.port(of: descriptor))
    }

    /// IPv4 or IPv6.
    public enum Family: Sendable { case v4, v6 }

    /// A listening socket on a free port of a single address of this machine, and that port.
    /// - Parameter address: by default 127.0.0.1 or ::1.
    public static func listen(_ family: Family, address: String? = nil) throws -> (descriptor: Int32, port: Int) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICHOST
        var found: UnsafeMutablePointer<addrinfo>?
        let name = address ?? (family == .v4 ? "127.0.0.1" : "::1")
        guard getaddrinfo(name, "0", &hints, &found) == 0, let info = found?.pointee else {
            throw ServerUnavailable(what: "\(name) is no address")
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(info.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, Glibc.listen(descriptor, 64) == 0 else {
            Glibc.close(descriptor)
            throw ServerUnavailable(what: "\(name) cannot be listened on")
        }
        return (descriptor, port(of: descriptor))
    }

    /// Whether `localhost` is both ::1 and 127.0.0.1.
    public static var localhostHasBothAddresses: Bool {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo("localhost", nil, &hints, &found) == 0 else { return false }
        defer { freeaddrinfo(found) }
        var families: Set<Int32> = []
        var next = found
        while let info = next {
            families.insert(info.pointee.ai_family)
            next = info.pointee.ai_next
        }
        return families == [AF_INET, AF_INET6]
    }

    /// Closes a socket.
    public static func close(_ descriptor: Int32) { Glibc.close(descriptor) }

    /// Below the ports that Linux assigns by itself (32768 and above): a port that a program is
    /// told to use is not given to another connection in the meantime.
    private static let ownPorts = 10_000..<32_768
    private static let nextPort = Mutex(Int.random(in: ownPorts))

    /// A port of 127.0.0.1 where nothing listens, a different one each time.
    public static func freePort() throws -> Int {
        for _ in ownPorts {
            let port = nextPort.withLock { next in
                next = next + 1 < ownPorts.upperBound ? next + 1 : ownPorts.lowerBound
                return next
            }
            if let listener = try? listen(port: port) {
                close(listener.descriptor)
                return port
            }
        }
        throw ServerUnavailable(what: "no port is free")
    }

    /// A connection to a port of 127.0.0.1; nil if nothing listens there.
    public static func connect(_ port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if withLoopback(port: port, { Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    /// Waits until something listens on a port of 127.0.0.1.
    public static func waitForListener(_ port: Int) -> Bool {
        for _ in 0..<500 {
            if let descriptor = connect(port) {
                close(descriptor)
                return true
            }
            usleep(20_000)
        }
        return false
    }

    /// Writes all bytes; false if the peer is gone.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress?.advanced(by: start), bytes.count - start, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            start += count
        }
        return true
    }

    /// Exactly this many bytes; nil if the peer disappeared first.
    public static func read(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: count)
        while bytes.count < count {
            let received = recv(descriptor, &chunk, count - bytes.count, 0)
            if received <= 0 { return nil }
            bytes += chunk[..<received]
        }
        return bytes
    }

    /// Waits at most a tenth of a second until some of them can be read; a bit for each that can.
    static func waitToRead(_ descriptors: [Int32]) -> Int {
        var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&polled, nfds_t(polled.count), 100) > 0 else { return 0 }
        return polled.indices.reduce(0) { $0 | (polled[$1].revents != 0 ? 1 << $1 : 0) }
    }

    private static func port(of descriptor: Int32) -> Int {
        // Of either family; both have the port in the same place.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        withUnsafeMutableBytes(of: &address) { bytes in
            guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return }
            getsockname(descriptor, pointer, &length)
        }
        return Int(UInt16(bigEndian: address.sin6_port))
    }

    private static func withLoopback(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeBytes(of: &address) { bytes in
            guard let pointer = bytes.bindMemory(to: sockaddr.self).baseAddress else { return -1 }
            return body(pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
