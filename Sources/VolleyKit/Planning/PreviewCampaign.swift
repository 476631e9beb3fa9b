import Audience
package import Base
import Campaigns
import Content
import PushServices

/// Who would get a campaign, and what. Writes nothing.
/// - Parameters:
///   - samples: rendered payloads of each text; nil for three, or for one of each when there are several.
///   - checking: looks at what is to be done with the result before the exports are read.
/// - Throws: `Diagnostics`, `Diagnostic`: what is wrong with the campaign, volley.yaml or the exports.
package func preview(
    campaign file: String, samples: Int?, _ options: CommonOptions, _ attendance: PlanningAttendance, at now: Timestamp,
    checking check: (_ runsFolder: String) throws -> Void = { _ in }
) throws -> Preview {
    let context = try CampaignContext.read(file: file, options: options, now: now)
    try check(context.runsFolder(options))
    var planner = try Planner(context: context, memory: options.memory, attendance, now: now)
    planner.sendingTime = .ofPreview(context.campaign, now: now)
    return try planner.preview(samples: samples ?? (context.messages.hasChoice ? 1 : 3), runsFolder: context.runsFolder(options))
}

/// Why somebody would get a campaign, or not, step by step.
/// - Parameter who: a target, whole or as `7276…89f1`, an alias, or a registration id.
package func explain(
    _ who: String, campaign file: String, _ options: CommonOptions, _ attendance: PlanningAttendance, at now: Timestamp
) throws -> Explanation {
    let context = try CampaignContext.read(file: file, options: options, now: now)
    let subject = try TraceSubject(who, context.app.service.target)
    return try Planner(context: context, memory: nil, attendance, now: now).explanation(
        of: subject, runsFolder: context.runsFolder(options))
}
