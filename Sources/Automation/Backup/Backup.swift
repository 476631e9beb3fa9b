public import Base
public import Campaigns
import Glibc
public import Runs
import Workspace

/// A copy of everything that matters of a project, made while processes send and the console is at
/// work.
///
/// The files that name runs are copied first, then the runs, then the record of what was sent, and
/// then again the runs that have changed since and that no process is sending. So no copy of a run
/// holds less than the copied record says of it, except for runs that are being sent, which are
/// listed.
///
/// ```swift
/// let request = Backup.Request(target: "/backups/shop", includesKeys: false)
/// let backup = Backup(request, of: project, catalog: runs, try Cancellation(), .silent)
/// let made = try backup.make(at: .now())
/// ```
public struct Backup {
    /// The source and the destination of a backup.
    public struct Request: Sendable {
        /// The folder in which the backup gets its own folder.
        public var target: String
        /// Folders of campaigns that are not below that of volley.yaml.
        public var campaigns: [String]
        /// Whether keys and certificates below the folder of volley.yaml are part of it.
        public var includesKeys: Bool

        /// A request.
        public init(target: String, campaigns: [String] = [], includesKeys: Bool) {
            self.target = target
            self.campaigns = campaigns
            self.includesKeys = includesKeys
        }
    }

    /// How far it is.
    public struct Progress: Hashable, Sendable {
        /// What it does with the file.
        public enum Step: Hashable, Sendable { case copying, checking }
        /// What it does.
        public var step: Step
        /// The file, by its name.
        public var name: String
        /// Bytes so far in this step, and their total.
        public var done: Int, total: Int
    }

    /// A backup that was made.
    public struct Made: Sendable {
        /// Its folder.
        public var path: String
        /// What it holds.
        public var manifest: BackupManifest
        /// Problems with files that could not be copied or checked.
        public var problems: [Diagnostic]
    }

    private let request: Request
    private let project: Project?
    /// Its absolute path.
    private var projectFile: String? { project.map { FilePaths.named($0.file) } }
    private let catalog: RunsFolder
    private let cancellation: Cancellation
    private let observer: Observer<Progress>

    /// - Parameter project: nil to back up only a folder of runs.
    public init(
        _ request: Request, of project: Project?, catalog: RunsFolder, _ cancellation: Cancellation,
        _ observer: Observer<Progress>
    ) {
        self.request = request
        self.project = project
        self.catalog = catalog
        self.cancellation = cancellation
        self.observer = observer
    }

    /// Makes the backup. An incomplete one leaves nothing behind.
    /// - Throws: `Diagnostic`: it cannot be written; there is nothing to back up.
    ///   `CancellationError`: it was asked to end.
    public func make(at now: Timestamp) throws -> Made {
        let runs = FilePaths.named(catalog.place), target = FilePaths.named(request.target)
        try checkPlaces(runs: runs, target: target)
        let path = FilePaths.join(target, name: "volley-backup-\(now.compact)")
        let staged = try StagedFolder(path, kind: "backup")
        var manifest = BackupManifest(
            startedAt: now, finishedAt: now, project: projectFile, runs: runs, sending: [], files: [],
            leftOut: [])
        var problems: [Diagnostic] = []
        let amongRuns = try copyProject(into: staged.path, beside: (runs, target), &manifest, &problems)
        var copying = RunsCopying(
            catalog.place, into: FilePaths.join(staged.path, name: "runs"), cancellation, observer)
        try copying.copy()
        manifest.note(.foreign, copying.others.filter { !amongRuns.contains($0) })
        problems += copying.problems
        // A problem with a place in its file belongs to a file that was read and copied.
        manifest.note(.unreadable, problems.filter { $0.position == nil }.compactMap(\.file))
        try addSums(of: staged.path, &manifest)
        try copying.lookAgain()
        manifest.sending = copying.sending.sorted()
        manifest.finishedAt = .now()
        manifest.files.sort { $0.path < $1.path }
        let list = FilePaths.join(staged.path, name: BackupManifest.fileName)
        try FilePaths.replace(list, bytes: manifest.bytes, mode: 0o600)
        try StagedFolder.synchronize(list)
        // Backups of two projects may begin in the same second.
        try staged.finish(or: (2...99).map { "\(path)-\($0)" })
        return Made(path: staged.name, manifest: manifest, problems: problems)
    }

    private func checkPlaces(runs: String, target: String) throws {
        guard project != nil || catalog.isThere else {
            throw Diagnostic(
                "there is nothing to back up: no volley.yaml here or above, and no folder of runs", file: catalog.place,
                remedy: "Name one with --config or --runs.")
        }
        guard target != runs, !target.hasPrefix(runs + "/") else {
            throw Diagnostic(
                "a backup cannot be in the folder of runs that it is of", file: request.target,
                remedy: "Name a folder elsewhere, best on another disk.")
        }
    }

    /// - Returns: the lists that campaigns name in the folder of runs; they are copied with the
    ///   runs.
    private func copyProject(
        into staged: String, beside places: (runs: String, target: String), _ manifest: inout BackupManifest,
        _ problems: inout [Diagnostic]
    ) throws -> Set<String> {
        guard let project else { return [] }
        for folder in request.campaigns where FileKind(path: folder) != .folder {
            throw Diagnostic(
                "there is no such folder of campaigns", file: folder, remedy: "Name folders after the one for backups.")
        }
        let found = try ProjectInventory(
            project, and: request.campaigns, besides: places.runs, target: places.target,
            includesKeys: request.includesKeys)
        problems += found.problems
        var copied: Set<String> = []
        func add(_ source: String, as name: String) throws {
            guard let file = try copy(source, as: name, into: staged, found, &problems) else { return }
            copied.insert(source)
            // With the sums of the runs.
            if !name.hasPrefix("runs/") { manifest.files.append(file) }
        }
        for name in found.files.sorted() { try add(FilePaths.join(found.root, name: name), as: "project/\(name)") }
        for path in found.elsewhere.sorted() { try add(path, as: "elsewhere\(path)") }
        for name in found.amongRuns.sorted() { try add(FilePaths.join(places.runs, name: name), as: "runs/\(name)") }
        let failed = Set(problems.compactMap(\.file))
        manifest.note(.keys, found.keys.subtracting(copied).subtracting(failed).sorted())
        let elsewhere = campaignsElsewhere(than: copied.union(failed))
        manifest.note(.outside, found.outside.subtracting(found.keys).union(elsewhere).sorted())
        manifest.note(.links, found.links.sorted())
        manifest.note(.store, project.store.map { [$0.variable.value] } ?? [])
        return found.amongRuns
    }

    /// - Returns: nil for a file that cannot be copied, which is a problem, or that was removed or
    ///   renamed in the console just now.
    private func copy(
        _ source: String, as name: String, into staged: String, _ found: ProjectInventory,
        _ problems: inout [Diagnostic]
    ) throws -> BackupManifest.File? {
        let copy = FilePaths.join(staged, name: name)
        try FilePaths.makeFolder(FilePaths.folder(of: copy), mode: 0o700)
        var status = stat()
        let mode = stat(source, &status) == 0 ? status.st_mode & 0o777 : 0o600
        do {
            let sum = try ChecksummedCopy.make(of: source, at: copy) { descriptor in
                // volley.yaml may be a link to the file that a package installed.
                guard source != projectFile,
                    found.scope.objection(toOpened: source, descriptor: descriptor) != nil
                else { return }
                throw Diagnostic(
                    "the file was replaced while it was copied", file: source, remedy: "Make another backup.")
            } step: { _ in
                if cancellation.isRequested { throw CancellationError() }
            }
            return .init(path: name, bytes: sum.bytes, sum: sum.digits, mode: String(mode, radix: 8))
        } catch let problem as Diagnostic where problem.file == source {
            var status = stat()
            if stat(source, &status) != 0, [ENOENT, ENOTDIR].contains(errno) { return nil }
            // Without it the backup could not be restored.
            if source == projectFile { throw problem }
            let owner = found.owners[source].map { "; \(TextFormat.inLine($0)) names it" } ?? ""
            problems.append(Diagnostic("\(problem.message)\(owner)", file: source, remedy: problem.remedy))
            return nil
        }
    }

    /// Campaigns in the schedule that are not part of the copy.
    private func campaignsElsewhere(than copied: Set<String>) -> Set<String> {
        let known = (try? catalog.schedule.read().campaigns.map(\.file)) ?? []
        return Set(known.filter { FilePaths.exists($0) && !copied.contains(FilePaths.named($0)) })
    }

    /// Computes the checksums of the copies of databases, which no other process has open.
    private func addSums(of staged: String, _ manifest: inout BackupManifest) throws {
        let names = FolderTree.files(below: FilePaths.join(staged, name: "runs")).map { "runs/\($0)" }
        let total = names.reduce(0) { $0 + (FileStamp(path: FilePaths.join(staged, name: $1))?.size ?? 0) }
        var done = 0
        for name in names {
            let sum = try ChecksummedCopy.sum(of: FilePaths.join(staged, name: name)) { count in
                if cancellation.isRequested { throw CancellationError() }
                done += count
                observer(Progress(step: .checking, name: name, done: done, total: total))
            }
            manifest.files.append(.init(path: name, bytes: sum.bytes, sum: sum.digits, mode: "600"))
        }
    }
}

extension BackupManifest {
    /// Adds the list of what is left out, unless it is empty.
    fileprivate mutating func note(_ reason: Omission.Reason, _ names: [String]) {
        if !names.isEmpty { leftOut.append(Omission(reason: reason, names: names)) }
    }
}
