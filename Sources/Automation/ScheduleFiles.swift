public import Base
import Campaigns
import Glibc
import Planning
import PushServices
public import Runs
import Synchronization
public import Workspace

/// The campaign files that `volley schedule` sends: the named files, and the files in the named
/// folders.
///
/// ```swift
/// let files = try ScheduleFiles(["campaigns"], catalog: runs, in: choice)
/// let campaigns = files.read(now: .now())
/// ```
public struct ScheduleFiles: Sendable {
    /// The content of the files.
    public struct Reading: Sendable {
        /// Campaigns with times.
        var campaigns: [Scheduler.Campaign] = []
        /// What each of these campaigns would be planned from, by name (`CampaignSource.digest`).
        var sources: [String: String] = [:]
        /// Mistakes by file, each with its place.
        var mistakes: [String: Diagnostics] = [:]
        /// Files without times, which are sent by hand.
        var unscheduledFiles: [String] = []
        /// Paths in the folders that look like campaigns but are not read: subfolders with
        /// campaigns, files that end in .YAML or .yaml.txt.
        var ignoredFiles: [String] = []
        /// Files whose content is unknown now: those with mistakes, and those in a folder that
        /// cannot be read.
        var unreadable: Set<String> = []

        /// The app of a campaign with times; nil for another name.
        func app(ofCampaign name: String) -> String? { place(ofCampaign: name)?.app }

        /// The app and the file of a campaign with times; nil for another name.
        func place(ofCampaign name: String) -> (app: String, file: String)? {
            campaigns.first { $0.name == name }.map { ($0.app, $0.file) }
        }
    }

    /// What was read of campaigns without mistakes: they are not read again while neither they nor
    /// what they refer to have changed. Readings of one folder may share it, on any threads.
    public final class Memory: Sendable {
        fileprivate struct Entry {
            /// Of the file, its volley.yaml and the file of its zone.
            var stamps: [FileStamp?]
            var zonePath: String?
            /// From this moment on, its expiry is a mistake.
            var expiry: Timestamp?
            /// nil for a campaign without times.
            var timed: Timed?
        }

        /// A campaign with times.
        fileprivate struct Timed {
            var campaign: Scheduler.Campaign
            var source: String?
            /// The place of its name, and its file, as it is named in mistakes.
            var namePlace: SourcePosition, file: String
        }

        /// By the paths of the files.
        fileprivate let entries = Mutex<[String: Entry]>([:])

        /// Without anything.
        public init() {}
    }

    /// The calls of `readIfChanged` after which files with mistakes are read again: the mistake may
    /// be in a file that they refer to.
    private static let looksPerRetry = 60

    private let arguments: [String]
    let choice: ProjectChoice
    let catalog: RunsFolder
    private let folders: Set<String>
    /// The campaign files that were last seen in each folder.
    private var seen: [String: Set<String>] = [:]
    private var stamps: [String: [FileStamp?]] = [:]
    private var pending: [String: [FileStamp?]]?
    /// The zones of the campaigns that were read last: their files change when the time zone
    /// database is updated.
    private var zones: Set<String> = []
    private var mistakes: [String: [Diagnostic]] = [:]
    private var looksSinceReading = 0
    private let memory: Memory

    /// - Parameters:
    ///   - arguments: files and folders.
    ///   - memory: of other readings.
    /// - Throws: a `Diagnostic` if one of them does not exist.
    public init(_ arguments: [String], catalog: RunsFolder, in choice: ProjectChoice, memory: Memory = Memory())
        throws(Diagnostic)
    {
        for path in arguments where !FilePaths.exists(path) {
            if let problem = FilePaths.misencoded(path) ?? FileAccess.lookupProblem(path) ?? FileKind.deadLink(path) {
                throw problem
            }
            throw Diagnostic(
                "there is no such file or folder", file: path,
                remedy: "Name campaign files, or a folder that contains them.")
        }
        self.arguments = arguments
        self.catalog = catalog
        self.choice = choice
        self.memory = memory
        folders = Set(arguments.filter(Self.isFolder))
        for path in folders.sorted()
        where [".yaml", ".yml"].contains(where: path.lowercased().hasSuffix) && files(of: path)?.isEmpty == true {
            throw Diagnostic(
                "this is a folder, although it is named like a campaign, and it holds no campaigns", file: path,
                remedy: "Name campaign files, or a folder that contains them.")
        }
    }

    /// The folder where the search for volley.yaml starts.
    public static func startingFolder(of argument: String) -> String {
        isFolder(argument) ? argument : FilePaths.folder(of: argument)
    }

    /// Reads all files if any of them, or the file of a zone, changed since the last reading, and
    /// none changed between this call and the one before: an editor may still be writing. While
    /// there are mistakes, it reads again once in a while.
    /// - Returns: the content; nil if there is nothing new to read.
    mutating func readIfChanged(now: Timestamp) -> Reading? {
        let present = stampsNow()
        looksSinceReading += 1
        let isAgain = present == stamps
        guard !isAgain || !mistakes.isEmpty && looksSinceReading >= Self.looksPerRetry else {
            pending = nil
            return nil
        }
        guard isAgain || stamps.isEmpty || pending == present else {
            pending = present
            return nil
        }
        for folder in folders { if let files = files(of: folder) { seen[folder] = Set(files.map(path)) } }
        let reading = read(now: now)
        let found = reading.mistakes.mapValues(\.all)
        let isNew = !isAgain || found != mistakes
        (stamps, pending, mistakes, looksSinceReading) = (present, nil, found, 0)
        zones = Set(reading.campaigns.map(\.schedule.zone.fallback.name))
        stamps.merge(zoneStamps()) { known, _ in known }
        return isNew ? reading : nil
    }

    /// Reads all files; those that have not changed since the last reading, from its memory.
    public func read(now: Timestamp) -> Reading {
        var reading = Reading()
        let known = memory.entries.withLock { $0 }
        var entries: [String: Memory.Entry] = [:]
        var found: [Memory.Timed] = []
        for file in files() {
            let path = path(file)
            do {
                guard !folders.contains(file) else { throw unreadable(file, &reading) }
                let entry =
                    try known[path].flatMap { isCurrent($0, file, now) ? $0 : nil } ?? entry(file, path, now)
                entries[path] = entry
                if let timed = entry.timed { found.append(timed) } else { reading.unscheduledFiles.append(path) }
            } catch let mistakes as Diagnostics {
                // A draft that nothing is sent from is no problem of the schedule.
                guard Self.mayHaveTimes(file, now: now) else {
                    reading.unscheduledFiles.append(path)
                    continue
                }
                reading.mistakes[path] = Diagnostics(mistakes.all.filter { $0.severity == .error })
            } catch {
                reading.mistakes[path] = Diagnostics(explaining: error, file: file)
            }
        }
        memory.entries.withLock { known in
            // Files that are gone are forgotten by a reading of their folder.
            known = folders.isEmpty ? known.merging(entries) { $1 } : entries
        }
        reading.ignoredFiles = ignoredFiles()
        add(found, to: &reading)
        reading.unreadable.formUnion(reading.mistakes.keys)
        return reading
    }

    /// Adds campaigns with times. The record cannot distinguish two campaigns with one name, and
    /// cannot tell which one is meant: a copy sorts before its original as often as after it.
    private func add(_ found: [Memory.Timed], to reading: inout Reading) {
        let sharing = Dictionary(grouping: found) { $0.campaign.name }
        for timed in found {
            let campaign = timed.campaign
            let others = (sharing[campaign.name] ?? []).filter { $0.campaign.file != campaign.file }.map(\.file)
            guard !others.isEmpty else {
                reading.campaigns.append(campaign)
                reading.sources[campaign.name] = timed.source
                continue
            }
            var mistake = Diagnostic(
                "\(others.joined(separator: ", ")) also \(TextFormat.plural(others.count, one: "has", many: "have")) the name '\(campaign.name)'",
                at: timed.namePlace,
                remedy:
                    "Give each campaign with a schedule a different name. Until then none of these campaigns is sent.")
            // The reader in the console may have no right to see the other ones.
            mistake.plainMessage = "another campaign with times has the name '\(campaign.name)', too"
            reading.mistakes[campaign.file] = Diagnostics(mistake)
        }
    }

    private func unreadable(_ folder: String, _ reading: inout Reading) -> Diagnostic {
        reading.unreadable.formUnion(seen[folder] ?? [])
        var problem =
            FileAccess.problem(folder, .reading, purpose: "a folder of campaigns")
            ?? Diagnostic("this folder cannot be read", file: folder, remedy: "Make sure that it exists.")
        problem.remedy = (problem.remedy.map { $0 + " " } ?? "") + "Until then its campaigns are not sent."
        return problem
    }

    private func isCurrent(_ entry: Memory.Entry, _ file: String, _ now: Timestamp) -> Bool {
        entry.expiry.map { now < $0 } ?? true
            && entry.stamps == stamps(of: file) + [entry.zonePath.flatMap { FileStamp(path: $0) }]
    }

    private func entry(_ file: String, _ path: String, _ now: Timestamp) throws -> Memory.Entry {
        // If the file is written to meanwhile, the next reading sees another stamp.
        let stamps = stamps(of: file)
        let context = try CampaignContext.read(CampaignFile(file, in: choice), now: now)
        var entry = Memory.Entry(stamps: stamps + [nil])
        if case .at(let moment)? = context.campaign.delivery.expiry { entry.expiry = moment }
        guard let schedule = context.campaign.schedule, schedule.hasTimes else { return entry }
        try context.checkPlace(of: catalog)
        let zonePath = ZoneDatabase.system.path(of: schedule.zone.fallback.name)
        (entry.zonePath, entry.stamps[stamps.count]) = (zonePath, FileStamp(path: zonePath))
        entry.timed = .init(
            campaign: .init(
                name: context.campaign.name.value, app: context.app.name.value, file: path, schedule: schedule),
            source: try? CampaignSource(context).digest, namePlace: context.campaign.name.position,
            file: context.campaign.file)
        return entry
    }

    /// Whether a file with mistakes could be meant for times. A file that cannot be read could.
    private static func mayHaveTimes(_ file: String, now: Timestamp) -> Bool {
        guard let bytes = try? FilePaths.read(file, atMost: 1 << 20) else { return true }
        return Campaign.draft(bytes: bytes, file: file, now: now) { _ in [PushServices.standard] }.mayHaveTimes
    }

    /// The campaign files, in the order of arguments and names. A folder that cannot be read is
    /// itself in the list.
    private func files() -> [String] {
        var known: Set<String> = []
        return arguments.flatMap { files(of: $0) ?? [$0] }.filter { known.insert(FilePaths.absolute($0)).inserted }
    }

    /// The campaign files that an argument names; nil if it is a folder that cannot be read.
    private func files(of argument: String) -> [String]? {
        guard folders.contains(argument) else { return [argument] }
        return Self.names(in: argument)?.filter(Self.isCampaign).map { FilePaths.join(argument, name: $0) }
    }

    /// Whether a file of a folder is taken for a campaign, by its name.
    public static func isCampaign(_ name: String) -> Bool {
        (name.hasSuffix(".yaml") || name.hasSuffix(".yml")) && !name.hasPrefix(".") && name != Project.fileName
    }

    private func ignoredFiles() -> [String] {
        let named = Set(arguments.map(FilePaths.absolute))
        let found = arguments.filter(folders.contains).flatMap { folder in
            (Self.names(in: folder) ?? []).filter { name in
                let path = FilePaths.join(folder, name: name)
                guard !name.hasPrefix("."), !Self.isCampaign(name) else { return false }
                if Self.isFolder(path) { return Self.names(in: path)?.contains(where: Self.isCampaign) ?? false }
                // Some editors append .txt.
                return Self.isCampaign(name.lowercased())
                    || name.hasSuffix(".txt") && Self.isCampaign(String(name.dropLast(4)))
            }.map { FilePaths.join(folder, name: $0) }
        }
        return found.filter { !named.contains(FilePaths.absolute($0)) }
    }

    /// The path that identifies a file. Symbolic links stay in it: when the folder behind a link is
    /// replaced, the file stays the same file.
    private func path(_ file: String) -> String { FilePaths.named(file) }

    /// The stamps of each file and of the volley.yaml that applies to it, and of the zones; nil for
    /// a file that does not exist.
    private func stampsNow() -> [String: [FileStamp?]] {
        var stamps = zoneStamps()
        for file in files() {
            stamps[file] = self.stamps(of: file)
        }
        return stamps
    }

    /// Of a file and of its volley.yaml.
    private func stamps(of file: String) -> [FileStamp?] {
        let project = choice.file ?? Project.find(startingAt: FilePaths.folder(of: file))
        return [FileStamp(path: file), project.flatMap { FileStamp(path: $0) }]
    }

    private func zoneStamps() -> [String: [FileStamp?]] {
        let paths = zones.map(ZoneDatabase.system.path)
        return Dictionary(paths.map { ($0, [FileStamp(path: $0)]) }) { first, _ in first }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func names(in folder: String) -> [String]? { try? Folder.names(in: folder) }
}

extension CampaignContext {
    /// Rejects a campaign with another runs folder than that of `volley schedule`: that folder has
    /// another record, and other orders.
    func checkPlace(of catalog: RunsFolder) throws(Diagnostic) {
        let folder = FilePaths.absolute(self.catalog.place)
        guard folder == FilePaths.absolute(catalog.place) else {
            throw Diagnostic(
                "its runs folder is \(folder), but this volley schedule uses \(catalog.place)", file: campaign.file,
                remedy:
                    "Start another volley schedule for this campaign, or name one runs folder for all campaigns with --runs.",
                [.ask(.giveOwnSender)])
        }
    }
}
