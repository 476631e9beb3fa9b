import Base
import Campaigns
import Planning
import Reports
import Runs
import Sending
import Workspace

/// The work for one scheduled run: planning, examining, sending. It blocks its thread, and leaves
/// all decisions to the scheduler.
struct ScheduledRunWork: Sendable {
    let catalog: RunsFolder
    let choice: ProjectChoice
    let options: ScheduleOptions
    let heartbeats: Heartbeats
    /// Checked again before an approval that was given ahead counts.
    let rights: OrderRights
    /// Whether a campaign file may name only what the console may read (`AccountRights.confines`).
    let confines: @Sendable (String) -> Bool
    /// The results and the state of this process's runs.
    let metrics = SendingMetrics()

    package init(
        catalog: RunsFolder, choice: ProjectChoice, options: ScheduleOptions, heartbeats: Heartbeats,
        rights: @escaping OrderRights, confines: @escaping @Sendable (String) -> Bool = { _ in false }
    ) {
        self.catalog = catalog
        self.choice = choice
        self.options = options
        self.heartbeats = heartbeats
        self.rights = rights
        self.confines = confines
    }

    /// How planning ended.
    enum Planned: Sendable {
        case planned(Scheduler.ApprovalState)
        /// Planning failed, with an error's text.
        case failed(String)
        /// Not yet: a file that it is planned from may still be being written.
        case postponed(ScheduleProblem)
        /// By the rules of its zone, which were changed, the time is still to come.
        case moved(Occurrence)
        /// The campaign is no longer to be sent at this time.
        case cancelledPlan(ScheduleProblem)
        /// The process must end.
        case interrupted
    }

    /// Plans a campaign from its file and its exports as they are now, into the scheduled run's
    /// run.
    /// - Parameters:
    ///   - approval: the approval that a person gave ahead; nil without one.
    ///   - queuedAt: when the scheduled run was queued for planning.
    ///   - quiet: the earlier checks of the exports.
    func plan(
        _ scheduledRun: ScheduledRun, _ approval: AdvanceApproval?, queuedAt: Timestamp, _ quiet: inout StableFiles
    ) -> Planned {
        do {
            let now = Timestamp.now()
            var campaign = CampaignFile(scheduledRun.file, in: choice)
            campaign.isConfined = confines(scheduledRun.file)
            guard let plan = try ScheduledPlan(campaign, for: scheduledRun, at: now) else {
                return .cancelledPlan(.campaignChanged)
            }
            if Scheduler.isStillToCome(plan.time, of: scheduledRun, at: now) { return .moved(plan.time) }
            let inputs = plan.inputFiles.map { ($0, FileStamp(path: $0)) }
            if let busy = quiet.observe(inputs, now: now, uptime: Heartbeats.uptime).first {
                return .postponed(.fileChanging(busy, seconds: Int(StableFiles.seconds)))
            }
            let run = try plan.plan(
                into: scheduledRun.run, of: catalog, queuedAt: queuedAt, planning(.planning(scheduledRun.key)))
            defer { run.close() }
            return .planned(try consent(to: run, approval))
        } catch is CancellationError {
            return .interrupted
        } catch {
            return .failed("\(error)")
        }
    }

    /// Finds the state of the scheduled run's run.
    /// - Parameter approval: the approval that a person gave ahead, for a plan that was not judged
    ///   yet; nil without one.
    func examine(_ scheduledRun: ScheduledRun, _ approval: AdvanceApproval? = nil) -> Scheduler.Finding {
        guard let id = scheduledRun.run, catalog.holds(id) else { return .nothing }
        do {
            let run = try catalog.open(id)
            defer { run.close() }
            if run.isBeingSent { return try run.status().state == .paused ? .paused : .elsewhere }
            // The file lacks something that was recorded, or may, so the state in it may be
            // outdated.
            if let gap = LedgerGap(of: run) { return .unreadable("\(gap.diagnostic)") }
            let status = try run.status()
            switch status.state {
            case .planned: return .plan(try consent(to: run, approval))
            case .running: return .elsewhere
            case .paused: return .paused
            case .finished: return .ended(.finished, Self.problem(of: run))
            case .cancelled: return .ended(.cancelled, status.cause.map { .stopped($0) })
            // A run that was cut off has no end time. An interrupted run must continue.
            case .stopped where status.finishedAt == nil || status.cause == .interrupted: return .unfinished
            case .stopped: return .ended(.stopped, status.cause.map { .stopped($0) })
            }
        } catch {
            return .unreadable("\(error)")
        }
    }

    /// Whether a plan may be sent, as far as approvals go. One that was given ahead is recorded in
    /// the plan if it holds.
    private func consent(to run: RunFile, _ approval: AdvanceApproval?) throws -> Scheduler.ApprovalState {
        guard try Sending.needsApproval(run, in: choice) else { return .given }
        guard let approval else { return .missing }
        // Also four eyes: the person's rights and texts may have changed since they approved.
        var order = Order(nonce: "", kind: .approve(run: run.plan.id, digest: run.planDigest), by: approval.name)
        order.askedAt = approval.approvedAt
        if let flaw = approval.flaw(for: run.plan) ?? rights(order).map({ .notPermitted($0) }) {
            return .void(.approvalVoid(by: approval.name, flaw))
        }
        // No other process may have the file open when its parts are merged into one.
        run.close()
        let plan = try catalog.open(run.plan.id, readOnly: false)
        defer { plan.close() }
        _ = try checkApprovable(plan, in: choice)
        let (_, warning) = try Sending.approve(plan, by: approver(approval.name), at: approval.approvedAt)
        if let warning { options.observer(.order(.warning(run.plan, warning))) }
        return .given
    }

    /// Cancels a plan.
    func withdraw(_ scheduledRun: ScheduledRun) {
        do {
            let run = try catalog.open(scheduledRun.run ?? "", readOnly: false)
            let cause = StopCause.described(scheduledRun.problem?.sentence ?? "")
            try run.append(.state(.cancelled, cause: cause, at: .now(), from: [.planned]))
            try run.closeIntoOneFile()
        } catch { options.observer(.planNotCancelled(scheduledRun, error)) }
    }

    /// How sending ended.
    struct SendOutcome: Sendable {
        var end: RunEnd
        /// The problem of a finished run; nil if it went well.
        var problem: ScheduleProblem?
    }

    /// Sends the scheduled run's run to its end.
    /// - Throws: `SendRefused`, or what else prevents it. This call sent nothing then.
    package func send(_ scheduledRun: ScheduledRun, _ notices: Notices) throws -> SendOutcome {
        let run = try catalog.open(scheduledRun.run ?? "", readOnly: false)
        defer { run.close() }
        let proposal = try proposeScheduled(run, in: choice, options.context)
        let sending = sending(.sending(scheduledRun.key), run.plan, notices)
        sending.observer(.warnings(proposal.warnings))
        if try !run.hasBegun() {
            metrics.noteBeginning(
                app: run.plan.app, campaign: run.plan.campaign,
                lateness: Double(Timestamp.now().epochMilliseconds - scheduledRun.begins.epochMilliseconds) / 1000)
        }
        let (end, failure) = try proposal.deliver(sending)
        if let failure { options.observer(.fileNotClosed(run.plan, failure)) }
        return SendOutcome(end: end, problem: Self.problem(of: run))
    }

    /// The options of planning: it passes events on, and each is a sign of life.
    func planning(_ job: Watchdog.Job) -> PlanOptions {
        PlanOptions(
            observer: Observer { [heartbeats, options] event in
                heartbeats.sign(of: job)
                options.observer(.planning(event, job.key))
            }, cancellation: options.cancellation, memory: options.memory)
    }

    /// The options of sending: it passes events on, gives signs of life, posts notices and counts
    /// pushes.
    func sending(_ job: Watchdog.Job, _ plan: RunPlan, _ notices: Notices) -> RunOptions {
        var sending = RunOptions(
            context: options.context,
            observer: Observer { [heartbeats, options, metrics] event in
                if case .tick = event { heartbeats.sign(of: job) }
                metrics.note(event, of: plan)
                if !plan.isTest { notices.notify(of: event, occurrence: job.key?.occurrence) }
                options.observer(.run(event, plan))
            }, cancellation: options.cancellation)
        // The service may be started again: machines that help continue in the meantime.
        sending.endsSharedRuns = false
        return sending
    }

    private static func problem(of run: RunFile) -> ScheduleProblem? { try? Report(run, isSummary: true).problem }
}

/// Decides whether files have been unchanged for long enough to be read: an export that is still
/// being written lacks its last devices. It has no clock and opens no files: callers pass what they
/// see.
///
/// A file is stable when its last change is at least `seconds` ago by the machine's clock. Where
/// the clocks of machine and file system disagree (a file from the future, a server whose clock is
/// wrong), it is stable when every look in that many seconds saw it unchanged.
struct StableFiles {
    /// The seconds that a file must have been unchanged.
    static let seconds = 10
    /// The seconds after which a file that is not checked is dropped.
    private static let rememberedSeconds = 3600.0

    /// The stamp that was last seen of a file, and the uptime of the first and the last look that
    /// saw it.
    private struct Look { var stamp: FileStamp, since: Double, last: Double }

    private var looks: [String: Look] = [:]

    /// Notes the present stamps of files.
    /// - Parameters:
    ///   - files: the files with their stamps; a file without a stamp does not exist, and is
    ///     ignored here.
    ///   - now: the time on the machine's clock.
    ///   - uptime: seconds on a clock that cannot be set.
    /// - Returns: the files that may still be being written, in their order.
    mutating func observe(_ files: [(path: String, stamp: FileStamp?)], now: Timestamp, uptime: Double) -> [String] {
        looks = looks.filter { uptime - $0.value.last < Self.rememberedSeconds }
        return files.compactMap { path, stamp in
            guard let stamp else { return nil }
            let look = looks[path].flatMap { $0.stamp == stamp ? $0 : nil }
            looks[path] = Look(stamp: stamp, since: look?.since ?? uptime, last: uptime)
            if let look, uptime - look.since >= Double(Self.seconds) { return nil }
            let newest = max(stamp.modified, stamp.changed).seconds
            return Int(now.epochSeconds) - newest >= Self.seconds ? nil : path
        }
    }
}
