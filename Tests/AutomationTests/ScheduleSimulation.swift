import Base
import Campaigns
import Foundation
import Reports
import Runs
import TestSupport
import Testing

@testable import Sending
@testable import Automation

/// A world in which a scheduler lives for a year, is killed between any two of its steps, and must
/// neither miss a time nor send one twice. The record and the runs are dictionaries, the clock is a
/// number, and a seed decides what happens.
struct ScheduleSimulation {
    /// A time according to the oracle.
    struct Time: Hashable { var begins: Int64, ends: Int64 }

    /// One of the campaigns, and its possible changes.
    struct Plan {
        var schedules: [Schedule]
        var needsApproval = false
    }

    private enum RunState { case planned, begun, ended }
    /// A job of the process: gone when it is killed.
    private enum Job { case planning, sending }

    let start: Int64, end: Int64
    let plans: [String: Plan]
    /// By the times in words.
    let oracle: [String: [String: Time]]

    private var random: SeededRandom
    private var now: Int64
    private var clockMaximum: Int64

    // State that survives a kill.
    private var scheduledRuns: [ScheduledRun.Key: ScheduledRun] = [:]
    private var records: [String: ScheduledCampaign] = [:]
    private var runs: [String: RunState] = [:]
    private var approvals: [String: Int64] = [:]
    /// What people approved beforehand.
    private var ahead: [ScheduledRun.Key: AdvanceApproval] = [:]
    /// The version of the file that a run was planned from, and its devices.
    private var planned: [String: (version: Int, devices: Int)] = [:]
    private var versions: [String: Int] = [:]
    private var mistakes: Set<String> = []

    // State that does not.
    private var scheduler: Scheduler?
    private var jobs: [(at: Int64, job: Job, scheduledRun: ScheduledRun, approval: AdvanceApproval?)] = []

    // Results.
    private(set) var failures: [String] = []
    private(set) var sends = 0, skips = 0, kills = 0, resumes = 0, retries = 0, unapproved = 0
    private(set) var sentAhead = 0, voids = 0
    /// Times that must have fired or been skipped by the end: the periods in which each list of
    /// times counts for a campaign.
    private var epochs: [(campaign: String, times: String, from: Int64, through: Int64)] = []
    private var begunRuns: Set<String> = []
    /// The last period in which a process was running and saw the clock without a gap.
    private var awakeSince: Int64 = .max
    /// Runs that people approve after they were planned.
    private var agreed: Set<String> = []

    init(seed: UInt64, start: Int64, end: Int64, plans: [String: Plan], oracle: [String: [String: Time]]) {
        (self.start, self.end, self.plans, self.oracle) = (start, end, plans, oracle)
        (now, clockMaximum) = (start, start)
        random = SeededRandom(seed)
        for name in plans.keys { versions[name] = 0 }
    }

    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    // MARK: - Epoch

    mutating func run() {
        let moments = Set(oracle.values.flatMap { $0.values.map(\.begins) }).sorted()
        var index = 0
        while now < end {
            if scheduler == nil { restart() }
            // Moves to the next time of any campaign, to the next answer, or just forward.
            while index > 0, moments[index - 1] > now { index -= 1 }
            while index < moments.count, moments[index] <= now { index += 1 }
            var next = min(index < moments.count ? moments[index] : end, now + 6 * 3600)
            if let job = jobs.map(\.at).min() { next = min(next, max(job, now + 1)) }
            if chance(0.3) { next = min(next, now + Int64.random(in: 1...1800, using: &random)) }
            now = next
            if chance(0.002) { disturbClock() }
            step()
        }
    }

    private mutating func step() {
        perform { $0.timePassed(to: $1) }
        while scheduler != nil, let index = jobs.firstIndex(where: { $0.at <= now }) {
            let (_, job, scheduledRun, approval) = jobs.remove(at: index)
            answer(job, scheduledRun, approval)
        }
        if chance(0.004) { changeFiles() }
        if chance(0.3) { decideAhead() }
        while let index = repairs.firstIndex(where: { $0.at <= now }) {
            repair([repairs.remove(at: index).campaign])
            readFiles()
        }
        if chance(0.01) { kill() }
    }

    /// A person approves a coming time for a number of devices, or takes an approval back.
    private mutating func decideAhead() {
        let needing = plans.keys.sorted().filter { plans[$0]?.needsApproval ?? false }
        guard let name = needing.randomElement(using: &random), let version = versions[name],
            let time = scheduler?.nextTime(of: name, after: Timestamp(epochSeconds: now))
        else { return }
        let key = ScheduledRun.Key(campaign: name, occurrence: time.name)
        if ahead[key] != nil, chance(0.3) {
            perform { $0.withdrawApproval(of: key, at: $1).actions }
        } else {
            let most = Int.random(in: 50...120, using: &random)
            perform { scheduler, now in
                scheduler.approve(
                    AdvanceApproval(key: key, digest: "\(version)", mostDevices: most, name: "Anna", approvedAt: now),
                    at: now
                ).actions
            }
        }
    }

    private func flaw(of run: String, _ approval: AdvanceApproval) -> AdvanceApproval.Flaw? {
        guard let plan = planned[run], approval.digest == "\(plan.version)" else { return .sourceDiffers }
        return plan.devices > approval.mostDevices ? .tooManyDevices(plan.devices, most: approval.mostDevices) : nil
    }

    /// Whether the record and the plan say that a run may go out unseen.
    private func isApprovedAhead(_ scheduledRun: ScheduledRun) -> Bool {
        guard let run = scheduledRun.run, let approval = ahead[scheduledRun.key] else { return false }
        return flaw(of: run, approval) == nil
    }

    private func isApproved(_ run: String) -> Bool { approvals[run].map { $0 <= now } ?? false }

    /// As the sender judges a plan.
    private mutating func consent(_ scheduledRun: ScheduledRun, _ approval: AdvanceApproval?) -> Scheduler.ApprovalState
    {
        guard plans[scheduledRun.key.campaign]?.needsApproval ?? false, let run = scheduledRun.run, !isApproved(run)
        else { return .given }
        guard let approval else { return .missing }
        if let flaw = flaw(of: run, approval) {
            voids += 1
            return .void(.approvalVoid(by: approval.name, flaw))
        }
        approvals[run] = now
        return .given
    }

    private mutating func disturbClock() {
        if chance(0.5) {
            // The machine sleeps.
            now += Int64.random(in: 600...6 * 3600, using: &random)
            awakeSince = .max
        } else {
            now -= Int64.random(in: 1...3000, using: &random)
            for index in jobs.indices { jobs[index].at = min(jobs[index].at, now + 600) }
        }
    }

    private mutating func kill() {
        kills += 1
        scheduler = nil
        jobs = []
        awakeSince = .max
        // Usually someone restarts it at once; sometimes the machine is off for hours.
        now += chance(0.8) ? Int64.random(in: 1...90, using: &random) : Int64.random(in: 90...5 * 3600, using: &random)
    }

    private mutating func restart() {
        let known = scheduledRuns.values.filter {
            $0.state.isOpen || $0.ends.epochSeconds >= now - Int64(Scheduler.lookBackSeconds) - 86_400
        }
        var seed = random.next()
        scheduler = Scheduler(
            scheduledRuns: Array(known), campaigns: Array(records.values), approvals: Array(ahead.values)
        ) { campaign, now in
            seed &+= 1
            return "\(now.compact)-\(campaign)-\(seed)"
        }
        readFiles()
    }

    private mutating func readFiles() {
        let campaigns = plans.keys.sorted().compactMap { name -> Scheduler.Campaign? in
            guard let version = versions[name], let plan = plans[name], !mistakes.contains(name) else { return nil }
            return Scheduler.Campaign(name: name, app: "shop", file: Self.file(name), schedule: plan.schedules[version])
        }
        let unreadable = Set(mistakes.map(Self.file))
        perform { $0.campaignsRead(campaigns, unreadable: unreadable, at: $1) }
    }

    private mutating func changeFiles() {
        guard let name = plans.keys.sorted().randomElement(using: &random) else { return }
        switch Int.random(in: 0..<4, using: &random) {
        // Someone makes a typing mistake, and corrects it later.
        case 0, 1:
            guard versions[name] != nil, mistakes.insert(name).inserted else { return }
            repairs.append((now + Int64.random(in: 600...3 * 86_400, using: &random), name))
        case 2 where (plans[name]?.schedules.count ?? 0) > 1:
            repair([name])
            close(name)
            versions[name] = versions[name].map { 1 - $0 } ?? 0
        case 3 where (plans[name]?.schedules.count ?? 0) > 1:
            repair([name])
            close(name)
            versions[name] = versions[name] == nil ? 0 : nil
            if versions[name] != nil { comeBack(name) }
        default: return
        }
        readFiles()
    }

    /// A file is back. If its times are unchanged, those that it missed count, as after a mistake.
    private mutating func comeBack(_ name: String) {
        guard let version = versions[name], let times = plans[name]?.schedules[version].timesInWords,
            let record = records[name],
            record.times == times
        else { return }
        repairedAt[name] = clockMaximum
        // Times too far in the past are not considered, and the limit is not exact to the second.
        let from = max(record.decidedThrough.epochSeconds, now - Int64(Scheduler.lookBackSeconds) + 86_400)
        epochs.append((name, times, from, .max))
    }

    private static func file(_ campaign: String) -> String { "/campaigns/\(campaign).yaml" }

    // MARK: - Steps

    private mutating func perform(_ event: (inout Scheduler, Timestamp) -> [Scheduler.Action]) {
        guard scheduler != nil else { return }
        if awakeSince == .max { awakeSince = now }
        clockMaximum = max(clockMaximum, now)
        var actions =
            scheduler.map { scheduler -> [Scheduler.Action] in
                var copy = scheduler
                let actions = event(&copy, Timestamp(epochSeconds: now))
                self.scheduler = copy
                return actions
            } ?? []
        while !actions.isEmpty {
            if chance(0.0005) { return kill() }
            let action = actions.removeFirst()
            switch action {
            case .save(let saved, let campaigns): save(saved, campaigns)
            case .plan(let scheduledRun):
                if scheduledRuns[scheduledRun.key]?.run != scheduledRun.run {
                    fail("\(scheduledRun.key) is planned before it is on record")
                }
                if isTooLate(scheduledRun, tolerance: 0) {
                    fail("\(scheduledRun.key) was planned later than it may be")
                }
                let approval = scheduler?.approvals[scheduledRun.key]
                jobs.append((now + Int64.random(in: 1...120, using: &random), .planning, scheduledRun, approval))
            case .send(let scheduledRun): begin(scheduledRun)
            case .examine(let scheduledRun):
                let finding = finding(
                    scheduledRun, scheduledRun.state == .planning ? scheduler?.approvals[scheduledRun.key] : nil)
                guard var copy = scheduler else { return }
                let more = copy.found(scheduledRun.key, finding, at: Timestamp(epochSeconds: now))
                scheduler = copy
                actions = more + actions
            case .approve(let approval):
                if scheduledRuns[approval.key] != nil { fail("\(approval.key) was approved ahead after it had come") }
                ahead[approval.key] = approval
            case .withdrawApproval(let key):
                if scheduledRuns[key] != nil { fail("the approval of \(key) was withdrawn after it had come") }
                ahead[key] = nil
            case .withdraw(let scheduledRun):
                if let run = scheduledRun.run, runs[run] == .planned {
                    runs[run] = .ended
                } else {
                    fail("withdrew \(scheduledRun.key), which is no plan")
                }
            case .notify(let event, _): if event == .failed { retries += 1 }
            }
        }
    }

    private mutating func save(_ saved: [ScheduledRun], _ campaigns: [ScheduledCampaign]) {
        for campaign in campaigns {
            if records[campaign.name]?.times != campaign.times, !campaign.times.isEmpty {
                let from = campaign.decidedThrough == .distantPast ? start : campaign.decidedThrough.epochSeconds
                epochs.append((campaign.name, campaign.times, from, .max))
            }
            records[campaign.name] = campaign
        }
        for scheduledRun in saved {
            if scheduledRuns[scheduledRun.key] == nil { look(at: scheduledRun) }
            if let old = scheduledRuns[scheduledRun.key], !old.state.isOpen {
                fail("\(scheduledRun.key) was \(old.state) and became \(scheduledRun.state)")
            }
            if scheduledRun.state == .skipped { skips += 1 }
            if scheduledRun.state == .waiting, isApprovedAhead(scheduledRun) {
                fail("\(scheduledRun.key) waits although it was approved ahead")
            }
            scheduledRuns[scheduledRun.key] = scheduledRun
        }
    }

    /// A campaign's times count until now.
    private mutating func close(_ name: String) {
        for index in epochs.indices where epochs[index].campaign == name && epochs[index].through == .max {
            epochs[index].through = clockMaximum
        }
    }

    /// A new scheduled run must be one of the oracle's, and punctual unless no process was running.
    private mutating func look(at scheduledRun: ScheduledRun) {
        guard let version = versions[scheduledRun.key.campaign],
            let schedule = plans[scheduledRun.key.campaign]?.schedules[version],
            let time = oracle[schedule.timesInWords]?[scheduledRun.key.occurrence]
        else { return fail("\(scheduledRun.key) is no time of its schedule") }
        if time.begins != scheduledRun.begins.epochSeconds || time.ends != scheduledRun.ends.epochSeconds {
            fail("\(scheduledRun.key) begins at \(scheduledRun.begins), not at \(Timestamp(epochSeconds: time.begins))")
        }
        if now < time.begins { fail("\(scheduledRun.key) fired too early") }
        let isSuperseded = scheduledRun.problem?.sentence.contains("next time") ?? false
        guard awakeSince < time.begins, !isSuperseded else { return }
        if scheduledRun.state != .skipped, now != time.begins, !wasBroken(scheduledRun) {
            fail("\(scheduledRun.key) fired \(now - time.begins) s late")
        }
        if scheduledRun.state == .skipped, !wasBroken(scheduledRun) {
            fail("\(scheduledRun.key) was skipped although somebody was there: \(scheduledRun.problem?.sentence ?? "")")
        }
    }

    /// Files with mistakes hold back times until they are corrected.
    private func wasBroken(_ scheduledRun: ScheduledRun) -> Bool {
        mistakes.contains(scheduledRun.key.campaign)
            || repairedAt[scheduledRun.key.campaign].map { $0 >= scheduledRun.begins.epochSeconds } ?? false
    }
    private var repairedAt: [String: Int64] = [:]
    private var repairs: [(at: Int64, campaign: String)] = []

    private mutating func repair(_ names: Set<String>) {
        for name in names where mistakes.remove(name) != nil { repairedAt[name] = clockMaximum }
    }

    private mutating func finding(_ scheduledRun: ScheduledRun, _ approval: AdvanceApproval?) -> Scheduler.Finding {
        guard let run = scheduledRun.run, let state = runs[run] else { return .nothing }
        switch state {
        case .planned:
            return .plan(consent(scheduledRun, approval))
        case .begun: return .unfinished
        case .ended: return .ended(.finished, nil)
        }
    }

    private mutating func begin(_ scheduledRun: ScheduledRun) {
        guard let run = scheduledRun.run, let state = runs[run], state != .ended else {
            return fail("sent \(scheduledRun.key) without a plan")
        }
        if scheduledRuns[scheduledRun.key]?.state != .sending {
            fail("\(scheduledRun.key) was sent before that was on record")
        }
        if state == .planned {
            sends += 1
            // As long as planning takes.
            if isTooLate(scheduledRun, tolerance: Int64(Scheduler.planningSeconds)) {
                fail("\(scheduledRun.key) began later than it may be")
            }
            if !begunRuns.insert(run).inserted { fail("\(run) began twice") }
            if plans[scheduledRun.key.campaign]?.needsApproval == true, !isApproved(run) { unapproved += 1 }
            // By a person afterwards, or by an approval ahead in the record.
            if agreed.remove(run) == nil, plans[scheduledRun.key.campaign]?.needsApproval == true {
                if isApprovedAhead(scheduledRun) { sentAhead += 1 } else { unapproved += 1 }
            }
            runs[run] = .begun
        } else {
            resumes += 1
        }
        jobs.append((now + Int64.random(in: 1...5400, using: &random), .sending, scheduledRun, nil))
    }

    private func isTooLate(_ scheduledRun: ScheduledRun, tolerance: Int64) -> Bool {
        guard let schedule = scheduler?.campaigns[scheduledRun.key.campaign]?.schedule else { return false }
        return schedule.late.isTooLate(bySeconds: Int(now - scheduledRun.ends.epochSeconds - tolerance))
    }

    private mutating func answer(_ job: Job, _ scheduledRun: ScheduledRun, _ approval: AdvanceApproval?) {
        guard let run = scheduledRun.run else { return fail("a job without a run") }
        switch job {
        case .planning where chance(0.05):
            perform {
                $0.postponed(scheduledRun.key, because: .described("devices.csv may still be being written"), at: $1)
            }
        case .planning where chance(0.05):
            perform { $0.failed(scheduledRun.key, because: .described("there is no file devices.csv"), at: $1) }
        case .planning:
            if runs[run] != nil { fail("\(run) was planned twice") }
            if scheduledRuns[scheduledRun.key]?.run != run { fail("\(run) was planned before it was on record") }
            runs[run] = .planned
            planned[run] = (versions[scheduledRun.key.campaign] ?? 0, Int.random(in: 40...110, using: &random))
            if chance(0.01) { return kill() }
            let consent = consent(scheduledRun, approval)
            if consent != .given, chance(0.8) {
                approvals[run] = now + Int64.random(in: 60...3 * 3600, using: &random)
                agreed.insert(run)
            }
            if chance(0.01) { return kill() }
            perform { $0.planned(scheduledRun.key, consent, at: $1) }
        case .sending:
            runs[run] = .ended
            if chance(0.01) { return kill() }
            perform { $0.ended(scheduledRun.key, .finished, because: nil, at: $1) }
        }
    }

    private mutating func fail(_ what: String) {
        if failures.count < 20 { failures.append("\(Timestamp(epochSeconds: now)): \(what)") }
    }

    // MARK: - The end

    /// Every time that counted has fired or was skipped, on record, and no other has.
    mutating func judge() -> (expected: Int, missing: [String]) {
        var missing: [String] = []
        var expected: Set<ScheduledRun.Key> = []
        for epoch in epochs {
            for (name, time) in oracle[epoch.times] ?? [:]
            where time.begins > epoch.from && time.begins <= min(epoch.through, end - 4 * 86_400) {
                let key = ScheduledRun.Key(campaign: epoch.campaign, occurrence: name)
                expected.insert(key)
                if scheduledRuns[key] == nil { missing.append("\(key) neither fired nor was skipped") }
            }
        }
        return (expected.count, missing)
    }
}
