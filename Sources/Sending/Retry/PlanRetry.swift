import Audience
public import Base
import Content
import Cryptography
import Delivery
import PushServices
public import Runs
public import Workspace

/// A new run for the devices of an earlier run that ended in certain outcomes.
public struct PlannedRetry: Sendable {
    /// The retry, planned and not yet sent.
    public let run: RunFile
    /// How many devices of the earlier run may get the push twice, by their outcomes in it:
    /// unknown, or unsent according to the store of several machines.
    public let mayRepeat: [Outcome: Int]
    /// Warnings that the retry would reach devices in their quiet hours, or that suppressed devices
    /// of other machines are not known.
    public let warnings: [Diagnostic]
    fileprivate let parent: RunFile

    /// Checks whether the retry may be sent now. The approval of the first run covers these devices
    /// and this text.
    /// - Throws: what `propose` throws.
    public func propose(in choice: ProjectChoice, _ context: SendingContext) throws -> SendProposal {
        if let approval = try parent.approval() { try run.approve(approval) }
        return try Sending.propose(run, isKept: false, in: choice, context)
    }
}

/// Makes the new run, while the earlier one is locked: until the new file shows which devices it
/// takes over, no other command may take them over.
/// - Parameter id: of the new run; nil makes one.
/// - Returns: nil if no device is left.
/// - Throws: `Diagnostic`: the run is a test, it may not be retried now, or its file is damaged.
///
/// ```swift
/// if let retry = try planRetry(of: run, outcomes: [.failed, .unknown], in: choice, at: .now()) {
///     let result = try retry.propose(in: choice, context).send(sending)
/// }
/// ```
public func planRetry(
    of run: RunFile, outcomes: Set<Outcome>, id: String? = nil, in choice: ProjectChoice, at now: Timestamp
) throws -> PlannedRetry? {
    if run.plan.isTest {
        throw Diagnostic(
            "the run is a test, which is not retried", file: run.place,
            remedy: "Send another: volley send FILE --test.",
            [.sendTest])
    }
    let gate = try SendPermission(run, in: choice)
    var warnings: [Diagnostic] = []
    let planned = try gate.retrying {
        let project = try CurrentProject(of: run, in: choice).project
        try RunsInStore(of: run, run.plan.settings.get(), in: project)?.judge(.retry)
        warnings += [try project.exchangeLists(of: run.plan.app, run.plan.settings.get(), in: run.catalog)].compactMap(
            \.self)
        return try RetryPlanner(run: run, outcomes: outcomes, now: now, id: id).plan()
    }
    guard let planned else { return nil }
    do {
        let doubtful: Set<Outcome> = try run.status().cause?.isForgetting == true ? [.unknown, .unsent] : [.unknown]
        let figures = try doubtful.isDisjoint(with: outcomes) ? [:] : run.figures().outcomes
        let mayRepeat = figures.filter { outcomes.contains($0.key) && doubtful.contains($0.key) && $0.value > 0 }
        let settings = try planned.plan.settings.get()
        warnings += [try RetryInQuietHours.warning(planned, settings, at: now)].compactMap(\.self)
        return PlannedRetry(run: planned, mayRepeat: mayRepeat, warnings: warnings, parent: run)
    } catch {
        try planned.remove()
        throw error
    }
}

/// The warning about quiet hours, shown before the question: a retry is sent at once, even to
/// devices that are in their quiet hours.
enum RetryInQuietHours {
    /// Counts the devices that are in their quiet hours now.
    /// - Parameter retry: a retry that was not sent yet.
    /// - Returns: the warning; nil if no device is in quiet hours.
    static func warning(_ retry: RunFile, _ settings: RunSettings, at now: Timestamp) throws -> Diagnostic? {
        guard let schedule = settings.schedule, let quiet = schedule.quietHours else { return nil }
        let hasZone = retry.plan.fields.last == ExportColumns.Standard.timezone.rawValue
        var isQuiet: [String: Bool] = [:]
        var count = 0
        try retry.forEachResult { _, recipient, _, _ in
            let own = hasZone ? recipient.fields.last ?? "" : ""
            let name = own.isEmpty ? schedule.timezone : own
            let isIn =
                isQuiet[name]
                ?? {
                    // As in the first run, the campaign's zone counts if the device's own does not
                    // exist.
                    let zone =
                        (try? ZoneDatabase.system.zone(named: name))
                        ?? (try? ZoneDatabase.system.zone(named: schedule.timezone))
                    return zone.map { quiet.contains(now, in: $0) } ?? false
                }()
            isQuiet[name] = isIn
            if isIn { count += 1 }
        }
        guard count > 0 else { return nil }
        return .warning(
            .sentInQuietHours, message: quiet.sentInThem(count), file: retry.place,
            remedy: "To avoid that, retry after the quiet hours.")
    }
}

/// Plans the retry of a run that has ended, for those of its recipients that ended in certain
/// outcomes.
struct RetryPlanner {
    let run: RunFile
    let outcomes: Set<Outcome>
    package let now: Timestamp
    /// The new run's id; nil makes one.
    var id: String?

    /// Makes the new run, with the frozen campaign and settings of the first. Devices that an
    /// earlier retry took over are left out, and those that are suppressed now are skipped: since
    /// the first run was planned, a person may have asked for silence.
    /// - Returns: nil if no device had one of the outcomes.
    /// - Throws: `Diagnostic`: all of them are suppressed; the disk is full, or a run file or a
    ///   list is damaged, for example.
    func plan() throws -> RunFile? {
        let first = run.plan
        // What is damaged in the first run would become part of a plan that looks intact.
        try run.checkUnchanged()
        try run.checkIntegrity()
        let seed = RunSeed.random()
        let id = id ?? RunID.make(campaign: first.campaign, now: now, seed: seed)
        let services = first.serviceCount
        var settings = try first.settings.get()
        let lists = settings.services.map {
            run.catalog.suppression(app: first.app, service: $0.service, environment: $0.listName)
        }
        let silent = try lists.suppressedDevices(since: first.plannedAt)
        let writer = try run.catalog.create(
            id, variants: MessageCatalog(frozenIn: first).variantsOfDevices,
            sorter: services > 1 ? SegmentSorter(services: services) : nil)
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
        (settings.parentEpoch, settings.retriedOutcomes) = (try run.status().epoch, outcomes)
        (settings.place, settings.plannedInStore) = (nil, nil)
        return try writer.finish(
            RunPlan(
                id: id, campaign: first.campaign, app: first.app, campaignFile: first.campaignFile,
                campaignSource: first.campaignSource,
                projectFile: first.projectFile, seed: seed, fields: first.fields, plannedAt: now,
                planHash: hash.finalizeHex(),
                rows: count + suppressed, audience: count, skipped: suppressed > 0 ? [.suppressed: suppressed] : [:],
                settings: .success(settings), preview: first.preview,
                previewText: previewText(count, suppressed, settings.service.recipientNoun), retryOf: first.id,
                serviceSegments: writer.segments))
    }

    private func previewText(_ count: Int, _ suppressed: Int, _ noun: String) -> String {
        let words = Outcome.allCases.filter(outcomes.contains).map(\.name).joined(separator: " or ")
        let devices = TextFormat.counted(count, one: "\(noun) that is", many: "\(noun)s that are")
        let more = RunPlan.leftOut(ofRetry: suppressed).map { " \($0)." } ?? ""
        return
            "A retry for \(devices) \(words) in \(run.plan.id), whose preview follows.\(more)\n\n\(run.plan.previewText)"
    }

    private static let batchSize = 1000
}
