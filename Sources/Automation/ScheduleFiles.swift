package import Workspace
import Planning
package import Base
import Campaigns
import Glibc
package import Runs
import Scheduling

/// The campaign files that `volley schedule` looks after: those that were named, and those of named folders.
package struct ScheduleFiles {
    /// What the files hold.
    package struct Reading {
        /// Campaigns with times, by file.
        var campaigns: [Scheduler.Campaign] = []
        /// Mistakes by file, each with its place.
        var mistakes: [String: Diagnostics] = [:]
        /// Files without times: sent by hand.
        var unscheduledFiles: [String] = []
        /// What lies in the folders, looks like campaigns and is not read: folders within them, files that end in .YAML or .yaml.txt.
        var ignoredFiles: [String] = []
        /// Files of which nothing can be said now: those with mistakes, and those of a folder that cannot be read.
        var unreadable: Set<String> = []
    }

    /// What changes when a file does.
    private struct Stamp: Hashable { var size: Int64, seconds: Int, nanoseconds: Int, inode: UInt64 }

    private let arguments: [String]
    private let choice: ProjectChoice
    private let catalog: any RunCatalog
    private let folders: Set<String>
    /// What was last seen in each folder.
    private var seen: [String: Set<String>] = [:]
    private var stamps: [String: [Stamp?]] = [:]
    private var pending: [String: [Stamp?]]?

    /// - Parameter arguments: files and folders.
    /// - Throws: `Diagnostic`: one of them is not there.
    package init(_ arguments: [String], catalog: any RunCatalog, in choice: ProjectChoice) throws(Diagnostic) {
        for path in arguments where !FilePaths.exists(path) {
            throw Diagnostic("there is no such file or folder", file: path, remedy: "Name campaign files, or a folder of them.")
        }
        self.arguments = arguments
        self.catalog = catalog
        self.choice = choice
        folders = Set(arguments.filter(Self.isFolder))
    }

    /// Where volley.yaml is looked for from.
    package static func startingFolder(of argument: String) -> String { isFolder(argument) ? argument : FilePaths.folder(of: argument) }

    /// Reads all files, if any of them was changed since the last time, and has been left alone for as long as between two calls: an editor may be
    /// writing it.
    mutating func readIfChanged(now: Timestamp) -> Reading? {
        let present = stampsNow()
        guard present != stamps else {
            pending = nil
            return nil
        }
        guard stamps.isEmpty || pending == present else {
            pending = present
            return nil
        }
        (stamps, pending) = (present, nil)
        for folder in folders { if let files = files(of: folder) { seen[folder] = Set(files.map(path)) } }
        return read(now: now)
    }

    /// Reads all files.
    package func read(now: Timestamp) -> Reading {
        var reading = Reading()
        var found: [(context: CampaignContext, campaign: Scheduler.Campaign)] = []
        for file in files() {
            let path = path(file)
            do {
                guard !folders.contains(file) else {
                    reading.unreadable.formUnion(seen[file] ?? [])
                    throw Diagnostic(
                        "this folder cannot be read", file: file,
                        remedy: "Nothing of its campaigns is sent until it is there, and readable.")
                }
                let context = try CampaignContext.read(CampaignFile(file, in: choice), now: now)
                guard let schedule = context.campaign.schedule, schedule.hasTimes else {
                    reading.unscheduledFiles.append(path)
                    continue
                }
                try check(context)
                let name = context.campaign.name.value
                found.append((context, .init(name: name, app: context.app.name.value, file: path, schedule: schedule)))
            } catch let mistakes as Diagnostics {
                reading.mistakes[path] = Diagnostics(mistakes.all.filter { $0.severity == .error })
            } catch {
                reading.mistakes[path] = Diagnostics(error as? Diagnostic ?? Diagnostic("\(error)", file: file))
            }
        }
        reading.ignoredFiles = ignoredFiles()
        // Two campaigns of one name would be one to the record, and which of them is meant nobody can know: a copy comes before its original as often
        // as not.
        let sharing = Dictionary(grouping: found) { $0.campaign.name }
        for (context, campaign) in found {
            let others = (sharing[campaign.name] ?? []).filter { $0.campaign.file != campaign.file }.map(\.context.campaign.file)
            guard !others.isEmpty else {
                reading.campaigns.append(campaign)
                continue
            }
            reading.mistakes[campaign.file] = Diagnostics(
                Diagnostic(
                    "\(others.joined(separator: ", ")) \(TextFormat.plural(others.count, "has", "have")) the name '\(campaign.name)' too",
                    at: context.campaign.name.position,
                    remedy: "Give each campaign with a schedule a name of its own; until then none of these is sent."))
        }
        reading.unreadable.formUnion(reading.mistakes.keys)
        return reading
    }

    /// Two folders of runs would have two records.
    private func check(_ context: CampaignContext) throws(Diagnostic) {
        let folder = FilePaths.absolute(context.catalog.place)
        guard folder == FilePaths.absolute(catalog.place) else {
            throw Diagnostic(
                "its runs belong into \(folder), and this volley schedule works with \(catalog.place)", file: context.campaign.file,
                remedy: "Start another volley schedule for it, or name a folder for all with --runs.")
        }
    }

    /// Campaign files, in the order of arguments and names; for a folder that cannot be read itself.
    private func files() -> [String] {
        var known: Set<String> = []
        return arguments.flatMap { files(of: $0) ?? [$0] }.filter { known.insert(FilePaths.absolute($0)).inserted }
    }

    /// Campaign files that an argument means; nil when it is a folder that cannot be read.
    private func files(of argument: String) -> [String]? {
        guard folders.contains(argument) else { return [argument] }
        return Self.names(in: argument)?.filter(Self.isCampaign).map { FilePaths.join(argument, $0) }
    }

    private static func isCampaign(_ name: String) -> Bool {
        (name.hasSuffix(".yaml") || name.hasSuffix(".yml")) && !name.hasPrefix(".") && name != Project.fileName
    }

    private func ignoredFiles() -> [String] {
        let named = Set(arguments.map(FilePaths.absolute))
        let found = arguments.filter(folders.contains).flatMap { folder in
            (Self.names(in: folder) ?? []).filter { name in
                let path = FilePaths.join(folder, name)
                guard !name.hasPrefix("."), !Self.isCampaign(name) else { return false }
                if Self.isFolder(path) { return Self.names(in: path)?.contains(where: Self.isCampaign) ?? false }
                // Some editors put .txt behind it.
                return Self.isCampaign(name.lowercased()) || name.hasSuffix(".txt") && Self.isCampaign(String(name.dropLast(4)))
            }.map { FilePaths.join(folder, $0) }
        }
        return found.filter { !named.contains(FilePaths.absolute($0)) }
    }

    /// Symbolic links are kept: a file whose folder is replaced behind one stays the same file.
    private func path(_ file: String) -> String { FilePaths.named(file) }

    /// Of each file, and of the volley.yaml that counts for it. A file that is gone has none.
    private func stampsNow() -> [String: [Stamp?]] {
        var stamps: [String: [Stamp?]] = [:]
        for file in files() {
            let project = choice.file ?? Project.find(startingAt: FilePaths.folder(of: file))
            stamps[file] = [Self.stamp(file), project.flatMap(Self.stamp)]
        }
        return stamps
    }

    private static func stamp(_ path: String) -> Stamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Stamp(
            size: Int64(status.st_size), seconds: Int(status.st_mtim.tv_sec), nanoseconds: Int(status.st_mtim.tv_nsec),
            inode: UInt64(status.st_ino))
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func names(in folder: String) -> [String]? { try? Folder.names(in: folder) }
}
