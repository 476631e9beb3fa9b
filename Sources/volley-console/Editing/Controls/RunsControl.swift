import Accounts
import Base
import Campaigns
import Glibc
import Reports
import Runs

/// Not to the devices that got a run of the app: boxes for the last ones. A campaign leaves out the
/// devices of files, so their list is written next to it when the campaign is saved, or when a
/// person has it counted.
enum RunsControl {
    static let path = ["audience", "exclude", "devices"]
    /// A mark with the runs that the form offered: unchecked boxes are not sent.
    private static let offered = "exclude.runs"
    private static func box(_ run: String) -> String { "\(offered).\(run)" }
    /// How many runs are offered.
    private static let most = 8
    /// The folder of lists. It is not the campaign's own, where a pattern for exports may take them
    /// for one.
    private static let folder = "reached"

    private static func list(of run: String) -> String { "\(folder)/\(run).csv" }

    /// The runs whose lists a source leaves out.
    private static func runs(in edit: YAMLEdit) -> [String] {
        files(in: edit).compactMap { file in
            guard file.hasPrefix(folder + "/"), file.hasSuffix(".csv") else { return nil }
            let run = String(file.dropFirst(folder.count + 1).dropLast(4))
            return list(of: run) == file && !run.contains("/") ? run : nil
        }
    }

    private static func files(in edit: YAMLEdit) -> [String] {
        TagsControl.list(CampaignForm.text(of: (try? edit.value(at: path)) ?? nil))
    }

    /// The runs of an app whose devices are known, and will not be others: newest first.
    private static func known(_ app: String?, _ visit: Visit, _ site: Site) throws -> [RunSummary] {
        guard let app, visit.may(.readReports, app: app) else { return [] }
        return try site.archive.listing().runs.filter { run in
            run.app == app && run.state.hasEnded && (run.state != .stopped || run.left == 0) && !run.isTest
                && !run.isPruned && !run.isHeld
                && !run.isOfCalls && run.reached > 0
        }
    }

    static func html(_ context: ComposerContext) -> HTML {
        let held = Set(runs(in: context.edit)), typed = context.trial.typed
        let known = (try? known(context.item.app, context.visit, context.site)) ?? []
        let shown = known.prefix(most) + known.dropFirst(most).filter { held.contains($0.id) }
        guard !shown.isEmpty else { return "" }
        let boxes: [HTML] = shown.map { run in
            let isChecked = typed[offered] == nil ? held.contains(run.id) : typed[box(run.id)] != nil
            let again: HTML = run.retryOf == nil ? "" : ", a retry"
            let note: HTML =
                "<span class=\"note\">\(TextFormat.devices(run.reached)), \(Words.moment(run.startedAt ?? run.plannedAt))\(again)</span>"
            return GroupInput.box("\(run.campaign)", name: box(run.id), value: "1", isChecked: isChecked, note: note)
        }
        return """
            <fieldset class="field controls runs" id="\(offered)"><legend>Not to devices that got one of these runs</legend>
            <input type="hidden" name="\(offered)" value="\(shown.map(\.id).joined(separator: " "))">
            <div class="boxes">\(boxes)</div>
            <p class="note">Devices of which that is not known are left out, too.</p></fieldset>
            """
    }

    /// Writes which lists are left out. Other files stay, and so do lists whose box is as it was:
    /// the field of files may have changed them.
    /// - Parameter page: the source that the form was made from.
    static func apply(_ form: [String: String], to edit: inout YAMLEdit, of page: YAMLEdit) -> [String: Mistake] {
        guard let shown = form[offered]?.split(separator: " ").map(String.init) else { return [:] }
        let held = files(in: edit), checked = Set(runs(in: page))
        let removed = Set(shown.filter { checked.contains($0) && form[box($0)] == nil }.map(list))
        let added = shown.filter { !checked.contains($0) && form[box($0)] != nil }.map(list)
        let files = held.filter { !removed.contains($0) } + added.filter { !held.contains($0) }
        guard files != held else { return [:] }
        do throws(Mistake) { try edit.set(files.isEmpty ? nil : .list(files), at: path) } catch {
            return [path.joined(separator: "."): error]
        }
        return [:]
    }

    // MARK: - The lists

    /// The time that the list of a run has as a file: the run's end, so that a list of an earlier
    /// end is told from it by any machine's clock.
    private static func stamp(_ run: RunSummary) -> Timestamp { run.finishedAt ?? run.startedAt ?? run.plannedAt }

    private static func isListed(_ run: RunSummary, beside item: CampaignCache.Item) -> Bool {
        var status = stat()
        guard stat(FilePaths.resolve(list(of: run.id), besideFile: item.path), &status) == 0 else { return false }
        let time = status.st_mtim
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000 == stamp(run).epochMilliseconds
    }

    /// The runs whose lists a text leaves out and that are not there yet.
    private static func unlisted(_ edit: YAMLEdit, _ item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws
        -> [RunSummary]
    {
        let named = runs(in: edit)
        guard !named.isEmpty else { return [] }
        return try known(item.app, visit, site).filter { named.contains($0.id) && !isListed($0, beside: item) }
    }

    /// Makes the lists that a text leaves out, once for each end of a run.
    /// - Throws: `Diagnostic`, `FileError`: a run cannot be read, or the disk is full.
    static func writeLists(of edit: YAMLEdit, _ item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws {
        for run in try unlisted(edit, item, visit, site) {
            let place = FilePaths.resolve(list(of: run.id), besideFile: item.path)
            try FilePaths.makeFolder(FilePaths.folder(of: place), mode: 0o700)
            let file = try AtomicFile(place, isPrivate: true), opened = try site.catalog.open(run.id)
            defer { opened.close() }
            var filter = ReportCSV.Filter()
            (filter.outcomes, filter.hasOnlyTargets) = ([.accepted, .unknown], true)
            try ReportCSV.write(opened, filter) { try file.write($0) }
            try file.finish()
            let end = stamp(run).epochMilliseconds
            let time = timespec(tv_sec: Int(end / 1000), tv_nsec: Int(end % 1000) * 1_000_000)
            // A list without that time is only written again.
            utimensat(AT_FDCWD, place, [time, time], 0)
        }
    }

    /// A text as it can be counted now: without the lists that are written when it is saved or
    /// *Count* is pressed.
    /// - Returns: also the runs whose devices are not left out of that count.
    static func countable(_ edit: YAMLEdit, _ item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws -> (
        edit: YAMLEdit, unlisted: [RunSummary]
    ) {
        let missing = try unlisted(edit, item, visit, site), lists = Set(missing.map { list(of: $0.id) })
        guard !missing.isEmpty else { return (edit, []) }
        var edit = edit
        let rest = files(in: edit).filter { !lists.contains($0) }
        do throws(Mistake) { try edit.set(rest.isEmpty ? nil : .list(rest), at: path) } catch { return (edit, []) }
        return (edit, missing)
    }

    /// Says that devices are counted that will be left out; blank without such runs.
    static func note(_ unlisted: [RunSummary]) -> HTML {
        guard !unlisted.isEmpty else { return "" }
        let names: [HTML] = unlisted.map {
            "<li dir=\"auto\">\($0.campaign), \(Words.moment($0.startedAt ?? $0.plannedAt))</li>"
        }
        return """
            <p class="note doubt">The devices of these runs are not left out of the count yet:</p><ul>\(names)</ul>
            <p><button form="composer" name="\(CampaignForm.counts)" value="1">Count without them</button></p>
            """
    }
}
