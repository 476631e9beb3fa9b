import Accounts
import Base
import Campaigns
import Glibc
import Runs
import Workspace

/// What a backup may hold of the files of a project. What a path leads to decides, once links are followed, and names decide nothing: a link or a
/// hard link to a key is the key.
struct BackupScope {
    /// Why a file is left out.
    enum Objection: Hashable {
        /// volley.yaml, or that of another project below or above, names it as a key or a secret, or it is one of Volley's databases.
        case secret
        /// It lies in none of the folders that are copied.
        case outside
    }

    /// What tells a file from all others, whatever its name.
    private struct Identity: Hashable {
        var device: UInt64, inode: UInt64

        init(_ stamp: FileStamp) { (device, inode) = (stamp.device, stamp.inode) }
    }

    /// Without links.
    private let folders: [String], runs: String
    /// Secrets without links, and what they were when the backup began: a rotated key is another file under the same name.
    private let secretPaths: Set<String>, secrets: Set<Identity>

    /// - Parameters:
    ///   - folders: that are copied, by their absolute paths.
    ///   - runs: the folder of runs; of it campaigns may name lists only.
    ///   - includesKeys: whether keys are part of the backup.
    init(_ project: Project, _ folders: [String], runs: String, includesKeys: Bool) {
        self.folders = folders.map(FilePaths.absolute)
        self.runs = FilePaths.absolute(runs)
        let others = OtherProjects(besides: project, around: self.folders, runs: runs)
        let databases = ([runs] + others.runs).flatMap { runs in
            [AccountStore.path(beside: runs)]
                + ((try? Folder.names(in: runs)) ?? []).filter { !Self.isList($0) }.map { FilePaths.join(runs, name: $0) }
        }
        let files = [Project.environmentFile] + databases + others.secretFiles + (includesKeys ? [] : project.secretFiles)
        secretPaths = Set(files.map { FilePaths.absolute(FilePaths.anchored($0)) })
        secrets = Set(files.compactMap { FileStamp(path: $0).map(Identity.init) })
    }

    /// Whether a file in the folder of runs is none of Volley's own.
    /// - Parameter name: its path below that folder.
    static func isList(_ name: String) -> Bool { RunsInventory.isLeftOut(String(name.prefix { $0 != "/" })) }

    /// Why a file is left out; nil if it may be copied. What cannot be found out of a file shows when it is opened.
    func objection(to path: String) -> Objection? { objection(toFile: FilePaths.absolute(path), FileStamp(path: path)) }

    /// The same of an open file: a link may lead elsewhere since its path was looked at.
    func objection(toOpened path: String, descriptor: Int32) -> Objection? {
        let opened = "/proc/self/fd/\(descriptor)", real = FilePaths.absolute(opened)
        // Without /proc, and of a file that was replaced while it was opened, the path decides.
        return objection(toFile: real == opened ? FilePaths.absolute(path) : real, FileStamp(path: opened) ?? FileStamp(path: path))
    }

    private func objection(toFile real: String, _ stamp: FileStamp?) -> Objection? {
        if secretPaths.contains(real) || stamp.map({ secrets.contains(Identity($0)) }) ?? false { return .secret }
        if let name = Self.path(real, below: runs) { return Self.isList(name) ? nil : .secret }
        return folders.contains { Self.path(real, below: $0) != nil } ? nil : .outside
    }

    /// The path of a file below a folder; nil if it lies elsewhere.
    static func path(_ file: String, below folder: String) -> String? {
        let prefix = folder == "/" ? folder : folder + "/"
        return file.hasPrefix(prefix) ? String(file.dropFirst(prefix.count)) : nil
    }
}
