public import Base

/// The life of a run.
public enum RunState: String, CaseIterable, Hashable, Sendable {
    case planned, running, paused, stopped, finished, cancelled

    /// Whether sending has ended, for good or until someone resumes it.
    public var hasEnded: Bool { self == .stopped || self == .finished || self == .cancelled }
}

/// Where a run stands.
public struct RunStatus: Hashable, Sendable {
    /// The state.
    public var state: RunState
    /// Why it stopped; empty otherwise.
    public var reason: String
    /// When sending began.
    public var startedAt: Timestamp?
    /// When it ended.
    public var finishedAt: Timestamp?

    /// A status.
    public init(state: RunState, reason: String, startedAt: Timestamp?, finishedAt: Timestamp?) {
        self.state = state
        self.reason = reason
        self.startedAt = startedAt
        self.finishedAt = finishedAt
    }
}
