import Base
import Cryptography
import Glibc
import HTTP2

/// A server that does only what it is told, one connection after the other. It has no thread: it
/// continues when asked to.
public final class Peer {
    /// What it speaks.
    public enum Language: String, Sendable {
        /// HTTP/2.
        case http2 = "h2"
        /// HTTP/1.1.
        case http1 = "http/1.1"
    }

    /// The address on which it listens.
    public let address: PeerAddress
    /// In the order in which they came.
    public private(set) var sessions: [any PeerSession] = []
    /// The settings that each new connection gets first.
    var settings: [(HTTP2ServerSession.Setting, UInt32)] = []

    private let socket: Int32
    private let language: Language
    private let context: TLSServerContext
    private let callbacks: HTTP2ServerCallbacks

    /// - Parameter givesWindowsByHand: whether only `giveWindow` lets the client send more after
    ///   what was read; of HTTP/2.
    /// - Throws: a `Diagnostic` if there is no port, or not enough memory.
    public init(_ language: Language = .http2, givesWindowsByHand: Bool = false) throws {
        self.language = language
        let authority = CertificateAuthority(commonName: "Transport conformance")
        let certificate = authority.issueServerCertificate(names: ["localhost"])
        context = try TLSServerContext(certificate: certificate, applicationProtocols: [language.rawValue])
        callbacks = try HTTP2ServerCallbacks(givesWindowsByHand: givesWindowsByHand)
        socket = Glibc.socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard let port = Self.listen(on: socket) else { throw Diagnostic("there is no port for the peer") }
        address = PeerAddress(host: "localhost", port: port, authorityPEM: authority.certificatePEM)
    }

    /// The free port of this machine on which it listens from now on; nil if no port is free.
    private static func listen(on socket: Int32) -> Int? {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) == 0 && Glibc.listen(socket, 16) == 0
                    && getsockname(socket, address, &size) == 0
            }
        }
        return isListening ? Int(UInt16(bigEndian: name.sin_port)) : nil
    }

    deinit { Glibc.close(socket) }

    /// Takes connections, reads and writes, as far as possible without waiting.
    public func turn() {
        while true {
            let accepted = accept(socket, nil, nil)
            guard accepted >= 0 else { break }
            _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
            _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
            guard let session = try? session(accepted) else {
                Glibc.close(accepted)
                break
            }
            sessions.append(session)
        }
        // A client that hangs up must not end the process.
        withPipeSignalBlocked { for session in sessions { session.turn() } }
    }

    private func session(_ accepted: Int32) throws(Diagnostic) -> any PeerSession {
        switch language {
        case .http2: try HTTP2PeerSession(accepted, context, callbacks, settings)
        case .http1: try HTTP1PeerSession(accepted, context)
        }
    }

    /// Stops listening.
    func stopListening() { shutdown(socket, Int32(SHUT_RDWR)) }
}

/// One connection of the peer.
public protocol PeerSession: AnyObject {
    /// In the order in which they came.
    var requests: [PeerRequest] { get }
    /// TLS is agreed on.
    var isOpen: Bool { get }
    /// The client closed TLS, or its socket.
    var hasClientLeft: Bool { get }

    /// Reads and writes, as far as possible without waiting.
    func turn()
    /// Answers a request.
    func answer(_ request: Int, _ answer: PeerAnswer)
    /// Whether the client gave up a request.
    func isGivenUp(_ request: Int) -> Bool
    /// Closes TCP without a TLS closure.
    func cut()
    /// Closes TLS and TCP cleanly.
    func closeQuietly()
    /// Writes bytes that are not HTTP.
    func talkNonsense()
}

/// A request that came in.
public struct PeerRequest {
    /// Its stream, of HTTP/2.
    public var stream: Int32 = 0
    /// Including the pseudo headers of HTTP/2.
    public var headers: [String: String] = [:]
    /// As much as has arrived so far.
    public var body: [UInt8] = []
    /// The body is complete.
    public var isComplete = false

    /// The number at the end of its path; -1 for none.
    var number: Int { Int(headers[":path"]?.split(separator: "t").last ?? "") ?? -1 }
}

/// What the peer answers.
public struct PeerAnswer {
    /// The status.
    public var status = 200
    /// The body; blank for none.
    public var body = ""
    /// Names and values.
    public var headers: [(StaticString, String)] = []
    /// Half of the body is sent, and then nothing more.
    public var isCutOff = false

    /// An answer.
    public init(status: Int = 200, body: String = "", headers: [(StaticString, String)] = [], isCutOff: Bool = false) {
        self.status = status
        self.body = body
        self.headers = headers
        self.isCutOff = isCutOff
    }
}

extension PeerSession {
    /// Answers a request, by default the first one.
    public func answer(
        _ request: Int = 0, status: Int = 200, body: String = "", headers: [(StaticString, String)] = [],
        isCutOff: Bool = false
    ) {
        answer(request, PeerAnswer(status: status, body: body, headers: headers, isCutOff: isCutOff))
    }
}
