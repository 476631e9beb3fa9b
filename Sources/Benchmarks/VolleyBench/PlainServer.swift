import Base
import Cryptography
import Glibc
import HTTP2

/// A server that answers every request with 200 and checks nothing. It costs the least that TLS and
/// HTTP/2 allow, so that the benchmark measures the sender. It uses a blocking thread per
/// connection and ends with its process.
///
/// nghttpd cannot be this server: it answers 200 only with `--echo-upload`, which makes a temporary
/// file for every request.
enum PlainServer {
    /// Prints where it listens as one line of JSON, writes its authority's certificate and, unless
    /// it exists, a key for provider tokens. Then serves until the process ends.
    static func run(authorityFile: String, keyFile: String, seconds: Int) throws {
        signal(SIGPIPE, SIG_IGN)
        alarm(UInt32(max(1, seconds)))
        let authority = CertificateAuthority(commonName: "Volley benchmark")
        let certificate = authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"])
        let context = try TLSServerContext(certificate: certificate)
        try Workbench.write(authorityFile) { $0(authority.certificatePEM) }
        // Any key works, as this server does not check tokens.
        if access(keyFile, F_OK) != 0 { try Workbench.write(keyFile) { $0(certificate.keyPEM) } }
        let (listener, port) = try listen()
        print("{\"url\":\"https://localhost:\(port)\"}")
        fflush(nil)
        while true {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else { continue }
            _ = try WorkerThread("answer") { try? serve(socket, context) }
        }
    }

    private static func listen() throws -> (socket: Int32, port: Int) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && Glibc.listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isListening else { throw Diagnostic("no port: \(String(cString: strerror(errno)))") }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func serve(_ socket: Int32, _ context: TLSServerContext) throws {
        defer { close(socket) }
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        let tls = try TLSConnection(context, socket: socket)
        guard case .done = tls.handshake() else { return }
        let session = try PlainSession(try HTTP2ServerCallbacks())
        session.submit(settings: [(.maximumConcurrentStreams, 1000)])
        session.setConnectionWindow(16 << 20)
        var outgoing: [UInt8] = []
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
            while !session.isFinished {
                outgoing.removeAll(keepingCapacity: true)
                _ = session.gather(into: &outgoing, upTo: .max)
                guard writeAll(outgoing, to: tls), case .done(let count) = tls.read(into: buffer),
                    session.consume(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                else { return }
            }
        }
    }

    private static func writeAll(_ bytes: [UInt8], to tls: borrowing TLSConnection) -> Bool {
        var sent = 0
        while sent < bytes.count {
            guard
                case .done(let count) = bytes.withUnsafeBytes({
                    tls.write(UnsafeRawBufferPointer(rebasing: $0[sent...]))
                })
            else {
                return false
            }
            sent += count
        }
        return true
    }
}

/// Answers 200 without a body.
private final class PlainSession: HTTP2ServerSession {
    private static let ok = Array("200".utf8)

    override func requestEnded(streamID: Int32) {
        Self.ok.withUnsafeBufferPointer { ok in
            withUnsafeTemporaryAllocation(of: Field.self, capacity: 1) { fields in
                fields.initializeElement(at: 0, to: Field(":status", ok))
                submitAnswer(UnsafeBufferPointer(fields), hasBody: false, streamID: streamID)
            }
        }
    }
}
