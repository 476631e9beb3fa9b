public import Base
public import Campaigns
import PushServices
import Reports
package import Runs

/// A message to people, or to their programs, about something that happened. It never contains a
/// device token.
///
/// ```swift
/// var notice = Notice(.finished)
/// notice.run = run.plan.id
/// print(notice.text)
/// ```
public struct Notice: Sendable {
    var event: NoticeEvent
    /// An id that is the same in every attempt to deliver the notice.
    var id: String
    var time: Timestamp
    /// The campaign's name; nil if the event belongs to no campaign.
    public var campaign: String?
    /// The app of the campaign; nil if the event belongs to no app.
    public var app: String?
    /// The run's id; nil if the event belongs to no run.
    public var run: String?
    /// The run's state.
    var state: RunState?
    /// For `failed`: whether there is a plan, which means that sending failed, and not planning.
    var isPlanned = false
    /// The name of the schedule's time: `2026-12-01T09:00`.
    var occurrence: String?
    /// The campaign file.
    var file: String?
    /// The run's recipients; nil if there is no run.
    public var audience: Int?
    /// The kind of the run's recipients.
    var recipientNoun = "device"
    /// How many recipients have each outcome; empty while that is not known.
    public var outcomes: [Outcome: Int] = [:]
    /// The reason, in a sentence or two; empty if the event says everything.
    var reason = ""
    /// Whether the reason says no more than the state.
    var isCancelledByOrder = false
    /// How many devices a finished run never sent to, and why: the first sentence of its report;
    /// nil if it missed none.
    var missed: String?
    /// Members of the report.
    var report: JSONValue?

    /// A notice about no campaign yet; set the other properties as they are known.
    public init(_ event: NoticeEvent, at time: Timestamp = .now()) {
        self.event = event
        self.time = time
        id = Self.randomID()
    }

    /// 128 random bits, in hex.
    static func randomID() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<4).map { _ in TextFormat.hex(UInt32.random(in: 0...UInt32.max, using: &random), digits: 8) }
            .joined()
    }

    /// The JSON that is posted to a webhook or passed to a command.
    var json: JSONValue {
        func optional(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
        return .object(pairs: [
            ("event", .string(event.rawValue)), ("id", .string(id)), ("time", .string(time.description)),
            ("text", .string(text)),
            ("campaign", optional(campaign)), ("app", optional(app)), ("file", optional(file)),
            ("occurrence", optional(occurrence)),
            ("run", optional(run)),
            ("state", optional(state?.rawValue)), ("audience", audience.map { .integer(Int64($0)) } ?? .null),
            (
                "outcomes",
                outcomes.isEmpty
                    ? .null
                    : .object(pairs: Outcome.allCases.map { ($0.name, .integer(Int64(outcomes[$0, default: 0]))) })
            ),
            ("reason", .string(TextFormat.printable(reason))), ("report", report ?? .null),
        ])
    }

    /// One sentence for people; chat programs and hooks show it unchanged.
    public var text: String { TextFormat.printable(sentence) }

    private var sentence: String {
        let name = campaign ?? file.map(TextFormat.inLine) ?? "Volley"
        let time = occurrence.map { " (\($0))" } ?? ""
        let because = reason.isEmpty ? "" : ": \(reason)"
        let devices =
            audience.map {
                recipientNoun == "device"
                    ? " to \(TextFormat.devices($0))" : " in \(TextFormat.counted($0, one: recipientNoun))"
            } ?? ""
        switch event {
        case .started: return "\(name)\(time) is being sent\(devices)."
        case .finished where missed != nil:
            return "\(name)\(time) was not sent to all devices: \(missed ?? "") In total: \(outcomesInWords)."
        case .finished: return "\(name)\(time) was sent\(devices): \(outcomesInWords)."
        case .stopped where isCancelledByOrder: return "\(name)\(time) was cancelled."
        case .stopped: return "\(name)\(time) was \(state == .cancelled ? "cancelled" : "stopped")\(because)"
        case .approvalNeeded:
            return "\(name)\(time) is waiting for approval; approve it with: volley approve \(run ?? "RUN") --by NAME"
        case .skipped: return "\(name)\(time) was skipped\(because)"
        case .failed: return "\(name)\(time) cannot be \(isPlanned ? "sent" : "planned")\(because)"
        case .invalid: return "\(name) has mistakes, and is not sent until you correct them\(because)"
        case .stuck: return "volley schedule: \(reason)"
        case .test: return "This is a test notice from Volley."
        }
    }

    private var outcomesInWords: String {
        let parts = Outcome.allCases.filter { outcomes[$0, default: 0] > 0 }.map {
            "\(TextFormat.count(outcomes[$0, default: 0])) \($0.name)"
        }
        return parts.isEmpty ? "no device was in the audience" : parts.joined(separator: ", ")
    }
}

extension Notice {
    /// A notice about a run.
    /// - Parameter occurrence: the time of the schedule that the run belongs to.
    package init(_ event: NoticeEvent, of run: RunFile, occurrence: String? = nil) {
        self.init(event)
        campaign = run.plan.campaign
        app = run.plan.app
        self.run = run.plan.id
        audience = run.plan.audience
        recipientNoun = run.plan.services[0].recipientNoun
        file = run.plan.campaignFile
        self.occurrence = occurrence
        guard let status = try? run.status() else { return }
        state = status.state
        reason = status.because ?? ""
        isCancelledByOrder = status.state == .cancelled && status.cause == .cancelled
    }

    /// A notice about how a run ended. Figures that cannot be read are left out.
    package init(ofEndedRun run: RunFile, occurrence: String? = nil) {
        self.init(.stopped, of: run, occurrence: occurrence)
        if state == .finished { event = .finished }
        guard let report = try? Report(run), let figures = try? run.figures() else { return }
        outcomes = figures.outcomes
        if state == .finished { missed = report.missedSentence }
        let members = ["skipped", "reasons", "attempts", "started_at", "finished_at", "rate", "latency_ms"]
        self.report = .object(pairs: members.compactMap { name in report.json[name].map { (name, $0) } })
    }
}

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

    /// Whether a receiver gets no notice, or not this one. The output of a command is not a
    /// warning: its failure is reported separately.
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
