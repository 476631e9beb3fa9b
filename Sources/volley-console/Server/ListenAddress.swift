import Base
import Campaigns
import Glibc
import Hummingbird
import NIOCore

/// Where the console listens.
enum ListenAddress: Hashable, Sendable {
    case port(host: String, Int)
    /// A Unix socket, which its owner and group may use.
    case socket(path: String)

    /// sockaddr_un has 108 bytes, with a NUL at the end (unix(7)).
    private static let mostSocketBytes = 107

    /// Where it listens without `--listen`.
    static let usual = ConsoleSettings.usualAddress

    /// Reads `--listen` and `--socket`.
    /// - Throws: `Diagnostic` for both at once, for what is no address, and for one that others
    ///   than this machine reach where no `public_url` says that a proxy with https is in front of
    ///   it.
    init(listen: String?, socket: String?, console: ConsoleSettings?) throws(Diagnostic) {
        if let socket {
            guard listen == nil else {
                throw Diagnostic("--listen and --socket were both given", remedy: "Give one of the two.")
            }
            guard !socket.isEmpty else {
                throw Diagnostic("the path of --socket is blank", remedy: "Name a file for the socket.")
            }
            guard socket.utf8.count <= Self.mostSocketBytes else {
                throw Diagnostic(
                    "the path of --socket has \(socket.utf8.count) bytes, and the system takes \(Self.mostSocketBytes) at most",
                    file: socket, remedy: "Name a shorter path, such as /run/volley/console.sock.")
            }
            self = .socket(path: socket)
            return
        }
        let text = listen ?? Self.usual
        let parts = HostPort(text[...])
        guard let port = parts.portText == "0" ? 0 : parts.port, let address = IPAddress(parts.plainHost) else {
            throw Diagnostic(
                "--listen takes an address and a port, not '\(TextFormat.inLine(text))'",
                remedy: "For example: --listen \(Self.usual).")
        }
        guard address.isLoopback || console?.publicURL != nil else {
            throw Diagnostic(
                "\(parts.host) can be reached from other machines, and passwords would go over the network in the clear",
                remedy:
                    "Put a proxy with https before the console, and write into volley.yaml: console: {public_url: \"https://…\"}. "
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
    /// Makes sure that a socket can be created at its path without replacing anything except a
    /// socket on which no program answers any more.
    /// - Throws: `Diagnostic`: what is there instead.
    func checkPath() throws(Diagnostic) {
        guard case .socket(let path) = self else { return }
        let another = "Name another path with --socket."
        var status = stat()
        guard lstat(path, &status) == 0 else {
            // If this account may not look there, creating the socket reports that.
            guard errno == ENOENT || errno == ENOTDIR, FileKind(path: FilePaths.folder(of: path)) != .folder else {
                return
            }
            throw Diagnostic(
                "there is no folder \(FilePaths.folder(of: path)) for the socket", file: path,
                remedy: "Make it, or name another path with --socket.")
        }
        let isLink = status.st_mode & S_IFMT == S_IFLNK, kind = FileKind(path: path)
        guard !isLink, kind == .socket else {
            let text = isLink ? "a symbolic link" : kind?.text ?? "a file"
            throw Diagnostic(
                "there is \(text) where the socket is to be made, and it is not replaced", file: path, remedy: another)
        }
        switch Self.answer(at: path) {
        case ECONNREFUSED: return
        case EACCES, EPERM:
            throw Diagnostic(
                "the socket belongs to another program, which this account may not reach", file: path, remedy: another)
        default:
            throw Diagnostic(
                "another program listens on the socket, perhaps another console", file: path,
                remedy: "End that program, or name another path with --socket.")
        }
    }

    /// The result of connecting to a socket: 0, or errno. A program whose queue is full does not
    /// answer at once, so nothing waits for it.
    private static func answer(at path: String) -> Int32 {
        let descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(mostSocketBytes)) }
        let code = withUnsafeBytes(of: &address) { bytes in
            connect(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        return code == 0 ? 0 : errno
    }

    /// Why nothing can listen here, from an error that occurred before anything did.
    func problem(_ error: any Error) -> any Error {
        guard let code = (error as? IOError)?.errnoCode else { return error }
        switch self {
        case .port(let host, let port):
            return Diagnostic.cannotListen(at: Self.authority(host, port), port: port, option: "--listen", errno: code)
        case .socket(let path):
            let isRight = code == EACCES || code == EPERM || code == EROFS
            return Diagnostic(
                isRight
                    ? "this account may not make a socket in the folder \(FilePaths.folder(of: path))"
                    : "the socket cannot be made (\(SystemError.words(code)))", file: path,
                remedy: "Give the account the right to write there, or name another path with --socket.")
        }
    }

    private static func authority(_ host: String, _ port: Int) -> String {
        "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// As a person opens it.
    /// - Parameter bound: the address that the system gave, where the port was left to it.
    func shown(_ bound: SocketAddress?) -> String {
        switch self {
        case .port(let host, let port):
            return "http://\(Self.authority(host, bound?.port ?? port))/"
        case .socket(let path): return "the Unix socket \(TextFormat.inLine(path))"
        }
    }
}
