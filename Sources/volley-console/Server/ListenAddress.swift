import Base
import Campaigns
import Hummingbird
import NIOCore

/// Where the console listens.
enum ListenAddress: Hashable, Sendable {
    case port(host: String, Int)
    /// A Unix socket, which its owner and group may use.
    case socket(path: String)

    /// Where it listens without `--listen`.
    static let usual = ConsoleSettings.usualAddress

    /// Reads `--listen` and `--socket`.
    /// - Throws: `Diagnostic` for both at once, for what is no address, and for one that others than this machine reach where
    ///   no `public_url` says that a proxy with https stands before it.
    init(listen: String?, socket: String?, console: ConsoleSettings?) throws(Diagnostic) {
        if let socket {
            guard listen == nil else {
                throw Diagnostic("--listen and --socket were both given", remedy: "Give one of the two.")
            }
            // sockaddr_un has 108 bytes, with a NUL at the end (unix(7)).
            guard !socket.isEmpty, socket.utf8.count < 108 else {
                throw Diagnostic("the path of --socket is empty or longer than 107 bytes", remedy: "Name a shorter path.")
            }
            self = .socket(path: socket)
            return
        }
        let text = listen ?? Self.usual
        let parts = HostPort(text[...])
        guard let port = parts.portText == "0" ? 0 : parts.port, let address = IPAddress(parts.plainHost) else {
            throw Diagnostic(
                "--listen takes an address and a port, not '\(TextFormat.inLine(text))'", remedy: "For example: --listen \(Self.usual).")
        }
        guard address.isLoopback || console?.publicURL != nil else {
            throw Diagnostic(
                "\(parts.host) can be reached from other machines, and passwords would go over the network in the clear",
                remedy: "Put a proxy with https before the console, and write into volley.yaml: console: {public_url: \"https://…\"}. "
                    + "Or listen on \(Self.usual).")
        }
        self = .port(host: parts.plainHost, port)
    }

    /// The same for Hummingbird.
    var bindAddress: BindAddress {
        switch self {
        case .port(let host, let port): .hostname(host, port: port)
        case .socket(let path): .unixDomainSocket(path: path)
        }
    }
}

extension ListenAddress {
    /// As a person opens it.
    /// - Parameter bound: the address that the system gave, where the port was left to it.
    func shown(_ bound: SocketAddress?) -> String {
        switch self {
        case .port(let host, let port):
            let name = host.contains(":") ? "[\(host)]" : host
            return "http://\(name):\(bound?.port ?? port)/"
        case .socket(let path): return "the Unix socket \(TextFormat.inLine(path))"
        }
    }
}
