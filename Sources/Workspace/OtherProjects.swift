public import Campaigns
import Base
import Glibc
import Runs

/// The projects around some folders, other than the one that is worked with: whatever their volley.yaml names as a key or a secret, and their
/// runs, must not be read as a list or an export of this project, either.
///
/// Comes in: folders without links. Looked through are these, all below them, and those above them. Nothing that is named is opened.
public struct OtherProjects {
    /// Those whose volley.yaml can be read.
    public private(set) var projects: [Project] = []
    /// Folders whose volley.yaml has mistakes, so that it is not known what it names, and those after `mostNames`.
    private var unclear: [String] = []

    /// Looking through more takes seconds at each click.
    private static let mostNames = 1_000_000

    /// - Parameters:
    ///   - folders: without links.
    ///   - runs: the folder of runs of this project, which holds no projects, and may be large.
    public init(besides project: Project, around folders: [String], runs: String) {
        let own = FileStamp(path: project.file), runs = FileStamp(path: runs)
        var seen: Set<String> = []
        for folder in folders {
            var above = folder
            while above != "/", above != "." {
                above = FilePaths.folder(of: above)
                if seen.insert(above).inserted { add(above, besides: own) }
            }
            var rest = [folder], count = 0
            while let next = rest.popLast() {
                guard count < Self.mostNames else {
                    unclear.append(next)
                    continue
                }
                add(next, besides: own)
                var files = 0, isBackup = false
                let folders = try? Folder.folders(in: next) { name in
                    files += 1
                    isBackup = isBackup || name == ConsoleRoots.backupMark
                }
                // What is in a backup is closed as a whole.
                guard let folders, !isBackup, !folders.contains(ConsoleRoots.backupMark) else { continue }
                count += files + folders.count
                for path in folders.map({ FilePaths.join(next, name: $0) }) {
                    var status = stat()
                    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { continue }
                    if let runs, runs.inode == UInt64(status.st_ino), runs.device == UInt64(status.st_dev) { continue }
                    rest.append(path)
                }
            }
        }
    }

    private mutating func add(_ folder: String, besides own: FileStamp?) {
        for name in Project.fileNames {
            let file = FilePaths.join(folder, name: name)
            guard let stamp = FileStamp(path: file), !(own.map(stamp.isSameFile) ?? false) else { continue }
            if let project = try? Project.read(file: file).0 { projects.append(project) } else { unclear.append(folder) }
        }
    }

    /// Files with their secrets.
    public var secretFiles: [String] { projects.flatMap(\.secretFiles) }

    /// Their folders of runs.
    public var runs: [String] { projects.map { $0.catalog(ProjectChoice()).place } }

    /// All files and folders that a campaign of this project must not name.
    var closedFiles: [String] { projects.flatMap(\.closedFiles) + runs + unclear }
}
