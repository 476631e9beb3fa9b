import Base
import Content
import Cryptography
import Runs

/// From a run that has ended to a new one for those of its recipients that ended in certain outcomes.
struct RetryPlanner {
    let run: RunStore
    let outcomes: Set<Outcome>
    package let now: Timestamp

    /// Makes the new run, with the campaign and the settings of the first as they were frozen. Whom an earlier retry took over is left out.
    /// - Returns: nil when nobody is left.
    /// - Throws: `Diagnostic`: the disk is full, a run file is damaged.
    func plan() throws -> RunStore? {
        let first = run.plan
        let seed = RunSeed.random()
        let id = RunID.make(campaign: first.campaign, now: now, seed: seed)
        let writer = try run.catalog.create(id, variants: MessageCatalog(frozenIn: first).variantsOfDevices)
        var hash = SHA256()
        hash.update(Array("volley retry 1\0\(first.planHash)\0".utf8))
        var (count, batch) = (0, RecipientBatch())
        try forEachLeft { recipientID, recipient in
            hash.update(Array("\(recipientID)\n".utf8))
            batch.append(recipient, at: count)
            count += 1
            guard batch.count == Self.batchSize else { return }
            try writer.put(batch)
            batch = RecipientBatch()
        }
        guard count > 0 else { return nil }
        try writer.put(batch)
        var settings = try first.settings.get()
        settings.runsFolder = FilePaths.absolute(run.catalog.place)
        (settings.parentLife, settings.retriedOutcomes, settings.place) = (try run.life(), outcomes, nil)
        return try writer.finish(
            RunPlan(
                id: id, campaign: first.campaign, app: first.app, campaignFile: first.campaignFile, campaignSource: first.campaignSource,
                projectFile: first.projectFile, seed: seed, fields: first.fields, plannedAt: now, planHash: hash.finalizeHex(),
                rows: count, audience: count, skipped: [:], settings: .success(settings), preview: first.preview,
                previewText: previewText(count), retryOf: first.id))
    }

    /// How many are left.
    /// - Throws: `Diagnostic`: a run file is damaged, that of a retry is gone.
    func left() throws -> Int {
        var count = 0
        try forEachLeft { _, _ in count += 1 }
        return count
    }

    /// Those of the outcomes whom no earlier retry took over.
    private func forEachLeft(_ body: (Int, Recipient) throws -> Void) throws {
        let takenOver = try tokensOfRetries()
        try run.forEachResult { id, recipient, settlement, isClaimed in
            guard outcomes.contains(settlement?.outcome ?? (isClaimed ? .unknown : .unsent)), !takenOver.contains(recipient.token) else {
                return
            }
            try body(id, recipient)
        }
    }

    private func previewText(_ count: Int) -> String {
        let words = Outcome.allCases.filter(outcomes.contains).map(\.name).joined(separator: " or ")
        let devices = TextFormat.counted(count, "device that is", "devices that are")
        return "Again to \(devices) \(words) in \(run.plan.id), which was previewed as follows.\n\n\(run.plan.previewText)"
    }

    private func tokensOfRetries() throws -> Set<Target> {
        var tokens: Set<Target> = []
        let (chain, record) = (try RunChain(of: run), SendingHistory(beside: run))
        let retries = try chain.standingRetries(of: run.plan.id)
        let givenUp = try chain.abandonedRetries(of: run.plan.id, record)
        let sent = try record.retries(of: run.plan.id).filter { !givenUp.contains($0) }
        if let gone = sent.first(where: { id in !retries.contains { $0.plan.id == id } }) {
            if run.catalog.holds(gone) {
                do { _ = try run.catalog.open(gone, readOnly: true) } catch {
                    throw Diagnostic(
                        "the run was retried as \(gone), and whom that reached cannot be read: \((error as? Diagnostic)?.message ?? "\(error)")",
                        file: run.catalog.place(of: gone),
                        remedy: "Restore it, or make it readable for this user. Without it devices could get the push twice.")
                }
            }
            throw Diagnostic(
                "the run was retried as \(gone), and the file of that retry is gone: whom it reached is not known", file: run.place,
                remedy: "Put the file of \(gone) back beside this one. Without it devices could get the push twice.")
        }
        for retry in retries {
            try retry.forEachResult { _, recipient, _, _ in tokens.insert(recipient.token) }
        }
        return tokens
    }

    private static let batchSize = 1000
}
