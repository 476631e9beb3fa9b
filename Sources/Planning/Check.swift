import Workspace
import Audience
public import Base
import Campaigns
import Runs

/// The mistakes of a campaign that can be found without reading the rows of an export.
public struct CheckResult: Sendable {
    /// Mistakes, in the order of the file; empty if the file is correct.
    public var errors: [Diagnostic]
    /// nil when nothing could be checked.
    public var lint: Lint?

    /// The line for a file without mistakes, `spring-sale.yaml: fine`; nil if it has any.
    public func approval(of file: String) -> String? { errors.isEmpty ? "\(file): fine" : nil }
}

/// Reads and checks a campaign, its volley.yaml, lists, columns, key, certificate, the programs of
/// notices and the files of monitoring. Returns mistakes instead of throwing them. A query to a
/// database is parsed by that database, and not executed.
/// - Parameter cancellation: ends waiting for a database; nil to query no database, and to skip
///   programs and outputs of volley.yaml.
///
/// ```swift
/// let result = check(campaign, at: .now())
/// for mistake in result.errors { print(mistake) }
/// ```
public func check(_ campaign: CampaignFile, at now: Timestamp, asking cancellation: Cancellation? = nil) -> CheckResult
{
    do {
        let context = try CampaignContext.read(campaign, now: now)
        let settings = try RunSettings(context)
        let audienceWarnings = try context.audienceWarnings(settings, cancellation, now: now)
        let changes = ChangeLint(context: context, now: now).warnings(since: context.lastPlan)
        let keyWarnings = try context.checkCredentials(settings, now: now)
        try context.checkAuthorities(now: now)
        try context.checkRoutes(settings)
        return CheckResult(
            errors: cancellation == nil ? [] : context.machineMistakes,
            lint: Lint(
                context.warnings + audienceWarnings + changes + keyWarnings, allowed: context.campaign.allowed,
                lookedAt: [.files, .headers, .credentials]))
    } catch let mistakes as Diagnostics {
        return CheckResult(
            errors: mistakes.all.filter { $0.severity == .error },
            lint: Lint(mistakes.all.filter { $0.severity == .warning }, allowed: [], lookedAt: []))
    } catch {
        return CheckResult(errors: [Diagnostic(explaining: error, file: campaign.path)], lint: nil)
    }
}

extension CampaignContext {
    /// The plan of the campaign's newest run; nil without one, or if it cannot be read.
    fileprivate var lastPlan: RunPlan? {
        guard let run = try? catalog.lastStarted(of: campaign.name.value, app: app.name.value, limit: 1).first else {
            return nil
        }
        defer { run.close() }
        return run.plan
    }

    /// Checks lists, exports and columns.
    fileprivate func audienceWarnings(_ settings: RunSettings, _ cancellation: Cancellation?, now: Timestamp) throws
        -> [Diagnostic]
    {
        if let ownAudience { return try audienceCalls(ownAudience).warnings }
        let query = try audienceQuery(now: now)
        return try columnWarnings(query, cancellation)
            + ExportAge.warnings(of: query.files, isRehearsal: settings.isRehearsal, now: now)
    }

    /// The places of paths with a date: their files may exist only at the time that they are for.
    fileprivate var placesOfDatedPaths: Set<SourcePosition> {
        Set(
            (campaign.audience.devices + campaign.audience.excludedDevices + app.devices).filter {
                $0.value.contains("{{")
            }.map(\.position)
        )
    }

    /// Checks the columns of exports, or of a query.
    fileprivate func columnWarnings(_ audience: AudienceQuery, _ cancellation: Cancellation?) throws -> [Diagnostic] {
        guard let query = databaseQuery else { return try audience.checkColumns() }
        guard let cancellation else { return [] }
        return try QueriedExport.checkColumns(of: query, for: audience, in: catalog, cancellation)
    }

    /// Runs would be sent, but without notices and a health file.
    fileprivate var machineMistakes: [Diagnostic] {
        ProjectInspection.refusedOutputs(of: project) + ProjectInspection.hookFlaws(of: project)
    }
}

/// What `check` says of the lists, exports and columns of campaigns with times to come, so that it
/// is known before such a time. A list is read again only when it has changed, an export only up to
/// its header, and no database is queried.
///
/// ```swift
/// var inspection = CampaignInspection()
/// let obstacles = inspection.obstacles(to: [campaign], now: .now())
/// ```
public struct CampaignInspection {
    private struct Known { let stamps: [String: FileStamp?], until: Timestamp, mistakes: [Diagnostic] }

    /// By the campaigns' paths.
    private var known: [String: Known] = [:]

    /// New files may match a pattern, and a date in a path changes: after this time a campaign
    /// without mistakes is checked again.
    private static let lastingSeconds = 600.0

    /// An inspection that has seen nothing yet.
    public init() {}

    /// Mistakes of campaigns, as warnings. One that several have, such as in an app's export, is
    /// among them once.
    /// - Parameter known: mistakes that are reported anyway; if one is about a whole file, no other
    ///   mistake of that file is reported.
    public mutating func obstacles(to campaigns: [CampaignFile], besides known: [Diagnostic] = [], now: Timestamp)
        -> [Diagnostic]
    {
        var (next, found): ([String: Known], [Diagnostic]) = ([:], [])
        for campaign in campaigns {
            let last = self.known[campaign.path].flatMap { last in
                let isSame =
                    last.mistakes.isEmpty && now < last.until
                    && last.stamps.allSatisfy { FileStamp(path: $0.key) == $0.value }
                return isSame ? last : nil
            }
            let present = last ?? Self.look(at: campaign, now: now)
            next[campaign.path] = present
            for mistake in present.mistakes where !found.contains(mistake) { found.append(mistake) }
        }
        self.known = next
        let files = Set(known.filter { $0.position == nil }.compactMap(\.file))
        return found.filter { $0.position != nil || !($0.file.map(files.contains) ?? false) }
    }

    private static func look(at campaign: CampaignFile, now: Timestamp) -> Known {
        var files = [campaign.path], mistakes: [Diagnostic] = []
        do {
            let context = try CampaignContext.read(campaign, now: now)
            files += [context.project.file] + context.inputFiles(now: now)
            if context.campaign.schedule?.nextOccurrence(from: now) != nil {
                do { _ = try context.audienceWarnings(RunSettings(context), nil, now: now) } catch {
                    let dated = context.placesOfDatedPaths
                    mistakes = Diagnostics(explaining: error).all.filter {
                        $0.position.map { !dated.contains($0) } ?? true
                    }
                }
            }
        } catch { mistakes = Diagnostics(explaining: error).all }
        let stamps = Dictionary(files.map { ($0, FileStamp(path: $0)) }) { first, _ in first }
        return Known(
            stamps: stamps, until: now.adding(seconds: lastingSeconds),
            mistakes: mistakes.filter { $0.severity == .error }.map {
                var warning = $0
                warning.severity = .warning
                return warning
            })
    }
}
