import Workspace
import Audience
package import Base
package import Campaigns
import Content
import Glibc
import PushServices
package import Runs

/// A campaign with everything it refers to, read and checked. Every command about a campaign starts here.
package struct CampaignContext {
    package var campaign: Campaign
    package var project: Project
    package var app: App
    var messages: MessageCatalog
    var warnings: [Diagnostic]
    /// Where its runs are kept.
    package var catalog: RunsFolder
    /// What it may name; nil for every file.
    var roots: ConsoleRoots?

    /// The audiences of the service that chooses the devices; nil if Volley does.
    var ownAudience: OwnAudience? { campaign.audience.ownAudience }

    /// Reads a campaign file and its volley.yaml.
    /// - Parameter isTest: whether it goes to the app's test devices, which are devices also where a service chooses those of the audience.
    /// - Throws: every mistake of both at once.
    package static func read(_ named: CampaignFile, now: Timestamp, isTest: Bool = false) throws -> CampaignContext {
        let file = named.path
        var (projectMistakes, projectWarnings): ([Diagnostic], [Diagnostic]) = ([], [])
        let project = project(of: named, &projectMistakes, &projectWarnings)
        // Once the catalog is known, no record of it is taken for a list or an export.
        let catalog = project?.catalog(named.project)
        let services = { (name: String) in project?.app(named: name)?.services.map(\.service) ?? [PushServices.standard] }
        let draft =
            named.text.map { Campaign.draft(text: $0, file: file, now: now, services: services) }
            ?? Campaign.draft(file: file, now: now, services: services)
        let roots = named.isConfined ? project.map { ConsoleRoots($0, named.project) } : nil
        // Nothing that it names is looked at before this is known.
        if let roots, let audience = draft.audience {
            let strangers = roots.mistakes(in: audience, of: file, zone: draft.campaign?.schedule?.zone.fallback, at: now)
            guard strangers.isEmpty else { throw Diagnostics(strangers) }
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
            // Places that the campaign's reader has already reported are not reported again. Nor is what is missing in content with a
            // mistake on its first line: {titel: Hi} does have a title, only misspelt.
            let start = content.position
            let startsWrong = mistakes.contains { $0.position?.line == start.line && ($0.position?.column ?? 0) > start.column }
            let known = Set(mistakes.compactMap(\.position) + (startsWrong ? [start] : []))
            var found: [Diagnostic] = []
            let messages = collect(&found, &warnings) { () throws(Diagnostics) in
                let messages = try MessageCatalog(
                    content, for: app?.services.map(\.service) ?? [PushServices.standard], variants: draft.variants,
                    campaign: draft.campaign?.name.value ?? "",
                    dealing: draft.campaign?.variantDealing ?? .alias)
                return (messages, messages.warnings)
            }
            mistakes += found.filter { $0.position.map { !known.contains($0) } ?? true }
            if let own = draft.audience?.ownAudience { mistakes += placeholders(in: messages, own) }
            warnings += TextReadiness.days(in: messages?.texts ?? [], now: now)
            return messages
        }
        guard mistakes.isEmpty, let campaign = draft.campaign, let project, let catalog, let messages, let app else {
            if let project, let app, var compiler = audience(draft, file: file, project, app, messages) {
                compiler.roots = roots
                mistakes += audienceMistakes(compiler, now: now)
            }
            throw Diagnostics(mistakes)
        }
        return CampaignContext(
            campaign: campaign, project: project, app: app, messages: messages, warnings: warnings + ServiceLint(app: app).environments,
            catalog: catalog, roots: roots)
    }

    /// Mistakes of texts that would differ from device to device, where a service chooses the devices.
    private static func placeholders(in messages: MessageCatalog?, _ own: OwnAudience) -> [Diagnostic] {
        (messages?.columns ?? []).map { column in
            Diagnostic(
                "'\(column.value)' differs from device to device, but \(own.service.displayName) chooses the devices", at: column.position,
                remedy: "Write the same text for all; or remove 'by' under 'audience', so that Volley chooses the devices of an export.")
        }
    }

    /// The audience of a campaign that has mistakes elsewhere; nil if it has none that can be read.
    private static func audience(
        _ draft: CampaignDraft, file: String, _ project: Project, _ app: App, _ messages: MessageCatalog?
    ) -> AudienceCompiler? {
        guard let audience = draft.audience else { return nil }
        let fields =
            messages?.columns
            ?? draft.content.map { MessageCatalog.columns(of: $0, for: app.services.map(\.service), variants: draft.variants) } ?? []
        return AudienceCompiler(audience: audience, file: file, app: app, project: project, fields: fields)
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

    private static func project(
        of campaign: CampaignFile, _ mistakes: inout [Diagnostic], _ warnings: inout [Diagnostic]
    ) -> Project? {
        guard let path = campaign.project.file ?? Project.find(startingAt: FilePaths.folder(of: campaign.path)) else {
            mistakes.append(
                Diagnostic(
                    "there is no volley.yaml in this campaign's folder or above it", file: campaign.path,
                    remedy: "Name one with --config, or run `volley init`."))
            return nil
        }
        return collect(&mistakes, &warnings) { () throws(Diagnostics) in try Project.read(file: path) }
    }

    private static func collect<Value>(
        _ mistakes: inout [Diagnostic], _ warnings: inout [Diagnostic], _ read: () throws(Diagnostics) -> (Value, [Diagnostic])
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
