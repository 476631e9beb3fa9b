package import Base
package import Campaigns
import Reports
package import Runs

/// Something that people, or programs of theirs, are told of. It never holds a token.
package struct Notice: Sendable {
    var event: NoticeEvent
    /// The same in every attempt to deliver it.
    var id: String
    var time: Timestamp
    var campaign: String?
    package var app: String?
    var run: String?
    /// The run's state.
    var state: RunState?
    /// Of what failed: whether there is a plan, so that sending it is what failed.
    var isPlanned = false
    /// The time of the schedule, as it is named: `2026-12-01T09:00`.
    var occurrence: String?
    /// The campaign file.
    var file: String?
    var audience: Int?
    var outcomes: [Outcome: Int] = [:]
    /// Why: a sentence or two; blank where the event says all.
    var reason = ""
    /// How many of a run that finished were never sent to, and why: what a report begins with.
    var missed: String?
    /// Members of the report.
    var report: JSONValue?

    package init(_ event: NoticeEvent, at time: Timestamp = .now()) {
        self.event = event
        self.time = time
        // 128 random bits, in hex.
        var random = SystemRandomNumberGenerator()
        id = (0..<4).map { _ in TextFormat.hex(UInt32.random(in: 0...UInt32.max, using: &random), digits: 8) }.joined()
    }

    /// The document that is posted, or given to a command.
    var json: JSONValue {
        func optional(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
        return .object(pairs: [
            ("event", .string(event.rawValue)), ("id", .string(id)), ("time", .string(time.description)), ("text", .string(text)),
            ("campaign", optional(campaign)), ("app", optional(app)), ("file", optional(file)), ("occurrence", optional(occurrence)),
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

    /// One sentence for people; chat programs and hooks show it as it is.
    package var text: String { TextFormat.printable(sentence) }

    private var sentence: String {
        let name = campaign ?? file.map(TextFormat.inLine) ?? "Volley"
        let time = occurrence.map { " (\($0))" } ?? ""
        let because = reason.isEmpty ? "" : ": \(reason)"
        let devices = audience.map { " to \(TextFormat.devices($0))" } ?? ""
        switch event {
        case .started: return "\(name)\(time) is being sent\(devices)."
        case .finished where missed != nil: return "\(name)\(time) was not sent to everybody: \(missed ?? "") In all: \(outcomesInWords)."
        case .finished: return "\(name)\(time) was sent\(devices): \(outcomesInWords)."
        case .stopped: return "\(name)\(time) was \(state == .cancelled ? "cancelled" : "stopped")\(because)"
        case .approvalNeeded: return "\(name)\(time) waits for approval: volley approve \(run ?? "RUN") --by NAME"
        case .skipped: return "\(name)\(time) is not sent\(because)"
        case .failed: return "\(name)\(time) cannot be \(isPlanned ? "sent" : "planned")\(because)"
        case .invalid: return "\(name) has mistakes and is not sent\(because)"
        case .stuck: return "volley schedule: \(reason)"
        case .test: return "Volley tries whether its notices arrive."
        }
    }

    private var outcomesInWords: String {
        let parts = Outcome.allCases.filter { outcomes[$0, default: 0] > 0 }.map {
            "\(TextFormat.count(outcomes[$0, default: 0])) \($0.name)"
        }
        return parts.isEmpty ? "nobody was in the audience" : parts.joined(separator: ", ")
    }
}

extension Notice {
    /// Something about a run.
    /// - Parameter occurrence: the time of the schedule it belongs to.
    package init(_ event: NoticeEvent, of run: any RecordedRun, occurrence: String? = nil) {
        self.init(event)
        campaign = run.plan.campaign
        app = run.plan.app
        self.run = run.plan.id
        audience = run.plan.audience
        file = run.plan.campaignFile
        self.occurrence = occurrence
        guard let status = try? run.status() else { return }
        state = status.state
        reason = status.because ?? ""
    }

    /// How a run ended. What cannot be read of its figures is left out.
    package init(ofEndedRun run: any RecordedRun, occurrence: String? = nil) {
        self.init(.stopped, of: run, occurrence: occurrence)
        if state == .finished { event = .finished }
        guard let report = try? Report(run), let figures = try? run.figures() else { return }
        outcomes = figures.outcomes
        if state == .finished { missed = report.missedSentence }
        let members = ["skipped", "reasons", "attempts", "started_at", "finished_at", "rate", "latency_ms"]
        self.report = .object(pairs: members.compactMap { name in report.json[name].map { (name, $0) } })
    }
}
