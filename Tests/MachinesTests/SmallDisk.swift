import Foundation
import Glibc
import TestCommands

/// A file system in memory, which can be filled; gone with this value.
final class SmallDisk {
    private let folder: String
    /// Where the owner of clusters may keep tables.
    var tables: String { "\(folder)/tables" }

    /// Root, outside a container that forbids it.
    static let canBeMade: Bool = {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-disk-\(UUID().uuidString)")
            .path
        defer { rmdir(folder) }
        return getuid() == 0 && (try? SmallDisk(folder)) != nil
    }()

    /// - Parameter folder: is made. Everybody may write there.
    init(_ folder: String) throws {
        self.folder = folder
        try Self.run("mkdir -p '\(folder)' && mount -t tmpfs -o size=40m,mode=0777 tmpfs '\(folder)'")
        try Self.run("mkdir -m 0700 '\(tables)' && chown 65534:65534 '\(tables)'")
    }

    deinit { try? Self.run("umount -l '\(folder)'") }

    func fill(_ isFull: Bool) throws {
        try Self.run(
            isFull ? "dd if=/dev/zero of='\(folder)/filler' bs=4k 2>/dev/null || true" : "rm -f '\(folder)/filler'")
    }

    private static func run(_ command: String) throws {
        let done = try RunningVolley(
            executable: "/bin/sh", ["-ec", command], in: URL(fileURLWithPath: "/"), environment: [:], input: nil
        ).finish()
        guard done.status == 0 else { throw CommandFailure(what: "\(command): \(done.errors)") }
    }
}
