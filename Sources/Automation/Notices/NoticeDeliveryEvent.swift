public import Base
import Campaigns

/// Something to report about the delivery of notices, other than success.
public enum NoticeDeliveryEvent: Sendable {
    /// A receiver that volley.yaml names cannot get any notices.
    case unreachable(Diagnostic)
    /// A notice was dropped because `waiting` others are in the queue.
    case dropped(Notice, waiting: Int)
    /// A notice was not delivered to a receiver.
    case failed(Notice, channel: String, reason: String)
    /// A line that a notice command printed.
    case output(Notice, program: String, line: String)

    /// The line for people.
    public var text: String {
        switch self {
        case .unreachable(let warning): warning.description
        case .dropped(let notice, let waiting):
            "A notice ('\(notice.event.rawValue)') was dropped: \(waiting) others are already waiting for the same receiver."
        case .failed(let notice, let channel, let reason):
            "The notice '\(notice.event.rawValue)'\(notice.run.map { " of \($0)" } ?? "") was not delivered to \(channel): \(reason)"
        case .output(_, let program, let line): "\(program): \(line)"
        }
    }

    /// Whether a receiver gets no notice, or not this one. What a command prints is no warning: that it failed is told separately.
    public var isWarning: Bool { if case .output = self { false } else { true } }

    /// The notice that it is about, if it is about one.
    public var notice: Notice? {
        switch self {
        case .dropped(let notice, _), .failed(let notice, _, _), .output(let notice, _, _): notice
        case .unreachable: nil
        }
    }
}

/// Receives events about the delivery of notices.
public typealias NoticeObserver = Observer<NoticeDeliveryEvent>
