import Base
import Campaigns
import Planning
import Runs
import Sending

/// Decides what is sent when. It has no clock, files or threads: events go in as calls, and the
/// calls return actions, which must be done in order. Whatever must survive a crash is in a `save`
/// before the action that relies on it. The process may therefore die between any two actions: the
/// next process begins with what was saved.
///
/// A time of a schedule becomes a *scheduled run* when it is due: it gets the name of a run, and
/// both are saved before anything is planned. From then on its state and the run's file determine
/// the remaining work. It never fires again, whatever happens to the campaign's file.
struct Scheduler {
    /// A campaign as its file describes it now.
    struct Campaign: Hashable {
        var name: String
        var app: String
        /// The absolute path.
        var file: String
        var schedule: Schedule
        /// Whether its file is free of mistakes. While it is not, the schedule is the last valid
        /// one, and nothing is sent.
        var isValid = true
    }

    /// Something to do.
    enum Action: Hashable {
        /// Write all of these or none. They must be on disk before the next action.
        case save([ScheduledRun], [ScheduledCampaign])
        /// Plan the campaign afresh into the scheduled run's run. Answered by `planned`,
        /// `postponed`, `failed` or `cancelledPlan`.
        case plan(ScheduledRun)
        /// Find the state of a scheduled run's run. Answered by `found`.
        case examine(ScheduledRun)
        /// Send the scheduled run's run, or continue it. Answered by `ended` or `failed`.
        case send(ScheduledRun)
        /// Write down that a time was approved before it is planned.
        case approve(AdvanceApproval)
        /// Remove such an approval.
        case withdrawApproval(ScheduledRun.Key)
        /// Cancel the plan of a scheduled run that will not be sent.
        case withdraw(ScheduledRun)
        case notify(NoticeEvent, ScheduledRun)

        /// The time that the action concerns; nil for a `save`, which may concern several.
        var key: ScheduledRun.Key? {
            switch self {
            case .save: nil
            case .approve(let approval): approval.key
            case .withdrawApproval(let key): key
            case .plan(let scheduledRun), .examine(let scheduledRun), .send(let scheduledRun),
                .withdraw(let scheduledRun),
                .notify(_, let scheduledRun):
                scheduledRun.key
            }
        }
    }

    /// The state of a scheduled run's run.
    enum Finding: Hashable {
        /// It has no file.
        case nothing
        case plan(ApprovalState)
        /// It was begun, and no process sends it now.
        case unfinished
        /// Another process sends it.
        case elsewhere
        /// It is paused.
        case paused
        /// A person has sent, resumed or cancelled it: its time is no longer this process's.
        case taken
        case ended(ScheduledRun.State, ScheduleProblem?)
        /// Its file exists but cannot be read, perhaps only for the moment; with an error's text.
        case unreadable(String)
    }

    /// The result of a person's order about a time.
    struct Change: Hashable {
        /// The actions that make it permanent; empty if nothing changes.
        var actions: [Action] = []
        /// Why it cannot be done; nil if it can.
        var refusal: OrderRefusal?
    }

    /// What this process is doing for an open scheduled run.
    enum Phase: Hashable {
        /// Nothing yet: it is examined at the next reading of the clock.
        case idle, examining, planning, sending
        case retrying(at: Timestamp)
    }

    /// The pause after the first failure, which doubles with each further one, and the longest
    /// pause.
    static let firstPauseSeconds = 60.0, longestPauseSeconds = 900.0
    /// The pause before an export that may still be being written is checked again.
    static let quietPauseSeconds = 2.0
    /// How far back missed times of a repeating campaign are looked for: older pushes are useless.
    static let lookBackSeconds = 35.0 * 86_400
    /// How much longer than `late` allows planning may take.
    static let planningSeconds = 900.0
    /// If the clock is further back than this from a time that it showed before, it was wrong then.
    static let longestStepSeconds: Int64 = 3600
    /// The number of known times above which those that cannot occur again are dropped. A process
    /// may run for months.
    static let knownNames = 20_000
    /// The most missed times that are recorded one by one; of earlier ones only the number is.
    static let recordedMisses = 100

    /// The campaigns by name.
    var campaigns: [String: Campaign] = [:]
    var records: [String: ScheduledCampaign] = [:]
    var open: [ScheduledRun.Key: (scheduledRun: ScheduledRun, phase: Phase)] = [:]
    /// The number of failures in a row.
    var failures: [ScheduledRun.Key: Int] = [:]
    /// All times that are known to have fired or been skipped, and when each was due. Those older
    /// than `lookBackSeconds` are eventually dropped.
    var decided: [ScheduledRun.Key: Timestamp] = [:]
    /// The same, keyed by file: a campaign that gets another name must not fire again for the same
    /// time.
    var decidedByFile: [ScheduledRun.Key: Timestamp] = [:]
    /// The last time of each campaign that had come when it was decided, and its moment by the
    /// rules of that time.
    var lastDecided: [String: (begins: Timestamp, occurrence: String)] = [:]
    /// Times that people approved beforehand. One that has come is kept: its plan is judged by it,
    /// again after a restart.
    var approvals: [ScheduledRun.Key: AdvanceApproval]
    /// When the next time of each campaign is due; nil if it has none. A campaign without an entry
    /// is computed when needed.
    var next: [String: Timestamp?] = [:]
    /// Times up to then may have been sent by an unknown process: the runs were put back from a
    /// backup at that moment.
    let unknownThrough: Timestamp?
    let makeRunID: (_ campaign: String, _ now: Timestamp) -> String

    /// - Parameters:
    ///   - scheduledRuns: the open ones, and all whose time is within `lookBackSeconds` and could
    ///     otherwise fire again.
    ///   - unknownThrough: times up to this moment do not fire; nil if nothing was restored from a
    ///     backup.
    ///   - makeRunID: makes a name that no run has.
    package init(
        scheduledRuns: [ScheduledRun], campaigns: [ScheduledCampaign], approvals: [AdvanceApproval] = [],
        unknownThrough: Timestamp? = nil, makeRunID: @escaping (_ campaign: String, _ now: Timestamp) -> String
    ) {
        self.makeRunID = makeRunID
        self.unknownThrough = unknownThrough
        self.approvals = Dictionary(approvals.map { ($0.key, $0) }) { first, _ in first }
        records = Dictionary(campaigns.map { ($0.name, $0) }) { first, _ in first }
        for scheduledRun in scheduledRuns {
            note(scheduledRun)
            if scheduledRun.state.isOpen { open[scheduledRun.key] = (scheduledRun, .idle) }
        }
    }

    mutating func note(_ scheduledRun: ScheduledRun) {
        decided[scheduledRun.key] = scheduledRun.begins
        decidedByFile[.init(campaign: scheduledRun.file, occurrence: scheduledRun.key.occurrence)] = scheduledRun.begins
        let (begins, name) = (scheduledRun.begins, scheduledRun.key.campaign)
        // A time that was skipped ahead is not the last one.
        guard begins <= scheduledRun.changedAt, lastDecided[name].map({ $0.begins <= begins }) ?? true else { return }
        lastDecided[name] = (begins, scheduledRun.key.occurrence)
    }

    // MARK: - Files

    /// Takes the campaigns with times that the files contain now. Campaigns that are missing are
    /// removed.
    ///
    /// A repeating campaign that is new, or whose times were changed, begins with its future times.
    /// A campaign with a single time that has not fired is meant for that time: if the time is
    /// past, `late` decides. A campaign whose file disappears and returns with the same times
    /// continues where it was: the file may have been replaced, or its disk may have been
    /// unavailable.
    /// - Parameter unreadable: files with mistakes. The last valid campaigns stay, but they are not
    ///   sent.
    mutating func campaignsRead(_ read: [Campaign], unreadable: Set<String> = [], at now: Timestamp) -> [Action] {
        var changed: [ScheduledCampaign] = []
        for campaign in read {
            let old = campaigns[campaign.name]
            campaigns[campaign.name] = campaign
            if old?.schedule == campaign.schedule, old?.isValid == campaign.isValid, old?.file == campaign.file,
                records[campaign.name]?.file == campaign.file
            {
                continue
            }
            next[campaign.name] = nil
            var record = record(of: campaign, at: now)
            let hasOtherRules = Self.hasOtherRules(campaign, old)
            if hasOtherRules || old == nil && records[campaign.name]?.times == record.times {
                record.decidedThrough = decidedThrough(record, of: campaign, before: old, at: now)
            }
            if hasOtherRules { reexamine(campaign) }
            if record != records[campaign.name] {
                records[campaign.name] = record
                changed.append(record)
            }
        }
        let names = Set(read.map(\.name))
        for (name, campaign) in campaigns where !names.contains(name) {
            if unreadable.contains(campaign.file) {
                campaigns[name]?.isValid = false
            } else {
                (campaigns[name], next[name]) = (nil, nil)
            }
        }
        return changed.isEmpty ? [] : [.save([], changed.sorted { $0.name < $1.name })]
    }

    private func record(of campaign: Campaign, at now: Timestamp) -> ScheduledCampaign {
        let times = campaign.schedule.timesInWords
        let known = records[campaign.name]
        var record =
            known
            ?? ScheduledCampaign(name: campaign.name, file: campaign.file, times: "", decidedThrough: .distantPast)
        if record.times != times {
            if campaign.schedule.repeat != nil {
                record.decidedThrough = max(
                    record.decidedThrough, known == nil ? beginning(of: campaign, at: now) : now)
            } else if let begins = campaign.schedule.at.map({ campaign.schedule.occurrence(at: $0).begins }),
                begins > now.adding(seconds: -Self.lookBackSeconds)
            {
                // A single time counts even if later times were decided already: what has fired is
                // known by name.
                record.decidedThrough = min(
                    record.decidedThrough, Timestamp(epochMilliseconds: begins.epochMilliseconds - 1))
            }
        }
        (record.times, record.file) = (times, campaign.file)
        return record
    }

    /// The moment after which the times of a new repeating campaign count: now, or just before its
    /// first time if that is not too long ago.
    private func beginning(of campaign: Campaign, at now: Timestamp) -> Timestamp {
        guard let first = campaign.schedule.at.map({ campaign.schedule.occurrence(at: $0) }), first.begins <= now,
            !campaign.schedule.isTooLate(for: first.ends, at: now)
        else { return now }
        return Timestamp(epochMilliseconds: first.begins.epochMilliseconds - 1)
    }
}

extension Schedule {
    /// Its times as text; equal schedules have equal texts.
    var timesInWords: String {
        [at?.description ?? "", zone.isRecipient ? "recipient" : "", zone.fallback.name, `repeat`?.description ?? ""]
            .joined(
                separator: " | ")
    }

    /// The first occurrence that begins after a moment; nil without one.
    func next(after moment: Timestamp) -> Occurrence? {
        nextOccurrence(from: Timestamp(epochMilliseconds: moment.epochMilliseconds + 1))
    }
}

extension Timestamp {
    /// A moment before all times of schedules.
    static let distantPast = Timestamp(epochMilliseconds: 0)
}

/// Times that a person skips before they come.
extension Scheduler {
    /// Records that a time is not sent, before it comes. From then on it is decided like any
    /// skipped time: it does not fire, whatever happens to the campaign's file, its name or the
    /// clock. The plan of a time that has come can only be cancelled.
    /// - Parameter name: the person.
    mutating func leaveOut(_ key: ScheduledRun.Key, by name: String, at now: Timestamp) -> Change {
        let (coming, refusal) = comingTime(key, at: now)
        guard let time = coming else { return Change(refusal: refusal) }
        // A future time is decided only if it was skipped, or if a wrong clock had reached it.
        guard decided[key] == nil, let file = campaigns[key.campaign]?.file else { return Change() }
        let scheduledRun = ScheduledRun(
            key: key, file: file, run: nil, state: .skipped, problem: .leftOut(by: name), begins: time.begins,
            ends: time.ends,
            changedAt: now)
        note(scheduledRun)
        return Change(actions: [.save([scheduledRun], []), .notify(.skipped, scheduledRun)])
    }
}

/// Times that the `volley schedule` of another machine has, or had.
extension Scheduler {
    /// Another machine has taken over an open time while this one was stopped. Its plan, if there
    /// is one, must not be sent any more.
    mutating func lost(_ key: ScheduledRun.Key, to problem: ScheduleProblem, at now: Timestamp) -> [Action] {
        guard let entry = open[key] else { return [] }
        var lost = entry.scheduledRun
        (lost.state, lost.problem, lost.changedAt) = (.skipped, problem, now)
        open[key] = nil
        failures[key] = nil
        let hasPlan = entry.scheduledRun.state != .planning
        return [.save([lost], [])] + (hasPlan ? [.withdraw(lost)] : [])
    }

    /// A machine that is gone had claimed a time and not begun it: this one plans it again, unless
    /// it is too late, or the campaign is not known here.
    mutating func takeOver(_ key: ScheduledRun.Key, of app: String, at now: Timestamp) -> (
        run: ScheduledRun, actions: [Action]
    )? {
        guard open[key] == nil, let campaign = campaigns[key.campaign], campaign.isValid, campaign.app == app,
            let time = campaign.schedule.occurrence(named: key.occurrence), time.begins <= now,
            !campaign.schedule.isTooLate(for: time.ends, at: now)
        else { return nil }
        let run = ScheduledRun(
            key: key, file: campaign.file, run: makeRunID(key.campaign, now), state: .planning, begins: time.begins,
            ends: time.ends,
            changedAt: now)
        open[key] = (run, .planning)
        note(run)
        return (run, [.save([run], []), .plan(run)])
    }
}

/// Times that a person approves before they are planned.
extension Scheduler {
    /// Whether a plan may be sent, as far as approvals go.
    enum ApprovalState: Hashable {
        /// It is approved, or needs no approval.
        case given
        case missing
        /// An approval that was given ahead does not hold for it.
        case void(ScheduleProblem)
    }

    /// Records an approval of a future time, in place of an earlier one. Whether it holds is judged
    /// when the time is planned.
    mutating func approve(_ approval: AdvanceApproval, at now: Timestamp) -> Change {
        if let refusal = refusal(of: approval.key, at: now) { return Change(refusal: refusal) }
        if approvals[approval.key] == approval { return Change() }
        approvals[approval.key] = approval
        return Change(actions: [.approve(approval)])
    }

    /// Withdraws the approval of a future time.
    mutating func withdrawApproval(of key: ScheduledRun.Key, at now: Timestamp) -> Change {
        if let open = open[key]?.scheduledRun { return Change(refusal: .timeHasCome(run: open.run)) }
        guard approvals.removeValue(forKey: key) != nil else { return Change() }
        return Change(actions: [.withdrawApproval(key)])
    }

    private func refusal(of key: ScheduledRun.Key, at now: Timestamp) -> OrderRefusal? {
        // A time that is decided before it is due was skipped by a person.
        comingTime(key, at: now).refusal ?? (decided[key] == nil ? nil : .noSuchTime)
    }

    /// A time of a campaign's schedule that is not due yet, or why no time has the name.
    func comingTime(_ key: ScheduledRun.Key, at now: Timestamp) -> (time: Occurrence?, refusal: OrderRefusal?) {
        guard let campaign = campaigns[key.campaign], let local = LocalTime(key.occurrence) else {
            return (nil, .noSuchTime)
        }
        let begins = campaign.schedule.occurrence(at: local).begins
        guard
            let time = campaign.schedule.occurrences(from: begins, through: begins).first(where: {
                $0.name == key.occurrence
            })
        else {
            return (nil, .noSuchTime)
        }
        if let open = open[key]?.scheduledRun { return (nil, .timeHasCome(run: open.run)) }
        return time.begins > now ? (time, nil) : (nil, .timeHasCome(run: nil))
    }
}
