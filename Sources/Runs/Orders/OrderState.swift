public import Base

/// How far an order is.
public enum OrderState: Hashable, Sendable {
    /// No sender has taken it.
    case waiting
    /// A sender does it, or died while it did. `epoch` is a random name of that process.
    case taken(epoch: String)
    case done(OrderResult)
    /// It was not done, and never will be.
    case refused(OrderRefusal)
    /// Its time was over before a sender began it. It is never done.
    case lapsed
    /// The sender that had taken it ended before it was done, and it is not done again.
    case left(OrderRemains)

    /// Whether nothing more is done about it.
    public var hasEnded: Bool {
        switch self {
        case .waiting, .taken: false
        case .done, .refused, .lapsed, .left: true
        }
    }

    /// Its name in `orders.sqlite` and in JSON.
    public var name: String {
        switch self {
        case .waiting: "waiting"
        case .taken: "taken"
        case .done: "done"
        case .refused: "refused"
        case .lapsed: "lapsed"
        case .left: "left"
        }
    }
}

/// What came out of an order that was done.
public struct OrderResult: Hashable, Sendable {
    /// The run that it was about, or that it made; nil for a time that was left out.
    public var run: String?
    /// How the run ended; nil for an order that sent nothing itself.
    public var end: RunEnd?

    /// A result.
    public init(run: String?, end: RunEnd? = nil) {
        self.run = run
        self.end = end
    }
}

/// Why an order was not done.
public enum OrderRefusal: Hashable, Sendable {
    /// The person has no right to it, or has it no more.
    case notPermitted
    /// The approver wrote the campaign.
    case wroteIt
    /// The approver requested the approval.
    case askedForIt
    /// The plan is not the one that the page showed.
    case planDiffers
    /// The campaign's file is not as the page showed it.
    case fileDiffers
    /// A later order paused or cancelled the run before this one was begun.
    case overtaken
    /// No device of the run failed or is unknown.
    case nothingToRetry
    /// The campaign has no such time to come.
    case noSuchTime
    /// The time has come; its run, if it has one.
    case timeHasCome(run: String?)
    /// A push service chooses the devices of the campaign, so that their number is not known
    /// beforehand.
    case devicesUnknown
    /// In words: what an error says.
    case described(String)
}

/// What is known of an order whose sender ended before it was done.
public enum OrderRemains: Hashable, Sendable {
    /// There is no run of it.
    case nothing
    /// The run is a plan of which nothing was sent.
    case notBegun(run: String)
    /// The run was begun and has not ended. It continues when a person resumes it.
    case unfinished(run: String)
    /// Another process sends the run, or it is paused.
    case elsewhere(run: String)
    /// The run is over.
    case ended(run: String, RunState)
    /// The order was to change something and may have done so, or the run cannot be read; with an
    /// error's words, or blank.
    case unknown(run: String?, String)
}

/// The form in which `orders.sqlite` keeps states, next to their names: an object with their
/// values.
extension OrderState {
    /// The values of an ended order, `{"end": "stopped", "cause": {…}}`; null for a state without
    /// values.
    public var values: JSONValue {
        switch self {
        case .waiting, .taken, .lapsed: .null
        case .done(let result): result.json
        case .refused(let refusal): refusal.json
        case .left(let remains): remains.json
        }
    }

    /// The state of this name with these values; nil for anything else.
    public init?(name: String, values: JSONValue, epoch: String) {
        let state: OrderState? =
            switch name {
            case "waiting": .waiting
            case "taken": .taken(epoch: epoch)
            case "done": OrderResult(json: values).map { .done($0) }
            case "refused": OrderRefusal(json: values).map { .refused($0) }
            case "lapsed": .lapsed
            case "left": OrderRemains(json: values).map { .left($0) }
            default: nil
            }
        guard let state else { return nil }
        self = state
    }
}

extension OrderResult {
    /// `{"run": "…", "end": "finished"}`
    public var json: JSONValue {
        var pairs: [(String, JSONValue)] = run.map { [("run", .string($0))] } ?? []
        switch end {
        case nil: break
        case .finished: pairs.append(("end", .string("finished")))
        case .stopped(let cause): pairs += [("end", .string("stopped")), ("cause", cause.json)]
        case .cancelled: pairs.append(("end", .string("cancelled")))
        case .interrupted: pairs.append(("end", .string("interrupted")))
        }
        return .object(pairs: pairs)
    }

    init?(json: JSONValue) {
        guard case .object = json else { return nil }
        self.init(run: json["run"]?.stringValue)
        switch json["end"]?.stringValue {
        case nil: end = nil
        case "finished": end = .finished
        case "stopped":
            guard let cause = json["cause"].flatMap({ StopCause(json: $0) }) else { return nil }
            end = .stopped(cause)
        case "cancelled": end = .cancelled
        case "interrupted": end = .interrupted
        default: return nil
        }
    }
}

extension OrderRefusal {
    /// `{"refusal": "time_has_come", "run": "…"}`
    public var json: JSONValue {
        switch self {
        case .timeHasCome(let run):
            .object(pairs: [("refusal", .string("time_has_come"))] + (run.map { [("run", .string($0))] } ?? []))
        case .described(let words): .object(pairs: [("refusal", .string("described")), ("words", .string(words))])
        default: .object(pairs: [("refusal", .string(Self.plain.first { $0.refusal == self }?.name ?? ""))])
        }
    }

    init?(json: JSONValue) {
        let read: OrderRefusal? =
            switch json["refusal"]?.stringValue {
            case "time_has_come": .timeHasCome(run: json["run"]?.stringValue)
            case "described": json["words"]?.stringValue.map { .described($0) }
            case let name: Self.plain.first { $0.name == name }?.refusal
            }
        guard let read else { return nil }
        self = read
    }

    private static let plain: [(name: String, refusal: OrderRefusal)] = [
        ("not_permitted", .notPermitted), ("wrote_it", .wroteIt), ("asked_for_it", .askedForIt),
        ("plan_differs", .planDiffers),
        ("file_differs", .fileDiffers), ("overtaken", .overtaken), ("nothing_to_retry", .nothingToRetry),
        ("no_such_time", .noSuchTime),
        ("devices_unknown", .devicesUnknown),
    ]
}

extension OrderRemains {
    /// `{"remains": "ended", "run": "…", "state": "finished"}`
    public var json: JSONValue {
        switch self {
        case .nothing: object("nothing", nil)
        case .notBegun(let run): object("not_begun", run)
        case .unfinished(let run): object("unfinished", run)
        case .elsewhere(let run): object("elsewhere", run)
        case .ended(let run, let state): object("ended", run, ("state", .string(state.rawValue)))
        case .unknown(let run, let words): object("unknown", run, ("words", .string(words)))
        }
    }

    private func object(_ name: String, _ run: String?, _ more: (String, JSONValue)...) -> JSONValue {
        .object(pairs: [("remains", .string(name))] + (run.map { [("run", .string($0))] } ?? []) + more)
    }

    init?(json: JSONValue) {
        let run = json["run"]?.stringValue
        let read: OrderRemains? =
            switch json["remains"]?.stringValue {
            case "nothing": .nothing
            case "not_begun": run.map { .notBegun(run: $0) }
            case "unfinished": run.map { .unfinished(run: $0) }
            case "elsewhere": run.map { .elsewhere(run: $0) }
            case "ended":
                run.flatMap { run in json["state"]?.stringValue.flatMap(RunState.init).map { .ended(run: run, $0) } }
            case "unknown": json["words"]?.stringValue.map { .unknown(run: run, $0) }
            default: nil
            }
        guard let read else { return nil }
        self = read
    }
}
