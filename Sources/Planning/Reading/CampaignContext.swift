import Audience
package import Base
package import Campaigns
import Content
import Cryptography
import Glibc
import PushServices
package import Runs
public import Workspace

/// A campaign with everything it refers to, read and checked. Every command about a campaign starts
/// here.
package struct CampaignContext {
    package var campaign: Campaign
    package var project: Project
    package var app: App
    var messages: MessageCatalog
    var warnings: [Diagnostic]
    /// Where its runs are kept.
    package var catalog: RunsFolder
    /// The files that it may name; nil for every file.
    var roots: ConsoleRoots?

    /// The audiences of the service that chooses the devices; nil if Volley does.
    var ownAudience: OwnAudience? { campaign.audience.ownAudience }

    /// Reads a campaign file and its volley.yaml.
    /// - Parameter isTest: whether it goes to the app's test devices, which are devices also where
    ///   a service chooses those of the audience.
    /// - Throws: every mistake of both at once.
    package static func read(_ named: CampaignFile, now: Timestamp, isTest: Bool = false) throws -> CampaignContext {
        let file = named.path
        var (projectMistakes, projectWarnings): ([Diagnostic], [Diagnostic]) = ([], [])
        let project = project(of: named, &projectMistakes, &projectWarnings)
        // With the catalog, none of its records is taken for a list or an export.
        let catalog = project?.catalog(named.project)
        let services = { (name: String) in project?.app(named: name)?.services.map(\.service) ?? [PushServices.standard]
        }
        let draft =
            named.text.map { Campaign.draft(text: $0, file: file, now: now, services: services) }
            ?? Campaign.draft(file: file, now: now, services: services)
        let roots = named.isConfined ? project.map { ConsoleRoots($0, named.project) } : nil
        // No file that it names is checked before this.
        if let roots, let audience = draft.audience {
            let foreign = roots.mistakes(in: audience, of: file, zone: draft.campaign?.schedule?.zone.fallback, at: now)
            guard foreign.isEmpty else { throw Diagnostics(foreign) }
        }
        var mistakes = draft.findings.filter { $0.severity == .error } + projectMistakes
        var warnings = draft.findings.filter { $0.severity == .warning } + projectWarnings
        let app = project.flatMap { project in
            draft.app.flatMap { name in
                let app = project.app(named: name.value)
                if app == nil { mistakes.append(unknownApp(name, in: project)) }
                guard let app, let by = draft.audience?.by else { return app }
                return (isTest ? app.sending(through: by.value) : app.sending(toAudiencesOf: by.value)) ?? app
            }
        }
        let messages = draft.content.flatMap { content in
            // Places that the campaign's reader has already reported are not reported again. Nor is
            // what is missing in content with a mistake on its first line: {titel: Hi} does have a
            // title, only misspelt.
            let start = content.position
            let startsWrong = mistakes.contains {
                $0.position?.line == start.line && ($0.position?.column ?? 0) > start.column
            }
            let known = Set(mistakes.compactMap(\.position) + (startsWrong ? [start] : []))
            var found: [Diagnostic] = []
            let messages = collect(&found, &warnings) { () throws(Diagnostics) in
                let messages = try MessageCatalog(
                    content, for: app?.services.map(\.service) ?? [PushServices.standard], variants: draft.variants,
                    campaign: draft.campaign?.name.value ?? "",
                    dealing: draft.campaign?.variantDealing ?? .alias,
                    tracking: draft.campaign.flatMap { PushTracking($0) })
                return (messages, messages.warnings)
            }
            mistakes += found.filter { $0.position.map { !known.contains($0) } ?? true }
            if let own = draft.audience?.ownAudience { mistakes += placeholders(in: messages, own) }
            warnings += TextReadiness.days(in: messages?.texts ?? [], now: now, sending: draft.campaign?.schedule?.at)
            return messages
        }
        guard mistakes.isEmpty, let campaign = draft.campaign, let project, let catalog, let messages, let app else {
            if let project, let app, var compiler = audience(draft, file: file, project, app, messages) {
                compiler.roots = roots
                mistakes += audienceMistakes(compiler, now: now)
            }
            throw Diagnostics(mistakes)
        }
        var context = CampaignContext(
            campaign: campaign, project: project, app: app, messages: messages,
            warnings: warnings + ServiceLint(app: app).environments,
            catalog: catalog, roots: roots)
        context.warnings += MakerLint(context)?.warningsOfFiles ?? []
        return context
    }

    /// Mistakes of texts that would differ from device to device, where a service chooses the
    /// devices.
    private static func placeholders(in messages: MessageCatalog?, _ own: OwnAudience) -> [Diagnostic] {
        (messages?.columns ?? []).map { column in
            own.broadcasts != nil
                ? Diagnostic(
                    "'\(column.value)' differs from device to device, but a broadcast is the same for all phones of its channel",
                    at: column.position, remedy: "Write the same text for all.")
                : Diagnostic(
                    "'\(column.value)' differs from device to device, but \(own.service.displayName) chooses the devices",
                    at: column.position,
                    remedy:
                        "Write the same text for all; or remove 'by' under 'audience', so that Volley chooses the devices of an export."
                )
        }
    }

    /// The audience of a campaign that has mistakes elsewhere; nil if it has none that can be read.
    private static func audience(
        _ draft: CampaignDraft, file: String, _ project: Project, _ app: App, _ messages: MessageCatalog?
    ) -> AudienceCompiler? {
        guard let audience = draft.audience else { return nil }
        let fields =
            messages?.columns
            ?? draft.content.map {
                MessageCatalog.columns(of: $0, for: app.services.map(\.service), variants: draft.variants)
            } ?? []
        return AudienceCompiler(
            audience: audience, file: file, app: app, project: project, fields: fields,
            activity: draft.content?.activity)
    }

    /// Mistakes in the lists, exports and columns of an audience.
    private static func audienceMistakes(_ compiler: AudienceCompiler, now: Timestamp) -> [Diagnostic] {
        do {
            if compiler.audience.by == nil {
                _ = try compiler.query(now: now).checkColumns()
            } else if let own = compiler.audience.ownAudience {
                _ = try compiler.calls(to: own)
            }
            return []
        } catch {
            return Diagnostics(explaining: error).all
        }
    }

    /// Without its folder, a campaign has no volley.yaml either, and naming one would not help.
    static func noProject(of campaign: String, remedy: String) -> Diagnostic {
        let folder = FilePaths.folder(of: campaign)
        guard FilePaths.exists(folder) else {
            return Diagnostic(
                "the folder of this campaign is not there", file: campaign,
                remedy: "Put it back, or name the place where the campaign is now.")
        }
        return Diagnostic(
            "there is no volley.yaml in this campaign's folder or above it", file: campaign, remedy: remedy)
    }

    private static func project(
        of campaign: CampaignFile, _ mistakes: inout [Diagnostic], _ warnings: inout [Diagnostic]
    ) -> Project? {
        guard let path = campaign.project.file ?? Project.find(startingAt: FilePaths.folder(of: campaign.path)) else {
            mistakes.append(noProject(of: campaign.path, remedy: "Name one with --config, or run `volley init`."))
            return nil
        }
        return collect(&mistakes, &warnings) { () throws(Diagnostics) in try Project.read(file: path) }
    }

    private static func collect<Value>(
        _ mistakes: inout [Diagnostic], _ warnings: inout [Diagnostic],
        _ read: () throws(Diagnostics) -> (Value, [Diagnostic])
    ) -> Value? {
        do throws(Diagnostics) {
            let (value, found) = try read()
            warnings += found
            return value
        } catch {
            mistakes += error.all
            return nil
        }
    }

    private static func unknownApp(_ name: SourceText, in project: Project) -> Diagnostic {
        let names = project.apps.map(\.name.value)
        let remedy =
            nearestName(to: name.value, among: names).map { "Did you mean '\($0)'?" }
            ?? "It has: \(names.joined(separator: ", "))."
        return Diagnostic("there is no app '\(name.value)' in \(project.file)", at: name.position, remedy: remedy)
    }

    /// Checks that there is a route from this machine to the servers of all services.
    func checkRoutes(_ settings: RunSettings) throws(Diagnostic) {
        for service in settings.services {
            _ = try ProxyRoute(app.proxy, to: service.environment, tokens: service.service.account.tokenExchange)
        }
    }

    /// All caps that apply: the campaign's and the app's.
    var frequencyCaps: [FrequencyCap] { [campaign.delivery.frequency, app.frequency].compactMap { $0 } }
}

/// A campaign's file, and the project that it belongs to, if one was named.
///
/// ```swift
/// let campaign = CampaignFile("campaigns/spring-sale.yaml", in: ProjectChoice(runs: "runs"))
/// ```
public struct CampaignFile: Sendable {
    /// Its path.
    public var path: String
    /// The new content of the file, if it is not saved yet; nil for the present content.
    public var text: String?
    /// Which volley.yaml and which folder of runs to use.
    public var project: ProjectChoice
    /// Whether it names only files that the console may read (`ConsoleRoots`): if a browser shows
    /// their content, or a person without an account on the machine wrote the campaign.
    public var isConfined = false

    /// A campaign file.
    public init(_ path: String, text: String? = nil, in project: ProjectChoice = ProjectChoice()) {
        self.path = path
        self.text = text
        self.project = project
    }
}

/// The credentials that sending a campaign needs.
extension CampaignContext {
    /// Checks the credentials of a run that will be sent.
    /// - Returns: warnings about them, also that those of one of several services cannot be used,
    ///   so that only the others are sent to.
    /// - Throws: `Diagnostic`: those of no service can be used.
    func credentialWarnings(_ settings: RunSettings, now: Timestamp) throws -> [Diagnostic] {
        var warnings: [Diagnostic] = [], mistakes: [(service: any PushService, mistake: Diagnostic)] = []
        for number in settings.services.indices {
            do {
                warnings += try placingCredentials(ofService: settings.services[number].service) {
                    try AppCredentials.check(settings, ofService: number, now: now)
                }
            } catch let mistake as Diagnostic { mistakes.append((settings.services[number].service, mistake)) }
        }
        if mistakes.count == settings.services.count, let first = mistakes.first { throw first.mistake }
        return warnings + mistakes.map { .credentialsUnusable($0.mistake, of: $0.service) }
    }

    /// Checks the credentials of all services of a run.
    /// - Returns: warnings about them.
    /// - Throws: `Diagnostic`: some cannot be used.
    func checkCredentials(_ settings: RunSettings, now: Timestamp) throws -> [Diagnostic] {
        try settings.services.indices.flatMap { number in
            try placingCredentials(ofService: settings.services[number].service) {
                try AppCredentials.check(settings, ofService: number, now: now)
            }
        }
    }

    /// Checks the files of certificate authorities that volley.yaml names elsewhere: for other
    /// apps, notices, signing in to the console. A file for another app that is not on this machine
    /// is not needed here.
    /// - Throws: `Diagnostics`: those that cannot be used.
    func checkAuthorities(now: Timestamp) throws(Diagnostics) {
        let others = project.apps.flatMap(\.services).compactMap { service -> SourceText? in
            if case .server(_, let authority?) = service.environment { authority } else { nil }
        }
        let optional = others + [project.console?.provider?.certificateAuthority].compactMap(\.self)
        let needed = (project.notices + app.notices).compactMap { target -> SourceText? in
            if case .webhook(_, _, let authority?) = target.way { authority } else { nil }
        }
        var mistakes: [Diagnostic] = [], seen: Set<String> = []
        for (isNeeded, name) in needed.map({ (true, $0) }) + optional.map({ (false, $0) }) {
            let path = FilePaths.anchored(FilePaths.resolve(name.value, besideFile: project.file))
            guard isNeeded || FilePaths.exists(path), seen.insert(path).inserted else { continue }
            do throws(Diagnostic) { try CertificateAuthorityFile.check(path, now: now) } catch {
                mistakes.append(placed(error, at: name.position))
            }
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
    }

    /// Places a mistake of a key, certificate or authority where volley.yaml names that file.
    private func placingCredentials<Result>(ofService service: any PushService, _ body: () throws -> Result) throws
        -> Result
    {
        do {
            return try body()
        } catch let mistake as Diagnostic {
            // Only a mistake in a variable's content belongs to no file.
            let services = app.services.filter { $0.service.accountName == service.accountName }
            let variables = services.compactMap { $0.credential?[$0.credentialForm?.variable] }
            if mistake.file == nil, let variable = variables.first { throw placed(mistake, at: variable.position) }
            let names = services.flatMap { service in
                var names = service.credentialForm?.files.compactMap { service.credential?[$0] } ?? []
                if case .server(_, let authority?) = service.environment { names.append(authority) }
                return names
            }
            let place = names.first {
                FilePaths.anchored(FilePaths.resolve($0.value, besideFile: project.file)) == mistake.file
            }
            throw place.map { placed(mistake, at: $0.position) } ?? mistake
        }
    }
}

/// A mistake of a whole file is placed where the campaign or volley.yaml names that file; one
/// inside the file keeps its place.
package func placed(_ mistake: Diagnostic, at position: SourcePosition) -> Diagnostic {
    guard mistake.position == nil else { return mistake }
    var placed = mistake
    placed.position = position
    placed.file = position.file
    placed.message = (mistake.file.map { "\($0): " } ?? "") + mistake.message
    return placed
}

extension RunSettings {
    /// The settings of a campaign that is about to be planned.
    package init(_ context: CampaignContext) throws {
        let (campaign, app) = (context.campaign, context.app)
        try self.init(app, projectFile: context.project.file, pushType: context.messages.pushType)
        if let priority = campaign.delivery.priority { self.priority = priority }
        expiry = campaign.delivery.expiry
        collapseID = campaign.delivery.collapseID?.value
        // A test goes to devices.
        if let channel = campaign.audience.channel, service.choosesDevices {
            self.channel = channel.value
            // What a channel keeps is not known here, and each of them takes this.
            expiry = expiry ?? .immediately
        }
        if app.hasPaceOfItsService {
            services[0].pace = Pace.slower(campaign.delivery.pace, app.pace(of: app.main))
        } else {
            devicePace = campaign.delivery.pace
        }
        unknownPolicy = campaign.delivery.unknownPolicy(of: app.main.service)
        for (number, service) in app.services.enumerated().dropFirst() {
            services[number].unknownPolicy = campaign.delivery.unknownPolicy(of: service.service)
        }
        stopLimits = campaign.delivery.stopLimits
        // No one notices a background push.
        frequencyCaps = pushType == .background ? [] : context.frequencyCaps
    }
}
