import Foundation
import TestCommands
import TestServers
import Testing

/// Where the programs from other projects are: installed, or unpacked below `.build/servers` by
/// `make servers` and `make test-servers`.
enum ForeignPrograms {
    private static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    static let unpacked = project + "/.build/servers"
    static let standIns = project + "/Tests/ForeignServers/StandIns"
    /// Debian's, which finds Debian's modules.
    static let python = "/usr/bin/python3"
    /// In the folder that has hypercorn, and other projects' clients.
    static let hypercornPython = python(in: "python")

    /// The interpreter of a folder with modules of its own.
    static func python(in folder: String) -> String { "\(unpacked)/\(folder)/bin/python3" }

    /// Starts a program with the libraries and modules that were unpacked with it, and waits until
    /// it listens.
    /// - Parameters:
    ///   - program: a name or a path.
    ///   - log: gets its output.
    static func start(_ program: String, _ arguments: [String], port: Int, log: String) throws -> ServerProcess {
        let libraries = ["x86_64-linux-gnu", "aarch64-linux-gnu"].flatMap {
            ["\(unpacked)/usr/lib/\($0)", "\(unpacked)/lib/\($0)"]
        }
        let variables = [
            "LD_LIBRARY_PATH=" + libraries.joined(separator: ":"),
            "PYTHONPATH=\(unpacked)/usr/lib/python3/dist-packages",
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

    /// Checks that a folder of Python has a module. Without it the test is cancelled; in
    /// `make test-servers` that is a failure.
    static func requireModule(_ module: String, in folder: String = "python") throws {
        let packages = "\(unpacked)/\(folder)/lib"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: packages)) ?? []
        guard !versions.contains(where: { has("\(packages)/\($0)/site-packages/\(module)") }) else { return }
        let reason = "\(module) is missing; `make test-servers` gets it"
        if ProcessInfo.processInfo.environment["VOLLEY_FOREIGN_SERVERS"] == nil { try Test.cancel("\(reason)") }
        throw CommandFailure(what: reason)
    }

    /// Whether a file exists, such as a module of Python.
    static func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}
