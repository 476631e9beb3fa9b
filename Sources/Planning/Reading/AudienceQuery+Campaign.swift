import Audience
import Base
import Campaigns
import Content
import PushServices
import Workspace

/// Compiles an audience as written into a query that can run: lists loaded, paths resolved.
struct AudienceCompiler {
    let audience: CampaignAudience
    /// The campaign file: its paths are relative to it.
    let file: String
    let app: App
    let project: Project
    /// The columns that templates name.
    let fields: [SourceText]
    /// The Live Activity that the campaign is about.
    var activity: ActivityContent?
    /// The zone of dates in the paths of exports; nil for this machine's.
    var zone: ZoneRules?
    /// The files that the campaign may name; nil for every file.
    var roots: ConsoleRoots?

    /// Nothing is read yet; files that the campaign may not name are never read.
    var sources: SourceFiles {
        guard let roots else { return SourceFiles() }
        return SourceFiles { path, descriptor, stamp in
            roots.refusal(ofOpened: path, descriptor: descriptor, stamp: stamp)
        }
    }

    /// - Throws: every list or export that cannot be read, and with them every column that is
    ///   missing.
    func query(now: Timestamp) throws -> AudienceQuery {
        var mistakes: [Diagnostic] = []
        var lists = NameLists()
        var query = AudienceQuery(files: exportFiles(now, &mistakes), columns: app.columns, now: now)
        query.sources = sources
        if audience.devices.isEmpty { query.sources.trust(query.files) }
        query.services = app.services.map(\.service)
        if let activity, app.services.contains(where: { $0.service.rules.activities?.needsToken ?? false }) {
            query.columns = app.columns.reading(activity.tokens)
        }
        query.anyTags = load(audience.anyTags, key: "tags", query.sources, &lists, &mistakes)
        query.allTags = load(audience.allTags, key: "tags", query.sources, &lists, &mistakes)
        query.noneTags = load(audience.noneTags, key: "tags", isChosen: false, query.sources, &lists, &mistakes)
        query.aliases = load(audience.aliases, key: "aliases", query.sources, &lists, &mistakes)
        query.registrationIDs = load(
            audience.registrationIDs, key: "registration_ids", query.sources, &lists, &mistakes)
        query.everyone = audience.everyone
        query.conditions = audience.conditions
        query.excludedTags = load(audience.excludedTags, key: "tags", isChosen: false, query.sources, &lists, &mistakes)
        query.excludedAliases = load(audience.excludedAliases, key: "aliases", query.sources, &lists, &mistakes)
        query.excludedRegistrationIDs = load(
            audience.excludedRegistrationIDs, key: "registration_ids", query.sources, &lists, &mistakes)
        query.excludedDevices = expand(audience.excludedDevices, besideFile: file, now: now, &mistakes)
        query.aliasLimit = audience.aliasLimit
        query.maximumBadRowShare = audience.maximumBadRowShare
        query.fields = fields
        query.places = NamePlaces(
            tags: names(audience.anyTags, audience.allTags, audience.noneTags, audience.excludedTags)
                + lists.places(of: "tags"),
            aliases: names(audience.aliases, audience.excludedAliases) + lists.places(of: "aliases"),
            registrationIDs: names(audience.registrationIDs, audience.excludedRegistrationIDs)
                + lists.places(of: "registration_ids"),
            lists: lists.files)
        (query.listWarnings, query.hashedLines) = (lists.warnings, lists.hashedLines)
        guard mistakes.isEmpty else { throw Diagnostics(mistakes + missingColumns(query)) }
        return query
    }

    /// The files that a query would read, if they exist. Running the query reports what is wrong
    /// with them.
    func inputFiles(now: Timestamp) -> [String] {
        var mistakes: [Diagnostic] = []
        let lists = [
            audience.anyTags, audience.allTags, audience.noneTags, audience.aliases, audience.registrationIDs,
            audience.excludedTags,
            audience.excludedAliases, audience.excludedRegistrationIDs,
        ].compactMap(\.file)
        return (audience.by == nil ? exportFiles(now, &mistakes) : [])
            + expand(audience.excludedDevices, besideFile: file, now: now, &mistakes)
            + lists.map { FilePaths.resolve($0.value, besideFile: file) }
    }

    /// Mistakes in the columns of a query that cannot run, to report together with the others.
    private func missingColumns(_ query: AudienceQuery) -> [Diagnostic] {
        var query = query
        query.excludedDevices = []
        do throws(Diagnostics) {
            if !query.files.isEmpty { _ = try query.checkColumns() }
            return []
        } catch {
            return error.all
        }
    }

    /// The campaign's exports, or the app's; empty if a database is queried.
    private func exportFiles(_ now: Timestamp, _ mistakes: inout [Diagnostic]) -> [String] {
        if deviceQuery != nil {
            if let unknown = unknownDatabase { mistakes.append(unknown) }
            return []
        }
        if !audience.devices.isEmpty { return expand(audience.devices, besideFile: file, now: now, &mistakes) }
        if !app.devices.isEmpty { return expand(app.devices, besideFile: project.file, now: now, &mistakes) }
        var mistake = Diagnostic(
            "no device export is named, either here or for the app '\(app.name.value)' in \(project.file)",
            at: audience.position, remedy: "Write `devices: exports/devices.csv` under `audience`.")
        mistake.plainMessage = "no device export is named, neither by the campaign nor by its app"
        mistakes.append(mistake)
        return []
    }

    private func expand(
        _ paths: [SourceText], besideFile file: String, now: Timestamp, _ mistakes: inout [Diagnostic]
    ) -> [String] {
        var files: [String] = []
        let dates = DatedPath(now: now, zone: zone)
        for path in paths {
            if let mistake = FilePaths.pathMistake(path.value) {
                mistakes.append(Diagnostic(mistake, at: path.position))
                continue
            }
            do {
                let found = try AudienceQuery.expand(paths: [FilePaths.resolve(dates.filled(path), besideFile: file)])
                for missing in found where !FilePaths.exists(missing) {
                    mistakes.append(
                        FilePaths.misencoded(missing).map {
                            Diagnostic("\(missing): \($0.message)", at: path.position, remedy: $0.remedy)
                        }
                            ?? Diagnostic(
                                "there is no file \(missing)", at: path.position,
                                remedy: FilePaths.nearest(to: missing).map { "Did you mean \($0)?" }
                                    ?? "Paths are relative to the file that names them."))
                }
                let kept = found.filter(ProtectedFiles.holds)
                mistakes += kept.map { placed(FileKind.record.refusal($0), at: path.position) }
                let present = found.filter { !kept.contains($0) && FilePaths.exists($0) }
                files += present.map(FilePaths.plain).filter { !files.contains($0) }
            } catch {
                mistakes += Diagnostics(explaining: error).all.map { placed($0, at: path.position) }
            }
        }
        // Of two equally new rows of a device, the one that is read last counts. Sorting by name
        // keeps that independent of the order in which the files are listed.
        return files.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    private func names(_ lists: NameList...) -> [SourceText] { lists.flatMap(\.names) }

    /// - Parameter isChosen: whether the names choose devices, and do not leave them out.
    func load(
        _ list: NameList, key: String, isChosen: Bool = true, _ sources: SourceFiles, _ lists: inout NameLists,
        _ mistakes: inout [Diagnostic]
    ) -> [String] {
        var names = list.names.map(\.value)
        guard let list = list.file else { return names }
        if let mistake = FilePaths.pathMistake(list.value) {
            mistakes.append(Diagnostic(mistake, at: list.position))
            return names
        }
        do {
            let listed = try NameFile.list(FilePaths.resolve(list.value, besideFile: file), noting: sources)
            mistakes += lists.add(listed, key: key, isChosen: isChosen)
            if listed.names.isEmpty { mistakes.append(Self.empty(list, listed, key: key, lists.shown(key))) }
            names += listed.names
        } catch {
            mistakes.append(placed(error, at: list.position))
        }
        return names
    }
}

extension AudienceCompiler {
    /// The campaign's query, or the app's; nil where the devices come from files.
    private var deviceQuery: DeviceQuery? { audience.deviceQuery ?? (audience.devices.isEmpty ? app.deviceQuery : nil) }

    private var unknownDatabase: Diagnostic? {
        guard let query = deviceQuery, project.database(named: query.database.value) == nil else { return nil }
        let (mistake, position) = query.unknownDatabase(among: project.databases, file: project.file)
        return Diagnostic(mistake, at: position)
    }

    /// The query that a database executes; nil if the devices come from files.
    var databaseQuery: DatabaseQuery? {
        guard let query = deviceQuery, let database = project.database(named: query.database.value) else { return nil }
        return DatabaseQuery(
            AudienceDatabase(name: database.name.value, variable: database.variable, seconds: database.timeoutSeconds),
            query.sql)
    }

    private static func empty(_ list: SourceText, _ listed: NameFile.Listed, key: String, _ shown: (String) -> String)
        -> Diagnostic
    {
        guard let first = listed.hashed.first else {
            return Diagnostic("\(list.value) holds no names", at: list.position, remedy: "Write one name per line.")
        }
        return Diagnostic(
            "\(list.value) holds no names: lines that begin with '#' are comments", at: list.position,
            remedy: "If they are names, write them in the campaign: \(key): [\"\(shown(first.value))\", …].")
    }
}

extension CampaignContext {
    private var audienceCompiler: AudienceCompiler {
        AudienceCompiler(
            audience: campaign.audience, file: campaign.file, app: app, project: project, fields: messages.columns,
            activity: campaign.content.activity, zone: campaign.schedule?.zone.fallback, roots: roots)
    }

    /// The exports and lists that the audience is read from.
    func inputFiles(now: Timestamp) -> [String] { audienceCompiler.inputFiles(now: now) }

    /// The database's query instead of exports; nil if the devices come from files.
    var databaseQuery: DatabaseQuery? { audienceCompiler.databaseQuery }

    /// The calls to audiences that a service keeps.
    /// - Throws: every list that cannot be read, and every name of a list that the service cannot
    ///   have.
    func audienceCalls(_ own: OwnAudience) throws -> AudienceCalls { try audienceCompiler.calls(to: own) }

    /// The audience as a query that can run.
    /// - Throws: every list or export that cannot be read, and with them every column that is
    ///   missing.
    func audienceQuery(now: Timestamp) throws -> AudienceQuery {
        var query = try audienceCompiler.query(now: now)
        if let schedule = campaign.schedule, schedule.zone.isRecipient {
            query.timezonePosition = campaign.schedulePosition
        }
        if let schedule = campaign.schedule, schedule.quietHours != nil, !schedule.zone.isRecipient {
            query.quietHoursPosition = campaign.schedulePosition
        }
        (query.comparisons, query.texts) = (messages.comparisons, messages.texts)
        if !campaign.variants.isEmpty, campaign.variantDealing == .alias {
            query.variantsPosition = campaign.variants.first?.name.position
        }
        query.allowed = Set(campaign.allowed.map(\.name))
        return query
    }
}

/// The calls of a campaign whose devices a service chooses.
struct AudienceCalls {
    var calls: [AudienceCall]
    /// Warnings about lists of names in separate files.
    var warnings: [Diagnostic]
    /// The files of lists: each must stay unchanged until the campaign is planned.
    var sources: SourceFiles
}

extension AudienceCompiler {
    /// Further mistakes of one list add nothing.
    private static let mostMistakes = 10

    /// Makes the calls: lists loaded, names checked.
    /// - Throws: every list that cannot be read, and every name of a list that the service cannot
    ///   have.
    func calls(to own: OwnAudience) throws(Diagnostics) -> AudienceCalls {
        guard !audience.everyone else { return AudienceCalls(calls: [.everyone], warnings: [], sources: SourceFiles()) }
        let sources = self.sources
        var (mistakes, lists, chosen): ([Diagnostic], NameLists, [AudienceCall.Selector: [String]]) = (
            [], NameLists(areOfCalls: true), [:]
        )
        for (selector, list) in audience.selectors where !list.isEmpty {
            let names = load(list, key: selector.rawValue, sources, &lists, &mistakes)
            chosen[selector] = names
            guard let kind = own.names(selector), let file = list.file else { continue }
            let places = Dictionary(lists.places(of: selector.rawValue).map { ($0.value, $0.position) }) { first, _ in
                first
            }
            let wrong = names.dropFirst(list.names.count).lazy.compactMap { name in
                kind.mistake(about: name, in: own.service.displayName).map {
                    Diagnostic($0, at: places[name] ?? file.position)
                }
            }
            mistakes += wrong.prefix(Self.mostMistakes)
        }
        guard mistakes.isEmpty else { throw Diagnostics(mistakes) }
        let calls = own.calls(to: chosen)
        // Nothing else shows here whether a comment was meant as a name.
        let comments = lists.hashedLines.compactMap(\.warning)
        return AudienceCalls(calls: calls, warnings: lists.warnings + comments + overlap(calls, own), sources: sources)
    }

    /// A union takes several calls, and the service cannot tell that they belong together.
    private func overlap(_ calls: [AudienceCall], _ own: OwnAudience) -> [Diagnostic] {
        guard own.mayOverlap(calls) else { return [] }
        let kinds = own.names.filter { kind in calls.contains { $0.selector == kind.selector } }.map { kind in
            let count = calls.reduce(0) { $1.selector == kind.selector ? $0 + $1.names.count : $0 }
            return TextFormat.counted(count, one: kind.selector.noun, many: kind.selector.nouns)
        }
        return [
            .warning(
                .mayGetItTwice,
                message:
                    "\(kinds.joined(separator: ", ")) are \(TextFormat.count(calls.count)) calls to \(own.service.displayName): "
                    + "a device that several of them reach gets the push from each",
                at: audience.position,
                remedy:
                    "To be sure, give all these devices one tag in the app, and name that; or let Volley choose the devices of an export."
            )
        ]
    }
}
