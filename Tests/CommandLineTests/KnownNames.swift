import Foundation
import TestCommands

/// The names of other machines that a process can resolve: only /etc/hosts, in a separate version
/// that may change while the process runs.
final class KnownNames {
    private let folder: String
    private let hosts: String

    /// At first no name is known. Needs `Shell.canHideFiles`.
    init(in project: ProjectFolder) throws {
        folder = project.url.appendingPathComponent("names").path
        hosts = folder + "/hosts"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Other file systems may be mounted so that reads of a file are not noted.
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

    /// Makes this machine known by a name, which has these addresses in this order.
    func add(_ name: String, at addresses: [String] = ["127.0.0.1"]) throws {
        try write(addresses.map { "\($0) \(name)\n" }.joined())
    }

    /// Makes all names unknown.
    func forget() throws { try write("# nobody\n") }

    /// Whether a name was looked up since they last changed.
    var wereRead: Bool {
        var status = stat()
        guard stat(hosts, &status) == 0 else { return false }
        return (status.st_atim.tv_sec, status.st_atim.tv_nsec) > (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }

    /// Written in place: a process that has the file under another name keeps seeing the same one.
    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: hosts)) }
}
