import Audience
import Base
import Campaigns
import Content
import Cryptography
import Runs

/// From a campaign to its audience: once over the exports, into a preview or a run file.
struct Planner {
    let context: CampaignContext
    let console: Console
    let now: Timestamp

    /// Who would get it. Writes nothing.
    func preview(samples: Int) throws -> Preview {
        try scan(samples: samples, writer: nil).preview
    }

    /// Freezes the audience into a run file. Nothing of it remains when this throws.
    func plan(_ settings: RunSettings, runsFolder: String) throws -> (run: RunStore, preview: Preview) {
        let seed = RunSeed.random()
        let id = RunID.make(campaign: context.campaign.name.value, now: now, seed: seed)
        let writer = try RunWriter(folder: runsFolder, id: id)
        let (preview, fields) = try scan(samples: 1, writer: writer)
        let plan = RunPlan(
            id: id, campaign: context.campaign.name.value, app: context.app.name.value,
            campaignFile: FilePaths.absolute(context.campaign.file), campaignSource: context.campaign.source,
            projectFile: FilePaths.absolute(context.project.file), seed: seed, fields: fields, plannedAt: now,
            planHash: preview.planHash, rows: preview.audience.rows, audience: preview.audience.audience,
            skipped: preview.audience.skipped, settings: settings.json, preview: preview.json)
        return (try writer.finish(plan), preview)
    }

    private func scan(samples: Int, writer: RunWriter?) throws -> (preview: Preview, fields: [String]) {
        let query = try context.audienceQuery(now: now)
        console.detail("volley.yaml: \(context.project.file); exports: \(query.files.joined(separator: ", "))")
        var sink = PlanSink(template: context.template, samples: samples, writer: writer, identity: identity)
        let clock = ContinuousClock()
        let start = clock.now
        let result = try query.scan(
            into: &sink,
            progress: { console.progress(progressLine($0, elapsed: clock.now - start)) },
            isCancelled: { Interruption.isRequested })
        console.clearProgress()
        console.show(context.warnings + result.warnings + result.badRows.map(asWarning))
        var samples = sink.keptSamples
        for index in samples.indices where samples[index].slot < result.selectorsOfFirstSlots.count {
            samples[index].selectedBy = result.selectorsOfFirstSlots[samples[index].slot]
        }
        let preview = Preview(
            campaign: context.campaign.name.value, app: context.app.name.value, destination: context.app.destination, audience: result,
            payloadBytes: sink.payloadBytes, pace: context.pace, samples: samples, planHash: sink.digest)
        return (preview, query.fields.map(\.value))
    }

    /// What beside the recipients decides about a plan. The first part changes whenever the rules of planning do.
    private var identity: [String] { ["volley plan 1", context.campaign.source, context.app.topic.value, context.app.destination] }

    private func progressLine(_ progress: ScanProgress, elapsed: Duration) -> String {
        let seconds = max(elapsed / .seconds(1), 0.001)
        let share = progress.bytesTotal > 0 ? Double(progress.bytesRead) / Double(progress.bytesTotal) : 0
        var line = "reading  \(TextFormat.percent(share))  \(TextFormat.count(progress.rows)) rows"
        line += "  \(TextFormat.count(Int(Double(progress.rows) / seconds))) rows/s  \(TextFormat.count(progress.recipients)) recipients"
        if share > 0.01 { line += "  \(TextFormat.duration(seconds: seconds / share - seconds)) left" }
        return line
    }

    private func asWarning(_ mistake: Diagnostic) -> Diagnostic {
        var warning = mistake
        warning.severity = .warning
        return warning
    }
}
