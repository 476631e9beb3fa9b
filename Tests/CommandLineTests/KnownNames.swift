import Foundation
import TestCommands

/// What a process takes for the names of other machines: /etc/hosts alone, in a version of its own that may change while the process runs.
final class KnownNames {
    private let folder: String
    private let hosts: String

    /// Nothing is known at first. Needs `Shell.canHideFiles`.
    init(in project: ProjectFolder) throws {
        folder = project.url.appendingPathComponent("names").path
        hosts = folder + "/hosts"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Other file systems may have been told not to note when a file is read.
        try Shell.run("mount -t tmpfs -o size=64k,strictatime tmpfs '\(folder)'")
        try Data("hosts: files\n".utf8).write(to: URL(fileURLWithPath: folder + "/nsswitch.conf"))
        try forget()
    }

    deinit { try? Shell.run("umount -l '\(folder)'") }

    /// Makes a program see these names, and no others.
    var launcher: [String] {
        let mounts = ["hosts", "nsswitch.conf"].map { "mount --bind '\(folder)/\($0)' /etc/\($0)" }
        return ["unshare", "-m", "sh", "-ec", "\(mounts.joined(separator: "; ")); exec \"$0\" \"$@\""]
    }

    /// Makes a name known as this machine's.
    func add(_ name: String) throws { try write("127.0.0.1 \(name)\n") }

    /// Makes all names unknown.
    func forget() throws { try write("# nobody\n") }

    /// Whether somebody has looked for a name since they changed last.
    var wereRead: Bool {
        var status = stat()
        guard stat(hosts, &status) == 0 else { return false }
        return (status.st_atim.tv_sec, status.st_atim.tv_nsec) > (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }

    /// In place: whoever sees the file under another name keeps seeing the same one.
    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: hosts)) }
}
