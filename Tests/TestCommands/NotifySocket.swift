import Glibc

/// Replaces the socket of systemd on which services report (sd_notify(3)).
public final class NotifySocket {
    /// For NOTIFY_SOCKET.
    public let path: String
    private let descriptor: Int32
    /// What was reported so far, one line for each message.
    public private(set) var lines: [String] = []

    /// - Parameter path: of the socket, which is made.
    public init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw CommandFailure(what: "no socket at \(path): \(String(cString: strerror(errno)))") }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Reads what has been reported since the last time.
    public func read() -> [String] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return lines }
            lines.append(String(decoding: bytes[..<count], as: UTF8.self))
        }
    }
}
