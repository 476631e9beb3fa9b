import Workspace
import Audience
public import Base
import Campaigns
import Runs

/// What is wrong with a campaign, as far as can be known without reading the rows of an export.
public struct CheckResult: Sendable {
    /// Mistakes, in the order of the file; empty if there are none.
    public var errors: [Diagnostic]
    /// nil when nothing could be checked.
    public var lint: Lint?

    /// What is said of a file without mistakes, `spring-sale.yaml: fine`; nil if it has any.
    public func approval(of file: String) -> String? { errors.isEmpty ? "\(file): fine" : nil }
}

/// Reads and checks a campaign, its volley.yaml, lists, columns, key, certificate, and what notices start and monitoring writes. Returns mistakes instead of throwing them. A query to a
/// database is parsed by that database, and not executed.
/// - Parameter cancellation: ends waiting for a database; nil if none is to be asked, and programs and outputs of volley.yaml are not looked at.
public func check(_ campaign: CampaignFile, at now: Timestamp, asking cancellation: Cancellation? = nil) -> CheckResult {
    do {
        let context = try CampaignContext.read(campaign, now: now)
        let settings = try RunSettings(context)
        let audienceWarnings: [Diagnostic]
        if let own = context.ownAudience {
            audienceWarnings = try context.audienceCalls(own).warnings
        } else {
            let query = try context.audienceQuery(now: now)
            audienceWarnings =
                try context.columnWarnings(query, cancellation)
                + ExportAge.warnings(of: query.files, isRehearsal: settings.isRehearsal, now: now)
        }
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
    /// The plan of the campaign's newest run; nil without one, or it cannot be read.
    fileprivate var lastPlan: RunPlan? {
        guard let run = try? catalog.lastStarted(of: campaign.name.value, app: app.name.value, limit: 1).first else { return nil }
        defer { run.close() }
        return run.plan
    }

    /// Checks the columns of exports, or of a query.
    fileprivate func columnWarnings(_ audience: AudienceQuery, _ cancellation: Cancellation?) throws -> [Diagnostic] {
        guard let query = databaseQuery else { return try audience.checkColumns() }
        guard let cancellation else { return [] }
        return try QueriedExport.checkColumns(of: query, for: audience, in: catalog, cancellation)
    }

    /// Runs would be sent, but no notice and no health file would say so.
    fileprivate var machineMistakes: [Diagnostic] {
        ProjectInspection.refusedOutputs(of: project) + ProjectInspection.hookFlaws(of: project)
    }
}
