package import Planning
package import Sending
package import Base
package import Runs
package import Scheduling

/// What happens while `volley schedule` is at work.
package enum ScheduleEvent: Sendable {
    // The process.
    /// Where its record is.
    case started(record: String)
    case ending
    /// It cannot go on without its record.
    case recordLost(any Error)
    /// Another program holds its record.
    case recordBusy(path: String)
    /// A file of `monitoring` cannot be written.
    case monitoringFailed(Diagnostic)

    // Files.
    case invalid(file: String, Diagnostics)
    /// It has no mistakes any more, or is gone.
    case mended(file: String, isGone: Bool)
    /// A campaign was read, or changed: when it goes out next; nil for never.
    case next(campaign: String, Occurrence?, Schedule.Zone)
    case gone(campaign: String)
    /// Not taken for campaigns.
    case ignored(files: [String])
    case unscheduled(file: String)

    // Times.
    case due(ScheduledRun.Key, run: String)
    case sending(ScheduledRun.Key, run: String)
    case planFailed(ScheduledRun.Key, words: String)
    case postponed(ScheduledRun.Key, ScheduleProblem)
    case sendFailed(ScheduledRun.Key, Diagnostic)
    /// The problem is nil when there is nothing to say.
    case ended(ScheduledRun.Key, ScheduledRun.State, ScheduleProblem?)
    /// Another process has it.
    case taken(ScheduledRun.Key)
    case planNotCancelled(run: String, any Error)
    /// The file of a run that is over cannot be closed.
    case fileNotClosed(run: String, any Error)
    /// Somebody is told of it.
    case notice(Notice)

    // What its stages say.
    case planning(PlanningEvent)
    case run(RunEvent)
    case noticeDelivery(NoticeDeliveryEvent)
}

/// Who is told what happens while `volley schedule` is at work.
package typealias ScheduleObserver = Observer<ScheduleEvent>

extension ScheduleObserver {
    /// Is told what becomes of notices.
    var notices: NoticeObserver { NoticeObserver { self(.noticeDelivery($0)) } }

    /// Is told which file of `monitoring` cannot be written.
    var monitoring: Observer<Diagnostic> { Observer<Diagnostic> { self(.monitoringFailed($0)) } }
}

/// Who looks on while `volley schedule` is at work, and may end it.
package struct ScheduleAttendance: Sendable {
    package var observer: ScheduleObserver
    package var cancellation: Cancellation
    /// What all its runs share.
    package var context: SendingContext
    /// What planning may use; nil for all that it needs.
    package var memory: MemoryBudget?

    /// Somebody.
    package init(
        observer: ScheduleObserver, cancellation: Cancellation, context: SendingContext = SendingContext(), memory: MemoryBudget? = nil
    ) {
        self.context = context
        self.memory = memory
        self.observer = observer
        self.cancellation = cancellation
    }
}

/// How the work of `volley schedule` ended.
package enum ScheduleEnd: Sendable {
    /// Somebody ended it.
    case cancelled
    /// Its record failed, without which nothing may be sent.
    case recordLost
}
