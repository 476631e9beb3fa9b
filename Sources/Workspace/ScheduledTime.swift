package import Base
package import Campaigns
package import Cluster
public import Runs

/// The time of a schedule that a run belongs to. It goes out once, sent by `volley schedule` or by
/// a person at a terminal.
public struct ScheduledTime: Sendable {
    package let run: RunFile
    private let occurrence: LocalTime
    package let catalog: RunsFolder
    package let scheduledRun: ScheduledRun
    /// Whether the caller is `volley schedule` itself. It records the state of its times by itself.
    package let isScheduler: Bool

    /// The time as the record of what was sent has it.
    package let onRecord: SendingHistory.Time

    /// The time of a run (for a retry, that of the run it retries) as the record of what was sent
    /// has it; nil without one.
    package static func onRecord(_ run: RunFile, _ settings: RunSettings) -> SendingHistory.Time? {
        guard let occurrence = settings.schedule?.occurrence, !run.plan.isTest else { return nil }
        return .init(
            campaign: run.plan.campaign, occurrence: "\(occurrence)", file: run.plan.campaignFile,
            realFile: settings.realCampaignFile ?? run.plan.campaignFile)
    }

    /// nil for a run without a time: a test, a run sent with `--now`, and a retry, whose time is
    /// that of the run it retries.
    public init?(_ run: RunFile, _ settings: RunSettings, isScheduler: Bool) {
        guard let occurrence = settings.schedule?.occurrence, run.plan.retryOf == nil,
            let onRecord = Self.onRecord(run, settings)
        else {
            return nil
        }
        self.run = run
        self.occurrence = occurrence
        self.onRecord = onRecord
        self.isScheduler = isScheduler
        catalog = run.catalog
        let due = run.plan.waves.map(\.due)
        scheduledRun = ScheduledRun(
            key: .init(campaign: run.plan.campaign, occurrence: "\(occurrence)"), file: run.plan.campaignFile,
            run: run.plan.id,
            state: .stopped, problem: .sentByHand, begins: due.min() ?? run.plan.plannedAt,
            ends: due.max() ?? run.plan.plannedAt,
            changedAt: .now())
    }

    /// Whether `volley schedule` is at work and will send this run itself.
    public var isForSchedule: Bool {
        guard catalog.schedule.isAtWork, let scheduledRuns = try? catalog.schedule.read().scheduledRuns
        else { return false }
        return scheduledRuns.contains { $0.key == scheduledRun.key && $0.run == run.plan.id && $0.state.isOpen }
    }

    /// Claims the time for the run, before it is sent by hand: from then on `volley schedule`
    /// leaves it alone.
    /// - Returns: what was in the record before, to restore if nothing is sent.
    /// - Throws: `Diagnostic` when another run has the time.
    package func claim() throws -> ScheduledRun? {
        let claim = try withStore { try $0.claim(scheduledRun) }
        if let holder = claim.holder { throw isTaken(by: holder) }
        return claim.before
    }

    /// Gives the time back, as nothing was sent.
    package func returnTime(_ before: ScheduledRun?) throws {
        try withStore { try $0.returnTime(scheduledRun, before: before) }
    }

    /// Notes how a run that was sent by hand ended.
    /// - Parameter problem: the problem of a finished run; nil if it went well.
    package func note(_ state: RunState, problem: ScheduleProblem?) {
        guard !isScheduler else { return }
        var scheduledRun = scheduledRun
        if state == .finished, let problem { scheduledRun.problem = problem }
        (scheduledRun.state, scheduledRun.changedAt) = (
            state == .finished ? .finished : state == .cancelled ? .cancelled : .stopped, .now()
        )
        // A failure does no harm: the run file also has the result.
        _ = try? withStore { try $0.save([scheduledRun], []) }
    }

    private func withStore<Value>(_ body: (ScheduleStore) throws -> Value) throws -> Value {
        let store = try catalog.schedule.open()
        defer { store.close() }
        return try body(store)
    }

    /// Why a campaign cannot go out at a time that a run has taken; nil when the records show the
    /// time as free.
    package static func refusal(_ campaign: Campaign, occurrence: LocalTime, in catalog: RunsFolder) throws
        -> Diagnostic?
    {
        let name = campaign.name.value
        let scheduledRuns = try catalog.schedule.read().scheduledRuns
        if let scheduledRun = scheduledRuns.first(where: {
            $0.key == .init(campaign: name, occurrence: "\(occurrence)") && $0.state != .skipped
        }) {
            return isTaken(name, occurrence: occurrence, by: scheduledRun, in: catalog)
        }
        let time = SendingHistory.Time(
            campaign: name, occurrence: "\(occurrence)", file: FilePaths.named(campaign.file),
            realFile: FilePaths.absolute(campaign.file))
        let other =
            try catalog.history.run(having: time, besides: "")
            ?? runsByTheirFiles(
                campaign.source, app: campaign.app.value, occurrence: occurrence, campaign: name, in: catalog
            ).last {
                // For a run from another folder only the devices, once planned, show whether it is
                // the same campaign.
                $0.plan.campaign == name
                    || FilePaths.folder(of: $0.plan.campaignFile) == FilePaths.folder(of: time.file)
            }?.plan.id
        return other.map { isTaken(name, occurrence: occurrence, by: $0, in: catalog) }
    }

    /// The run that has the time according to its own file: a run of the same campaign, where the
    /// records were restored from a backup, or of a campaign that was renamed and moved, where the
    /// two share at least half of the devices of the smaller one.
    package func runByItsFile() throws -> String? {
        let others = try Self.runsByTheirFiles(
            run.plan.campaignSource, app: run.plan.app, occurrence: occurrence, campaign: run.plan.campaign, in: catalog
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

    /// Runs that were begun or cancelled for a time by a campaign, or by one that differs only in
    /// its name and is no longer where it was: a campaign that is still there under its name,
    /// whatever its text is now, was not renamed.
    private static func runsByTheirFiles(
        _ source: String, app: String, occurrence: LocalTime, campaign: String, in catalog: RunsFolder
    )
        throws
        -> [RunFile]
    {
        func nameless(_ source: String) -> [Substring] {
            source.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("name:") }
        }
        let (text, record) = (nameless(source), catalog.history)
        return try catalog.runs(of: nil) { $0.retryOf == nil && $0.occurrence == "\(occurrence)" }.filter { other in
            defer { other.close() }
            let plan = other.plan
            guard plan.app == app, plan.retryOf == nil, !plan.isTest,
                plan.campaign == campaign
                    || nameless(plan.campaignSource) == text && !isStillThere(plan),
                try plan.settings.get().schedule?.occurrence == occurrence
            else { return false }
            return try other.unlessRemoved { try $0.hasBegun() } ?? false || record.isCancelled(plan.id)
        }
    }

    private static func isStillThere(_ plan: RunPlan) -> Bool {
        func name(_ text: String) -> Substring? {
            text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("name:") }
        }
        guard let bytes = try? RegularFile.bytes(of: plan.campaignFile, atMost: CampaignChange.longestCampaign) else {
            return false
        }
        let then = name(plan.campaignSource)
        return then != nil && then == name(String(decoding: bytes, as: UTF8.self))
    }

    // MARK: - Words

    /// Why the time belongs to another run.
    package func isTaken(by other: String) -> Diagnostic {
        Self.isTaken(run.plan.campaign, occurrence: occurrence, by: other, in: catalog)
    }

    /// Why the time belongs to another scheduled run.
    package func isTaken(by other: ScheduledRun) -> Diagnostic {
        Self.isTaken(run.plan.campaign, occurrence: occurrence, by: other, in: catalog)
    }

    private static func isTaken(
        _ campaign: String, occurrence: LocalTime, by other: ScheduledRun, in catalog: RunsFolder
    )
        -> Diagnostic
    {
        guard let run = other.run else {
            return Diagnostic(
                "'\(campaign)' has already used its time \(occurrence.words); nothing was sent",
                remedy: "Each time goes out only once. To send another push, give the campaign another time.")
        }
        guard other.state == .planning, !catalog.holds(run) else {
            return isTaken(campaign, occurrence: occurrence, by: run, in: catalog)
        }
        var mistake = Diagnostic(
            "`volley schedule` has begun to plan '\(campaign)' for \(occurrence.words), as \(run); nothing was sent",
            remedy: catalog.schedule.isAtWork
                ? "`volley schedule --list` shows what it waits for."
                : "Start `volley schedule` again; it continues the plan or skips it.",
            [catalog.schedule.isAtWork ? .seeCalendar : .ask(.startSender)])
        mistake.plainMessage =
            "the sender has begun to plan '\(campaign)' for \(occurrence.words), as \(run); nothing was sent"
        return mistake
    }

    private static func isTaken(_ campaign: String, occurrence: LocalTime, by run: String, in catalog: RunsFolder)
        -> Diagnostic
    {
        let (remedy, remedies) = remedy(run, catalog, campaign: campaign)
        return Diagnostic(
            "'\(campaign)' has already used its time \(occurrence.words), for \(run); nothing was sent", remedy: remedy,
            remedies)
    }

    /// What to do instead for devices that the other run has not reached, in words and as values.
    private static func remedy(_ other: String, _ catalog: RunsFolder, campaign: String) -> (String, [Remedy]) {
        guard let first = try? catalog.open(other),
            let state = try? first.status().state
        else {
            return (
                "The file of that run is missing, so it is not known which devices it reached. "
                    + "To send another push, give the campaign another time.",
                [.ask(.restoreRun(other)), .giveAnotherTime]
            )
        }
        if let gap = LedgerGap(of: first) { return ("\(gap.diagnostic)", gap.diagnostic.remedies) }
        switch state {
        case .planned: return ("`volley send --plan \(other)` sends that plan.", [.send(run: other)])
        case .running: return ("`volley report \(other)` shows its progress.", [.watch(run: other)])
        case .paused, .stopped: return ("`volley resume \(other)` resumes that run.", [.resume(run: other)])
        case .cancelled where hasNeverBegun(first):
            return (
                "That plan was cancelled before any of it was sent. Give '\(campaign)' another time; "
                    + "`volley send` with --now sends it to all devices at once.", [.giveAnotherTime, .ask(.sendNow)]
            )
        case .finished, .cancelled:
            let (unsent, failed) = (RunRemainder.remedyForUnsent(first), RunRemainder.remedyForFailed(first))
            let rest: [Remedy] = unsent != nil ? [.retryUnsent(run: other)] : failed != nil ? [.retry(run: other)] : []
            return (
                (["`volley report \(other)` shows for which devices it was accepted."]
                    + [unsent ?? failed].compactMap(\.self)).joined(
                        separator: " "),
                [.readReport(run: other)] + rest
            )
        }
    }

    /// Also reads the record: since then the file may have lost the fact that the run began, and
    /// its recipients.
    private static func hasNeverBegun(_ run: RunFile) -> Bool {
        do {
            guard try !run.hasBegun() else { return false }
            return try run.catalog.history.entry(of: run.plan.id).map { try $0.previousEpoch == run.status().epoch }
                ?? true
        } catch { return false }
    }
}

/// The time of a schedule that a run is sent for, as the store of several machines has it: no other
/// run is sent for it on any of them.
package struct SharedTime {
    /// What will be claimed.
    package let firing: SharedFiring
    private let store: Store
    private let cancellation: Cancellation

    /// nil if volley.yaml names no store, or the run has no time of its own (`ScheduledTime`).
    /// - Parameter cancellation: ends waiting for a store that has just come up.
    /// - Throws: `Diagnostic`: the store cannot be reached.
    package init?(of run: RunFile, _ settings: RunSettings, in project: Project, until cancellation: Cancellation)
        throws
    {
        guard let time = ScheduledTime(run, settings, isScheduler: false), project.store != nil,
            let store = try project.openStore()
        else { return nil }
        let key = time.scheduledRun.key
        firing = SharedFiring(
            app: run.plan.app, campaign: key.campaign, occurrence: key.occurrence, run: run.plan.id, state: .begun)
        (self.store, self.cancellation) = (store, cancellation)
    }

    /// - Throws: `Diagnostic`: another run has the time; `StoreRefusal.quiet`: work should end
    ///   before the store has answered.
    package func check() throws {
        if let holder = try onceKnown({ try store.holder(of: firing) }) { throw holder.isTaken }
    }

    /// Notes that the run is about to be sent.
    /// - Throws: as `check`.
    package func begin() throws { if let holder = try onceKnown({ try store.claim(firing) }) { throw holder.isTaken } }

    /// Queries a store that has just come up repeatedly, until other machines have recorded there
    /// what they have sent.
    private func onceKnown(_ body: () throws -> SharedFiring?) throws -> SharedFiring? {
        while true {
            do { return try body() } catch StoreRefusal.quiet {
                cancellation.waitForRequest(atMost: 0.5)
                if cancellation.isRequested { throw StoreRefusal.quiet }
            }
        }
    }

    /// Nothing was sent after all.
    package func giveBack() { try? store.giveBack(firing) }
}

extension QuietHours {
    /// A warning that devices would get a push in these hours: `3 devices are in the quiet hours
    /// 22:00-08:00, and would get it anyway`.
    package func sentInThem(_ count: Int) -> String {
        "\(TextFormat.counted(count, one: "device is", many: "devices are")) in the quiet hours \(self), and would get it anyway"
    }
}
