import Accounts
import Automation
import Base
import Campaigns
import Glibc
import Planning
import PushServices
import Runs
import Sending
import Workspace

/// `volley doctor`: checks the connection to the service, step by step, without sending to any
/// device.
public enum DoctorCommand {
    /// Checks an app, or all apps of volley.yaml.
    /// - Returns: `done` if nothing failed, else `wrong`.
    public static func run(app name: String?, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        guard let path = options.project.file ?? Project.find(startingAt: ".") else {
            throw Diagnostic(
                "there is no volley.yaml here or above", remedy: "Name one with --config, or run `volley init`.")
        }
        let (project, warnings) = try Project.read(file: path)
        console.show(warnings)
        let apps = try name.map { [try project.app(called: $0)] } ?? project.apps
        var isWell = true
        var documents: [JSONValue] = []
        let context = SendingContext(cancellation: Interruption.process)
        let campaigns = campaigns(of: project, options)
        for (app, number) in apps.flatMap({ app in app.services.indices.map { (app, $0) } }) {
            let account = app.services[number]
            var steps = ServiceCheck(app: app, project: project, service: number, now: .now(), context: context).steps()
            if account.service.ownAudience?.broadcasts != nil {
                steps += channelSteps(app, project, campaigns, isWell: steps.failures == 0, context)
            }
            let failed = steps.failures
            isWell = isWell && failed == 0
            if options.isJSON {
                documents.append(
                    .object(pairs: [
                        ("app", .string(app.name.value)), ("service", .string(account.service.name)),
                        ("environment", .string(account.destination)),
                        ("topic", .string(SecretText.hidden(in: account.topic.value))),
                        ("ok", .bool(failed == 0)), ("steps", .array(steps.map(\.json))),
                    ]))
            } else {
                try console.out(text(app, account, steps, failed: failed, console))
            }
        }
        let (areWell, databases) = try checkDatabases(of: apps, named: name, project, options, console)
        isWell = isWell && areWell
        let files = try checkFiles(of: project, options, console)
        isWell = isWell && files.failures == 0
        let store = try checkStore(of: project, options, console)
        isWell = isWell && store?.failures ?? 0 == 0
        if !options.isJSON {
            try console.out(
                isWell
                    ? "Nothing is wrong." : "Something is wrong: each line that begins with 'failed' says what to do.")
        } else {
            try console.out(
                .object(
                    pairs: [("ok", .bool(isWell)), ("apps", .array(documents))]
                        + (databases.isEmpty ? [] : [("databases", .array(databases))])
                        + (files.isEmpty ? [] : [("files", .array(files.map(\.json)))])
                        + (store.map { [("store", StoreCommand.document($0))] } ?? [])))
        }
        return isWell ? .done : .wrong
    }

    /// The campaigns next to volley.yaml, and those of `volley schedule`.
    private static func campaigns(of project: Project, _ options: CommonOptions) -> [CampaignDraft] {
        let folder = FilePaths.folder(of: project.file)
        let own = ((try? Folder.names(in: folder)) ?? []).filter(ScheduleFiles.isCampaign).map {
            FilePaths.join(folder, name: $0)
        }
        let scheduled = ((try? project.catalog(options.project).schedule.read().campaigns) ?? []).map(\.file)
        var known: Set<String> = []
        return (own + scheduled.sorted()).filter {
            known.insert(FilePaths.absolute($0)).inserted && FilePaths.exists($0)
        }.map { file in
            Campaign.draft(file: file, now: .now()) {
                project.app(named: $0)?.services.map(\.service) ?? [PushServices.standard]
            }
        }
    }

    /// Whether the broadcast channels exist that campaigns of an app name.
    private static func channelSteps(
        _ app: App, _ project: Project, _ campaigns: [CampaignDraft], isWell: Bool, _ context: SendingContext
    ) -> [CheckStep] {
        var ids: [String] = []
        for draft in campaigns where draft.app?.value == app.name.value {
            if let id = draft.audience?.channel?.value, !ids.contains(id) { ids.append(id) }
        }
        guard !ids.isEmpty else { return [] }
        guard isWell else { return [.skipped("channel", message: "asked only when no other step fails")] }
        do {
            let channels = try Channels(of: app, in: project, at: .now(), context)
            return ids.map(channels.step)
        } catch {
            return [.skipped("channel", message: Diagnostic(explaining: error).message)]
        }
    }

    /// Checks all databases of volley.yaml, or that of a named app.
    private static func checkDatabases(
        of apps: [App], named name: String?, _ project: Project, _ options: CommonOptions, _ console: Console
    ) throws -> (areWell: Bool, documents: [JSONValue]) {
        let asked = Set(apps.compactMap { $0.deviceQuery?.database.value })
        var areWell = true
        var documents: [JSONValue] = []
        for database in project.databases where name == nil || asked.contains(database.name.value) {
            let step = try DatabaseCheck(database, Interruption.process).step()
            let isWell = step.state != .failed
            areWell = areWell && isWell
            documents.append(
                .object(pairs: [
                    ("database", .string(database.name.value)), ("ok", .bool(isWell)), ("steps", .array([step.json])),
                ]))
            if !options.isJSON {
                try console.out(StepsText.text("\(database.name.value): a database", [step], console))
            }
        }
        return (areWell, documents)
    }

    /// So long it begins to read whole run files: a run of 10 million devices takes 4 s.
    private static let secondsForPages = 60.0

    /// Looks for files that this user cannot read, write or start, for damaged runs, and for
    /// mistakes in lists and files of scheduled campaigns, whichever app was named: the runs and
    /// their records are those of all apps.
    /// - Returns: the problems, and what was not read; empty without any.
    private static func checkFiles(of project: Project, _ options: CommonOptions, _ console: Console) throws
        -> [CheckStep]
    {
        let catalog = project.catalog(options.project)
        var inspection = ProjectInspection(project, catalog), ofCampaigns = CampaignInspection()
        var ofAccounts = AccountInspection(beside: catalog.place)
        let unread = inspection.pages.read(catalog, atMost: secondsForPages, until: Interruption.process)
        let found = inspection.obstacles() + [ofAccounts.obstacle()].compactMap(\.self)
        // The record of `volley schedule` has the campaigns that it was started with.
        let campaigns = ((try? catalog.schedule.read().campaigns) ?? []).map(\.file).filter {
            // A removed file is no longer a campaign; one that cannot be looked up may be one.
            FilePaths.exists($0) || FileAccess.lookupProblem($0) != nil
        }.sorted()
        let mistakes = ofCampaigns.obstacles(
            to: campaigns.map { CampaignFile($0, in: options.project) }, besides: found, now: .now())
        var steps = (found + mistakes).map { CheckStep.failed("file", $0) }
        if !unread.isEmpty, !Interruption.process.isRequested {
            let runs = TextFormat.counted(unread.count, one: "older run")
            steps.append(
                .skipped(
                    "file",
                    message:
                        "\(runs) not read for damage, as that takes longer than a minute: `volley backup` reads all of them"
                ))
        }
        if !steps.isEmpty, !options.isJSON {
            try console.out(
                StepsText.text("Files, as \(FileAccess.name(ofUser: geteuid())) finds them", steps, console))
        }
        return steps
    }

    /// Checks the store, whichever app was named: a run of any app may go through it.
    /// - Returns: nil if volley.yaml has none.
    private static func checkStore(of project: Project, _ options: CommonOptions, _ console: Console) throws
        -> [CheckStep]?
    {
        guard let settings = project.store else { return nil }
        let steps = try StoreSetup(settings, Interruption.process).check()
        if !options.isJSON { try console.out(StoreCommand.text(steps, console)) }
        return steps
    }

    private static func text(
        _ app: App, _ account: AppService, _ steps: [CheckStep], failed: Int, _ console: Console
    ) -> String {
        let service = app.services.count > 1 ? "\(account.service.displayName), " : ""
        let well = "No step failed; nothing was sent."
        return StepsText.text(
            "\(app.name.value): \(service)\(SecretText.hidden(in: account.topic.value)), \(account.destination)", steps,
            console,
            end: failed == 0 ? well : "\(failed) \(TextFormat.plural(failed, one: "step")) failed; nothing was sent.")
    }
}

extension Project {
    /// The app with a name.
    /// - Throws: a `Diagnostic` with the nearest name.
    func app(called name: String) throws(Diagnostic) -> App {
        if let app = app(named: name) { return app }
        let names = apps.map(\.name.value)
        let nearest = nearestName(to: name, among: names).map { "Did you mean '\($0)'?" }
        throw Diagnostic(
            "there is no app '\(name)'", file: file, remedy: nearest ?? "It has: \(names.joined(separator: ", ")).")
    }

    /// The app with a name, or the only app.
    /// - Throws: a `Diagnostic` that names the apps.
    func app(calledOrOnly name: String?) throws(Diagnostic) -> App {
        if let name { return try app(called: name) }
        if apps.count == 1 { return apps[0] }
        throw Diagnostic(
            "volley.yaml has several apps", file: file,
            remedy: "Name one with --app: \(apps.map(\.name.value).joined(separator: ", ")).")
    }
}

/// Steps of a check as people read them.
enum StepsText {
    /// Steps below a title.
    /// - Parameter end: the last line; nil for none.
    static func text(_ title: String, _ steps: [CheckStep], _ console: Console, end: String? = nil) -> String {
        var lines = [title]
        let names = steps.map(\.name.count).max() ?? 0
        for step in steps {
            let mark = TextFormat.padded(step.state.rawValue, to: 7)
            let colour = ["ok": "32", "failed": "31"][step.state.rawValue]
            let shown = console.colour ? colour.map { "\u{1B}[\($0)m\(mark)\u{1B}[0m" } ?? mark : mark
            lines.append("  \(shown)  \(TextFormat.padded(step.name, to: names))  \(step.message)")
            if let remedy = step.remedy { lines.append(String(repeating: " ", count: names + 13) + remedy) }
        }
        return (lines + (end.map { [$0] } ?? [])).joined(separator: "\n")
    }
}

extension [CheckStep] {
    /// How many of them failed.
    var failures: Int { count { $0.state == .failed } }
}
