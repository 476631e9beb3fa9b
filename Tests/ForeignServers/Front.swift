import Foundation
import TestServers

/// A program between Volley and a stand-in that ends Volley's TLS, as load balancers do.
enum Front {
    /// Connects to the stand-in over HTTP/1.1. Directives are those of nginx' server.
    case nginx([String])
    /// Connects over HTTP/2 and TLS. Lines are those of haproxy's `global` and `defaults`.
    case haproxy(global: [String] = [], _ defaults: [String] = [])
    /// Connects over HTTP/1.1. Lines are those of the top of h2o's configuration.
    case h2o([String])

    /// Its program's name.
    var program: String {
        switch self {
        case .nginx: "nginx"
        case .haproxy: "haproxy"
        case .h2o: "h2o"
        }
    }

    /// The missing program on this machine; nil if nothing is missing.
    var missing: String? { ServerProcess.path(of: program) == nil ? program : nil }

    /// How it connects to the stand-in.
    var wire: StandIn.Wire {
        switch self {
        case .haproxy: .http2
        case .nginx, .h2o: .http1
        }
    }

    /// The signal to reload its configuration: new processes take new connections, the old ones
    /// close theirs cleanly.
    var reloadSignal: Int32? {
        switch self {
        case .nginx: SIGHUP
        case .haproxy: SIGUSR2
        case .h2o: nil
        }
    }

    /// Starts it.
    /// - Parameters:
    ///   - backend: the stand-in's port.
    ///   - folder: has `server.pem` and `ca.pem`.
    func start(port: Int, backend: Int, in folder: String) throws -> ServerProcess {
        switch self {
        case .nginx(let directives):
            let location =
                "location / { proxy_pass http://standin; proxy_http_version 1.1; proxy_set_header Connection \"\"; }"
            return try Self.startNginx(
                directives + [location], upstream: "upstream standin { server 127.0.0.1:\(backend); keepalive 300; }",
                port: port,
                in: folder
            )
        case .haproxy(let global, let defaults):
            let configuration = """
                global
                  nbthread 1
                  maxconn 1000
                  \(global.joined(separator: "\n  "))
                defaults
                  mode http
                  timeout connect 5s
                  timeout client 60s
                  timeout server 60s
                  \(defaults.joined(separator: "\n  "))
                frontend apns
                  bind 127.0.0.1:\(port) ssl crt \(folder)/server.pem alpn h2
                  default_backend standin
                backend standin
                  server standin 127.0.0.1:\(backend) ssl verify required ca-file \(folder)/ca.pem verifyhost localhost sni str(localhost) alpn h2

                """
            return try start(configuration, ["-W", "-db", "-f"], port: port, in: folder)
        case .h2o(let lines):
            let configuration = """
                num-threads: 1
                pid-file: \(folder)/h2o.pid
                error-log: \(folder)/h2o.log
                \(getuid() == 0 ? "user: root" : "")
                \(lines.joined(separator: "\n"))
                listen:
                  host: 127.0.0.1
                  port: \(port)
                  ssl: {certificate-file: \(folder)/server.pem, key-file: \(folder)/server.pem}
                hosts:
                  default:
                    paths:
                      /:
                        proxy.reverse.url: "http://127.0.0.1:\(backend)/"

                """
            return try start(configuration, ["-m", "worker", "-c"], port: port, in: folder)
        }
    }

    private func start(_ configuration: String, _ options: [String], port: Int, in folder: String) throws
        -> ServerProcess
    {
        let file = "\(folder)/\(program).conf"
        try configuration.write(toFile: file, atomically: true, encoding: .utf8)
        return try ForeignPrograms.start(program, options + [file], port: port, log: "\(folder)/\(program).out")
    }

    /// nginx as one server over HTTP/2 and TLS, with a worker below a master. Source of the
    /// directives: nginx.org, ngx_http_core_module, ngx_http_log_module and ngx_http_map_module.
    /// - Parameter directives: of the server.
    static func startNginx(_ directives: [String], upstream: String = "", port: Int, in folder: String) throws
        -> ServerProcess
    {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        let configuration = """
            daemon off; worker_processes 1; pid \(folder)/nginx.pid; error_log \(folder)/nginx.log;
            \(getuid() == 0 ? "user root;" : "")
            events { worker_connections 2048; }
            http {
              \(temporary.joined(separator: " "))
              map $status $is_accepted { 200 1; default 0; }
              map $uri $device { ~^/3/device/(?<token>.*)$ $token; }
              log_format ledger 'accepted $device $connection $http_apns_id';
              access_log off;
              \(upstream)
              server {
                listen 127.0.0.1:\(port) ssl http2;
                ssl_certificate \(folder)/server.pem; ssl_certificate_key \(folder)/server.pem;
                \(directives.joined(separator: "\n    "))
              }
            }

            """
        let file = "\(folder)/nginx.conf"
        try configuration.write(toFile: file, atomically: true, encoding: .utf8)
        let arguments = ["-p", folder, "-e", "\(folder)/nginx.log", "-c", file]
        return try ForeignPrograms.start("nginx", arguments, port: port, log: "\(folder)/nginx.out")
    }
}
