import Base
import Campaigns
import Glibc
import PushServices
import Workspace

/// The files of a project that people wrote: volley.yaml, campaigns, and the lists of names that these name. Device exports are not among them:
/// other systems make them anew.
struct ProjectInventory {
    /// The folder of volley.yaml, by its absolute path.
    let root: String
    /// Paths below it, in order.
    private(set) var files: Set<String> = []
    /// Campaigns below it and in further folders, by their absolute paths.
    private(set) var campaigns: Set<String> = []
    /// Keys and certificates that volley.yaml names, by their absolute paths.
    private(set) var keys: [String] = []
    /// Campaigns, and lists that they name, in further folders, by their absolute paths.
    private(set) var elsewhere: Set<String> = []
    /// Lists that campaigns name in the folder of runs, where remedies put them, by their paths below it.
    private(set) var amongRuns: Set<String> = []
    /// Files that are named, and lie in none of these folders.
    private(set) var outside: Set<String> = []
    /// Links to folders, which are not followed: they may lead round in a circle, or to a whole disk.
    private(set) var links: Set<String> = []

    private static let mostNames = 100_000, mostFolders = 12
    private var namesSeen = 0
    private let runs: String
    /// Further folders, by their absolute paths.
    private let folders: [String]

    /// - Parameters:
    ///   - folders: of campaigns that do not lie below that of volley.yaml.
    ///   - runs: the folder of runs, by its absolute path: nothing is looked for there, nor in backups.
    ///   - includesKeys: whether keys are among the files.
    /// - Throws: a `Diagnostic` if there are too many files to look through.
    init(_ project: Project, and folders: [String] = [], besides runs: String, includesKeys: Bool) throws {
        let file = FilePaths.named(project.file), root = FilePaths.folder(of: file)
        self.root = root
        self.folders = folders.map(FilePaths.named).filter { $0 != root && Self.path($0, below: root) == nil }
        self.runs = runs
        if let name = Self.path(file, below: root) { files.insert(name) }
        keys = Set(project.keyFiles.map(FilePaths.named)).sorted()
        for path in project.authorityFiles { add(FilePaths.named(path)) }
        if includesKeys { for key in keys { add(key) } }
        for base in [root] + self.folders { try look(in: "", below: base, depth: 0) }
    }

    /// The path of a file below a folder; nil if it lies elsewhere.
    private static func path(_ file: String, below folder: String) -> String? {
        let prefix = folder == "/" ? folder : folder + "/"
        return file.hasPrefix(prefix) ? String(file.dropFirst(prefix.count)) : nil
    }

    /// Adds a file that something names.
    private mutating func add(_ path: String) {
        guard FilePaths.exists(path) else { return }
        if let name = Self.path(path, below: runs) {
            amongRuns.insert(name)
        } else if let name = Self.path(path, below: root) {
            files.insert(name)
        } else if folders.contains(where: { Self.path(path, below: $0) != nil }) {
            elsewhere.insert(path)
        } else {
            outside.insert(path)
        }
    }

    private mutating func look(in folder: String, below base: String, depth: Int) throws {
        let path = folder.isEmpty ? base : FilePaths.join(base, name: folder)
        guard depth < Self.mostFolders, path != runs, let names = try? Folder.names(in: path),
            !names.contains(BackupManifest.fileName)
        else { return }
        namesSeen += names.count
        guard namesSeen <= Self.mostNames else {
            throw Diagnostic(
                "there are more than \(TextFormat.count(Self.mostNames)) files in this folder and below, too many to look for campaigns in",
                file: base, remedy: "Keep volley.yaml and the campaigns in a folder of their own.")
        }
        for name in names {
            let relative = folder.isEmpty ? name : "\(folder)/\(name)"
            var status = stat()
            guard lstat(FilePaths.join(base, name: relative), &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                // The console keeps there what people removed.
                if !name.hasPrefix(".") || name == ".archive" { try look(in: relative, below: base, depth: depth + 1) }
            } else if status.st_mode & S_IFMT == S_IFLNK, FileKind(path: FilePaths.join(base, name: relative)) == .folder {
                noteLink(FilePaths.join(base, name: relative))
            } else if name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
                addCampaign(FilePaths.join(base, name: relative))
            }
        }
    }

    /// Unless it leads to a folder that is copied anyway, or is hidden.
    private mutating func noteLink(_ path: String) {
        guard let link = FileStamp(path: path), path.split(separator: "/").last?.hasPrefix(".") != true else { return }
        let isCopied = ([root, runs] + folders).contains { FileStamp(path: $0)?.isSameFile(as: link) ?? false }
        if !isCopied { links.insert(path) }
    }

    private mutating func addCampaign(_ path: String) {
        guard Self.isCampaign(path) else { return }
        add(path)
        campaigns.insert(path)
        guard let (campaign, _) = try? Campaign.read(file: path, now: .now()) else { return }
        let audience = campaign.audience
        let lists = [
            audience.anyTags, audience.allTags, audience.noneTags, audience.aliases, audience.registrationIDs, audience.excludedTags,
            audience.excludedAliases, audience.excludedRegistrationIDs,
        ]
        for named in lists.compactMap(\.file) + audience.excludedDevices {
            add(FilePaths.named(FilePaths.resolve(named.value, besideFile: path)))
        }
    }

    /// Whether a file has the keys of a campaign, right or wrong otherwise: a folder may hold the settings of other programs, with their secrets.
    private static func isCampaign(_ path: String) -> Bool {
        guard let bytes = try? FilePaths.read(path) else { return false }
        let keys = ["audience:", "content:", "variants:"]
        let hasKeys = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).contains { line in
            keys.contains { line.hasPrefix($0) }
        }
        if hasKeys { return true }
        // Keys may also be indented, in quotes, or in braces: the reader is asked only about files in which none begins a line.
        let draft = Campaign.draft(bytes: bytes, file: path, now: .now()) { _ in [PushServices.standard] }
        return draft.audience != nil || draft.content != nil || !draft.variants.isEmpty
    }
}
