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
    private let memory: MemoryAllowance?

    /// - Throws: `Diagnostic` when `memory` is too little.
    init(context: CampaignContext, memory: MemoryAllowance?, console: Console, now: Timestamp) throws(Diagnostic) {
        (self.context, self.console, self.now, self.memory) = (context, console, now, memory)
        _ = try memory?.forDevices()
    }

    /// Who would get it. Writes nothing.
    /// - Parameter runsFolder: where the list of suppressed devices lies, if there is one.
    func preview(samples: Int, runsFolder: String) throws -> Preview {
        let list = SuppressionList(
            app: context.app.name.value, environment: try RunSettings(context).environment.listName, folder: runsFolder)
        return try scan(samples: samples, writer: nil, suppressing: list).preview
    }

    /// Freezes the audience into a run file. Nothing of it remains when this throws.
    func plan(_ settings: RunSettings, runsFolder: String) throws -> (run: RunStore, preview: Preview) {
        let seed = RunSeed.random()
        let id = RunID.make(campaign: context.campaign.name.value, now: now, seed: seed)
        let writer = try RunWriter(folder: runsFolder, id: id, variants: context.messages.variantsOfDevices)
        let list = SuppressionList(app: context.app.name.value, environment: settings.environment.listName, folder: runsFolder)
        let (preview, fields, _) = try scan(samples: 1, writer: writer, suppressing: list)
        let plan = RunPlan(
            id: id, campaign: context.campaign.name.value, app: context.app.name.value,
            campaignFile: FilePaths.absolute(context.campaign.file), campaignSource: context.campaign.source,
            projectFile: FilePaths.absolute(context.project.file), seed: seed, fields: fields, plannedAt: now,
            planHash: preview.planHash, rows: preview.audience.rows, audience: preview.audience.audience,
            skipped: preview.audience.skipped, settings: settings.json, preview: preview.json,
            previewText: preview.text(width: 100, colour: false))
        return (try writer.finish(plan), preview)
    }

    /// The first recipients, at most so many, with the cells that templates name. Writes nothing.
    func examples(_ count: Int, runsFolder: String) throws -> [Recipient] {
        let list = SuppressionList(
            app: context.app.name.value, environment: try RunSettings(context).environment.listName, folder: runsFolder)
        return try scan(samples: count, writer: nil, suppressing: list).examples
    }

    private func scan(
        samples: Int, writer: RunWriter?, suppressing list: SuppressionList
    ) throws -> (preview: Preview, fields: [String], examples: [Recipient]) {
        var query = try context.audienceQuery(now: now)
        let suppressed = try list.suppressedDevices()
        query.suppressed = suppressed
        let deviceMemory = try memory?.forDevices(besides: suppressed?.bytes ?? 0) ?? .max
        let messages = context.messages
        if let suppressed { console.detail("\(TextFormat.count(suppressed.count)) devices are suppressed by \(list.path)") }
        console.detail("volley.yaml: \(context.project.file); exports: \(query.files.joined(separator: ", "))")
        let sink = PlanSink(samples: samples, writer: writer.map(RecipientWriter.init))
        let clock = ContinuousClock()
        let start = clock.now
        let result = try query.scan(
            into: sink, deviceMemory: deviceMemory,
            judging: {
                let judge = PayloadJudge(messages)
                return { judge.judge($0) }
            },
            progress: { console.progress(progressLine($0, elapsed: clock.now - start)) },
            isCancelled: { Interruption.isRequested })
        console.clearProgress()
        console.show(context.warnings + unknownLanguages(result) + result.warnings + result.badRows.map(asWarning))
        let preview = Preview(
            campaign: context.campaign.name.value, app: context.app.name.value, destination: context.app.destination, audience: result,
            payloadBytes: PayloadBytes(counts: result.payloadBytes), pace: context.pace,
            groups: PreviewGroups(messages, result), samples: sink.samples.compactMap { sample($0, result) },
            planHash: planHash(result))
        return (preview, query.fields.map(\.value), sink.samples.map(\.recipient))
    }

    /// Languages of recipients whose dates, numbers and plural forms are English's, as Volley does not know their own.
    private func unknownLanguages(_ result: AudienceResult) -> [Diagnostic] {
        let tags = context.messages.unknownLanguages(among: result.languages.keys)
        guard !tags.isEmpty else { return [] }
        let devices = tags.reduce(0) { $0 + (result.languages[$1] ?? 0) }
        let list = tags.prefix(10).map { "'\($0.prefix(20))'" }.joined(separator: ", ") + (tags.count > 10 ? " and others" : "")
        return [
            Diagnostic(
                "\(TextFormat.count(devices)) \(devices == 1 ? "device has" : "devices have") the language \(list), of which Volley knows no dates, numbers and plural forms",
                at: context.campaign.content.position,
                remedy: "They get English ones. If the tag is misspelt, correct it in the export.", severity: .warning)
        ]
    }

    private func sample(_ sample: (slot: Int, recipient: Recipient), _ result: AudienceResult) -> PreviewSample? {
        var chooser = MessageChooser(context.messages)
        guard let number = chooser.message(of: sample.recipient) else { return nil }
        let message = context.messages.messages[number]
        var payload: [UInt8] = []
        // It was rendered before, and nothing was wrong with it.
        _ = message.template.render(sample.recipient.fields, language: sample.recipient.language, into: &payload)
        let selectors = sample.slot < result.selectorsOfFirstSlots.count ? result.selectorsOfFirstSlots[sample.slot] : []
        return PreviewSample(
            token: sample.recipient.token, variant: message.variant, language: message.language, payload: payload, selectedBy: selectors)
    }

    /// What a plan is recognised by: equal when campaign, rules, and all that the exports say of the selected devices are equal.
    private func planHash(_ result: AudienceResult) -> String {
        var hash = SHA256()
        for part in [Self.rules, context.campaign.source, context.app.topic.value, context.app.destination] {
            hash.update(Array(part.utf8) + [0])
        }
        hash.update(result.digest.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } })
        return hash.finalizeHex()
    }

    /// Changes whenever the rules of planning do.
    private static let rules = "volley plan 3"

    private func progressLine(_ progress: ScanProgress, elapsed: Duration) -> String {
        let seconds = max(elapsed / .seconds(1), 0.001)
        let share = progress.bytesTotal > 0 ? Double(progress.bytesRead) / Double(progress.bytesTotal) : 0
        var line = "reading  \(TextFormat.percent(share))  \(TextFormat.count(progress.rows)) rows"
        line += "  \(TextFormat.count(Int(Double(progress.rows) / seconds))) rows/s  \(TextFormat.count(progress.recipients)) recipients"
        if let settled = progress.settled { return line + "  settling  \(TextFormat.percent(settled))" }
        if share > 0.01 { line += "  \(TextFormat.duration(seconds: seconds / share - seconds)) left" }
        return line
    }

    private func asWarning(_ mistake: Diagnostic) -> Diagnostic {
        var warning = mistake
        warning.severity = .warning
        return warning
    }
}

/// Renders the payload of one recipient after another, to see that it can be sent. Belongs to one thread.
private final class PayloadJudge {
    private let messages: MessageCatalog
    private let single: PayloadTemplate?
    // Nothing calls back into this: the checks of who else holds them would cost more than a small cell.
    @exclusivity(unchecked) private var cells = EscapedCells()
    @exclusivity(unchecked) private var payload: [UInt8] = []
    @exclusivity(unchecked) private var chooser: MessageChooser

    init(_ messages: MessageCatalog) {
        self.messages = messages
        single = messages.hasChoice || !messages.variantNames.isEmpty ? nil : messages.messages[0].template
        chooser = MessageChooser(messages)
    }

    func judge(_ recipient: RecipientRecord) -> Judgement {
        guard let single else { return judgeAmongMany(recipient) }
        return judge(recipient, single, group: 0)
    }

    private func judgeAmongMany(_ recipient: RecipientRecord) -> Judgement {
        let variant = chooser.variant(of: recipient.token)
        guard let number = chooser.message(variant: variant, language: recipient.language) else {
            return Judgement(reason: .holdout, group: variant)
        }
        return judge(recipient, messages.messages[number].template, group: number)
    }

    @inline(__always) private func judge(_ recipient: RecipientRecord, _ template: PayloadTemplate, group: Int) -> Judgement {
        payload.removeAll(keepingCapacity: true)
        precondition(cells.locate(in: recipient.fields), "cells that were just written cannot be read")
        if let failure = template.append(cells, language: recipient.language, to: &payload) {
            return Judgement(reason: failure.skipReason, group: group)
        }
        return Judgement(payloadBytes: payload.count, group: group)
    }
}
