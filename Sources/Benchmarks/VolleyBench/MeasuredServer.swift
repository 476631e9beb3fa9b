import Base
import Cryptography
import Glibc
import HTTP2
import PushServices

/// A server that runs on its own cores while contestants send to it, and whose CPU time is measured
/// from outside.
final class MeasuredServer {
    enum Kind {
        /// `volley simulate`.
        case simulator(BenchApp)
        /// `PlainServer`.
        case plain
    }

    let url: String
    let port: Int
    let authorityFile: String
    /// The key, or the service account, whose tokens the simulator accepts; the plain server
    /// accepts anything. The first server of a workbench makes it.
    let keyFile: String
    private let process: ChildProcess

    /// The longest time that a whole table may take.
    private static let limitSeconds = 3600

    init(_ kind: Kind, on bench: Workbench, cores: String? = nil) throws {
        let app: BenchApp
        switch kind {
        case .simulator(let its): app = its
        case .plain: app = .apns
        }
        let name = if case .plain = kind { "plain" } else { app.service.name }
        let folder = try bench.makeNewFolder(name)
        authorityFile = "\(folder)/ca.pem"
        keyFile = "\(bench.folder)/\(app.service.name)-key"
        let limit = String(Self.limitSeconds)
        let arguments =
            switch kind {
            case .simulator(let app):
                [
                    "\(bench.binaries)/volley", "simulate", "--service", app.service.name, "--port", "0", "--for",
                    limit,
                    "--ca", authorityFile, "--key", keyFile, "--json", "--quiet",
                ] + (app.limitPerMinute.map { ["--limit-per-minute", String($0)] } ?? [])
            case .plain: ["\(bench.binaries)/volley-bench", "answer", authorityFile, keyFile, limit]
            }
        process = try ChildProcess(
            cores: cores ?? bench.serverCore, arguments, folder: folder, limitSeconds: Double(Self.limitSeconds + 60))
        let document = try JSONValue(parsing: try process.readDocument())
        guard let url = document["url"]?.stringValue, let port = url.split(separator: ":").last.flatMap({ Int($0) })
        else {
            throw Diagnostic("the server did not say where it listens")
        }
        self.url = url
        self.port = port
    }

    /// Ends the server.
    func stop() throws {
        process.terminate()
        _ = try process.wait()
    }

    /// User and system time of all its threads so far, in steps of 10 ms (proc(5): fields 14 and 15
    /// of /proc/PID/stat, in ticks).
    var cpuSeconds: Double {
        guard let stream = fopen("/proc/\(process.pid)/stat", "r") else { return 0 }
        defer { fclose(stream) }
        var line = [CChar](repeating: 0, count: 4096)
        guard fgets(&line, Int32(line.count), stream) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The second field is the name in parentheses, which may contain anything.
        guard let end = text.lastIndex(of: ")") else { return 0 }
        let fields = text[end...].split(separator: " ").dropFirst().compactMap { Int($0) }
        // The state is a letter, so `fields` begins with field 4.
        return fields.count > 11 ? Double(fields[10] + fields[11]) / Double(sysconf(Int32(_SC_CLK_TCK))) : 0
    }
}

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
