public import Base

/// What notices can be about.
public enum NoticeEvent: String, CaseIterable, Hashable, Sendable {
    /// Sending has begun, or has resumed after it was stopped.
    case started
    /// Every recipient has its outcome.
    case finished
    /// Sending ended early: it stopped itself, was interrupted, or was cancelled.
    case stopped
    /// A plan waits for `volley approve`.
    case approvalNeeded = "approval_needed"
    /// A campaign is not sent at a time of its schedule.
    case skipped
    /// A campaign of a schedule cannot be planned at its time.
    case failed
    /// The file of a scheduled campaign has mistakes.
    case invalid
    /// Something that `volley schedule` does shows no sign of life.
    case stuck
    /// `volley notify` tests the target; every target gets this event.
    case test
}

/// An entry of `notices` in volley.yaml: where notices go, and about what.
public struct NoticeTarget: Sendable {
    /// How a notice is delivered.
    public enum Channel: Sendable {
        /// An https URL that gets a POST (http on this machine only), the environment variable with
        /// the secret that signs it, and a file with the only authority to trust, as written.
        case webhook(url: SourceText, secretVariable: SourceText?, certificateAuthority: SourceText?)
        /// A program and its arguments; a program with a slash is a path relative to volley.yaml.
        case command([SourceText])
    }

    /// How.
    public var way: Channel
    /// About what; `test` is always among them.
    public var events: Set<NoticeEvent>
    /// Where the entry is.
    public var position: SourcePosition
}

/// `monitoring` of volley.yaml: files that `volley schedule` keeps up to date, as written.
public struct Monitoring: Sendable {
    /// Metrics for the textfile collector of Prometheus' node_exporter.
    public var prometheus: SourceText?
    /// A JSON document that says whether all is well.
    public var health: SourceText?
}

extension Project {
    /// Every receiver that the project names, with the app that it gets notices of; nil for all
    /// apps.
    public var noticeTargets: [(app: App?, target: NoticeTarget)] {
        notices.map { (nil, $0) } + apps.flatMap { app in app.notices.map { (app, $0) } }
    }
}
