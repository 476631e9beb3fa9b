import Audience
import Base
import Content
import Cryptography
import PushServices
import Runs
import Workspace

/// Plans the retry of a run that has ended, for those of its recipients that ended in certain outcomes.
struct RetryPlanner {
    let run: RunFile
    let outcomes: Set<Outcome>
    package let now: Timestamp
    /// The new run's id; nil makes one.
    var id: String?

    /// Makes the new run, with the frozen campaign and settings of the first. Devices that an earlier retry took over
    /// are left out, and those that are suppressed now are skipped: since the first run was planned, a person may have
    /// asked for silence.
    /// - Returns: nil if no device had one of the outcomes.
    /// - Throws: `Diagnostic`: all of them are suppressed; the disk is full, or a run file or a list is damaged, for
    ///   example.
    func plan() throws -> RunFile? {
        let first = run.plan
        // What is damaged in the first run would become part of a plan that looks intact.
        try run.checkUnchanged()
        try run.checkIntegrity()
        let seed = RunSeed.random()
        let id = id ?? RunID.make(campaign: first.campaign, now: now, seed: seed)
        let services = first.serviceCount
        var settings = try first.settings.get()
        let lists = settings.services.map { run.catalog.suppression(app: first.app, service: $0.service, environment: $0.listName) }
        let silent = try lists.suppressedDevices(since: first.plannedAt)
        let writer = try run.catalog.create(
            id, variants: MessageCatalog(frozenIn: first).variantsOfDevices, sorter: services > 1 ? SegmentSorter(services: services) : nil)
        var hash = SHA256()
        hash.update(Array("volley retry 1\0\(first.planHash)\0".utf8))
        var (count, suppressed, batch) = (0, 0, RecipientBatch())
        try RunRemainder(of: run, outcomes: outcomes).forEach { recipientID, recipient in
            if silent?.contains(recipient.token) == true { return suppressed += 1 }
            hash.update(Array("\(recipientID)\n".utf8))
            batch.append(recipient, at: count, service: UInt8(first.service(of: recipientID)))
            count += 1
            guard batch.count == Self.batchSize else { return }
            try writer.put(batch)
            batch = RecipientBatch()
        }
        guard count > 0 else {
            if suppressed == 0 { return nil }
            throw Diagnostic(
                suppressed == 1
                    ? "the only device that a retry would go to is suppressed"
                    : "all \(TextFormat.count(suppressed)) devices that a retry would go to are suppressed",
                file: run.place, remedy: "`volley suppression list` shows why. Nothing was sent.", [.seeSuppressed])
        }
        try writer.put(batch)
        if services > 1 { try writer.drop(BitSet(), of: count) }
        settings.runsFolder = FilePaths.absolute(run.catalog.place)
        (settings.parentEpoch, settings.retriedOutcomes, settings.place) = (try run.status().epoch, outcomes, nil)
        return try writer.finish(
            RunPlan(
                id: id, campaign: first.campaign, app: first.app, campaignFile: first.campaignFile, campaignSource: first.campaignSource,
                projectFile: first.projectFile, seed: seed, fields: first.fields, plannedAt: now, planHash: hash.finalizeHex(),
                rows: count + suppressed, audience: count, skipped: suppressed > 0 ? [.suppressed: suppressed] : [:],
                settings: .success(settings), preview: first.preview,
                previewText: previewText(count, suppressed, settings.service.recipientNoun), retryOf: first.id,
                serviceSegments: writer.segments))
    }

    private func previewText(_ count: Int, _ suppressed: Int, _ noun: String) -> String {
        let words = Outcome.allCases.filter(outcomes.contains).map(\.name).joined(separator: " or ")
        let devices = TextFormat.counted(count, one: "\(noun) that is", many: "\(noun)s that are")
        let more = RunPlan.leftOut(ofRetry: suppressed).map { " \($0)." } ?? ""
        return "A retry for \(devices) \(words) in \(run.plan.id), whose preview follows.\(more)\n\n\(run.plan.previewText)"
    }

    private static let batchSize = 1000
}
