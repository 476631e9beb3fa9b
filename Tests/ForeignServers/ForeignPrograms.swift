import Foundation
import TestCommands
import TestServers

/// Where the programs from other projects are: installed, or unpacked below `.build/servers` by `make servers` and `make test-servers`.
enum ForeignPrograms {
    private static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    static let unpacked = project + "/.build/servers"
    static let standIns = project + "/Tests/ForeignServers/StandIns"
    /// Debian's, which finds Debian's modules.
    static let python = "/usr/bin/python3"
    /// In the folder that has hypercorn.
    static let hypercornPython = unpacked + "/python/bin/python3"

    /// Starts a program with the libraries and modules that were unpacked with it, and waits until it listens.
    /// - Parameters:
    ///   - program: a name or a path.
    ///   - log: gets its output.
    static func start(_ program: String, _ arguments: [String], port: Int, log: String) throws -> ServerProcess {
        let libraries = ["x86_64-linux-gnu", "aarch64-linux-gnu"].flatMap { ["\(unpacked)/usr/lib/\($0)", "\(unpacked)/lib/\($0)"] }
        let variables = [
            "LD_LIBRARY_PATH=" + libraries.joined(separator: ":"), "PYTHONPATH=\(unpacked)/usr/lib/python3/dist-packages",
            "PYTHONDONTWRITEBYTECODE=1",
        ]
        do {
            let command = variables + [ServerProcess.path(of: program) ?? program] + arguments
            return try ServerProcess("/usr/bin/env", command, port: port, log: log)
        } catch {
            let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            throw CommandFailure(what: "\(program) does not listen: \(said.suffix(500))")
        }
    }

    /// Whether a file exists, such as a module of Python.
    static func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}
