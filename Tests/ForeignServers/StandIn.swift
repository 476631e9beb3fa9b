import Foundation
import TestServers

/// A server that answers as APNs does, made from other projects' software. It notes in a ledger
/// what it saw and accepted.
enum StandIn: String {
    /// net/http of Go with golang.org/x/net/http2.
    case go
    /// http2 of Node.
    case node
    /// h2 of Python, on asyncio.
    case h2
    /// hypercorn, a server for Python's applications.
    case hypercorn
    /// nginx, which answers by itself, before it has read the body. Its ledger is its log of
    /// answers, so it may lose lines when it is killed.
    case nginx

    /// The missing program on this machine; nil if nothing is missing.
    var missing: String? {
        switch self {
        case .go: ServerProcess.path(of: "apns-go") == nil ? "apns-go, built from apns.go" : nil
        case .node: ServerProcess.path(of: "node") == nil ? "node" : nil
        case .h2:
            ForeignPrograms.has(ForeignPrograms.unpacked + "/usr/lib/python3/dist-packages/h2")
                || ForeignPrograms.has("/usr/lib/python3/dist-packages/h2") ? nil : "python3-h2"
        case .hypercorn: ForeignPrograms.has(ForeignPrograms.hypercornPython) ? nil : "hypercorn"
        case .nginx: ServerProcess.path(of: "nginx") == nil ? "nginx" : nil
        }
    }

    /// How clients connect to it.
    enum Wire {
        /// HTTP/2 over TLS, as APNs is.
        case http2
        /// HTTP/1.1 without TLS, as proxies use for the servers behind them.
        case http1
    }

    /// Starts it.
    /// - Parameters:
    ///   - options: of its program; for nginx directives of its server.
    ///   - folder: has `server.pem`.
    ///   - ledger: a file, appended to.
    func start(_ options: [String], _ wire: Wire, port: Int, ledger: String, in folder: String) throws -> ServerProcess
    {
        let certificate = "\(folder)/server.pem"
        let usual =
            ["--port=\(port)", "--ledger=\(ledger)"] + (wire == .http2 ? ["--certificate=\(certificate)"] : [])
            + options
        let log = "\(folder)/\(rawValue).log"
        let script = { (name: String) in "\(ForeignPrograms.standIns)/\(name)" }
        func run(_ program: String, _ arguments: [String]) throws -> ServerProcess {
            try ForeignPrograms.start(program, arguments, port: port, log: log)
        }
        switch self {
        case .go: return try run("apns-go", usual)
        case .node: return try run("node", [script("apns.js")] + usual)
        case .h2: return try run(ForeignPrograms.python, [script("apns_h2.py")] + usual)
        case .hypercorn: return try run(ForeignPrograms.hypercornPython, [script("apns_hypercorn.py")] + usual)
        case .nginx:
            let answer =
                options + [
                    "access_log \(ledger) ledger if=$is_accepted;", "location / { return 200; }",
                ]
            return try Front.startNginx(answer, port: port, in: folder)
        }
    }
}
