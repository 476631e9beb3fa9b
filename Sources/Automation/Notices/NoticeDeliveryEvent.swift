public import Base
public import Campaigns

/// Something to report about the delivery of notices, other than success.
public enum NoticeDeliveryEvent: Sendable {
    /// A receiver that volley.yaml names cannot get any notices.
    case unreachable(Diagnostic)
    /// A notice was dropped because `waiting` others are in the queue.
    case dropped(NoticeEvent, waiting: Int)
    /// A notice was not delivered to a receiver.
    case failed(NoticeEvent, run: String?, channel: String, reason: String)
    /// A line that a notice command printed.
    case output(program: String, line: String)

    /// The line for people.
    public var text: String {
        switch self {
        case .unreachable(let warning): warning.description
        case .dropped(let event, let waiting):
            "A notice ('\(event.rawValue)') was dropped: \(waiting) others are already waiting for the same receiver."
        case .failed(let event, let run, let channel, let reason):
            "The notice '\(event.rawValue)'\(run.map { " of \($0)" } ?? "") was not delivered to \(channel): \(reason)"
        case .output(let program, let line): "\(program): \(line)"
        }
    }
}

/// Receives events about the delivery of notices.
public typealias NoticeObserver = Observer<NoticeDeliveryEvent>
