import Audience
import Base
package import Campaigns
import Content
import Glibc
package import Runs

/// The options that most commands share.
public struct CommonOptions: Sendable {
    /// volley.yaml; nil looks beside the campaign file, then upward.
    public var config: String?
    /// Folder of run files; nil takes the one of volley.yaml.
    public var runs: String?
    /// What planning may use; nil for what is needed.
    public var memory: MemoryBudget?
    /// Threads that deliver at most; nil for as many as there are cores.
    public var threads: Int?
    /// Whether the result is one JSON document.
    public var isJSON: Bool

    /// Options.
    public init(
        config: String? = nil, runs: String? = nil, memory: MemoryBudget? = nil, threads: Int? = nil, isJSON: Bool = false
    ) {
        self.config = config
        self.runs = runs
        self.memory = memory
        self.threads = threads
        self.isJSON = isJSON
    }
}

/// A campaign with everything it refers to, read and checked: what every command about a campaign begins with.
package struct CampaignContext {
    var campaign: Campaign
    var project: Project
    var app: App
    var messages: MessageCatalog
    var warnings: [Diagnostic]

    /// Reads a campaign file and its volley.yaml.
    /// - Throws: every mistake of both at once.
    static func read(file: String, options: CommonOptions, now: Timestamp) throws -> CampaignContext {
        let draft = Campaign.draft(file: file, now: now)
        var mistakes = draft.findings.filter { $0.severity == .error }
        var warnings = draft.findings.filter { $0.severity == .warning }
        let project = project(for: file, options, &mistakes, &warnings)
        let app = project.flatMap { project in
            draft.app.flatMap { name in
                let app = project.app(named: name.value)
                if app == nil { mistakes.append(unknownApp(name, in: project)) }
                return app
            }
        }
        let messages = draft.content.flatMap { content in
            // What the campaign's reader has said of a place already is not said again, nor what is missing in content with a mistake on
            // its first line: {titel: Hi} has a title, if a misspelt one.
            let start = content.position
            let startsWrong = mistakes.contains { $0.position?.line == start.line && ($0.position?.column ?? 0) > start.column }
            let known = Set(mistakes.compactMap(\.position) + (startsWrong ? [start] : []))
            var found: [Diagnostic] = []
            let messages = collect(&found, &warnings) { () throws(Diagnostics) in
                let messages = try MessageCatalog(
                    content, variants: draft.variants, campaign: draft.campaign?.name.value ?? "",
                    dealing: draft.campaign?.variantDealing ?? .alias)
                return (messages, messages.warnings)
            }
            mistakes += found.filter { $0.position.map { !known.contains($0) } ?? true }
            warnings += TextDay.past(in: messages?.texts ?? [], now: now)
            return messages
        }
        guard mistakes.isEmpty, let campaign = draft.campaign, let project, let messages, let app else {
            mistakes += audienceMistakes(draft, file, project, app, messages, now)
            throw Diagnostics(mistakes)
        }
        return CampaignContext(campaign: campaign, project: project, app: app, messages: messages, warnings: warnings)
    }

    /// What lists, exports and their columns have to say of a campaign that has other mistakes already.
    private static func audienceMistakes(
        _ draft: CampaignDraft, _ file: String, _ project: Project?, _ app: App?, _ messages: MessageCatalog?, _ now: Timestamp
    ) -> [Diagnostic] {
        guard let audience = draft.audience, let project, let app else { return [] }
        let fields = messages?.columns ?? draft.content.map { MessageCatalog.columns(of: $0, variants: draft.variants) } ?? []
        let compiler = AudienceCompiler(audience: audience, file: file, app: app, project: project, fields: fields)
        do {
            _ = try compiler.query(now: now).checkColumns()
            return []
        } catch {
            return (error as? Diagnostics)?.all ?? []
        }
    }

    private static func project(
        for file: String, _ options: CommonOptions, _ mistakes: inout [Diagnostic], _ warnings: inout [Diagnostic]
    ) -> Project? {
        guard let path = options.config ?? Project.find(startingAt: FilePaths.folder(of: file)) else {
            mistakes.append(
                Diagnostic(
                    "there is no volley.yaml beside this campaign or above it", file: file,
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

    /// Where its runs are kept.
    func catalog(_ options: CommonOptions) -> any RunCatalog { project.catalog(options) }

    /// The way to the app's server from this machine.
    func route(_ settings: RunSettings, _ options: CommonOptions) throws(Diagnostic) -> ProxyRoute {
        try ProxyRoute(app.proxy, to: settings.environment)
    }

    /// All caps that count: the campaign's, and the app's.
    var frequencyCaps: [FrequencyCap] { [campaign.delivery.frequency, app.frequency].compactMap { $0 } }

    /// The pace that counts: the campaign's, never faster than the app's.
    var pace: Pace? { Pace.slower(campaign.delivery.pace, app.pace) }
}

extension Project {
    /// volley.yaml for commands without a campaign: `--config`, or found from the current folder upward.
    package static func find(with options: CommonOptions) throws -> Project? {
        guard let path = options.config ?? Project.find(startingAt: ".") else { return nil }
        return try Project.read(file: path).0
    }

    /// Where runs are kept: the folder that `--runs` names, or that of volley.yaml.
    package func catalog(_ options: CommonOptions) -> any RunCatalog {
        Self.catalog(at: options.runs ?? FilePaths.resolve(runs, besideFile: file))
    }

    /// Where runs are kept, for commands that can do without volley.yaml.
    package static func catalog(_ options: CommonOptions) throws -> any RunCatalog {
        if let runs = options.runs { return catalog(at: runs) }
        return try find(with: options)?.catalog(options) ?? catalog(at: "runs")
    }

    /// The one place where it is decided how runs are kept.
    private static func catalog(at path: String) -> any RunCatalog { RunFolder(path) }
}
