import Accounts
public import Base
import Campaigns
import Glibc
public import Runs

/// Restores a backup: everything, or nothing.
///
/// All files are copied next to the folder of runs and compared with their checksums; the
/// consequences of the restore are written there; then the folder of runs gets its name, and then
/// the files of the project, volley.yaml last. So if two processes restore into one place, only one
/// puts anything there, and `volley schedule` never finds campaigns without their record of what
/// was sent.
///
/// ```swift
/// let request = Restore.Request(
///     backup: "/backups/shop", folder: "/srv/shop", runs: nil, nothingSentSince: false)
/// let restored = try Restore(request, try Cancellation(), .silent).run(at: .now())
/// ```
public struct Restore {
    /// What is put back, and where.
    public struct Request: Sendable {
        /// The backup's folder.
        public var backup: String
        /// The new folder of volley.yaml; nil for the one that it was copied from.
        public var folder: String?
        /// The folder of runs; nil for the one that volley.yaml names.
        public var runs: String?
        /// Whether a person states that nothing was sent after the backup.
        public var nothingSentSince: Bool

        /// A request.
        public init(backup: String, folder: String?, runs: String?, nothingSentSince: Bool) {
            self.backup = backup
            self.folder = folder
            self.runs = runs
            self.nothingSentSince = nothingSentSince
        }
    }

    /// What was put back.
    public struct Done: Sendable {
        /// What the backup said.
        public var manifest: BackupManifest
        /// Where volley.yaml is now; nil if the backup has none.
        public var project: String?
        /// Where the runs are now.
        public var runs: String
        /// The folder of files from outside the folder of volley.yaml; nil without any.
        public var elsewhere: String?
        /// Whether the volley.yaml names another folder of runs.
        public var namesOtherRuns: Bool
        /// The consequences for the runs.
        public var state: RestoredRuns
    }

    private static let kind = "restore"

    private let request: Request
    private let manifest: BackupManifest
    private let cancellation: Cancellation
    private let observer: Observer<Backup.Progress>
    /// The folder for the files of the project; nil if they have no place.
    private let root: String?
    /// The name of the folder for files from elsewhere: the project may already have one of that
    /// name, from an earlier restore.
    private let elsewhere: String

    /// Reads what the backup holds.
    /// - Throws: `Diagnostic`: it is not a backup, damaged, or of a newer Volley.
    public init(_ request: Request, _ cancellation: Cancellation, _ observer: Observer<Backup.Progress>)
        throws(Diagnostic)
    {
        self.request = request
        self.cancellation = cancellation
        self.observer = observer
        manifest = try BackupManifest(of: request.backup)
        root = manifest.project.map { file in request.folder.map(FilePaths.named) ?? FilePaths.folder(of: file) }
        let taken = Set(manifest.files.filter { $0.parts.part == "project" }.map { $0.parts.rest.prefix { $0 != "/" } })
        var (name, number) = ("elsewhere", 1)
        while taken.contains(name[...]) { (name, number) = ("elsewhere-\(number + 1)", number + 1) }
        elsewhere = name
    }

    /// Puts it back.
    /// - Throws: `Diagnostic`: a file of the backup is damaged; something is in its place; it
    ///   cannot be written. `CancellationError`: it was asked to end. Nothing was put back then.
    public func run(at now: Timestamp) throws -> Done {
        if let folder = request.folder { try refuseLink(FilePaths.named(folder), option: "--into") }
        let (runs, namesOther) = placeOfRuns
        try refuseLink(FilePaths.named(runs), option: "--runs")
        try checkIsFree(runs)
        try checkProject()
        let places = [runs] + (root.map { root in projectFiles.map { place(of: $0, root) } } ?? [])
        let made = Set(places.flatMap(Self.missingFolders)).sorted { $0.utf8.count > $1.utf8.count }
        do { return try putBack(to: runs, namesOther, at: now) } catch {
            // Only empty ones: files that others put there in the meantime stay.
            for folder in made { rmdir(folder) }
            throw error
        }
    }

    private func putBack(to runs: String, _ namesOther: Bool, at now: Timestamp) throws -> Done {
        let staged = try StagedFolder(runs, kind: Self.kind)
        try copy(runs: staged.path, project: FilePaths.join(staged.path, name: Self.projectName))
        let state: RestoredRuns
        do { state = try settle(staged.path, at: now) } catch var mistake as Diagnostic {
            // The folder that it was found in will be gone when this is read.
            mistake.file = mistake.file?.replacing(staged.path, with: FilePaths.join(request.backup, name: "runs"))
            throw mistake
        }
        try checkProject()
        let waiting = try stageProject(from: FilePaths.join(staged.path, name: Self.projectName))
        try staged.finish()
        // From here on others may work with the runs: nothing is undone.
        for file in waiting { try name(file) }
        // Until the names are also on the disk, the folder of runs says that some may be missing.
        for folder in Set(waiting.map { FilePaths.folder(of: $0.place) }) {
            try StagedFolder.synchronize(folder)
            try StagedFolder.synchronize(FilePaths.folder(of: folder))
        }
        FolderTree.remove(FilePaths.join(runs, name: Self.projectName))
        let project = root.flatMap { root in manifest.project.map { FilePaths.join(root, name: FilePaths.name(of: $0)) }
        }
        let hasOthers = manifest.files.contains { $0.parts.part == "elsewhere" }
        return Done(
            manifest: manifest, project: project, runs: runs,
            elsewhere: hasOthers ? root.map { FilePaths.join($0, name: elsewhere) } : nil, namesOtherRuns: namesOther,
            state: state)
    }

    /// The folder of runs, and whether volley.yaml names another one.
    private var placeOfRuns: (path: String, namesOther: Bool) {
        guard let root, let file = manifest.project else {
            return (request.runs ?? request.folder ?? manifest.runs, false)
        }
        let before = FilePaths.folder(of: file) + "/"
        // A folder of runs that was next to the old volley.yaml is next to the new one.
        let isBeside = manifest.runs.hasPrefix(before)
        let named = isBeside ? FilePaths.join(root, name: String(manifest.runs.dropFirst(before.count))) : manifest.runs
        if let runs = request.runs { return (FilePaths.named(runs), FilePaths.named(runs) != named) }
        guard request.folder != nil, !isBeside else { return (named, false) }
        return (FilePaths.join(root, name: "runs"), true)
    }

    /// A link may lead to a folder that the person did not mean: they have to name it.
    private func refuseLink(_ path: String, option: String) throws(Diagnostic) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
        guard FileKind(path: path) == .folder else {
            throw Diagnostic(
                "this is a link that leads to no folder", file: path,
                remedy: "Remove it, or name another folder with \(option). Nothing was put back.")
        }
        let real = FilePaths.absolute(path)
        throw Diagnostic(
            "this is a link to \(TextFormat.inLine(real)), and nothing is put back through a link", file: path,
            remedy:
                "Name the folder itself, if it is the right one: \(option) \(FilePaths.inShell(real)). Nothing was put back."
        )
    }

    /// The folders above a place that do not exist.
    private static func missingFolders(above place: String) -> [String] {
        let folder = FilePaths.folder(of: place)
        return FilePaths.exists(folder) ? [] : [folder] + missingFolders(above: folder)
    }

    private func checkIsFree(_ runs: String) throws(Diagnostic) {
        guard FilePaths.exists(runs) else { return }
        let names: [String]
        do throws(FileError) { names = try Folder.names(in: runs) } catch {
            throw error.diagnostic("the folder of runs cannot be read", file: runs)
        }
        guard !names.contains(Self.projectName) else {
            throw Diagnostic(
                "a restore into this folder was cut off: the runs are here, and files of the project may be missing",
                file: runs,
                remedy:
                    "Move the folder away, unless something was sent from it since, and restore again. Nothing was put back."
            )
        }
        guard names.isEmpty else {
            throw Diagnostic(
                "there are runs or other files here already, and a backup does not overwrite them", file: runs,
                remedy: "Move the folder away, or put the backup into another folder with --into. Nothing was put back."
            )
        }
    }

    // MARK: - Copying

    private func copy(runs: String, project: String) throws {
        let total = manifest.files.reduce(0) { $0 + $1.bytes }
        var done = 0
        for file in manifest.files {
            let (part, rest) = file.parts
            let copy = part == "runs" ? FilePaths.join(runs, name: rest) : FilePaths.join(project, name: file.path)
            try FilePaths.makeFolder(FilePaths.folder(of: copy), mode: 0o700)
            let source = FilePaths.join(request.backup, name: file.path)
            guard FilePaths.exists(source) else { throw damaged(source, "is missing") }
            let sum = try ChecksummedCopy.make(of: source, at: copy) { count in
                if cancellation.isRequested { throw CancellationError() }
                done += count
                observer(.init(step: .copying, name: file.path, done: min(done, total), total: total))
            }
            guard sum.bytes == file.bytes, sum.digits == file.sum else {
                throw damaged(source, "is not as it was when the backup was made")
            }
        }
    }

    private func damaged(_ path: String, _ what: String) -> Diagnostic {
        Diagnostic(
            "the backup is damaged: this file \(what)", file: path, remedy: "Use another backup. Nothing was put back.")
    }

    /// Writes the consequences into the copied runs.
    private func settle(_ runs: String, at now: Timestamp) throws -> RestoredRuns {
        if AccountStore.isThere(beside: runs) { try AccountStore(beside: runs).close() }
        return try RestoredRuns(
            in: runs,
            .init(
                backupAt: manifest.startedAt, restoredAt: now, sending: Set(manifest.sending),
                nothingSentSince: request.nothingSentSince)
        )
    }

    // MARK: - The files of the project

    /// The place of a file. Files from outside the folder of volley.yaml are also placed below it:
    /// a list of files must not lead to arbitrary places on a machine.
    private func place(of file: BackupManifest.File, _ root: String) -> String {
        FilePaths.join(root, name: file.parts.part == "project" ? file.parts.rest : "\(elsewhere)/\(file.parts.rest)")
    }

    /// Where the files of the project wait in the folder of runs until they get their names.
    static let projectName = ".project"

    /// volley.yaml is the last.
    private var projectFiles: [BackupManifest.File] {
        let files = manifest.files.filter { $0.parts.part != "runs" }
        let name = manifest.project.map { FilePaths.name(of: $0) }
        return files.filter { $0.parts.rest != name } + files.filter { $0.parts.rest == name }
    }

    /// Existing files stay if they are the same. Nothing replaces something else, or is written
    /// through a link to a folder.
    private func checkProject() throws {
        guard let root else { return }
        for folder in Set(projectFiles.flatMap { folders(of: place(of: $0, root), below: root) }).sorted() {
            var status = stat()
            guard lstat(folder, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { continue }
            throw inTheWay("a folder of the backup comes here, and this is something else", folder)
        }
        let differing = try projectFiles.filter { file in
            let place = place(of: file, root)
            var status = stat()
            guard lstat(place, &status) == 0 else { return false }
            switch FileKind(path: place) {
            case .regular: return try ChecksummedCopy.sum(of: place, step: { _ in }).digits != file.sum
            case let kind?: throw inTheWay("a file of the backup comes here, and this is \(kind.text)", place)
            case nil:
                throw inTheWay(
                    "a file of the backup comes here, and this is a link that leads to no file that this user can see",
                    place)
            }
        }
        if let first = differing.first {
            let others =
                differing.count > 1 ? ", as \(TextFormat.counted(differing.count - 1, one: "other file")) does" : ""
            throw Diagnostic(
                "this file differs from the one in the backup\(others), and a backup does not overwrite it",
                file: place(of: first, root), remedy: Self.wayOut)
        }
    }

    private static let wayOut = "Move it away, or put the backup into another folder with --into. Nothing was put back."

    private func inTheWay(_ what: String, _ path: String) -> Diagnostic {
        Diagnostic(what, file: path, remedy: Self.wayOut)
    }

    /// The folders of a place below another one.
    private func folders(of place: String, below root: String) -> [String] {
        let folder = FilePaths.folder(of: place)
        return folder.utf8.count > root.utf8.count ? [folder] + folders(of: folder, below: root) : []
    }

    /// A complete file of the project, waiting next to its final place.
    private struct Waiting {
        let path: String, place: String
        /// The place where it waits: removed once no file waits there any more.
        let stage: StagedFolder
    }

    /// Copies the missing files of the project next to their final places, so that only renaming is
    /// left.
    private func stageProject(from staged: String) throws -> [Waiting] {
        guard let root else { return [] }
        for folder in Set(projectFiles.map { FilePaths.folder(of: place(of: $0, root)) }) {
            StagedFolder.removeAbandoned(in: folder, kind: Self.kind)
        }
        var waiting: [Waiting] = [], stages: [String: StagedFolder] = [:]
        for file in projectFiles {
            let place = place(of: file, root)
            guard !FilePaths.exists(place) else { continue }
            let folder = FilePaths.folder(of: place)
            try FilePaths.makeFolder(folder)
            let stage = try stages[folder] ?? StagedFolder(place, kind: Self.kind)
            stages[folder] = stage
            let path = FilePaths.join(stage.path, name: "\(waiting.count)")
            waiting.append(Waiting(path: path, place: place, stage: stage))
            _ = try ChecksummedCopy.make(
                of: FilePaths.join(staged, name: file.path), at: path, mode: mode_t(file.mode, radix: 8) ?? 0o600
            ) { _ in }
        }
        return waiting
    }

    /// Gives a file its name, unless that name is taken.
    private func name(_ file: Waiting) throws(Diagnostic) {
        guard link(file.path, file.place) != 0 else { return }
        throw Diagnostic(
            "the runs were put back, and this file of the project was not: \(SystemError.words(errno))",
            file: file.place,
            remedy:
                "Copy it, and what else is missing, from the folder 'project' of the backup. Then remove the folder '\(Self.projectName)' among the runs."
        )
    }
}

extension BackupManifest.File {
    /// `runs`, `project` or `elsewhere`, and the path below.
    fileprivate var parts: (part: String, rest: String) {
        let slash = path.firstIndex(of: "/") ?? path.endIndex
        return (String(path[..<slash]), String(path[slash...].dropFirst()))
    }
}

extension FilePaths {
    /// The last part of a path.
    fileprivate static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
