public import Planning
public import Sending
public import Base
public import Runs

/// An event in the work of `volley schedule`.
public enum ScheduleEvent: Sendable {
    // The process.
    /// It has started, with the record at this path.
    case started(record: String)
    case ending
    /// A sign of life of the main loop, at least every second.
    case tick
    /// Its record failed, and it cannot continue without it.
    case recordLost(any Error)
    /// Another program holds its record.
    case recordBusy(path: String)
    /// The record is not in its place, or is again. While it is missing, no time becomes due, and
    /// no order is taken.
    case recordAway(Diagnostic), recordBack
    /// A file of `monitoring` cannot be written.
    case monitoringFailed(Diagnostic)
    /// This user cannot read, write or start what the work needs; reported once.
    case obstructed(Diagnostic)

    // Files.
    case invalid(file: String, Diagnostics)
    /// The file no longer has mistakes, or no longer exists.
    case mended(file: String, isGone: Bool)
    /// A campaign was read or changed; its app, and its next time, or nil if it has none.
    case next(campaign: String, app: String, Occurrence?, Schedule.Zone)
    /// No file has the campaign with times any more; the plans of its times that wait for an
    /// approval, and are sent once they have it.
    case gone(campaign: String, waiting: [String])
    /// The time zone database was updated, and the clocks of these zones of campaigns have other
    /// rules.
    case zonesChanged([String])
    /// Files in the folders that were not read as campaigns.
    case ignored(files: [String])
    case unscheduled(file: String)

    // Times.
    case due(ScheduledRun.Key, run: String)
    case sending(ScheduledRun.Key, run: String)
    case planFailed(ScheduledRun.Key, words: String)
    case postponed(ScheduledRun.Key, ScheduleProblem)
    case sendFailed(ScheduledRun.Key, Diagnostic)
    /// A scheduled run ended. The problem is nil if it went well.
    case ended(ScheduledRun.Key, ScheduledRun.State, ScheduleProblem?)
    /// A run that an earlier process was sending is paused; it waits for a person.
    case paused(ScheduledRun.Key, run: String)
    /// A person has sent, resumed or cancelled the time with another command.
    case taken(ScheduledRun.Key)
    /// Another machine has the time; the run is blank if it was left out there.
    case elsewhere(ScheduledRun.Key, machine: String, run: String)
    /// Another machine had claimed the time and is gone: this one plans it again.
    case takenOver(ScheduledRun.Key, from: String)
    /// The store that machines share cannot be reached, or can be again. In between, no time
    /// becomes due. Reported when that begins, and every ten minutes, with the seconds since it
    /// began.
    case storeAway(Diagnostic, seconds: Int), storeBack(seconds: Int)
    /// The store has just come up, and may lack what other machines have sent. For half a minute no
    /// time becomes due.
    case storeQuiet
    case planNotCancelled(ScheduledRun, any Error)
    /// The file of an ended run cannot be closed.
    case fileNotClosed(RunPlan, any Error)
    /// A service gave no statistics for a run's pushes.
    case statisticsMissing(RunPlan, Diagnostic)
    /// A file of the folder of runs is damaged; each is named once. Everything that does not
    /// concern it continues.
    case damaged(Diagnostic)
    /// A notice was posted.
    case notice(Notice)

    // Orders.
    case order(OrderEvent)

    // Events of its stages.
    /// The time that is planned; nil for an order.
    case planning(PlanningEvent, ScheduledRun.Key?)
    case run(RunEvent, RunPlan)
    case noticeDelivery(NoticeDeliveryEvent)
}

/// What happens to the orders next to the runs.
public enum OrderEvent: Sendable {
    /// This process has taken the order, and carries it out.
    case taken(Order)
    /// The end of an order is on record.
    case ended(Order, OrderState)
    /// An order was carried out, but a side effect went wrong, in words.
    case warning(RunPlan, String)
    /// The record of orders cannot be used. No order is begun until it can; everything else
    /// continues.
    case unusable(Diagnostic)
}

/// Receives the events of `volley schedule`.
public typealias ScheduleObserver = Observer<ScheduleEvent>

extension ScheduleObserver {
    /// Receives events about the delivery of notices.
    var notices: NoticeObserver { NoticeObserver { self(.noticeDelivery($0)) } }

    /// Receives the error of a file of `monitoring` that cannot be written.
    var monitoring: Observer<Diagnostic> { Observer<Diagnostic> { self(.monitoringFailed($0)) } }
}

/// The connection between `volley schedule` and its caller, which observes the work and can end it.
public struct ScheduleOptions: Sendable {
    package var observer: ScheduleObserver
    package var cancellation: Cancellation
    /// The context that all its runs share.
    package var context: SendingContext
    /// The memory that planning may use; nil for no limit.
    package var memory: MemoryBudget?
    /// Gets the metrics every few seconds.
    package var metrics: LatestMetrics

    /// A caller with an observer and a cancellation.
    public init(
        observer: ScheduleObserver, cancellation: Cancellation, context: SendingContext = SendingContext(),
        memory: MemoryBudget? = nil,
        metrics: LatestMetrics = LatestMetrics()
    ) {
        self.metrics = metrics
        self.context = context
        self.memory = memory
        self.observer = observer
        self.cancellation = cancellation
    }
}

/// How the work of `volley schedule` ended.
public enum ScheduleEnd: Sendable {
    /// It was interrupted.
    case cancelled
    /// Its record failed. Nothing may be sent without it.
    case recordLost
}
