import Foundation
import TestServers

/// Where the programs of others are: installed, or unpacked below `.build/servers` by `make servers` and `make test-servers`.
enum ForeignPrograms {
    private static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    static let unpacked = project + "/.build/servers"
    static let standIns = project + "/Tests/ForeignServers/StandIns"
    /// Debian's, which finds Debian's modules.
    static let python = "/usr/bin/python3"
    /// Of the folder that has hypercorn.
    static let hypercornPython = unpacked + "/python/bin/python3"

    /// The command that runs a program with the libraries and modules that were unpacked with it.
    static func command(_ program: String, _ arguments: [String]) -> (program: String, arguments: [String]) {
        let libraries = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"]
        let variables = [
            "LD_LIBRARY_PATH=" + libraries.map { unpacked + $0 }.joined(separator: ":"),
            "PYTHONPATH=\(unpacked)/usr/lib/python3/dist-packages", "PYTHONDONTWRITEBYTECODE=1",
        ]
        return ("/usr/bin/env", variables + [program] + arguments)
    }

    /// Whether a file is there, such as a module of Python.
    static func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}
