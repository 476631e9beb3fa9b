import Base
import Cryptography
import Glibc
public import HTTP2

/// A server that does only what it is told, one connection after the other. It has no thread: it continues when asked to.
public final class Peer {
    /// The address on which it listens.
    public let address: PeerAddress
    /// In the order in which they came.
    public private(set) var sessions: [PeerSession] = []
    /// The settings that each new connection gets first.
    var settings: [(HTTP2ServerSession.Setting, UInt32)] = []

    private let socket: Int32
    private let context: TLSServerContext
    private let callbacks: HTTP2ServerCallbacks

    /// - Parameter givesWindowsByHand: whether only `giveWindow` lets the client send more after what was read.
    /// - Throws: a `Diagnostic` if there is no port, or not enough memory.
    public init(givesWindowsByHand: Bool = false, applicationProtocol: String = "h2") throws {
        let authority = CertificateAuthority(commonName: "Transport conformance")
        let certificate = authority.issueServerCertificate(names: ["localhost"])
        context = try TLSServerContext(certificate: certificate, applicationProtocol: applicationProtocol)
        callbacks = try HTTP2ServerCallbacks(givesWindowsByHand: givesWindowsByHand)
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard let port = Self.listen(on: socket) else { throw Diagnostic("there is no port for the peer") }
        address = PeerAddress(host: "localhost", port: port, authorityPEM: authority.certificatePEM)
    }

    /// The free port of this machine on which it listens from now on; nil if there is none.
    private static func listen(on socket: Int32) -> Int? {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) == 0 && Glibc.listen(socket, 16) == 0 && getsockname(socket, address, &size) == 0
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
            guard let session = try? PeerSession(accepted, context, callbacks, settings) else {
                Glibc.close(accepted)
                break
            }
            sessions.append(session)
        }
        for session in sessions { session.turn() }
    }

    /// Stops listening.
    func stopListening() { shutdown(socket, Int32(SHUT_RDWR)) }
}

/// One connection of the peer.
public final class PeerSession: HTTP2ServerSession {
    /// A request that came in.
    public struct Request {
        /// Its stream.
        public var stream: Int32
        /// Including pseudo headers.
        public var headers: [String: String] = [:]
        /// As much as has arrived so far.
        public var body: [UInt8] = []
        /// The body is complete.
        public var isComplete = false
    }

    /// In the order in which they came.
    public private(set) var requests: [Request] = []
    private(set) var closedStreams: [Int32] = []
    private(set) var pings = 0
    private(set) var isOpen = false
    private(set) var isClosed = false
    /// The client closed TLS, or its socket.
    private(set) var hasClientLeft = false
    /// Reads nothing more; the socket's buffers fill up.
    var isDeaf = false
    /// Holds back frames.
    var isMute = false

    private let socket: Int32
    private let tls: TLSConnection
    private let firstSettings: [(Setting, UInt32)]
    private var bodies: [Int32: [UInt8]] = [:]
    private var cutOffs: Set<Int32> = []
    private var outgoing: [UInt8] = []
    private var current: Int32 = 0

    init(
        _ socket: Int32, _ context: TLSServerContext, _ callbacks: borrowing HTTP2ServerCallbacks, _ settings: [(Setting, UInt32)]
    ) throws(Diagnostic) {
        self.socket = socket
        firstSettings = settings
        tls = try TLSConnection(context, socket: socket)
        try super.init(callbacks)
    }

    deinit { if !isClosed { Glibc.close(socket) } }

    func turn() {
        guard !isClosed else { return }
        if !isOpen {
            guard case .done = tls.handshake() else { return }
            isOpen = true
            submit(settings: firstSettings)
        }
        read()
        write()
    }

    private func read() {
        guard !isDeaf else { return }
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { buffer in
            while true {
                switch tls.read(into: buffer) {
                case .done(let count): _ = consume(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                case .failed:
                    hasClientLeft = true
                    return
                case .wantsRead, .wantsWrite: return
                }
            }
        }
    }

    private func write() {
        guard !isMute else { return }
        while true {
            if outgoing.isEmpty { _ = gather(into: &outgoing, upTo: 1 << 16) }
            guard !outgoing.isEmpty else { return }
            let progress = outgoing.withUnsafeBytes { tls.write($0) }
            guard case .done(let count) = progress else { return }
            outgoing.removeFirst(count)
        }
    }

    // MARK: What it is told to do

    /// Answers a request, by default the first one.
    /// - Parameters:
    ///   - id: header and value.
    ///   - isCutOff: the stream is reset when half of the body was sent.
    public func answer(
        _ request: Int = 0, status: Int = 200, body: String = "", retryAfter: Int? = nil, id: (StaticString, String)? = nil,
        isCutOff: Bool = false
    ) {
        let stream = requests[request].stream
        bodies[stream] = Array(body.utf8)
        if isCutOff { cutOffs.insert(stream) }
        let texts: [(StaticString, String)] =
            [(":status", "\(status)")] + (retryAfter.map { [("retry-after", "\($0)")] } ?? []) + (id.map { [$0] } ?? [])
        let bytes = texts.map { Array($0.1.utf8) }
        let pointers = bytes.map { bytes in
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
            _ = copy.initialize(from: bytes)
            return copy
        }
        defer { for pointer in pointers { pointer.deallocate() } }
        let fields = zip(texts, pointers).map { Field($0.0.0, UnsafeBufferPointer($0.1)) }
        fields.withUnsafeBufferPointer { submitAnswer($0, hasBody: !body.isEmpty, streamID: stream) }
    }

    /// Closes TCP without a TLS closure.
    func cut() {
        guard !isClosed else { return }
        isClosed = true
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        Glibc.close(socket)
    }

    /// Closes TLS and TCP cleanly, without GOAWAY.
    func closeQuietly() {
        guard !isClosed else { return }
        write()
        tls.shutdown()
        isClosed = true
        Glibc.close(socket)
    }

    /// Writes bytes that are not HTTP/2.
    func talkNonsense() { outgoing += Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8) }

    // MARK: What it hears

    /// As the session reports it.
    public override func headersBegan(streamID: Int32, isRequest: Bool) {
        current = streamID
        if isRequest { requests.append(Request(stream: streamID)) }
    }

    /// As the session reports it.
    public override func headerReceived(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard let index = requests.lastIndex(where: { $0.stream == current }) else { return }
        requests[index].headers[String(decoding: name, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
    }

    /// As the session reports it.
    public override func payloadReceived(_ bytes: UnsafeBufferPointer<UInt8>, streamID: Int32) {
        guard let index = requests.lastIndex(where: { $0.stream == streamID }) else { return }
        requests[index].body += bytes
    }

    /// As the session reports it.
    public override func requestEnded(streamID: Int32) {
        guard let index = requests.lastIndex(where: { $0.stream == streamID }) else { return }
        requests[index].isComplete = true
    }

    /// As the session reports it.
    public override func streamClosed(_ streamID: Int32) { closedStreams.append(streamID) }

    /// As the session reports it.
    public override func pingReceived() { pings += 1 }

    /// As the session reports it.
    public override func takeBody(streamID: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> BodyPiece {
        let rest = bodies[streamID] ?? []
        if cutOffs.contains(streamID) {
            // Half of it, and then only the reset.
            let half = rest.prefix(rest.count / 2)
            _ = buffer.update(fromContentsOf: half)
            submitReset(.internalError, streamID: streamID)
            return BodyPiece(count: half.count, end: .more)
        }
        let count = min(rest.count, buffer.count)
        _ = buffer.update(fromContentsOf: rest.prefix(count))
        bodies[streamID] = Array(rest.dropFirst(count))
        return BodyPiece(count: count, end: count == rest.count ? .endOfStream : .more)
    }
}
