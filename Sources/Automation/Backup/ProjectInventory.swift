import Accounts
import Base
import Campaigns
import Glibc
import Planning
import PushServices
import Runs
import Workspace

/// The files of a project that people wrote: volley.yaml, campaigns, and the lists of names that
/// these name. Device exports are not among them: other systems make new ones.
struct ProjectInventory {
    /// The folder of volley.yaml, by its absolute path.
    let root: String
    /// Paths below it, in order.
    private(set) var files: Set<String> = []
    /// Campaigns below it and in further folders, by their absolute paths.
    private(set) var campaigns: Set<String> = []
    /// Keys, certificates and secrets that volley.yaml names, by their absolute paths, and files
    /// that campaigns name which are the same under another name.
    private(set) var keys: Set<String> = []
    /// Campaigns, and lists that they name, in further folders, by their absolute paths.
    private(set) var elsewhere: Set<String> = []
    /// Lists that campaigns name in the folder of runs, where remedies put them, by their paths
    /// below it.
    private(set) var amongRuns: Set<String> = []
    /// Files that are named but outside these folders, or links that lead out of them.
    private(set) var outside: Set<String> = []
    /// Links to folders, which are not followed: they may lead in a circle, or to a whole disk.
    private(set) var links: Set<String> = []
    /// The campaign or volley.yaml that names a file, by the file's absolute path. A campaign that
    /// was found has no entry.
    private(set) var owners: [String: String] = [:]
    /// Files that may be campaigns, and folders that may hold some, and cannot be read.
    private(set) var problems: [Diagnostic] = []
    /// What decides about every file.
    let scope: BackupScope

    private static let mostNames = 100_000
    /// The reader of campaigns accepts no longer ones.
    private static let longestCampaign = 1 << 20
    private var namesSeen = 0
    private let project: Project, runs: String, target: String?
    /// Further folders, by their absolute paths.
    private let folders: [String]

    /// - Parameters:
    ///   - folders: of campaigns that are not below that of volley.yaml.
    ///   - runs: the folder of runs, by its absolute path: it is not searched, nor are backups.
    ///   - target: the folder that backups come into: a link to it holds no campaigns; nil for
    ///     none.
    ///   - includesKeys: whether keys are among the files.
    /// - Throws: a `Diagnostic` if there are too many files to look through.
    init(
        _ project: Project, and folders: [String] = [], besides runs: String, target: String? = nil, includesKeys: Bool
    ) throws {
        let file = FilePaths.named(project.file), root = FilePaths.folder(of: file)
        self.project = project
        self.root = root
        self.folders = folders.map(FilePaths.named).filter { $0 != root && BackupScope.path($0, below: root) == nil }
        self.runs = runs
        self.target = target
        scope = BackupScope(project, [root] + self.folders, runs: runs, includesKeys: includesKeys)
        if let name = BackupScope.path(file, below: root) { files.insert(name) }
        keys = Set(project.secretFiles.map(FilePaths.named))
        for path in project.authorityFiles + (includesKeys ? project.secretFiles : []) {
            add(FilePaths.named(path), namedBy: file)
        }
        for base in [root] + self.folders { try look(in: "", below: base) }
    }

    /// Adds a named file if it exists. Copying it shows whether it can be read.
    private mutating func add(_ path: String, namedBy owner: String? = nil) {
        var status = stat()
        let isSeen = stat(path, &status) == 0
        guard isSeen || ![ENOENT, ENOTDIR].contains(errno) else { return }
        // The databases of the folder of runs are copied as such.
        if let name = BackupScope.path(path, below: runs), !BackupScope.isList(name) { return }
        // Anything but a file is refused when it is copied, in any place: a device, a folder.
        switch isSeen && status.st_mode & S_IFMT == S_IFREG ? scope.objection(to: path) : nil {
        case .secret:
            keys.insert(path)
            return
        case .outside:
            outside.insert(path)
            return
        case nil: break
        }
        owners[path] = owners[path] ?? owner
        if let name = BackupScope.path(path, below: runs) {
            amongRuns.insert(name)
        } else if let name = BackupScope.path(path, below: root) {
            files.insert(name)
        } else if folders.contains(where: { BackupScope.path(path, below: $0) != nil }) {
            elsewhere.insert(path)
        } else {
            outside.insert(path)
        }
    }

    private mutating func look(in folder: String, below base: String) throws {
        let path = folder.isEmpty ? base : FilePaths.join(base, name: folder)
        guard path != runs else { return }
        let names: [String]
        do throws(FileError) { names = try Folder.names(in: path) } catch {
            // Only root may read the folder of fsck(8).
            if path.hasSuffix("/lost+found") { return }
            return note(error, "the folder cannot be read, and it may hold campaigns", path)
        }
        guard !names.contains(BackupManifest.fileName) else { return }
        namesSeen += names.count
        guard namesSeen <= Self.mostNames else {
            throw Diagnostic(
                "there are more than \(TextFormat.count(Self.mostNames)) files in this folder and below, too many to look for campaigns in",
                file: base, remedy: "Keep volley.yaml and the campaigns in a folder of their own.")
        }
        for name in names {
            let relative = folder.isEmpty ? name : "\(folder)/\(name)"
            var status = stat()
            guard lstat(FilePaths.join(base, name: relative), &status) == 0 else {
                // A campaign, or a folder that may hold some.
                if ScheduleFiles.isCampaign(name) || !name.contains(".") {
                    problems += [FilePaths.misencoded(FilePaths.join(base, name: relative))].compactMap(\.self)
                }
                continue
            }
            if status.st_mode & S_IFMT == S_IFDIR {
                // The console keeps archived campaigns there.
                if !name.hasPrefix(".") || name == ".archive" { try look(in: relative, below: base) }
            } else if status.st_mode & S_IFMT == S_IFLNK, Self.isUnfollowed(FilePaths.join(base, name: relative)) {
                noteLink(FilePaths.join(base, name: relative))
            } else if name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
                addCampaign(FilePaths.join(base, name: relative))
            }
        }
    }

    /// Whether a link leads to a folder or is broken: its target may have campaigns.
    private static func isUnfollowed(_ link: String) -> Bool {
        var status = stat()
        return stat(link, &status) == 0 ? status.st_mode & S_IFMT == S_IFDIR : errno == ENOENT
    }

    /// Unless it leads to a folder that is copied anyway or that the backup comes into, or is
    /// hidden.
    private mutating func noteLink(_ path: String) {
        guard path.split(separator: "/").last?.hasPrefix(".") != true else { return }
        guard let link = FileStamp(path: path) else {
            links.insert(path)
            return
        }
        let known = ([root, runs] + folders + [target].compactMap(\.self)).contains {
            FileStamp(path: $0)?.isSameFile(as: link) ?? false
        }
        if !known, target.flatMap({ BackupScope.path($0, below: path) }) == nil { links.insert(path) }
    }

    /// - Parameter what: the problem that it cannot be read, unless it is gone.
    private mutating func note(_ error: FileError, _ what: String, _ path: String) {
        if error == .system(ENOENT) || error == .system(ENOTDIR) { return }
        var remedy: String?
        if case .notAFile = error { remedy = "Rename it, unless it should be a campaign." }
        problems.append(error.diagnostic(what, file: path, remedy: remedy))
    }

    private mutating func addCampaign(_ path: String) {
        // Files that cannot be campaigns are not read, either.
        if scope.objection(to: path) == .secret { return }
        let bytes: [UInt8]
        do throws(FileError) { bytes = try RegularFile.bytes(of: path, atMost: Self.longestCampaign) } catch {
            return note(error, "the file cannot be read, and it may be a campaign", path)
        }
        guard bytes.count <= Self.longestCampaign else { return }
        let draft = Campaign.draft(bytes: bytes, file: path, now: .now()) { app in
            project.app(named: app)?.services.map(\.service) ?? [PushServices.standard]
        }
        guard Self.isCampaign(draft, bytes) else { return }
        add(path)
        if !outside.contains(path) { campaigns.insert(path) }
        if let flaw = Self.flaw(ofAudience: draft, bytes) {
            // The file itself is copied.
            problems.append(
                Diagnostic(
                    "lists that this campaign names may be missing from the backup, as its audience has mistakes: \(flaw.message)",
                    at: flaw.position ?? SourcePosition(file: path, line: 1, column: 1),
                    remedy: "Correct the campaign, then make another backup."))
        }
        guard let audience = draft.audience else { return }
        let lists = [
            audience.anyTags, audience.allTags, audience.noneTags, audience.aliases, audience.registrationIDs,
            audience.excludedTags,
            audience.excludedAliases, audience.excludedRegistrationIDs,
        ]
        for named in lists.compactMap(\.file) + audience.excludedDevices {
            if let mistake = FilePaths.pathMistake(named.value) {
                problems.append(Diagnostic(mistake, at: named.position))
            }
            do throws(Diagnostic) {
                for file in try DatedPath.files(ofAnyDate: FilePaths.resolve(named.value, besideFile: path)) {
                    add(FilePaths.named(file), namedBy: path)
                }
            } catch { problems.append(placed(error, at: named.position)) }
        }
    }

    /// Whether a file has the keys of a campaign, right or wrong otherwise: a folder may hold the
    /// settings of other programs, with their secrets.
    private static func isCampaign(_ draft: CampaignDraft, _ bytes: [UInt8]) -> Bool {
        // Keys may also be indented, in quotes, or in braces; and a file that is not YAML may have
        // them.
        draft.audience != nil || draft.content != nil || !draft.variants.isEmpty
            || lines(of: bytes).contains { line in
                ["audience:", "content:", "variants:"].contains { line.hasPrefix($0) }
            }
    }

    /// The first mistake for which lists may not have been found: one in the audience, or any
    /// mistake if the audience has none.
    private static func flaw(ofAudience draft: CampaignDraft, _ bytes: [UInt8]) -> Diagnostic? {
        // Without these keys no list is named.
        guard lines(of: bytes).contains(where: { $0.contains("file") || $0.contains("devices") }) else { return nil }
        let errors = draft.findings.filter { $0.severity == .error }
        guard let first = draft.audience?.position.line else { return errors.first }
        // Behind it is the first line that begins with another key of the top level.
        let next = lines(of: bytes).dropFirst(first).firstIndex { line in
            line.first.map { !" \t#}-".contains($0) } ?? false
        }
        let last = next ?? Int.max
        return errors.first { $0.position.map { (first - 1...last).contains($0.line) } ?? true }
    }

    private static func lines(of bytes: [UInt8]) -> [Substring] {
        String(decoding: bytes, as: UTF8.self).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }
}

/// The files of a project that a backup may hold. The target of a path decides, after links are
/// followed; its name does not matter: a link or a hard link to a key is the key.
struct BackupScope {
    /// Why a file is left out.
    enum Objection: Hashable {
        /// volley.yaml, or that of another project below or above, names it as a key or a secret,
        /// or it is one of Volley's databases.
        case secret
        /// It is outside the folders that are copied.
        case outside
    }

    /// The identity of a file under any name.
    private struct Identity: Hashable {
        var device: UInt64, inode: UInt64

        init(_ stamp: FileStamp) { (device, inode) = (stamp.device, stamp.inode) }
    }

    /// Without links.
    private let folders: [String], runs: String
    /// Secrets without links, and their identity when the backup began: a rotated key is another
    /// file under the same name.
    private let secretPaths: Set<String>, secrets: Set<Identity>

    /// - Parameters:
    ///   - folders: that are copied, by their absolute paths.
    ///   - runs: the folder of runs; campaigns may name only lists in it.
    ///   - includesKeys: whether keys are part of the backup.
    init(_ project: Project, _ folders: [String], runs: String, includesKeys: Bool) {
        self.folders = folders.map(FilePaths.absolute)
        self.runs = FilePaths.absolute(runs)
        let others = OtherProjects(besides: project, around: self.folders, runs: runs)
        let databases = ([runs] + others.runs).flatMap { runs in
            [AccountStore.path(beside: runs)]
                + ((try? Folder.names(in: runs)) ?? []).filter { !Self.isList($0) }.map {
                    FilePaths.join(runs, name: $0)
                }
        }
        let files =
            [Project.environmentFile] + databases + others.secretFiles + (includesKeys ? [] : project.secretFiles)
        secretPaths = Set(files.map { FilePaths.absolute(FilePaths.anchored($0)) })
        secrets = Set(files.compactMap { FileStamp(path: $0).map(Identity.init) })
    }

    /// Whether a file in the folder of runs is not one of Volley's own.
    /// - Parameter name: its path below that folder.
    static func isList(_ name: String) -> Bool { RunsInventory.isLeftOut(String(name.prefix { $0 != "/" })) }

    /// Why a file is left out; nil if it may be copied. Facts that cannot be determined now are
    /// checked when the file is opened.
    func objection(to path: String) -> Objection? { objection(toFile: FilePaths.absolute(path), FileStamp(path: path)) }

    /// The same of an open file: a link may have changed since its path was checked.
    func objection(toOpened path: String, descriptor: Int32) -> Objection? {
        let opened = "/proc/self/fd/\(descriptor)", real = FilePaths.absolute(opened)
        // Without /proc, and for a file that was replaced while it was opened, the path decides.
        return objection(
            toFile: real == opened ? FilePaths.absolute(path) : real, FileStamp(path: opened) ?? FileStamp(path: path))
    }

    private func objection(toFile real: String, _ stamp: FileStamp?) -> Objection? {
        if secretPaths.contains(real) || stamp.map({ secrets.contains(Identity($0)) }) ?? false { return .secret }
        if let name = Self.path(real, below: runs) { return Self.isList(name) ? nil : .secret }
        return folders.contains { Self.path(real, below: $0) != nil } ? nil : .outside
    }

    /// The path of a file below a folder; nil if it is elsewhere.
    static func path(_ file: String, below folder: String) -> String? {
        let prefix = folder == "/" ? folder : folder + "/"
        return file.hasPrefix(prefix) ? String(file.dropFirst(prefix.count)) : nil
    }
}
