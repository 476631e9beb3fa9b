package import Base
package import Campaigns
package import Runs
package import Scheduling

/// The time of a schedule that a run belongs to. It goes out once, sent by `volley schedule` or by a person at a terminal.
package struct ScheduledTime {
    package let run: any RecordedRun
    private let occurrence: LocalTime
    package let catalog: any RunCatalog
    package let scheduledRun: ScheduledRun
    /// `volley schedule` itself asks: it records what becomes of its times.
    package let isScheduler: Bool

    /// As the record of what was sent knows it.
    package let onRecord: SendingHistory.Time

    /// The time of a run, of a retry that of the run it retries, as the record of what was sent knows it; nil when there is none.
    package static func onRecord(_ run: any RecordedRun, _ settings: RunSettings) -> SendingHistory.Time? {
        guard let occurrence = settings.schedule?.occurrence, !run.plan.isTest else { return nil }
        return .init(
            campaign: run.plan.campaign, occurrence: "\(occurrence)", file: run.plan.campaignFile,
            realFile: settings.realCampaignFile ?? run.plan.campaignFile)
    }

    /// nil for a run that belongs to no time: a test, a run sent with `--now`, and a retry, whose time is that of the run it retries.
    package init?(_ run: any RecordedRun, _ settings: RunSettings, isScheduler: Bool) {
        guard let occurrence = settings.schedule?.occurrence, run.plan.retryOf == nil, let onRecord = Self.onRecord(run, settings) else {
            return nil
        }
        self.run = run
        self.occurrence = occurrence
        self.onRecord = onRecord
        self.isScheduler = isScheduler
        catalog = run.catalog
        let due = run.plan.waves.map(\.due)
        scheduledRun = ScheduledRun(
            key: .init(campaign: run.plan.campaign, occurrence: "\(occurrence)"), file: run.plan.campaignFile, run: run.plan.id,
            state: .stopped, problem: .sentByHand, begins: due.min() ?? run.plan.plannedAt, ends: due.max() ?? run.plan.plannedAt,
            changedAt: .now())
    }

    /// Whether `volley schedule` is at work, and sends this run by itself.
    package var isForSchedule: Bool {
        guard catalog.schedule.isAtWork, let (scheduledRuns, _) = try? catalog.schedule.read()
        else { return false }
        return scheduledRuns.contains { $0.key == scheduledRun.key && $0.run == run.plan.id && $0.state.isOpen }
    }

    /// - Returns: what stood in the record before, to be given back if nothing is sent.
    /// - Throws: `Diagnostic` when another run has the time.
    package func claim() throws -> ScheduledRun? {
        switch try withStore({ try $0.claim(scheduledRun) }) {
        case .own(let before): return before
        case .taken(let other): throw isTaken(by: other)
        }
    }

    package func returnTime(_ before: ScheduledRun?) throws { try withStore { try $0.returnTime(scheduledRun, before: before) } }

    /// Notes how a run that was sent by hand ended. `volley schedule` goes on with none of these.
    package func note(_ state: RunState) {
        guard !isScheduler else { return }
        var scheduledRun = scheduledRun
        (scheduledRun.state, scheduledRun.changedAt) = (
            state == .finished ? .finished : state == .cancelled ? .cancelled : .stopped, .now()
        )
        // How it ended stands in the run file too.
        _ = try? withStore { try $0.save([scheduledRun], []) }
    }

    private func withStore<Value>(_ body: (ScheduleStore) throws -> Value) throws -> Value {
        let store = try catalog.schedule.open()
        defer { store.close() }
        return try body(store)
    }

    /// Why a campaign cannot go out at a time, as a run has it; nil when the time is free, as far as the records know.
    package static func refusal(_ campaign: Campaign, _ occurrence: LocalTime, in catalog: any RunCatalog) throws -> Diagnostic? {
        let name = campaign.name.value
        let (scheduledRuns, _) = try catalog.schedule.read()
        if let scheduledRun = scheduledRuns.first(where: {
            $0.key == .init(campaign: name, occurrence: "\(occurrence)") && $0.state != .skipped
        }) {
            return isTaken(name, occurrence, by: scheduledRun, in: catalog)
        }
        let time = SendingHistory.Time(
            campaign: name, occurrence: "\(occurrence)", file: FilePaths.named(campaign.file), realFile: FilePaths.absolute(campaign.file))
        let other =
            try catalog.history.run(having: time, besides: "")
            ?? runsByTheirFiles(campaign.source, campaign.app.value, occurrence, campaign: name, in: catalog).last {
                // Of one elsewhere only the devices tell whether it is the same campaign, once they are planned.
                $0.plan.campaign == name || FilePaths.folder(of: $0.plan.campaignFile) == FilePaths.folder(of: time.file)
            }?.plan.id
        return other.map { isTaken(name, occurrence, by: $0, in: catalog) }
    }

    /// The run that has the time, as its own file says: of the same campaign, where the records were put back from a backup, or of one that was renamed and
    /// moved, as at least half of the devices of the smaller are the other's too.
    package func runByItsFile() throws -> String? {
        let others = try Self.runsByTheirFiles(
            run.plan.campaignSource, run.plan.app, occurrence, campaign: run.plan.campaign, in: catalog
        ).filter {
            $0.plan.id != run.plan.id
        }
        if let same = others.last(where: { $0.plan.campaign == run.plan.campaign }) { return same.plan.id }
        guard !others.isEmpty else { return nil }
        var own: Set<Target> = []
        try run.forEachResult { _, recipient, _, _ in own.insert(recipient.token) }
        return try others.last { other in
            defer { other.close() }
            guard other.prunedAt == nil else { return true }
            var shared = 0
            try other.forEachResult { _, recipient, _, _ in if own.contains(recipient.token) { shared += 1 } }
            return shared > 0 && 2 * shared >= min(own.count, other.plan.audience)
        }?.plan.id
    }

    /// Runs that were begun, or cancelled, for a time by a campaign, or by one that differs in its name only and does not stand any more where it stood.
    private static func runsByTheirFiles(
        _ source: String, _ app: String, _ occurrence: LocalTime, campaign: String, in catalog: any RunCatalog
    )
        throws
        -> [any RecordedRun]
    {
        func nameless(_ source: String) -> [Substring] { source.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("name:") } }
        let (text, record) = (nameless(source), catalog.history)
        return try catalog.list().runs.filter { other in
            defer { other.close() }
            let plan = other.plan
            guard plan.app == app, plan.retryOf == nil, !plan.isTest,
                plan.campaign == campaign
                    || nameless(plan.campaignSource) == text && !FilePaths.holds(plan.campaignFile, plan.campaignSource),
                try plan.settings.get().schedule?.occurrence == occurrence
            else { return false }
            return try other.hasBegun() || record.isCancelled(plan.id)
        }
    }

    // MARK: - Words

    /// Why the time is another run's.
    package func isTaken(by other: String) -> Diagnostic { Self.isTaken(run.plan.campaign, occurrence, by: other, in: catalog) }

    package func isTaken(by other: ScheduledRun) -> Diagnostic { Self.isTaken(run.plan.campaign, occurrence, by: other, in: catalog) }

    private static func isTaken(_ campaign: String, _ occurrence: LocalTime, by other: ScheduledRun, in catalog: any RunCatalog)
        -> Diagnostic
    {
        guard let run = other.run else {
            return Diagnostic(
                "'\(campaign)' was fired already for \(occurrence.words); nothing was sent",
                remedy: "A time goes out once. Give the campaign another time for another push.")
        }
        guard other.state == .planning, !catalog.holds(run) else {
            return isTaken(campaign, occurrence, by: run, in: catalog)
        }
        return Diagnostic(
            "`volley schedule` has begun to plan '\(campaign)' for \(occurrence.words), as \(run); nothing was sent",
            remedy: catalog.schedule.isAtWork
                ? "`volley schedule --list` shows what it waits for."
                : "Start `volley schedule` again: it goes on with it, or skips it.")
    }

    private static func isTaken(_ campaign: String, _ occurrence: LocalTime, by run: String, in catalog: any RunCatalog) -> Diagnostic {
        Diagnostic(
            "'\(campaign)' was fired already for \(occurrence.words), as \(run); nothing was sent", remedy: remedy(run, catalog, campaign))
    }

    /// What to do instead, for those that the other run has not reached.
    private static func remedy(_ other: String, _ catalog: any RunCatalog, _ campaign: String) -> String {
        guard let first = try? catalog.open(other),
            let state = try? first.status().state
        else { return "The file of that run is not there; whom it reached is not known. Give the campaign another time for another push." }
        if let gap = LedgerGap(of: first) { return "\(gap.diagnostic)" }
        return switch state {
        case .planned: "`volley send --plan \(other)` sends that plan."
        case .running, .paused, .stopped: "`volley resume \(other)` goes on with that run."
        case .cancelled where hasNeverBegun(first):
            "That plan was cancelled before anything of it was sent. Give '\(campaign)' another time; `volley send` with --now sends it at once, to everybody."
        case .finished, .cancelled:
            "`volley report \(other)` says who got it; "
                + (RunRemainder.remedyForUnsent(first) ?? "`volley retry \(other) --outcome failed` sends to those for whom it failed.")
        }
    }

    /// Also by the record: the file may have lost that it began, and its recipients, since.
    private static func hasNeverBegun(_ run: any RecordedRun) -> Bool {
        do {
            guard try !run.hasBegun() else { return false }
            return try run.catalog.history.entry(of: run.plan.id).map { try $0.previousLife == run.life() } ?? true
        } catch { return false }
    }
}
