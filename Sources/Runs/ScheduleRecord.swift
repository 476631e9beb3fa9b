public import Base
import Cryptography

/// The state of one time of a campaign's schedule.
public struct ScheduledRun: Hashable, Sendable {
    /// How far it is.
    public enum State: String, CaseIterable, Hashable, Sendable {
        /// Its run has a name; the folder shows whether it has a file.
        case planning
        /// Its plan waits for approval.
        case waiting
        /// Its run may have been begun.
        case sending
        /// Every recipient has its outcome.
        case finished
        /// The run stopped by itself.
        case stopped
        /// The run was cancelled.
        case cancelled
        /// Nothing of it was or will be sent.
        case skipped

        /// Whether there is still something to do.
        public var isOpen: Bool { self == .planning || self == .waiting || self == .sending }
    }

    /// What it is called: there is never a second one of the same name.
    public struct Key: Hashable, Sendable, CustomStringConvertible {
        /// The campaign's name.
        public var campaign: String
        /// The time on the schedule's clock: `2026-12-01T09:00`.
        public var occurrence: String

        /// A key.
        public init(campaign: String, occurrence: String) {
            self.campaign = campaign
            self.occurrence = occurrence
        }

        /// `spring-sale (2026-12-01T09:00)`
        public var description: String { "\(campaign) (\(occurrence))" }
    }

    /// Which.
    public var key: Key
    /// The campaign file, by its absolute path.
    public var file: String
    /// The run; nil when none was ever to be made.
    public var run: String?
    /// How far it is.
    public var state: State
    /// Why it waits, was given up, or did not reach every device; nil for most states.
    public var problem: ScheduleProblem?
    /// When it goes out to the first device, and to the last.
    public var begins: Timestamp, ends: Timestamp
    /// When this was written.
    public var changedAt: Timestamp

    /// A scheduled run.
    public init(
        key: Key, file: String, run: String?, state: State, problem: ScheduleProblem? = nil, begins: Timestamp,
        ends: Timestamp,
        changedAt: Timestamp
    ) {
        self.key = key
        self.file = file
        self.run = run
        self.state = state
        self.problem = problem
        self.begins = begins
        self.ends = ends
        self.changedAt = changedAt
    }
}

/// What is known of a campaign with a schedule, beyond its file.
public struct ScheduledCampaign: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// The campaign file, by its absolute path.
    public var file: String
    /// Its times, in a form that is equal for equal times; the last known ones when its file is
    /// gone.
    public var times: String
    /// All times up to this moment are decided, or never existed: none of them fires again.
    public var decidedThrough: Timestamp

    /// A campaign.
    public init(name: String, file: String, times: String, decidedThrough: Timestamp) {
        self.name = name
        self.file = file
        self.times = times
        self.decidedThrough = decidedThrough
    }
}

/// What is on record of schedules.
public struct SavedSchedule: Sendable {
    /// Times that became due.
    public var scheduledRuns: [ScheduledRun]
    /// What is known of campaigns with a schedule, beyond their files.
    public var campaigns: [ScheduledCampaign]
    /// Times that people approved beforehand.
    public var approvals: [AdvanceApproval]

    /// What is on record.
    public init(
        scheduledRuns: [ScheduledRun] = [], campaigns: [ScheduledCampaign] = [], approvals: [AdvanceApproval] = []
    ) {
        self.scheduledRuns = scheduledRuns
        self.campaigns = campaigns
        self.approvals = approvals
    }
}

/// The results of the times of schedules whose runs are kept in one place, and the processes that
/// use it.
public struct ScheduleRecords: Sendable {
    private let folder: String

    /// - Parameter folder: of runs. Nothing is opened or made.
    public init(folder: String) { self.folder = folder }

    /// Where it is, or would be, for messages.
    public var place: String { FilePaths.join(folder, name: ScheduleStore.fileName) }

    /// Opens it for writing; makes it when it is not there.
    /// - Throws: `Diagnostic`: it is damaged, of a newer version, none, not permitted; the disk is
    ///   full.
    public func open() throws -> ScheduleStore { try ScheduleStore(folder: folder) }

    /// What it says, whether or not a process is writing it; empty when there is no record.
    /// - Parameter since: scheduled runs that ended before this moment and are not open are left
    ///   out.
    /// - Throws: as `open`.
    public func read(since: Timestamp = Timestamp(epochMilliseconds: 0)) throws -> SavedSchedule {
        try ScheduleStore.read(folder: folder, since: since)
    }

    /// Takes the right to be the one `volley schedule` that works with it.
    /// - Throws: `Diagnostic` when another process has it.
    public func lock() throws -> ScheduleLock { try ScheduleLock(folder: folder) }

    /// Equal stamps mean that nothing was recorded in between.
    public var stamp: [FileStamp?] {
        // Where root reads, SQLite sets the log's owner each time, which changes that time alone.
        let log = FileStamp(path: place + "-wal").map {
            FileStamp(device: $0.device, inode: $0.inode, size: $0.size, modified: $0.modified, changed: $0.modified)
        }
        return [FileStamp(path: place), log]
    }

    /// Whether a `volley schedule` works with it. Looks only; never takes the lock.
    public var isAtWork: Bool { ScheduleLock.isHeld(folder: folder) }
}

/// The approval of a time of a schedule before the time is planned. It holds for a plan from the
/// source that was shown, and for at most the number of devices that was shown; any other plan
/// waits for an approval of its own.
public struct AdvanceApproval: Hashable, Sendable {
    /// Which time of which campaign.
    public var key: ScheduledRun.Key
    /// Of the source that was shown (`RunSettings.sourceDigest`), 64 lower-case hex digits.
    public var digest: String
    /// The largest audience, at least 1.
    public var mostDevices: Int
    /// The name that the approver signs in with.
    public var name: String
    /// When.
    public var approvedAt: Timestamp

    /// An approval.
    public init(key: ScheduledRun.Key, digest: String, mostDevices: Int, name: String, approvedAt: Timestamp) {
        self.key = key
        self.digest = digest
        self.mostDevices = mostDevices
        self.name = name
        self.approvedAt = approvedAt
    }

    /// Why an approval does not hold for a plan.
    public enum Flaw: Hashable, Sendable {
        /// The campaign, or what volley.yaml says of its app, was changed after the approval.
        case sourceDiffers
        /// The plan has more devices than were approved.
        case tooManyDevices(Int, most: Int)
        /// The person may not approve this plan: a role was taken away, or they wrote the campaign.
        case notPermitted(OrderRefusal)
    }

    /// Why it does not hold for a plan; nil if it does, as far as the plan tells.
    public func flaw(for plan: RunPlan) -> Flaw? {
        guard let settings = try? plan.settings.get(), settings.sourceDigest(with: plan.campaignSource) == digest else {
            return .sourceDiffers
        }
        return plan.audience > mostDevices ? .tooManyDevices(plan.audience, most: mostDevices) : nil
    }
}

extension RunSettings {
    /// What a campaign is planned from, apart from its devices: SHA-256 of its text and of these
    /// settings, 64 lower-case hex digits. It is the same for the settings of a campaign that is
    /// about to be planned and for those that its plan froze. A signing key that was renewed does
    /// not change it.
    /// - Parameter campaign: the text of the campaign's file.
    public func sourceDigest(with campaign: String) -> String {
        var source = self
        source.schedule = nil
        source.needsApproval = false
        (source.runsFolder, source.realCampaignFile) = (nil, nil)
        (source.place, source.plannedInStore) = (nil, nil)
        (source.parentEpoch, source.retriedOutcomes) = (nil, nil)
        (source.beside, source.isOfScheduler) = ([], false)
        for number in source.services.indices { source.services[number].credential?.fingerprint = nil }
        // A text that ends like the settings cannot stand for another text with other settings:
        // JSON has no NUL.
        return SHA256.hex(SHA256.digest(of: Array(campaign.utf8) + [0] + Array(source.json.text.utf8)))
    }
}
