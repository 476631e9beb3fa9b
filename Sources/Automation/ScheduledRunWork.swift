import Workspace
import Planning
import Sending
import Base
import Campaigns
import Reports
import Runs
import Scheduling

/// What is done for one scheduled run: planning, looking, sending. Blocks its thread, and leaves deciding to the scheduler.
struct ScheduledRunWork: Sendable {
    let catalog: any RunCatalog
    let choice: ProjectChoice
    let attendance: ScheduleAttendance
    let heartbeats: Heartbeats
    /// What it has sent.
    let counter = PushCounter()

    package init(catalog: any RunCatalog, choice: ProjectChoice, attendance: ScheduleAttendance, heartbeats: Heartbeats) {
        self.catalog = catalog
        self.choice = choice
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
            guard let plan = try ScheduledPlan(CampaignFile(scheduledRun.file, in: choice), for: scheduledRun, at: now) else {
                return .cancelledPlan(.campaignChanged)
            }
            let inputs = plan.inputFiles.map { ($0, FileStamp(path: $0)) }
            if let busy = quiet.look(at: inputs, now: now, uptime: Heartbeats.uptime).first {
                return .postponed(.fileChanging(busy, seconds: Int(StableFiles.seconds)))
            }
            let run = try plan.plan(into: scheduledRun.run, of: catalog, queuedAt: queuedAt, planning(scheduledRun.key))
            defer { run.close() }
            return .planned(needsApproval: try Sending.needsApproval(run, in: choice))
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
            case .planned: return .plan(needsApproval: try Sending.needsApproval(run, in: choice))
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
        let proposal = try proposeScheduled(run, in: choice, attendance.context)
        let sending = sending(scheduledRun.key, run.plan, notices)
        sending.observer(.warnings(proposal.warnings))
        let (end, failure) = try proposal.deliver(sending)
        if let failure { attendance.observer(.fileNotClosed(run: run.plan.id, failure)) }
        return SendOutcome(end: end, missed: Self.missed(of: run))
    }

    /// Planning is told on, and shows that it is alive.
    private func planning(_ key: ScheduledRun.Key) -> PlanningAttendance {
        PlanningAttendance(
            observer: Observer { [heartbeats, attendance] event in
                heartbeats.sign(of: .planning(key))
                attendance.observer(.planning(event))
            }, cancellation: attendance.cancellation, memory: attendance.memory)
    }

    /// So is sending, of which pushes are counted as well.
    private func sending(_ key: ScheduledRun.Key, _ plan: RunPlan, _ notices: Notices) -> RunAttendance {
        RunAttendance(
            context: attendance.context,
            observer: Observer { [heartbeats, attendance, counter] event in
                if case .tick = event { heartbeats.sign(of: .sending(key)) }
                if case .settled(let settlements) = event { counter.add(app: plan.app, campaign: plan.campaign, settlements) }
                notices.tell(of: event, occurrence: key.occurrence)
                attendance.observer(.run(event))
            }, cancellation: attendance.cancellation)
    }

    private static func missed(of run: any RecordedRun) -> MissedPushes? { try? Report(run, isSummary: true).missedPushes }
}
