import Base
import Glibc
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
