import Base
import CLinux
import Glibc

/// The manager of services (systemd) that started this process, if one did. It is told when the
/// process is ready, that it is alive, and that it ends. Without a manager, nothing happens.
/// Source: sd_notify(3), and its protocol in "Standalone Implementations".
///
/// ```swift
/// let manager = ServiceManager()
/// manager.ready()
/// manager.status("two campaigns")
/// ```
public struct ServiceManager: Sendable {
    /// The variables that name the manager's socket, and the silence after which it ends the
    /// process.
    static let socketVariable = "NOTIFY_SOCKET", watchdogVariable = "WATCHDOG_USEC"

    /// The variables that a child needs to notify the manager in place of this process.
    public static var variablesOfChild: [String] {
        [socketVariable, watchdogVariable].compactMap { (name: String) -> String? in
            EnvironmentVariables[name].map { "\(name)=\($0)" }
        }
    }

    /// Whether the environment names a manager's socket.
    public static var isThere: Bool { EnvironmentVariables.filled(socketVariable) != nil }

    private let socket: String?
    /// How often the manager wants a sign of life; seconds; nil if it wants none.
    public let secondsPerSign: Double?

    /// Why the manager cannot be notified, in sentences; nil if it can, or without a manager.
    public let flaw: String?

    /// Reads the process's environment.
    public init() {
        self.init(
            socket: EnvironmentVariables.filled(Self.socketVariable),
            watchdogMicroseconds: EnvironmentVariables.filled(Self.watchdogVariable),
            watchdogProcess: EnvironmentVariables.filled("WATCHDOG_PID"))
    }

    /// - Parameters:
    ///   - socket: the path of the manager's socket, with an @ before the name of an abstract one.
    ///   - watchdogMicroseconds: after which silence the manager ends the process, as text.
    ///   - watchdogProcess: the process that should give signs of life, as text; nil for this one.
    init(socket: String?, watchdogMicroseconds: String?, watchdogProcess: String?) {
        self.socket = socket
        let isMeant = watchdogProcess.map { $0 == "\(getpid())" } ?? true
        let limit = watchdogMicroseconds.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        // Source: sd_watchdog_enabled(3), which recommends half of the time.
        secondsPerSign = isMeant && socket != nil ? limit.map { Double($0) / 2e6 } : nil
        if let socket, !Self.isReachable(socket) {
            flaw = Self.flaw(
                "cannot be told that Volley is ready: \(Self.socketVariable) is '\(TextFormat.foreign(socket))', and no such socket takes messages"
            )
        } else if socket != nil, isMeant, limit == nil, let watchdogMicroseconds {
            flaw = Self.flaw(
                "gets no signs of life: \(Self.watchdogVariable) is '\(TextFormat.foreign(watchdogMicroseconds))', and not a number of microseconds"
            )
        } else {
            flaw = nil
        }
    }

    private static func flaw(_ what: String) -> String {
        "The manager of services \(what). systemd sets this variable for services of Type=notify; elsewhere remove it from the environment."
    }

    /// Reports that the process is at work.
    public func ready() { tell("READY=1") }

    /// Reports that the process is about to end.
    public func stopping() { tell("STOPPING=1") }

    /// Gives a sign of life, if the manager wants any.
    public func alive() { if secondsPerSign != nil { tell("WATCHDOG=1") } }

    /// Reports what the process does, in a line that `systemctl status` shows.
    public func status(_ text: String) { tell("STATUS=\(TextFormat.inLine(text))") }

    private func tell(_ text: String) {
        guard let socket else { return }
        let bytes = Array(text.utf8)
        // A manager that does not read must not delay this process.
        _ = Self.withSocket(socket) { sendto($0, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $1, $2) }
    }

    /// Whether a socket of that name exists and takes messages from this process. Sends none.
    private static func isReachable(_ socket: String) -> Bool {
        withSocket(socket) { Int(connect($0, $1, $2)) } == 0
    }

    /// - Returns: what the body returns, or -1 for a name that no socket can have.
    private static func withSocket(_ socket: String, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int) -> Int
    {
        let name = socket.utf8
        guard name.first == UInt8(ascii: "/") || name.first == UInt8(ascii: "@") else { return -1 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isFit = withUnsafeMutableBytes(of: &address.sun_path) { path in
            guard name.count < path.count else { return false }
            path.copyBytes(from: name)
            // A name without a file begins with NUL. Source: unix(7).
            if name.first == UInt8(ascii: "@") { path[0] = 0 }
            return true
        }
        let descriptor =
            isFit ? Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0) : -1
        guard descriptor >= 0 else { return -1 }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body(descriptor, $0, length) }
        }
    }
}

/// What this program was started with.
public enum ProgramArguments {
    /// The arguments, without the program's name. They do not depend on /proc, as those of
    /// `CommandLine` do.
    public static let all: [String] = {
        let given = volley_program_arguments()
        return (0..<Int(given.count)).dropFirst().compactMap { given.texts[$0].map { String(cString: $0) } }
    }()
}
