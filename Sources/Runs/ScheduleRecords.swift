public import Base

/// What is on record of schedules.
public struct SavedSchedule: Sendable {
    /// Times that became due.
    public var scheduledRuns: [ScheduledRun]
    /// What is known of campaigns with a schedule, beyond their files.
    public var campaigns: [ScheduledCampaign]
    /// Times that people approved beforehand.
    public var approvals: [AdvanceApproval]

    /// What is on record.
    public init(scheduledRuns: [ScheduledRun] = [], campaigns: [ScheduledCampaign] = [], approvals: [AdvanceApproval] = []) {
        self.scheduledRuns = scheduledRuns
        self.campaigns = campaigns
        self.approvals = approvals
    }
}

/// The results of the times of schedules whose runs are kept in one place, and the processes that use it.
public struct ScheduleRecords: Sendable {
    private let folder: String

    /// - Parameter folder: of runs. Nothing is opened or made.
    public init(folder: String) { self.folder = folder }

    /// Where it is, or would be, for messages.
    public var place: String { FilePaths.join(folder, name: ScheduleStore.fileName) }

    /// Opens it for writing; makes it when it is not there.
    /// - Throws: `Diagnostic`: it is damaged, of a newer version, none, not permitted; the disk is full.
    public func open() throws -> ScheduleStore { try ScheduleStore(folder: folder) }

    /// What it says, whether or not a process is writing it; empty when there is no record.
    /// - Parameter since: scheduled runs that ended before this moment and are not open are left out.
    /// - Throws: as `open`.
    public func read(since: Timestamp = Timestamp(epochMilliseconds: 0)) throws -> SavedSchedule {
        try ScheduleStore.read(folder: folder, since: since)
    }

    /// Takes the right to be the one `volley schedule` that works with it.
    /// - Throws: `Diagnostic` when another process has it.
    public func lock() throws -> ScheduleLock { try ScheduleLock(folder: folder) }

    /// Equal stamps mean that nothing was recorded in between.
    public var stamp: [FileStamp?] { [place, place + "-wal"].map { FileStamp(path: $0) } }

    /// Whether a `volley schedule` works with it. Looks only; never takes the lock.
    public var isAtWork: Bool { ScheduleLock.isHeld(folder: folder) }
}
