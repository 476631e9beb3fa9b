public import Base

/// The life of a run.
public enum RunState: String, CaseIterable, Hashable, Sendable {
    case planned, running, paused, stopped, finished, cancelled

    /// Whether sending has ended, permanently or until someone resumes it.
    public var hasEnded: Bool { self == .stopped || self == .finished || self == .cancelled }
}

/// A run's state, with times and cause.
public struct RunStatus: Hashable, Sendable {
    /// The state.
    public var state: RunState
    /// Why it stopped; nil otherwise.
    public var cause: StopCause?
    /// The file says that it is running, but it is not known whether a process still sends it: its lock file may not be read.
    public var isSenderHidden = false
    /// When sending began.
    public var startedAt: Timestamp?
    /// When it ended.
    public var finishedAt: Timestamp?

    /// A status.
    public init(state: RunState, cause: StopCause?, startedAt: Timestamp?, finishedAt: Timestamp?) {
        self.state = state
        self.cause = cause
        self.startedAt = startedAt
        self.finishedAt = finishedAt
    }
}
