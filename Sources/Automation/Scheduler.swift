import Planning
import Sending
import Base
import Campaigns
import Runs
import Scheduling

/// Decides what is sent when: a value without clock, files or threads. What happens goes in as calls, what is to be done comes out as actions, to be
/// done in their order. Whatever must survive a crash is in a `save` before the action that relies on it, so that the process may die between any two
/// actions: the next one begins with what was saved.
///
/// A time of a schedule becomes a *scheduled run* when it is due: it gets the name of a run, and both are saved before anything is planned. From then on its
/// state and the run's file say what is left to do. It never fires again, whatever becomes of the campaign's file.
struct Scheduler {
    /// A campaign as its file says now.
    struct Campaign: Hashable {
        var name: String
        var app: String
        /// Absolute.
        var file: String
        var schedule: Schedule
        /// false while its file has mistakes: these are its times of before, and nothing is sent.
        var isValid = true
    }

    /// What is to be done.
    enum Action: Hashable {
        /// Write these, all or none; on the disk before the next action.
        case save([ScheduledRun], [ScheduledCampaign])
        /// Plan the campaign afresh into the scheduled run's run. Answered by `planned`, `postponed`, `failed` or `cancelledPlan`.
        case plan(ScheduledRun)
        /// See what there is of a scheduled run's run. Answered by `found`.
        case examine(ScheduledRun)
        /// Send the scheduled run's run, or go on with it. Answered by `ended` or `failed`.
        case send(ScheduledRun)
        /// Cancel the plan of a scheduled run that will not be sent.
        case withdraw(ScheduledRun)
        case tell(NoticeEvent, ScheduledRun)

        /// The time that it is about; nil for a `save`, which may be about several.
        var key: ScheduledRun.Key? {
            switch self {
            case .save: nil
            case .plan(let scheduledRun), .examine(let scheduledRun), .send(let scheduledRun), .withdraw(let scheduledRun),
                .tell(_, let scheduledRun):
                scheduledRun.key
            }
        }
    }

    /// What there is of a scheduled run's run.
    enum Finding: Hashable {
        /// No file.
        case nothing
        case plan(needsApproval: Bool)
        /// Begun, and nobody sends it now.
        case unfinished
        /// Another process sends it, or somebody has paused it.
        case elsewhere
        case ended(ScheduledRun.State, ScheduleProblem?)
        /// There is a file, and it cannot be read, perhaps for the moment: an error's words.
        case unreadable(String)
    }

    /// What this process does about an open scheduled run.
    enum Phase: Hashable {
        /// Nothing yet: it was found open, or is looked at again and again.
        case idle, examining, planning, sending
        case retrying(at: Timestamp)
    }

    /// The first pause after a failure; each further one is twice as long, up to the last.
    static let firstPauseSeconds = 60.0, longestPauseSeconds = 900.0
    /// The pause before an export that was not quiet is looked at again.
    static let quietPauseSeconds = 2.0
    /// Times that lie further back are not looked for: nobody wants a push of last month.
    static let lookBackSeconds = 35.0 * 86_400
    /// What planning may take beyond what `late` allows.
    static let planningSeconds = 900.0
    /// A clock that is further behind what it once said was wrong then.
    static let longestStepSeconds: Int64 = 3600
    /// A process lives for months: beyond so many names, those that cannot come up again are forgotten.
    static let knownNames = 20_000
    /// Missed times that are recorded one by one; of still more only the number is.
    static let recordedMisses = 100

    /// By name.
    var campaigns: [String: Campaign] = [:]
    var records: [String: ScheduledCampaign] = [:]
    var open: [ScheduledRun.Key: (scheduledRun: ScheduledRun, phase: Phase)] = [:]
    /// Failures in a row.
    var failures: [ScheduledRun.Key: Int] = [:]
    /// All that is known to have fired or been skipped, and when it was due; what lies further back than `lookBackSeconds` is forgotten some time.
    var decided: [ScheduledRun.Key: Timestamp] = [:]
    /// The same by file: a campaign that gets another name does not fire again for the same time.
    var decidedByFile: [ScheduledRun.Key: Timestamp] = [:]
    /// When the next time of a campaign is due; nil when there is none. What is not there is to be found out.
    var next: [String: Timestamp?] = [:]
    let makeRunID: (_ campaign: String, _ now: Timestamp) -> String

    /// - Parameters:
    ///   - scheduled runs: the open ones, and all of which a time within `lookBackSeconds` might come up again.
    ///   - makeRunID: a name that no run has.
    package init(
        scheduledRuns: [ScheduledRun], campaigns: [ScheduledCampaign], makeRunID: @escaping (_ campaign: String, _ now: Timestamp) -> String
    ) {
        self.makeRunID = makeRunID
        records = Dictionary(uniqueKeysWithValues: campaigns.map { ($0.name, $0) })
        for scheduledRun in scheduledRuns {
            note(scheduledRun)
            if scheduledRun.state.isOpen { open[scheduledRun.key] = (scheduledRun, .idle) }
        }
    }

    mutating func note(_ scheduledRun: ScheduledRun) {
        decided[scheduledRun.key] = scheduledRun.begins
        decidedByFile[.init(campaign: scheduledRun.file, occurrence: scheduledRun.key.occurrence)] = scheduledRun.begins
    }

    // MARK: - Files

    /// The campaigns with times that the files hold now; those that are missing are gone.
    ///
    /// A repeating campaign that is new, or whose times were changed, begins with the times to come. One that names a single time, and never fired,
    /// is a different matter: somebody wants it sent at that time, and if it is past, `late` decides. One whose file was away and comes back with the same
    /// times goes on where it was: the file may have been replaced, or its disk not been there.
    /// - Parameter unreadable: files with mistakes: what is known of their campaigns stays, and none of them is sent.
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
            let record = record(of: campaign, at: now)
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
        var record = known ?? ScheduledCampaign(name: campaign.name, file: campaign.file, times: "", decidedThrough: .distantPast)
        if record.times != times {
            if campaign.schedule.repeat != nil {
                record.decidedThrough = max(record.decidedThrough, known == nil ? beginning(of: campaign, at: now) : now)
            } else if let begins = campaign.schedule.at.map({ campaign.schedule.occurrence(at: $0).begins }),
                begins > now.adding(seconds: -Self.lookBackSeconds)
            {
                // A single time is meant, also where it lies before what was decided: what has fired is known by name.
                record.decidedThrough = min(record.decidedThrough, Timestamp(epochMilliseconds: begins.epochMilliseconds - 1))
            }
        }
        (record.times, record.file) = (times, campaign.file)
        return record
    }

    /// From when on the times of a new campaign that repeats count: from now, or from its first time, if that is not too long ago.
    private func beginning(of campaign: Campaign, at now: Timestamp) -> Timestamp {
        guard let first = campaign.schedule.at.map({ campaign.schedule.occurrence(at: $0) }), first.begins <= now,
            !campaign.schedule.isTooLate(for: first.ends, at: now)
        else { return now }
        return Timestamp(epochMilliseconds: first.begins.epochMilliseconds - 1)
    }
}

extension Schedule {
    /// Its times, in a form that is equal for equal ones.
    var timesInWords: String {
        [at?.description ?? "", zone.isRecipient ? "recipient" : "", zone.fallback.name, `repeat`?.description ?? ""].joined(
            separator: " | ")
    }

    /// The first occurrence that begins after a moment; nil when none follows.
    func next(after moment: Timestamp) -> Occurrence? { nextOccurrence(from: Timestamp(epochMilliseconds: moment.epochMilliseconds + 1)) }
}

extension Timestamp {
    /// Before everything that a schedule names.
    static let distantPast = Timestamp(epochMilliseconds: 0)
}
