import Audience
import Base
import Campaigns
import Content
import PushServices
import Runs
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
