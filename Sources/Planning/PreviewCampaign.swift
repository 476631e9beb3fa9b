import PushServices
import Audience
package import Base
import Campaigns
import Content
package import Runs

/// Who would get a campaign, and what. Writes nothing.
/// - Parameters:
///   - samples: rendered payloads of each text; nil for three, or for one of each when there are several.
///   - checking: looks at what is to be done with the result before the exports are read.
/// - Throws: `Diagnostics`, `Diagnostic`: what is wrong with the campaign, volley.yaml or the exports.
package func preview(
    _ campaign: CampaignFile, samples: Int?, _ attendance: PlanningAttendance, at now: Timestamp,
    checking check: (_ catalog: any RunCatalog) throws -> Void = { _ in }
) throws -> Preview {
    let context = try CampaignContext.read(campaign, now: now)
    try check(context.catalog)
    var planner = try Planner(context: context, attendance, now: now)
    planner.sendingTime = .ofPreview(context.campaign, now: now)
    return try planner.preview(samples: samples ?? (context.messages.hasChoice ? 1 : 3), in: context.catalog)
}

/// Why somebody would get a campaign, or not, step by step.
/// - Parameter who: a target, whole or as `7276…89f1`, an alias, or a registration id.
package func explain(
    _ who: String, _ campaign: CampaignFile, _ attendance: PlanningAttendance, at now: Timestamp
) throws -> Explanation {
    let context = try CampaignContext.read(campaign, now: now)
    // A single device needs none of what a limit is for.
    var attendance = attendance
    attendance.memory = nil
    let subject = try TraceSubject(who, context.app.service.target)
    return try Planner(context: context, attendance, now: now).explanation(of: subject, in: context.catalog)
}
