import Base
import Glibc

/// The manager of services (systemd) that started this process, if one did. It is told when the process is ready, that it is alive, and that it
/// ends. Where there is none, nothing happens. Source: sd_notify(3), and its protocol in "Standalone Implementations".
public struct ServiceManager: Sendable {
    /// The variables that name the manager's socket, and the silence after which it ends the process.
    static let socketVariable = "NOTIFY_SOCKET", watchdogVariable = "WATCHDOG_USEC"

    /// What the environment of a child needs so that the child speaks to the manager in place of this process.
    public static var variablesOfChild: [String] {
        [socketVariable, watchdogVariable].compactMap { (name: String) -> String? in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
    }

    /// Whether the environment names the socket of one.
    public static var isThere: Bool { getenv(socketVariable).map { $0.pointee != 0 } ?? false }

    private let socket: String?
    /// How often the manager wants a sign of life; seconds; nil if it does not ask for any.
    public let secondsPerSign: Double?

    /// Reads the process's environment.
    public init() {
        func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } }
        self.init(
            socket: value(Self.socketVariable), watchdogMicroseconds: value(Self.watchdogVariable).flatMap { Int($0) },
            watchdogProcess: value("WATCHDOG_PID").flatMap { pid_t($0) })
    }

    /// - Parameters:
    ///   - socket: the path of the manager's socket, with an @ before the name of an abstract one.
    ///   - watchdogMicroseconds: after which silence the manager ends the process.
    ///   - watchdogProcess: the process that is meant; nil for this one.
    init(socket: String?, watchdogMicroseconds: Int?, watchdogProcess: pid_t?) {
        self.socket = socket
        let isMeant = watchdogProcess.map { $0 == getpid() } ?? true
        // Source: sd_watchdog_enabled(3), which recommends half of the time.
        secondsPerSign = isMeant && socket != nil ? watchdogMicroseconds.flatMap { $0 > 0 ? Double($0) / 2e6 : nil } : nil
    }

    /// Says that the process does its work.
    public func ready() { tell("READY=1") }

    /// Says that the process is about to end.
    public func stopping() { tell("STOPPING=1") }

    /// Gives a sign of life, if the manager wants any.
    public func alive() { if secondsPerSign != nil { tell("WATCHDOG=1") } }

    /// Says what the process does, in a line that `systemctl status` shows.
    public func status(_ text: String) { tell("STATUS=\(TextFormat.inLine(text))") }

    private func tell(_ text: String) {
        guard let name = socket?.utf8, !name.isEmpty, name.first == UInt8(ascii: "/") || name.first == UInt8(ascii: "@") else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isFit = withUnsafeMutableBytes(of: &address.sun_path) { path in
            guard name.count < path.count else { return false }
            path.copyBytes(from: name)
            // A name without a file begins with NUL. Source: unix(7).
            if name.first == UInt8(ascii: "@") { path[0] = 0 }
            return true
        }
        guard isFit else { return }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(text.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                // A manager that does not read must not hold this process up.
                _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), address, length)
            }
        }
    }
}
