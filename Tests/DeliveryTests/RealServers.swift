import Base
import Glibc
import Cryptography
import Delivery
import PushServices
import TestServers
import Testing

/// A server from another project, on loopback, with its own certificate. It logs every request that
/// it answered.
struct RealServer {
    let port: Int
    let authorityFile: String
    private let folder: TemporaryFolder
    private let process: ServerProcess
    private let log: String

    static let nginx = ServerProcess.path(of: "nginx")
    static let nghttpd = ServerProcess.path(of: "nghttpd")

    /// Settings for a sender to it.
    func settings() -> SenderSettings {
        let tokens = SignedTokenSource(key: .generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        var settings = SenderSettings(
            endpoint: Endpoint(host: "localhost", port: port, certificateAuthorityFile: authorityFile),
            credentials: .token(tokens),
            options: PushOptions(topic: SimulatorRun.topic, pushType: .alert, priority: .high), runSeed: .random())
        settings.retry.firstDelaySeconds = 0.01
        settings.connections = 1
        settings.retry.longestDelaySeconds = 0.1
        settings.answerTimeoutSeconds = 5
        return settings
    }

    /// The device tokens of all requests that it answered with 200, from its log; a token may occur
    /// twice. A server writes its log after its answer, so the log is waited for until it has as
    /// many as were answered.
    func acceptedTokens(atLeast answered: Int) throws -> [String] {
        for _ in 0..<200 {
            if try loggedTokens().count >= answered { break }
            usleep(50_000)
        }
        return try loggedTokens()
    }

    private func loggedTokens() throws -> [String] {
        try folder.read(log, atMost: 1 << 26).split(separator: "\n").compactMap { line in
            guard let path = line.firstRange(of: "/3/device/") else { return nil }
            return String(line[path.upperBound...].prefix { $0.isHexDigit })
        }
    }

    /// nginx, which answers 200 without reading the body. Source of the directives: nginx.org,
    /// ngx_http_v2_module and ngx_http_core_module.
    /// - Parameters:
    ///   - directives: of the server, such as `keepalive_requests 100;`.
    ///   - speaksHTTP1: whether it speaks HTTP/1.1 only.
    static func nginx(_ directives: String, speaksHTTP1: Bool = false) throws -> RealServer {
        let folder = try TemporaryFolder()
        let (authorityFile, pem) = try certificate(in: folder)
        let port = try Sockets.freePort()
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path)/\($0);"
        }
        let configuration = try folder.write(
            "nginx.conf",
            """
            daemon off; master_process off; pid \(folder.path)/pid; error_log \(folder.path)/error.log;
            events { worker_connections 128; }
            http {
              \(temporary.joined(separator: " "))
              log_format paths '$status $request_uri';
              map $status $accepted { 200 1; default 0; }
              access_log \(folder.path)/access.log paths if=$accepted;
              server {
                listen 127.0.0.1:\(port) ssl\(speaksHTTP1 ? "" : " http2");
                ssl_certificate \(pem); ssl_certificate_key \(pem);
                \(directives)
              }
            }
            """)
        let process = try ServerProcess(
            nginx ?? "nginx", ["-p", folder.path, "-e", "\(folder.path)/error.log", "-c", configuration], port: port,
            log: "\(folder.path)/out")
        return RealServer(port: port, authorityFile: authorityFile, folder: folder, process: process, log: "access.log")
    }

    /// nghttp2's own server. Its log is what it prints about every header that it received.
    static func nghttpd(_ options: [String]) throws -> RealServer {
        let folder = try TemporaryFolder()
        let (authorityFile, pem) = try certificate(in: folder)
        let port = try Sockets.freePort()
        let process = try ServerProcess(
            nghttpd ?? "nghttpd",
            ["-v", "-a", "127.0.0.1", "-d", folder.path, "--echo-upload"] + options + ["\(port)", pem, pem],
            port: port,
            log: "\(folder.path)/out")
        return RealServer(port: port, authorityFile: authorityFile, folder: folder, process: process, log: "out")
    }

    private static func certificate(in folder: TemporaryFolder) throws -> (authorityFile: String, pem: String) {
        let authority = CertificateAuthority(commonName: "Volley test")
        let certificate = authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"])
        return (try folder.write("ca.pem", authority.certificatePEM), try folder.write("server.pem", certificate.pem))
    }
}
