public import Base
public import Runs

extension ScheduleList {
    /// A time of the list.
    public struct Time: Sendable {
        /// The campaign's name.
        public var campaign: String
        /// Its app; nil when its file is gone.
        public var app: String?
        /// Its file; nil for a time whose file is gone and was never begun.
        public var file: String?
        /// The time on the schedule's clock: `2026-12-01T09:00`.
        public var occurrence: String
        /// The zone of that clock, `Europe/Berlin`; nil when the file is gone.
        public var zone: String?
        /// Whether each device gets it at this time on its own clock.
        public var isOnDevicesClock: Bool
        /// When it goes out to the first device, and to the last.
        public var begins: Timestamp, ends: Timestamp
        /// What else is to say about it.
        public var notes: [String]
        /// How far its run is; nil for a time to come.
        public var state: ScheduledRun.State?
        /// Why it waits, was given up, or did not reach every device; nil for most.
        public var problem: ScheduleProblem?
        /// Its run's id, if it has one.
        public var run: String?
        /// How far its approval is, where it can be given beforehand.
        public var approval: Approval
    }

    /// The times of the list, the earliest first.
    public var times: [Time] {
        rows.map { row in
            let zone = row.campaign?.schedule.zone
            return Time(
                campaign: row.name, app: row.campaign?.app, file: row.campaign?.file ?? row.scheduledRun?.file, occurrence: row.occurrence,
                zone: zone?.fallback.name, isOnDevicesClock: zone?.isRecipient ?? false, begins: row.begins, ends: row.ends,
                notes: row.notes,
                state: row.scheduledRun?.state, problem: row.scheduledRun?.problem, run: row.scheduledRun?.run, approval: row.approval)
        }
    }

    /// How far the approval of a time to come is.
    public enum Approval: Hashable, Sendable {
        /// Its app needs no approval, or its time has come.
        case none
        /// It is to be approved.
        case missing
        /// It was given beforehand, and holds for a plan that has not too many devices.
        case given(AdvanceApproval)
        /// It was given beforehand, and the campaign was changed afterwards.
        case outdated(AdvanceApproval)
    }
}
