import Audience
public import Base
public import Campaigns
import Content
public import PushServices
public import Runs
import Workspace

/// Campaigns whose devices a service chooses: no export is read, and the recipients are the calls.
extension Planner {
    func scanCalls(
        _ own: OwnAudience, samples: Int, _ times: SendTimes?, writer: RunWriter?, in catalog: RunsFolder
    ) throws -> (preview: Preview, fields: [String]) {
        let found = try context.audienceCalls(own), messages = context.messages
        // Quiet hours count by the schedule's clock, as for devices without a time zone.
        let clocks = try deviceClocks(times)
        let recipients = found.calls.map { Recipient(token: $0.target, fields: clocks == nil ? [] : [""]) }
        let finder = SampleFinder(messages: messages, wanted: 1)
        let sink = RecipientCollector(keeping: finder.slotsToKeep, writer: try writer.map { try RecipientWriter($0) })
        let checker = PayloadChecker(messages, clocks)
        let result = try GivenAudience(recipients).scan(into: sink) { checker.judge($0) }
        try found.sources.checkUnchanged()
        let shown = finder.samples(of: result, kept: sink.kept) { _ in }
        let earlier = isUnattended ? nil : try earlierRuns(catalog)
        defer { earlier?.close() }
        let schedule = previewSchedule(times ?? clocks, result.waves)
        let services = try PreviewService.all(of: context, result, nil)
        let lint = Lint(
            context.warnings + found.warnings + RenderedLint(context: context, samples: shown, known: []).warnings
                + (earlier?.warnings(context) ?? [])
                + ChangeLint(context: context, now: now).warnings(since: earlier?.last)
                + paceWarnings(services, schedule)
                + (schedule?.warnings(context.campaign) ?? []) + (credentialWarnings ?? []),
            allowed: context.campaign.allowed,
            lookedAt: credentialWarnings == nil ? [.files, .headers, .rows] : Set(WarningName.Source.allCases))
        options.observer(.lint(lint))
        let preview = Preview(
            campaign: context.campaign.name.value, app: context.app.name.value, services: services,
            destination: context.app.destination,
            words: PreviewWords(context, try RunSettings(context), exports: []), audience: result,
            payloadBytes: PayloadBytes(counts: result.payloadBytes), groups: PreviewGroups(messages, result),
            samples: samples == 0 ? [] : shown, notes: SkipNotes(context: context, result: result).all, comparison: nil,
            lately: nil, schedule: schedule, lint: lint, planHash: planHash(result, times, result.waves),
            calls: found.calls)
        return (preview, clocks == nil ? [] : [ExportColumns.Standard.timezone.rawValue])
    }
}

/// The calls of a campaign whose devices a service chooses, for the service to check without
/// sending anything.
public struct CallsToCheck: Sendable {
    /// What they are sent with.
    public var settings: RunSettings
    /// The app's proxy.
    public var proxy: ProxySetting?
    /// The service, whose requests are only checked.
    public var checker: any PushService
    /// The payload of all of them.
    public var payload: [UInt8]
    /// In sending order.
    public var calls: [AudienceCall]
}

/// Makes the calls of a campaign for its service to check.
/// - Throws: `Diagnostics`, `Diagnostic`: what is wrong with the campaign or volley.yaml; that
///   Volley chooses the devices; that the service checks nothing.
public func callsToAsk(_ campaign: CampaignFile, at now: Timestamp) throws -> CallsToCheck {
    let context = try CampaignContext.read(campaign, now: now)
    let names = PushServices.keepingAudiences.filter { $0.ownAudience?.checker != nil }.map(\.name)
    guard let own = context.ownAudience else {
        throw Diagnostic(
            "Volley chooses the devices of this campaign, so no service can check it",
            at: context.campaign.audience.position,
            remedy:
                "Omit --ask: the preview shows who gets it. A service checks campaigns with audience: {by: \(names.joined(separator: " or "))}."
        )
    }
    guard let checker = own.checker else {
        throw Diagnostic(
            "\(own.service.displayName) checks no pushes without sending them", at: context.campaign.audience.position,
            remedy: own.broadcasts == nil
                ? "Omit --ask: the preview shows the calls. To try them, send to a tag or an alias that only devices of your own have."
                : "Omit --ask. `volley doctor` says whether the channel exists.")
    }
    let settings = try RunSettings(context)
    try context.checkRoutes(settings)
    var payload: [UInt8] = []
    if let failure = context.messages.messages[0].template.render([], language: "", into: &payload) {
        throw Diagnostic(
            "the text cannot be rendered: \(failure.skipReason.rawValue)", at: context.campaign.content.position)
    }
    return CallsToCheck(
        settings: settings, proxy: context.app.proxy, checker: checker, payload: payload,
        calls: try context.audienceCalls(own).calls)
}
