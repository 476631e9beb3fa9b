import Automation
import Base
import Campaigns
import Planning
import PushServices
import Runs
import Synchronization
import Workspace

/// The campaign files of the folder that is served, remembered until one of them changes.
final class CampaignCache: Sendable {
    /// A campaign file.
    struct Item: Sendable {
        /// Its name in the folder, as in addresses of pages.
        var file: String
        var path: String
        /// The campaign's name; nil if a mistake makes it unreadable.
        var name: String?
        /// As written; nil when it cannot be read.
        var app: String?
        var description: String?
        /// Whether it has times of its own.
        var isScheduled: Bool
        /// Mistakes that show without reading exports, in the order of the file.
        var mistakes: [Diagnostic]
    }

    private struct Entry {
        var stamp: FileStamp
        var projectStamp: FileStamp?
        /// When it was read, in minutes since 1970.
        var minute: Int64
        var item: Item
    }

    private struct Memory {
        var entries: [String: Entry] = [:]
        var schedule: (key: ScheduleKey, list: ScheduleList)?
    }

    /// The data behind the coming times. They are computed again every minute, as the clock moves.
    private struct ScheduleKey: Hashable {
        var files: [String: FileStamp]
        var project: FileStamp?
        var record: [FileStamp?]
        var isAtWork: Bool
        var minute: Int64
    }

    let folder: String
    let choice: ProjectChoice
    /// What was read of the files with times.
    let times = ScheduleFiles.Memory()
    private let catalog: RunsFolder
    private let memory = Mutex(Memory())

    /// - Parameter folder: the one that `volley serve` names.
    init(folder: String, choice: ProjectChoice, catalog: RunsFolder) {
        (self.folder, self.choice, self.catalog) = (folder, choice, catalog)
    }

    /// All campaigns of the folder, by their files' names.
    /// - Throws: `Diagnostic`: the folder cannot be read.
    func items(project: Project, now: Timestamp) throws -> [Item] {
        let stamps = try stamps()
        let projectStamp = FileStamp(path: project.file)
        return memory.withLock { memory in
            memory.entries = memory.entries.filter { stamps[$0.key] != nil }
            for (name, stamp) in stamps {
                // A mistake may be in another place: in the time zone database, for example.
                if let entry = memory.entries[name], entry.stamp == stamp, entry.projectStamp == projectStamp,
                    entry.item.mistakes.isEmpty || entry.minute == now.epochSeconds / 60
                {
                    continue
                }
                memory.entries[name] = Entry(
                    stamp: stamp, projectStamp: projectStamp, minute: now.epochSeconds / 60,
                    item: item(name, project, now))
            }
            return memory.entries.values.map(\.item).sorted { $0.file < $1.file }
        }
    }

    /// The coming and the last times of all campaigns with a schedule.
    /// - Throws: `Diagnostic`: the folder or the schedule's record cannot be read.
    func schedule(project: Project, now: Timestamp) throws -> ScheduleList {
        let records = catalog.schedule
        let key = ScheduleKey(
            files: try stamps(), project: FileStamp(path: project.file), record: records.stamp,
            isAtWork: records.isAtWork,
            minute: now.epochSeconds / 60)
        if let known = memory.withLock({ $0.schedule }), known.key == key { return known.list }
        let saved = try records.read(since: now.adding(seconds: -ScheduleList.daysBack * 86_400))
        let list = ScheduleList(
            try ScheduleFiles([folder], catalog: catalog, in: choice, memory: times).read(now: now), saved: saved,
            isAtWork: key.isAtWork, here: ZoneDatabase.system.displayZone, now: now,
            needsApproval: { project.app(named: $0)?.needsApproval ?? false })
        memory.withLock { $0.schedule = (key, list) }
        return list
    }

    /// The next times of one campaign, as its file says them now; fewer than `count` when it has no
    /// more.
    func nextTimes(of item: Item, count: Int, project: Project, now: Timestamp) throws -> [ScheduleList.Time] {
        let records = catalog.schedule
        let saved = try records.read(since: now.adding(seconds: -ScheduleList.daysBack * 86_400))
        let reading = try ScheduleFiles([item.path], catalog: catalog, in: choice, memory: times).read(now: now)
        var times: [ScheduleList.Time] = []
        // The times of most rules come soon; those of others, and a distant moment, can be years
        // away.
        for days in [2.0, 40, 400, 40_000] where times.count < count {
            let list = ScheduleList(
                reading, saved: saved, isAtWork: records.isAtWork, here: ZoneDatabase.system.displayZone, now: now,
                daysAhead: days,
                needsApproval: { project.app(named: $0)?.needsApproval ?? false })
            times = list.times.filter {
                $0.campaign == item.name && $0.file != nil && $0.ends > now && $0.state?.isOpen ?? true
            }
        }
        return Array(times.prefix(count))
    }

    /// Entries with the name of a campaign file that are not files: folders, pipes, broken links.
    /// Each with its remedy.
    func unreadable() throws -> [Diagnostic] {
        try Folder.names(in: folder).filter(ScheduleFiles.isCampaign).sorted().compactMap { name in
            let kind = FileKind(path: FilePaths.join(folder, name: name))
            if kind == .regular { return nil }
            return Diagnostic(
                "\(TextFormat.inLine(name)) is \(kind?.text ?? "a link that leads nowhere, or a file that Volley may not read"), not a campaign file",
                remedy: "Have it renamed or removed: campaigns are read only from files of the folder itself.")
        }
    }

    /// Why a campaign is not sent at its times, apart from mistakes in its own file: for example,
    /// another campaign has the same name.
    func hindrances(project: Project, now: Timestamp) throws -> [String: [Diagnostic]] {
        // Today and the calendar report problems with the record of times; campaigns can still be
        // edited.
        guard let mistakes = try? schedule(project: project, now: now).mistakes else { return [:] }
        return try items(project: project, now: now).reduce(into: [:]) { found, item in
            guard item.mistakes.isEmpty, let all = mistakes[FilePaths.named(item.path)]?.all, !all.isEmpty else {
                return
            }
            found[item.file] = all
        }
    }

    private func stamps() throws -> [String: FileStamp] {
        let names: [String]
        do throws(FileError) { names = try Folder.names(in: folder) } catch {
            throw Diagnostic(
                "this folder cannot be read", file: folder,
                remedy: "Make sure that it exists and that Volley may read it.")
        }
        return names.filter(ScheduleFiles.isCampaign).reduce(into: [:]) { stamps, name in
            let path = FilePaths.join(folder, name: name)
            // An entry that is not a file has no text to show, and reading a named pipe would never
            // end. `unreadable` lists such entries.
            guard FileKind(path: path) == .regular else { return }
            stamps[name] = FileStamp(path: path)
        }
    }

    private func item(_ name: String, _ project: Project, _ now: Timestamp) -> Item {
        let path = FilePaths.join(folder, name: name)
        let draft = Campaign.draft(file: path, now: now) { app in
            project.app(named: app)?.services.map(\.service) ?? [PushServices.standard]
        }
        return Item(
            file: name, path: path, name: draft.campaign?.name.value, app: draft.app?.value,
            description: draft.campaign?.description,
            isScheduled: draft.campaign?.schedule?.hasTimes ?? false,
            mistakes: draft.findings.filter { $0.severity == .error })
    }
}
