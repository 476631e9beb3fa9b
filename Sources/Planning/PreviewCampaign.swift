import PushServices
import Audience
public import Base
import Campaigns
import Content
public import Runs

/// Previews which devices would get a campaign, and what. Writes nothing.
/// - Parameters:
///   - samples: how many rendered payloads of each text; nil for three, or for one of each when
///     there are several texts.
///   - checking: called before the exports are read, to check that the result can be used.
/// - Throws: `Diagnostics`, `Diagnostic`: what is wrong with the campaign, volley.yaml or the
///   exports.
///
/// ```swift
/// let shown = try preview(campaign, samples: 3, planning, at: .now())
/// print(shown.text(width: 100, colour: false))
/// ```
public func preview(
    _ campaign: CampaignFile, samples: Int?, _ options: PlanOptions, at now: Timestamp,
    checking check: (_ catalog: RunsFolder) throws -> Void = { _ in }
) throws -> Preview {
    let context = try CampaignContext.read(campaign, now: now)
    try check(context.catalog)
    var planner = try Planner(context: context, options, now: now)
    planner.sendingTime = .ofPreview(context.campaign, now: now)
    return try planner.preview(samples: samples ?? (context.messages.hasChoice ? 1 : 3), in: context.catalog)
}

/// The same of a text that is still being written: with some of the devices, for which the next one
/// can be rendered.
public func draftPreview(_ campaign: CampaignFile, samples: Int, _ options: PlanOptions, at now: Timestamp) throws
    -> Preview
{
    let context = try CampaignContext.read(campaign, now: now)
    var planner = try Planner(context: context, options, now: now)
    planner.sendingTime = .ofPreview(context.campaign, now: now)
    planner.carriesAllColumns =
        context.ownAudience == nil && context.databaseQuery == nil && context.app.services.count == 1
    return try planner.preview(samples: samples, in: context.catalog)
}

/// Explains step by step why a device would get a campaign or not.
/// - Parameter who: a target, whole or as `7276…89f1`, an alias, or a registration id.
///
/// ```swift
/// print(try explain("7276…89f1", campaign, planning, at: .now()).text(width: 100, colour: false))
/// ```
public func explain(
    _ who: String, _ campaign: CampaignFile, _ options: PlanOptions, at now: Timestamp
) throws -> Explanation {
    let context = try CampaignContext.read(campaign, now: now)
    if let own = context.ownAudience {
        throw Diagnostic(
            "\(own.service.displayName) chooses the devices of this campaign, so Volley does not know whether one gets it",
            at: context.campaign.audience.position, remedy: "`volley preview \(campaign.path)` shows the calls.",
            [.preview])
    }
    // A single device needs little memory, so the limit does not apply.
    var options = options
    options.memory = nil
    let subject = try TraceSubject(who, context.app.services.map(\.service.target))
    return try Planner(context: context, options, now: now).explanation(of: subject, in: context.catalog)
}
