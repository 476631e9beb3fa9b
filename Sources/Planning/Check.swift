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
}

/// Reads and checks a campaign, its volley.yaml, lists, columns, key and certificate. Returns mistakes instead of throwing them.
public func check(_ campaign: CampaignFile, at now: Timestamp) -> CheckResult {
    do {
        let context = try CampaignContext.read(campaign, now: now)
        let settings = try RunSettings(context)
        let audienceWarnings: [Diagnostic]
        if let own = context.ownAudience {
            audienceWarnings = try context.audienceCalls(own).warnings
        } else {
            let query = try context.audienceQuery(now: now)
            audienceWarnings =
                try query.checkColumns() + ExportAge.warnings(of: query.files, isRehearsal: settings.isRehearsal, now: now)
        }
        let keyWarnings = try context.placingCredentials { try AppCredentials.check(settings, now: now) }
        try context.checkRoutes(settings)
        return CheckResult(
            errors: [],
            lint: Lint(
                context.warnings + audienceWarnings + keyWarnings, allowed: context.campaign.allowed,
                lookedAt: [.files, .headers, .credentials]))
    } catch let mistakes as Diagnostics {
        return CheckResult(
            errors: mistakes.all.filter { $0.severity == .error },
            lint: Lint(mistakes.all.filter { $0.severity == .warning }, allowed: [], lookedAt: []))
    } catch {
        return CheckResult(errors: [Diagnostic(explaining: error, file: campaign.path)], lint: nil)
    }
}
