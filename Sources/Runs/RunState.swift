public import Base

/// Where a run is between its plan and its end.
public enum RunState: String, CaseIterable, Hashable, Sendable {
    case planned, running, paused, stopped, finished, cancelled

    /// Whether sending has ended, permanently or until someone resumes it.
    public var hasEnded: Bool { self == .stopped || self == .finished || self == .cancelled }
}

/// What a run's entries add up to, apart from claims and outcomes.
public struct RunStatus: Hashable, Sendable {
    /// The state.
    public var state: RunState
    /// Why it stopped; nil otherwise.
    public var cause: StopCause?
    /// The file says that it is running, but it is not known whether a process still sends it: its lock file may not be
    /// read.
    public var isSenderHidden = false
    /// When sending began.
    public var startedAt: Timestamp?
    /// When it ended.
    public var finishedAt: Timestamp?
    /// The epoch that began last; blank before the first, and in runs of older versions.
    public var epoch = ""
    /// What holds segments, or stopped them, by their first ids; nothing of those still being sent.
    public var segments: [Int: SegmentState] = [:]
    /// Whether some process has the right to send the run, or may have, as that cannot be seen; also while it is
    /// paused.
    public var isBeingSent = false
    /// Since when a process has been sending it, in nanoseconds since 1970; nil if none is, or none can be seen.
    public var sendingSince: Int64?

    /// A status.
    public init(state: RunState, cause: StopCause?, startedAt: Timestamp?, finishedAt: Timestamp?) {
        self.state = state
        self.cause = cause
        self.startedAt = startedAt
        self.finishedAt = finishedAt
    }

    /// What other processes want of the one that sends the run, which looks several times a second; nil if it is
    /// neither running nor held up.
    public var order: RunOrder? { RunOrder(state) }
}
