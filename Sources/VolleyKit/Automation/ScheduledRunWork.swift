import Base
import Campaigns
import Delivery
import Reports
import Runs
import Scheduling

/// What is done for one scheduled run: planning, looking, sending. Blocks its thread, and leaves deciding to the scheduler.
struct ScheduledRunWork: Sendable {
    let catalog: any RunCatalog
    let options: CommonOptions
    let attendance: ScheduleAttendance
    let heartbeats: Heartbeats
    /// What it has sent.
    let counter = PushCounter()

    package init(catalog: any RunCatalog, options: CommonOptions, attendance: ScheduleAttendance, heartbeats: Heartbeats) {
        self.catalog = catalog
        self.options = options
        self.attendance = attendance
        self.heartbeats = heartbeats
    }

    /// How planning ended.
    enum Planned: Sendable {
        case planned(needsApproval: Bool)
        /// An error's words.
        case failed(String)
        /// Not yet: what it is planned from may still be being written.
        case postponed(ScheduleProblem)
        /// The campaign is not to be sent at this time any more.
        case cancelledPlan(ScheduleProblem)
        /// The process is to end.
        case interrupted
    }

    /// Plans a campaign from its file and its exports as they are now, into the scheduled run's run.
    /// - Parameters:
    ///   - queuedAt: since when it has waited for its turn.
    ///   - quiet: what was seen of exports so far.
    func plan(_ scheduledRun: ScheduledRun, queuedAt: Timestamp, _ quiet: inout StableFiles) -> Planned {
        do {
            let now = Timestamp.now()
            let context = try CampaignContext.read(file: scheduledRun.file, options: options, now: now)
            let times = context.campaign.schedule?.occurrences(from: scheduledRun.begins, through: scheduledRun.begins) ?? []
            guard context.campaign.name.value == scheduledRun.key.campaign,
                let time = times.first(where: { $0.name == scheduledRun.key.occurrence })
            else {
                return .cancelledPlan(.campaignChanged)
            }
            let inputs = context.inputFiles(now: now).map { ($0, FileStamp(path: $0)) }
            if let busy = quiet.look(at: inputs, now: now, uptime: Heartbeats.uptime).first {
                return .postponed(.fileChanging(busy, seconds: Int(StableFiles.seconds)))
            }
            var settings = try RunSettings(context)
            settings.isOfScheduler = true
            _ = try context.route(settings, options)
            var planner = try Planner(context: context, memory: options.memory, planning(scheduledRun.key), now: now)
            planner.sendingTime = .at(time)
            planner.queuedAt = queuedAt
            planner.isUnattended = true
            planner.credentialWarnings = try context.placingCredentials { try Gateway.check(settings, now: now) }
            // Left by a process that was killed; nobody else plans this run.
            try catalog.removeUnfinishedPlan(of: scheduledRun.run ?? "")
            let (run, _) = try planner.plan(settings, in: catalog, id: scheduledRun.run)
            defer { run.close() }
            return .planned(needsApproval: try needsApproval(run))
        } catch is CancellationError {
            return .interrupted
        } catch {
            return .failed("\(error)")
        }
    }

    /// What there is of the scheduled run's run.
    func examine(_ scheduledRun: ScheduledRun) -> Scheduler.Finding {
        guard let id = scheduledRun.run, catalog.holds(id) else { return .nothing }
        do {
            let run = try catalog.open(id)
            defer { run.close() }
            if run.isBeingSent { return .elsewhere }
            // What its file says of its state is not how it was.
            if let gap = LedgerGap(of: run) { return .unreadable("\(gap.diagnostic)") }
            let status = try run.status()
            switch status.state {
            case .planned: return .plan(needsApproval: try needsApproval(run))
            case .running, .paused: return .elsewhere
            case .finished: return .ended(.finished, Self.missed(of: run).map { .missed($0) })
            case .cancelled: return .ended(.cancelled, status.cause.map { .stopped($0) })
            // One that was cut off has no end, one that was interrupted is to go on.
            case .stopped where status.finishedAt == nil || status.cause == .interrupted: return .unfinished
            case .stopped: return .ended(.stopped, status.cause.map { .stopped($0) })
            }
        } catch {
            return .unreadable("\(error)")
        }
    }

    private func needsApproval(_ run: any RecordedRun) throws -> Bool {
        try gate(run, run.plan.settings.get()).lacksApproval(CurrentProject.all(of: run, options))
    }

    private func gate(_ run: any RecordedRun, _ settings: RunSettings) -> SendPermission {
        SendPermission(run: run, settings: settings, options: options, isScheduler: true)
    }

    /// Cancels a plan.
    func withdraw(_ scheduledRun: ScheduledRun) {
        do {
            let run = try catalog.open(scheduledRun.run ?? "", readOnly: false)
            try run.setState(.cancelled, cause: .described(scheduledRun.problem?.sentence ?? ""), at: .now(), from: [.planned])
            try run.closeIntoOneFile()
        } catch { attendance.observer(.planNotCancelled(run: scheduledRun.run ?? "", error)) }
    }

    /// How sending ended.
    struct SendOutcome: Sendable {
        var end: RunEnd
        /// Of a run that finished: how many were never sent to, and why; nil when nobody was missed.
        var missed: MissedPushes?
    }

    /// Sends the scheduled run's run to its end.
    /// - Throws: `Diagnostic`: nothing was sent by this call.
    package func send(_ scheduledRun: ScheduledRun, _ notices: Notices) throws -> SendOutcome {
        let run = try catalog.open(scheduledRun.run ?? "", readOnly: false)
        defer { run.close() }
        let step: SendGate.Step = try run.status().state == .planned ? .begin : .goOn
        // What was changed is not even read.
        try gate(run, run.plan.settings.get()).check(step)
        let dispatch = try RunToSend(run, options, attendance.context)
        let sending = sending(scheduledRun.key, run.plan)
        sending.observer(.warnings(dispatch.warnings))
        let end = try dispatch.deliver(
            step, through: gate(run, dispatch.settings), sending, notices, occurrence: scheduledRun.key.occurrence)
        _ = dispatch.gateway.close()
        do { try dispatch.close(sending.observer) } catch { attendance.observer(.fileNotClosed(run: run.plan.id, error)) }
        return SendOutcome(end: end, missed: Self.missed(of: run))
    }

    /// Planning is told on, and shows that it is alive.
    private func planning(_ key: ScheduledRun.Key) -> PlanningAttendance {
        PlanningAttendance(
            observer: Observer { [heartbeats, attendance] event in
                heartbeats.sign(of: .planning(key))
                attendance.observer(.planning(event))
            }, cancellation: attendance.cancellation)
    }

    /// So is sending, of which pushes are counted as well.
    private func sending(_ key: ScheduledRun.Key, _ plan: RunPlan) -> RunAttendance {
        RunAttendance(
            context: attendance.context,
            observer: Observer { [heartbeats, attendance, counter] event in
                if case .tick = event { heartbeats.sign(of: .sending(key)) }
                if case .settled(let settlements) = event { counter.add(app: plan.app, campaign: plan.campaign, settlements) }
                attendance.observer(.run(event))
            }, notices: attendance.observer.notices, cancellation: attendance.cancellation)
    }

    private static func missed(of run: any RecordedRun) -> MissedPushes? { try? Report(run, isSummary: true).missedPushes }
}
