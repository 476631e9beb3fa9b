package import Base
package import Campaigns

/// What becomes of notices that did not simply arrive.
package enum NoticeDeliveryEvent: Sendable {
    /// Somebody whom volley.yaml names cannot be told of anything.
    case unreachable(Diagnostic)
    /// A notice was dropped, as so many others wait.
    case dropped(NoticeEvent, waiting: Int)
    /// Nobody was told there.
    case failed(NoticeEvent, run: String?, channel: String, reason: String)
    /// A line that a program printed which was told.
    case output(program: String, line: String)

    /// For people.
    package var text: String {
        switch self {
        case .unreachable(let warning): warning.description
        case .dropped(let event, let waiting): "A notice (\(event.rawValue)) is dropped: \(waiting) others wait already."
        case .failed(let event, let run, let channel, let reason):
            "\(channel) was not told of '\(event.rawValue)'\(run.map { " of \($0)" } ?? ""): \(reason)"
        case .output(let program, let line): "\(program): \(line)"
        }
    }
}

/// Who is told what becomes of notices.
package typealias NoticeObserver = Observer<NoticeDeliveryEvent>
