import Foundation
import TestCommands
import Testing

/// Commands of the machine on which the tests run.
enum Shell {
    /// Runs commands of sh, which stops at the first failure.
    static func run(_ command: String) throws { _ = try output(command) }

    /// The same.
    /// - Returns: what they write to standard output.
    static func output(_ command: String) throws -> String {
        let result = try RunningVolley(
            executable: "/bin/sh", ["-ec", command], in: URL(fileURLWithPath: "/"), environment: [:], input: nil
        ).finish()
        try #require(result.status == 0, "\(command): \(result.output)\(result.errors)")
        return result.output
    }

    static func hasTool(_ name: String) -> Bool { works("command -v \(name) >/dev/null") }

    /// Root, outside a container that forbids it.
    static let canMount: Bool = {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-mount-\(UUID().uuidString)")
            .path
        guard getuid() == 0, mkdir(folder, 0o700) == 0 else { return false }
        defer { rmdir(folder) }
        return works("mount -t tmpfs -o size=64k tmpfs '\(folder)' 2>/dev/null && umount '\(folder)'")
    }()

    /// Whether a process may see different files under existing names.
    static let canHideFiles = canMount && works("unshare -m sh -ec 'mount --bind /dev/null /etc/hosts' 2>/dev/null")

    /// Whether a process may have a separate network that can fall silent.
    static let canHideNetwork =
        getuid() == 0
        && works(
            "unshare -n sh -ec 'ip link set lo up; tc qdisc replace dev lo root pfifo limit 0; tc qdisc del dev lo root' 2>/dev/null"
        )

    private static func works(_ command: String) -> Bool {
        let result = try? RunningVolley(
            executable: "/bin/sh", ["-ec", command], in: URL(fileURLWithPath: "/"), environment: [:], input: nil
        ).finish()
        return result?.status == 0
    }
}
